"""A random conversation of one client of any dialect under a policy about its history: pauses, prunes, errors, results
that go out of date, and a client that loses results or keeps one whose call is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.turns import Turn
from tests.e2e.mouths import Called
from tests.e2e.upkept_lives import _PAGE, spread
from tests.e2e.wanderers import ByIdWanderer
from tests.e2e.wandering import Model, Wandering

if TYPE_CHECKING:
    from proxy.demo.turns import Asked, Reply
    from tests.e2e.mouths import Entry
    from tests.e2e.upkeep import Clock


class UpkeptModel(Model):
    """It reads by tools whose results hold for different times."""

    def __call__(self, asked: Asked) -> Reply:
        reply = Model.__call__(self, asked)
        if isinstance(reply.answer, Turn):
            self.said[-1] = turn = replace(reply.answer, parts=tuple(map(spread, reply.answer.parts)))
            return replace(reply, answer=turn)
        return reply


@dataclass(slots=True)
class UpkeptWandering(Wandering):
    """Where the newest entry is the user's words, earlier results may have become notices."""

    clock: Clock | None = None
    spoke: bool = True

    def _extends(self, was: list[Entry], turn: Turn | None, leg: list[Entry]) -> list[str]:
        wrong = Wandering._extends(self, was, turn, leg)
        if not wrong or not self.spoke:
            return wrong
        behind = was[len(leg) :]
        noticed = [other if _is_notice(other) else one for one, other in zip(was, leg, strict=False)]
        return Wandering._extends(self, [*noticed, *behind], turn, leg)

    async def _change(self, *, loses: bool) -> None:
        assert self.answer is not None
        assert self.clock is not None
        chance, calls = self.dice.random(), self.answer.calls
        self._time_goes_by()
        self.spoke = not calls
        if isinstance(self.wanderer, ByIdWanderer) or chance > 0.12:
            if not calls:
                await Wandering._change(self, loses=loses)
                return
            for call in calls:
                self.history += self.wanderer.mouth.results([call], self._document())
            self._join_results(len(calls))
        elif not calls:
            self.counts["client keeps an orphan"] += 1
            self.history += self.wanderer.mouth.results([Called("gone", {}, "call_gone")], "of nothing")
            self._say()
        else:
            self.counts["client loses results"] += 1
            if len(calls) > 1 and chance < 0.06:
                self.history += self.wanderer.mouth.results(calls[:1], self._document())
            else:
                self.spoke = True
                self._say()

    def _join_results(self, count: int) -> None:
        """Where a message holds several, they stand in one."""
        *_, last = self.history
        member = "parts" if "parts" in last else "content"
        if count > 1 and last.get("role") == "user" and isinstance(last.get(member), list):
            entries = self.history[-count:]
            self.history[-count:] = [{**last, member: [part for entry in entries for part in entry[member]]}]

    def _document(self) -> str:
        chance, number = self.dice.random(), self.dice.randint(0, 9)
        if chance < 0.1:
            return _PAGE
        lines = [{"sku": number, "cost": 1}, {"sku": 0}]
        text = orjson.dumps({"status": f"result {number}", "internal": "x" * 60, "lines": lines}).decode()
        return "" if chance < 0.15 else text

    def _time_goes_by(self) -> None:
        assert self.clock is not None
        chance = self.dice.random()
        self.counts["pause"] += chance < 0.12
        self.counts["short pause"] += 0.12 <= chance < 0.2
        self.clock.now += timedelta(minutes=31 if chance < 0.12 else 11 if chance < 0.2 else 0.1)


def _is_notice(entry: Any) -> bool:
    return b"stale" in orjson.dumps(entry) and b"Out of date: call" in orjson.dumps(entry)
