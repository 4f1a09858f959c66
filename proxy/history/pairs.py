"""Calls without a result and results without a call, which no provider takes: found, and mended or refused.

Mending depends on the history alone, so that the same history gives the same bytes; it is remembered beside, so that
a later policy finds what went up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interceptors.result_errors import missing
from policies.model import ToolEffect
from proxy.history.view import Repair
from proxy.ledger.edits import PairEdit, ResultAdded
from proxy.wire import envelope
from proxy.wire.positional import is_positional
from proxy.wire.standing import pointed
from proxy.wire.transcript import HiddenResult, Side

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from policies.model import Policy
    from proxy.history.view import View
    from proxy.ledger.edits import Decision
    from proxy.wire.transcript import CallSeen


class BrokenPairsError(envelope.EnvelopeError):
    """The request holds a call without a result, or a result without a call, and that is not mended."""

    reason = "broken_pairs"


@dataclass(frozen=True, slots=True)
class Broken:
    """What is wrong with the pairs of a history, by the numbers of its turns: calls that lack a result, and which
    results of a turn answer no call."""

    unanswered: Mapping[int, tuple[CallSeen, ...]]
    orphans: Mapping[int, tuple[bool, ...]]

    def __bool__(self) -> bool:
        return bool(self.unanswered or self.orphans)

    def is_mended(self, known: Mapping[int, PairEdit]) -> bool:
        """Whether all of it was mended before."""
        return self.orphans.keys() <= known.keys() and all(
            said in known or said + 1 in known for said in self.unanswered
        )


def broken(view: View) -> Broken:
    """Every result answers one call of the turn before it, or of any before it where the dialect wants no more. Where
    calls may stand elsewhere, any result may have one."""
    open_calls: list[tuple[int, CallSeen]] = []
    orphans: dict[int, tuple[bool, ...]] = {}
    lost: dict[int, list[CallSeen]] = {}
    is_adjacent = view.transcript.is_adjacent
    for number, turn in enumerate(view.turns):
        if turn.side is Side.ASSISTANT:
            open_calls += [(number, call) for call in turn.calls if is_adjacent or call.wants_result]
            continue
        dropped = []
        for result in turn.results:
            found = next((each for each in open_calls if _answers(result.call, each[1])), None)
            if found is not None:
                open_calls.remove(found)
            dropped.append(found is None and not _may_answer(view, result.call))
        if any(dropped):
            orphans[number] = tuple(dropped)
        if is_adjacent:
            for said, call in open_calls:
                lost.setdefault(said, []).append(call)
            open_calls = []
    for said, call in open_calls:
        lost.setdefault(said, []).append(call)
    return Broken({said: tuple(calls) for said, calls in lost.items()}, orphans)


def mended(view: View, found: Broken, policy: Policy, known: Mapping[int, PairEdit]) -> tuple[PairEdit, ...]:
    """What must be done to the history beside what is known of it."""
    edits = {number: PairEdit(number, dropped=dropped) for number, dropped in found.orphans.items()}
    for said, calls in found.unanswered.items():
        if said == len(view.turns) - 1:
            continue
        behind = said + 1 if view.turns[said + 1].side is Side.USER else said
        order = tuple(name_of(call) for call in view.turns[said].calls)
        dropped = edits[behind].dropped if behind in edits else ()
        edits[behind] = PairEdit(behind, tuple(_added(policy, call) for call in calls), order, dropped)
    return tuple(edit for number, edit in sorted(edits.items()) if number not in known)


def refuse_broken(view: View, *, at_end: bool = False) -> None:
    """Raises `BrokenPairsError`, which names the first place where a pair is broken. `at_end`: only where the last turn
    is one of calls without results, since the client alone can tell that the model shall go on without them."""
    found = broken(view)
    first = min([*found.unanswered, *found.orphans], default=None)
    last = len(view.turns) - 1
    if at_end:
        first = last if last in found.unanswered else None
    if first is None:
        return
    if first in found.unanswered:
        end = ", and nothing follows it" if first == last else ""
        raise BrokenPairsError(f"{_call_at(view, first, found.unanswered[first][0])} has no result{end}")
    turn = view.turns[first]
    result = turn.results[found.orphans[first].index(True)]
    place = _place(view, first, result.stated if result.stated is not None else result.call)
    raise BrokenPairsError(f"{place}: the result of {_spelled(result.call, result.stated)} answers no call before it")


def known_pairs(decisions: Iterable[Decision]) -> dict[int, PairEdit]:
    """What was decided about pairs, by turn; what was decided first holds."""
    found: dict[int, PairEdit] = {}
    for decision in decisions:
        for edit in decision.pairs:
            found.setdefault(edit.turn, edit)
    return found


def repairs(edits: Iterable[PairEdit]) -> dict[int, Repair]:
    return {edit.turn: Repair(tuple(_result(each) for each in edit.added), edit.order, edit.dropped) for edit in edits}


def name_of(call: CallSeen) -> str:
    """By what its result names it: old clients have no id and name the tool alone."""
    return call.id or call.name


def _answers(result: str, call: CallSeen) -> bool:
    return result == name_of(call)


def _may_answer(view: View, result: str) -> bool:
    """Whether a result may answer a call that does not stand here as one: the provider keeps it, or the request names
    its item alone."""
    if view.transcript.is_continued:
        return True
    if view.transcript.is_adjacent:
        return False
    return any(_names_item(message) for message in view.transcript.messages) or any(
        result == call.id for turn in view.turns for call in turn.calls if not call.wants_result
    )


def _names_item(message: bytes) -> bool:
    return b"item_reference" in message


def _added(policy: Policy, call: CallSeen) -> ResultAdded:
    tool = policy.tool(call.name)
    text = missing(is_write=tool is None or tool.effect is ToolEffect.WRITE)
    name = call.name.rpartition("/")[2] if call.toolset else call.name
    return ResultAdded(name_of(call), name, call.kind, text, call.toolset, call.provider_id)


def _result(each: ResultAdded) -> HiddenResult:
    return HiddenResult(each.call, each.name, each.kind, each.content, each.toolset, each.provider_id)


def _call_at(view: View, number: int, call: CallSeen) -> str:
    return f"{_place(view, number, name_of(call), call.name)}: the call {_spelled(name_of(call), call.name)}"


def _spelled(identifier: str, name: str | None) -> str:
    """A call without an id of its own is named by its tool."""
    return repr(name) if is_positional(identifier) and name is not None else repr(identifier)


def _place(view: View, number: int, *names: str) -> str:
    """The message of the client's that holds the call or result, by its place in the request, counted from 0."""
    turn, messages = view.turns[number], view.transcript.messages
    held = range(turn.first, turn.last + 1)
    wanted = [envelope.encode(name) for name in names if name]
    found = next(_holding(messages, held, wanted), turn.first)
    return f"message {found - sum(pointed(message) is not None for message in messages[:1])}"


def _holding(messages: Sequence[bytes], places: Iterable[int], wanted: Sequence[bytes]) -> Iterator[int]:
    for each in wanted:
        yield from (place for place in places if each in messages[place])
