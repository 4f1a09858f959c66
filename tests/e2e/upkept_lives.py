"""Lives of conversations under a policy about their history: pauses, results that are pruned, errors and out of date.

What went up once goes up again, byte for byte. A request may differ from what was seen in earlier results alone, and
only where its newest message is a user's own text.
"""

from __future__ import annotations

import copy
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import orjson

from interceptors.edits import Edit
from interceptors.result_errors import missing
from proxy.demo.turns import Call, Dialect, Turn
from proxy.demo.watcher import extends
from proxy.history.keeper import Histories
from tests.e2e.extending import Seen
from tests.e2e.lives import Family, Trouble
from tests.e2e.summed_lives import alike
from tests.e2e.talkers import Talk

if TYPE_CHECKING:
    from collections import Counter
    from collections.abc import Iterator

    from proxy.demo.provider import Received
    from proxy.demo.turns import Asked, Reply
    from proxy.history.keeper import Upward
    from tests.e2e.upkeep import Clock

READS = ("read_allowed", "read_aged", "read_zero")
"""A model's reads are spread over tools whose results hold for different times."""
_EMPTY = ("result 0", "result 1")
_MADE_UP = tuple(missing(is_write=is_write) for is_write in (True, False))
_PAGE = "<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>"


class UpkeptTrouble(Trouble):
    def script(self, asked: Asked) -> Reply:
        reply = Trouble.script(self, asked)
        if not isinstance(reply.answer, Turn):
            return reply
        return replace(reply, answer=replace(reply.answer, parts=tuple(map(spread, reply.answer.parts))))


def spread(part: Any) -> Any:
    is_read = isinstance(part, Call) and part.name == READS[0]
    return replace(part, name=READS[len(part.arguments) % len(READS)]) if is_read else part


@dataclass(slots=True)
class UpkeptTalk(Talk):
    """Its results are documents with fields that nobody needs, or no documents. Now and then it loses results, or keeps
    one whose call is gone."""

    def answer(self, words: str, more: str = "") -> None:
        before = len(self.messages)
        Talk.answer(self, words, more)
        for message in self.messages[before:]:
            for holder in _results(message):
                holder["content"] = _content(words, holder["content"])

    def loses_a_result(self) -> None:
        """One of several, the last."""
        self.answer("result")
        if self.dialect is Dialect.CHAT:
            self.messages.pop()
        else:
            self.messages[-1]["content"].pop()

    def keeps_an_orphan(self) -> None:
        """With the user's next words."""
        if self.dialect is Dialect.CHAT:
            self.messages.append({"role": "tool", "tool_call_id": "call_gone", "content": "of nothing"})
            self.say("And?")
            return
        gone = {"type": "tool_result", "tool_use_id": "toolu_gone", "content": "of nothing"}
        self.messages.append({"role": "user", "content": [gone, {"type": "text", "text": "And?"}]})


def _content(words: str, text: str) -> str:
    if words in _EMPTY:
        return ""
    if words == "result 2":
        return _PAGE
    return orjson.dumps({"status": text, "internal": "x" * 60, "lines": [{"sku": text, "cost": 1.10}]}).decode()


def _results(message: dict[str, Any]) -> list[dict[str, Any]]:
    """What holds the content of each result of a message."""
    if message["role"] == "tool":
        return [message]
    content = message["content"]
    return [block for block in content if block.get("type") == "tool_result"] if isinstance(content, list) else []


class UpkeptSeen(Seen):
    """Where the newest message is a user's own text, earlier results may have gone out of date, and closed matters have
    become summaries."""

    def problems(self, body: bytes) -> list[str]:
        wrong = Seen.problems(self, body)
        newest = orjson.loads(body)["messages"][-1]
        if not wrong or newest["role"] != "user" or any(each["content"] not in _MADE_UP for each in _results(newest)):
            return wrong
        found: list[str] = []
        for was, turn in reversed(self.requests):
            for before, is_gone in alike(was, body):
                different = self._different(before, None if is_gone else turn, body)
                if not different:
                    return []
                found = found or different
        return found or wrong

    def _different(self, was: bytes, turn: dict[str, Any] | None, body: bytes) -> list[str]:
        old, new = _with_notices_alike(was, body)
        different = extends(old, None, new, dialect=self.dialect, exact=False, thinking=False)
        if different or turn is None:
            return different
        bare = Seen(self.dialect, self.rules, exact=False, thinking=False, cut=self.cut)
        return bare._turn(turn, orjson.loads(body)["messages"][len(orjson.loads(old)["messages"])])


