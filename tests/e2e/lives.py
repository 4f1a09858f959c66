"""The lives of random conversations: what a client does next, what it gets, and what must hold after each exchange."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import aiohttp
import orjson

from proxy.demo.random_model import turn_at
from proxy.demo.turns import Asked, Call, Delivery, Dialect, HttpError, Reply, Thinking
from tests.e2e.client import PATHS, request_headers
from tests.e2e.extending import Rules, Seen
from tests.e2e.harness import session_header
from tests.e2e.talkers import Talk, random_habits, read_turn

if TYPE_CHECKING:
    from proxy.demo.provider import Received
    from proxy.demo.turns import Part
    from tests.e2e.worlds import World

_LENGTH_MAX = 24
_TRIES_MAX = 12


class Trouble:
    """The scripted provider's own: errors and lost connections, by each family's dice."""

    def __init__(self) -> None:
        self.families: dict[int, Family] = {}

    def script(self, asked: Asked) -> Reply:
        named = asked.body["metadata"]["user_id"] if asked.dialect is Dialect.ANTHROPIC else asked.body["user"]
        seed, _, variant = named.partition(".")
        family = self.families[int(seed)]
        dice = family.dice
        number = sum(message["role"] == "assistant" for message in asked.body["messages"])
        chance = dice.random()
        if chance < (0.08 if _is_way_on(asked.body["messages"][-1]) else 0.012):
            status = dice.choice((429, 500, 529))
            return Reply(HttpError(status, "overloaded_error", "try again"))
        turn = turn_at(int(seed) * 1000 + int(variant), number)
        if asked.dialect is Dialect.ANTHROPIC and not asked.streamed:
            turn = replace(turn, parts=tuple(map(_sayable, turn.parts)))
        family.count_turn(turn.parts)
        chars = dice.choice((3, 40, 400))
        if 0.08 <= chance < 0.1 and asked.streamed:
            return Reply(turn, Delivery(fragment_chars=chars, write_bytes=4000, cut_after=dice.randint(1, 6)))
        return Reply(turn, Delivery(fragment_chars=chars, write_bytes=dice.choice((300, 4000, 4000))))


def _is_way_on(message: dict[str, Any]) -> bool:
    """Whether the newest message may be the gate's own."""
    content = message["content"]
    text = content if isinstance(content, str) else orjson.dumps(content).decode()
    return message["role"] in ("user", "tool") and '"isError' in text.replace("\\", "")


def _thinking_in(body: bytes) -> int:
    return body.count(b'"signature":') + body.count(b'"redacted_thinking"')


def _sayable(part: Part) -> Part:
    """In a body arguments are no text: what is no JSON would break all of it, so it is no object instead."""
    return replace(part, arguments="[]") if isinstance(part, Call) and part.name == "read_broken" else part


