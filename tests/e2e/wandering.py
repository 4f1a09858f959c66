"""A random conversation of one client of any dialect, and whether each request extends what the provider saw (G7).

It is the plain sister of `lives`: one conversation at a time, so that no name in the request is needed.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import aiohttp
import orjson

from interceptors.strict_json import digest
from proxy.demo.random_model import turn_at
from proxy.demo.turns import Call, Delivery, Dialect, HttpError, Reply, Stop, Thinking
from tests.e2e.harness import session_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.demo.turns import Asked, Turn
    from tests.e2e.extending import Rules
    from tests.e2e.mouths import Answer, Entry
    from tests.e2e.wanderers import Wanderer
    from tests.e2e.worlds import World

HEADERS = {"authorization": "Bearer sk-test", "x-goog-api-key": "sk-test", "content-type": "application/json"}
TROUBLE = "try again"
_TRIES_MAX = 12
_LENGTH_MAX = 30


@dataclass(slots=True)
class Model:
    """The scripted model of the conversation that goes on now, and what it said, newest last."""

    wanderer: Wanderer
    seed: int = 0
    dice: random.Random = field(default_factory=lambda: random.Random(0))
    said: list[Turn | None] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def __call__(self, asked: Asked) -> Reply:
        chance = self.dice.random()
        if chance < 0.03:
            self.said.append(None)
            return Reply(HttpError(503, "overloaded_error", TROUBLE))
        turn = self.wanderer.sayable(turn_at(self.seed, self.wanderer.turns(asked.body)))
        self.said.append(turn)
        calls = [part.name for part in turn.parts if isinstance(part, Call)]
        self.counts["thinking"] += any(isinstance(part, Thinking) for part in turn.parts)
        self.counts["parallel calls"] += len(calls) > 1
        self.counts.update(f"call: {name}" for name in calls)
        if chance < 0.05 and asked.streamed and asked.dialect is not Dialect.RESPONSES:
            return Reply(turn, Delivery(fragment_chars=20, cut_after=self.dice.randint(1, 6)))
        return Reply(turn, Delivery(fragment_chars=self.dice.choice((3, 40, 400))))


@dataclass(slots=True)
class Wandering:
    """`history` is what the client holds; `places` are where it held it when the user spoke, with the last answer."""

    world: World
    wanderer: Wanderer
    model: Model
    rules: Rules
    seed: int
    dice: random.Random = field(init=False)
    history: list[Entry] = field(default_factory=list)
    places: list[tuple[int, str]] = field(default_factory=list)
    answer: Answer | None = None
    seen: list[tuple[list[Entry], Turn | None]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    new: int = 0  # where what the provider has not seen begins
    is_free: bool = False
    is_lost: bool = False
    mangles: bool = False

    def __post_init__(self) -> None:
        self.dice = random.Random(f"wandering/{self.seed}")
        self.model.seed, self.model.dice = self.seed, random.Random(f"model/{self.seed}")
        self.mangles = self.dice.random() < 0.6

    async def live(self, turns: int, *, loses: bool) -> None:
        self._say()
        for _ in range(turns):
            await self._exchange()
            if self.problems:
                return
            await self._change(loses=loses)

    async def _exchange(self) -> None:
        for _ in range(_TRIES_MAX):
            answer = await self._ask()
            if answer is not None or self.problems:
                break
            self.counts["repeated after a failure"] += 1
        if answer is None:
            self.problems.append("no answer")
            return
        self.answer = answer
        entries = self.wanderer.mangled(answer.entries, self.dice) if self.mangles else list(answer.entries)
        self.counts["client mangles"] += self.mangles
        self.history += entries
        self.new = len(self.history)

    async def _ask(self) -> Answer | None:
        streamed = self.dice.random() < 0.5
        self.counts["turns"] += 1
        self.counts["stream" if streamed else "body"] += 1
        body = self.wanderer.body(self.history, self.new, self.answer, streamed)
        before = len(self.wanderer.contexts())
        refused = len(self._refused())
        spoken = len(self.model.said)
        gate = await self.world.gate(self.dice)
        url = gate.url + self.wanderer.mouth.path(streamed)
        # Without a name what was rewound and said again is two conversations, and neither gets back what was hidden.
        headers = HEADERS | session_header(f"cus_{self.seed}") | {"x-session-id": f"s{self.seed}"}
        try:
            async with self.world.session.post(url, data=orjson.dumps(body), headers=headers) as got:
                status, data = got.status, await got.read()
        except aiohttp.ClientError:
            status, data = 0, b""
        self.problems += self._refused()[refused:]
        self._check(self.wanderer.contexts()[before:], self.wanderer.answers(self.model.said[spoken:]))
        if status in (400, 401, 403, 404):
            self.problems.append(f"{status}: {data.decode()}")
        if status != 200 or self.problems:
            return None
        answer = self.wanderer.read(data, streamed)
        self.counts["answer was cut"] += answer is None
        return answer

    def _refused(self) -> list[str]:
        return [text for text in self.wanderer.refused() if text != TROUBLE]

    def _check(self, legs: Sequence[list[Entry]], said: Sequence[Turn | None]) -> None:
        self.counts["went on"] += len(legs) > 1
        self.counts["went on twice"] += len(legs) > 2
        for number, (leg, turn) in enumerate(zip(legs, said, strict=False)):
            wrong = self._wrong(leg) if self.seen else []
            if wrong and number == 0 and (self.is_free or self.is_lost):
                self.counts["differs, as it may"] += 1
            else:
                self.problems += wrong
            self.seen.append((leg, turn))
        self.is_free = self.is_free and not legs

    def _wrong(self, leg: list[Entry]) -> list[str]:
        """Nothing where the request extends, or repeats, one that was seen."""
        found: list[str] = []
        for was, turn in reversed(self.seen):
            wrong = self._extends(was, turn, leg)
            if not wrong:
                return []
            found = found or wrong
        return found

    def _extends(self, was: list[Entry], turn: Turn | None, leg: list[Entry]) -> list[str]:
        for place, (one, other) in enumerate(zip(was, leg, strict=False)):
            if orjson.dumps(one) != orjson.dumps(other):
                return [f"entry {place} was {one} and is {other}"]
        if len(leg) <= len(was):
            return [] if len(leg) == len(was) else ["the request is shorter"]
        behind = leg[len(was) :]
        ours = next((place for place, one in enumerate(behind) if not self.wanderer.is_said(one)), len(behind))
        if turn is None or not ours:
            return [] if turn is None else ["no turn stands behind what was seen"]
        return self._turn(turn, behind[:ours], behind[ours:])

    def _turn(self, turn: Turn, sent: list[Entry], behind: list[Entry]) -> list[str]:
        said = [(part.name, part.arguments) for part in turn.parts if isinstance(part, Call)]
        told = [("call", str(number), name, _value(text)) for number, (name, text) in enumerate(said)]
        came = [pair for entry in sent for pair in self.wanderer.calls(entry)]
        kept, left = [], list(told)
        for name, arguments in came:
            while left and left[0][2:] != (name, _meaning(arguments)):
                left.pop(0)
            if not left:
                return [f"a call of {name!r} was not said there"]
            kept.append(left.pop(0))
        text = "".join(self.wanderer.text(entry) for entry in sent)
        dropped = [] if self.wanderer.mouth.binds and kept else [one for one in told if one not in kept]
        cut = [number for _, number, *_ in told[-1:]] if turn.stop is Stop.LENGTH else []
        may = self.rules.may_drop(dropped, told, "".join(text.split()), cut)
        wrong = [] if may else [f"calls are gone: {dropped}"]
        count = self.wanderer.answered(behind)
        return wrong if not kept or count == len(kept) else [*wrong, f"{len(kept)} calls have {count} results"]

    def _say(self) -> None:
        last = "" if self.answer is None else self.answer.id
        self.places.append((len(self.history), last))
        self.history.append(self.wanderer.mouth.words(f"More, {self.dice.randint(0, 3)}"))

    async def _change(self, *, loses: bool) -> None:
        assert self.answer is not None
        chance = self.dice.random()
        if chance < 0.06:
            self.counts["restart"] += 1
            await self.world.restart(self.dice)
        if self.answer.calls:
            self.history += self.wanderer.mouth.results(self.answer.calls, f"result {self.dice.randint(0, 9)}")
            return
        if loses and 0.06 <= chance < 0.12:
            self.counts["lost ledger"] += 1
            self.is_lost = True
            await self.world.lose()
        if len(self.places) > 1 and (chance > 0.9 or len(self.history) > _LENGTH_MAX):
            self._rewind()
        self._say()

    def _rewind(self) -> None:
        self.counts["rewind"] += 1
        number = self.dice.randrange(1, len(self.places))
        length, last = self.places[number]
        del self.places[number:], self.history[length:]
        self.answer = self.wanderer.rewound(last)
        self.new = length
        self.is_free = self.is_free or self.is_lost


def _value(text: str) -> str:
    try:
        return _meaning(orjson.loads(text))
    except ValueError:
        return text


def _meaning(value: Any) -> str:
    return digest(value) if isinstance(value, dict) else str(value)