def _with_notices_alike(was: bytes, body: bytes) -> tuple[bytes, bytes]:
    """Both requests, where what became a notice in the second is one in the first."""
    old, new = orjson.loads(was), orjson.loads(body)
    for before, after in zip(old["messages"], new["messages"], strict=False):
        for first, second in zip(_results(before), _results(after), strict=False):
            if '"stale":true' in str(second["content"]):
                first["content"] = copy.deepcopy(second["content"])
                first.pop("is_error", None)  # a notice is none
    return orjson.dumps(old), orjson.dumps(new)


@dataclass(slots=True)
class UpkeptFamily(Family):
    """`sent` is what went up for each request of a client's.

    Once decisions were lost or erased, a shorter history that comes again is decided anew, also for longer ones that
    hold it: from then on requests may differ, and must only be taken.
    """

    clock: Clock | None = None
    sent: dict[bytes, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        Family.__post_init__(self)
        (talk,) = self.talks
        self.talks = [UpkeptTalk(**{each.name: getattr(talk, each.name) for each in fields(talk)})]
        self.seen = UpkeptSeen(talk.dialect, self.rules, self.seen.exact, self.seen.thinking)

    def _check(self, talk: Talk, legs: list[Received]) -> None:
        if self.lost:
            self.free |= {id(each) for each in self.talks}
        Family._check(self, talk, legs)
        if not legs or self.problems or (self.has_twins and not self.is_named):
            return
        key = talk.body()
        if self.lost:
            self.sent.clear()
        elif (was := self.sent.get(key)) is not None:
            self.counts["the same again"] += 1
            if was != legs[0].body:
                self.problems.append("a repeated request went up with other bytes")
        self.sent[key] = legs[0].body

    async def change(self, talk: Talk) -> None:
        assert isinstance(talk, UpkeptTalk)
        chance = self.dice.random()
        if chance < 0.06 and talk.calls():
            self.counts["client loses all results"] += 1
            talk.say("Never mind.")
        elif chance < 0.14 and len(talk.calls()) > 1:
            self.counts["client loses a result"] += 1
            talk.loses_a_result()
        elif chance < 0.06:
            self.counts["client keeps an orphan"] += 1
            talk.keeps_an_orphan()
        else:
            await Family.change(self, talk)
        assert self.clock is not None
        chance = self.dice.random()
        if chance < 0.08:
            self.counts["pause"] += 1
            self.clock.now += timedelta(minutes=31)
        elif chance < 0.16:
            self.counts["short pause"] += 1
            self.clock.now += timedelta(minutes=11)
        else:
            self.clock.now += timedelta(seconds=5)


@contextmanager
def edits_counted(clock: Clock, counts: Counter[str]) -> Iterator[None]:
    """Every gate goes by this clock; what it decides is counted."""
    begin, lift = Histories.__init__, Histories.lift

    def begun(self: Histories, vault: Any, _clock: Any, *more: Any) -> None:
        begin(self, vault, clock, *more)

    async def lifted(self: Histories, *args: Any) -> Upward:
        found = await lift(self, *args)
        counts.update({f"edit: {edit.value}": count for edit, count in found.fresh.items()})
        if Edit.STALE in found.fresh and found.decision is not None:
            stale = [each.texts[0] for each in found.decision.results if each.why == Edit.STALE.value]
            counts.update({f"stale: {name}": sum(f"call {name}" in text for text in stale) for name in READS})
        return found

    with patch.object(Histories, "__init__", begun), patch.object(Histories, "lift", lifted):
        yield