@dataclass(slots=True)
class Family:
    """The conversations that grew from one seed, one after the other."""

    world: World
    seed: int
    rules: Rules
    dice: random.Random = field(init=False)
    counts: Counter[str] = field(default_factory=Counter)
    talks: list[Talk] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    seen: Seen = field(init=False)
    free: set[int] = field(default_factory=set)  # ids of talks whose next request may differ from what was seen
    rewritten: set[int] = field(default_factory=set)  # ids of talks whose beginning is no longer what was sent
    is_named: bool = False
    has_twins: bool = False  # the same request was answered more than once: without a name they cannot be told apart
    lost: bool = False
    losses: int = 0
    last_gate: int = -1
    births: int = 0
    cursor: int = 0
    headers: dict[str, str] = field(init=False)

    def __post_init__(self) -> None:
        self.dice = random.Random(f"family/{self.seed}")
        dialect = self.dice.choice((Dialect.ANTHROPIC, Dialect.ANTHROPIC, Dialect.CHAT))
        talk = Talk(dialect, self.dice.random() < 0.5, random_habits(self.dice), self.seed)
        talk.say(f"Hello, {self.dice.randint(0, 3)}")
        self.talks = [talk]
        self.seen = Seen(dialect, self.rules, talk.habits.keeps_thinking, talk.habits.keeps_thinking)
        self.losses, self.births = self.world.losses, self.world.births
        self.is_named = self.dice.random() < 0.6
        name = {"x-session-id": f"s{self.seed}"} if self.is_named else {}
        self.headers = request_headers(dialect, session_header(f"cus_{self.seed}") | name)

    async def live(self, turns: int) -> None:
        """So many turns, or until something is wrong."""
        done = 0
        while done < turns and not self.problems:
            talk = self.dice.choice(self.talks)
            if self.dice.random() < 0.04:
                talk.streamed = not talk.streamed
            done += await self.step(talk)
            if not self.problems:
                await self.change(talk)

    async def step(self, talk: Talk) -> int:
        """One request, repeated until it is answered; then perhaps once more, and the newer answer counts."""
        repeats = 2 if self.dice.random() < 0.06 else 1
        self.counts["retry"] += repeats - 1
        self.has_twins = self.has_twins or repeats > 1
        answer: Any = None
        done = 0
        for _ in range(repeats):
            for _ in range(_TRIES_MAX):
                done += 1
                got = await self.exchange(talk)
                if self.problems:
                    return done
                if got is not None:
                    answer = got if answer is None or self.dice.random() < 0.5 else answer
                    break
                self.counts["repeated after a failure"] += 1
                self.has_twins = True
        if answer is None:
            self.problems.append("no answer")
            return done
        talk.take(answer)
        if talk.filled_in():  # by which no turn is known again that hides something
            self.free.add(id(talk))
        if repeats > 1 and self.lost:  # the older answer may be of before the loss
            self.free.add(id(talk))
        return done

    async def exchange(self, talk: Talk) -> Any:
        gate = await self.world.gate(self.dice)
        self._count_request(talk, gate.number)
        body = talk.body()
        try:
            async with self.world.session.post(
                gate.url + PATHS[talk.dialect], data=body, headers=self.headers
            ) as response:
                status, data = response.status, await response.read()
                kind = response.content_type
        except aiohttp.ClientError:
            status, data, kind = 0, b"", ""
        legs = self._legs()
        self._check(talk, legs)
        self.counts["thinking was taken out"] += bool(legs) and _thinking_in(legs[0].body) < _thinking_in(body)
        answer = None
        if status == 200:
            answer = read_turn(talk.dialect, data, streamed=kind == "text/event-stream")
            self._count_answer(legs, answer)
        elif status in (400, 401, 403, 404):
            self.problems.append(f"{status}: {data.decode()}")
        return answer

    def _legs(self) -> list[Received]:
        places = self.world.log.by_family[self.seed]
        legs = [self.world.log[place] for place in places[self.cursor :]]
        self.cursor = len(places)
        return legs

    def _check(self, talk: Talk, legs: list[Received]) -> None:
        for leg in legs:
            if leg.refused:
                self.problems.append(f"refused: {leg.refused}")
        if not legs or self.problems:
            return
        if self.seen.requests and (wrong := self.seen.problems(legs[0].body)):
            if id(talk) in self.free:
                self.counts["differs, as it may"] += 1
            elif self.has_twins and not self.is_named:
                self.counts["differs, for its twin"] += 1
            else:
                self.problems += wrong
        self.free.discard(id(talk))
        for before, after in itertools.pairwise(legs):
            self.problems += self.seen.leg_problems(before, after)
        for leg in legs:
            self.seen.add(leg)

    async def change(self, talk: Talk) -> None:
        """What happens before the next request."""
        chance = self.dice.random()
        places = talk.user_places()
        if talk.calls() and chance < 0.85:
            more = "and be quick" if self.dice.random() < 0.15 else ""
            talk.answer(f"result {self.dice.randint(0, 9)}", more)
        elif chance < 0.80 and not talk.calls() and len(talk.messages) < _LENGTH_MAX:
            talk.say(f"More, {self.dice.randint(0, 3)}")
        elif chance < 0.88 and len(places) > 1:
            self._rewind(talk, self.dice.choice(places[1:]))
        elif chance < 0.93 and not talk.calls() and len(self.talks) < 3:
            self.counts["fork"] += 1
            self.has_twins = True
            self.talks.append(talk.fork())
            if self.lost:
                self.free.add(id(self.talks[-1]))
            if id(talk) in self.rewritten:
                self.rewritten.add(id(self.talks[-1]))
            for each in (talk, self.talks[-1]):
                each.say("More, 0")
        elif chance < 0.96 and len(places) > 1:
            await self._forget(talk)
        else:
            self._compact(talk)

    def _rewind(self, talk: Talk, place: int) -> None:
        self.counts["rewind"] += 1
        self.has_twins = True
        talk.rewind(place)
        if self.dice.random() < 0.5:
            talk.variant += 1
        talk.say(f"More, {self.dice.randint(0, 3)}")
        if self.lost or id(talk) in self.rewritten:
            self.free.add(id(talk))

    def _compact(self, talk: Talk) -> None:
        self.counts["compaction"] += 1
        self.rewritten.add(id(talk))
        places = talk.user_places()
        place = self.dice.choice(places) if self.dice.random() < 0.5 else len(talk.messages)
        if talk.calls() and place == len(talk.messages):
            place = places[-1]
        talk.compact(place)
        if not talk.calls():
            talk.say("Go on.")
        else:
            talk.answer("result")
        self.free.add(id(talk))

    async def _forget(self, talk: Talk) -> None:
        self.counts["erased subject"] += 1
        await self.world.erase(f"cus_{self.seed}", self.dice)
        self._lose()
        if talk.calls():
            talk.answer("result")
        else:
            talk.say("More, 1")

    def _lose(self) -> None:
        self.lost = True
        self.free |= {id(talk) for talk in self.talks}

    def count_turn(self, parts: Any) -> None:
        calls = [part.name for part in parts if isinstance(part, Call)]
        self.counts["thinking"] += any(isinstance(part, Thinking) for part in parts)
        self.counts["parallel calls"] += len(calls) > 1
        self.counts.update(f"call: {name}" for name in calls)

    def _count_request(self, talk: Talk, gate: int) -> None:
        if self.world.losses != self.losses:
            self.losses = self.world.losses
            self.counts["lost ledger"] += 1
            self._lose()
        self.counts["turns"] += 1
        self.counts["of a conversation with a name"] += self.is_named
        self.counts[f"{talk.dialect.value}, {'stream' if talk.streamed else 'body'}"] += 1
        self.counts.update(f"client {name}" for name in talk.habits.names())
        self.counts["after a restart"] += self.world.births != self.births
        self.counts["by another worker"] += self.last_gate not in (-1, gate)
        self.last_gate, self.births = gate, self.world.births

    def _count_answer(self, legs: list[Received], answer: Any) -> None:
        if answer is None:
            self.counts["answer was cut"] += 1
            return
        self.counts["went on"] += len(legs) > 1
        self.counts["went on twice"] += len(legs) > 2
        self.counts["way on failed"] += len(legs) > 1 and legs[-1].turn is None
        text = orjson.dumps(answer).decode()
        self.counts["ended as repeated"] += self.rules.repeated in text
        self.counts["code beside"] += any(reply in text for reply in self.rules.replies)
        last = legs[-1].turn if legs else None
        if last is not None and self._is_mixed(last, text):
            self.counts["told beside allowed"] += 1

    def _is_mixed(self, turn: dict[str, Any], text: str) -> bool:
        if self.seen.dialect is Dialect.CHAT:
            calls = [(call["id"], call["function"]["name"]) for call in turn.get("tool_calls") or ()]
        else:
            calls = [(block["id"], block["name"]) for block in turn["content"] if block["type"] == "tool_use"]
        shown = [name for identifier, name in calls if identifier in text]
        told = [name for identifier, name in calls if identifier not in text and name in self.rules.told]
        return bool(shown and told)
