"""The calls of a history with what came back for them, and when."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from interceptors.edits import Edit
from interceptors.freshness import Done, Since
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from proxy.history.view import View
    from proxy.ledger.edits import Decision
    from proxy.wire.transcript import CallSeen


def call_of(view: View, number: int, identifier: str) -> CallSeen | None:
    """The call that a result in this turn answers. Old clients name the tool alone."""
    found = _asked(view, number, identifier)
    return None if found is None else found[1]


def _asked(view: View, number: int, identifier: str) -> tuple[int, CallSeen] | None:
    """With the number of its turn: the assistant's last one before the result, or any where the dialect pairs so."""
    for said in range(number - 1, -1, -1):
        turn = view.turns[said]
        if turn.side is not Side.ASSISTANT:
            continue
        call = next((each for each in turn.calls if identifier in (each.id, "" if each.id else each.name)), None)
        if call is not None:
            return said, call
        if view.transcript.is_adjacent:
            break
    return None


def done(view: View, decisions: Mapping[int, Decision], answered: Collection[str]) -> list[Done]:
    """Every call with a result, in the order of the history, but for those that the gate itself answered."""
    found: list[Done] = []
    for number, turn in enumerate(view.turns):
        decision = decisions.get(number)
        at = None if decision is None else datetime.fromtimestamp(decision.at, UTC)
        for result in turn.results:
            asked = _asked(view, number, result.call)
            if asked is not None and result.call not in answered:
                said, call = asked
                found.append(Done(result.call, call.name, call.arguments, said, number, at))
    return found


def since(decisions: Mapping[int, Decision], now: datetime) -> Since:
    """How long nothing went up: since the newest decision, which every request leaves that brings something."""
    last = max((decision.at for decision in decisions.values()), default=None)
    return Since(now, None if last is None else now - datetime.fromtimestamp(last, UTC))


@dataclass(frozen=True, slots=True)
class Known:
    """What the model has heard of: results that were replaced, and those that a notice named."""

    replaced: frozenset[tuple[int, str]]
    told: frozenset[tuple[int, str]]

    @classmethod
    def of(cls, decisions: Mapping[int, Decision]) -> Known:
        stale = {
            (each.turn, each.call)
            for decision in decisions.values()
            for each in decision.results
            if each.why == Edit.STALE.value
        }
        told = {pair for decision in decisions.values() for pair in decision.told}
        return cls(frozenset(stale), frozenset(told))


def last_text(view: View) -> int:
    """The number of the newest turn that is a user's own, without results; -1 for none."""
    numbers = range(len(view.turns) - 1, -1, -1)
    return next((n for n in numbers if view.turns[n].side is Side.USER and not view.turns[n].results), -1)
