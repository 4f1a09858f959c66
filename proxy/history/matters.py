"""The closed matters of a history: stretches from a user's text to the end of the loop in which something was settled.

A matter is closed where a released write in it was executed, or where a tool was called that says so (`closes_topic`).
One of which anything is not known stays as it is: a write without a receipt, a pair that is open, a turn in whose
answer a refusal may not have been noted. What follows it begins anew.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from operator import itemgetter
from typing import TYPE_CHECKING

from interceptors.compaction import Asked, Denied, Written, own_words, summary
from interceptors.history import PastResult
from interceptors.kinds import MoneyState
from interceptors.redaction import redacted
from interceptors.settlement import state_of
from policies.model import ToolEffect
from proxy.history.pairs import name_of
from proxy.ledger.edits import Stretch
from proxy.stakes import stake
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from interceptors.calls import Json
    from interceptors.compaction import Event
    from policies.model import Policy
    from proxy.history.view import View
    from proxy.ledger.edits import Decision
    from proxy.ledger.notes import Note
    from proxy.store import ReleasedCall
    from proxy.wire.transcript import CallSeen, ResultSeen, SideTurn


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of a history beside its messages. `rows` are the released calls, by turn and place in it; `cases`
    what became of cases; `answered` the calls whose results are the gate's own; `is_anybody`: neither a customer nor a
    conversation is named, so that what others were refused at the same place may be among the notes."""

    policy: Policy
    now: datetime
    decisions: Mapping[int, Decision]
    answered: Collection[str]
    rows: Mapping[tuple[int, int], ReleasedCall]
    notes: Mapping[int, Sequence[Note]]
    cases: Mapping[str, str]
    is_anybody: bool


@dataclass(slots=True)
class Matter:
    """What was read of one so far, from the turn `first` on. `is_known`: nothing of it would be lost."""

    first: int
    asked: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    open_calls: Counter[str] = field(default_factory=Counter)
    is_known: bool = True
    is_closed: bool = False
    receipts: set[str] = field(default_factory=set)

    def add(self, event: Event) -> None:
        """A refusal that the model heard may be noted, too."""
        if isinstance(event, Written) or event.receipt not in self.receipts:
            self.events.append(event)
        self.receipts.add(event.receipt)

    def answer(self, call: str) -> None:
        """A result has come."""
        self.is_known = self.is_known and call in self.open_calls
        self.open_calls[call] -= 1
        if self.open_calls[call] <= 0:
            del self.open_calls[call]


def stretches(view: View, said: Sequence[SideTurn], first: int, newest: int, known: Known) -> Iterator[Stretch]:
    """The closed matters from the turn `first`, which is a user's text, up to the turn `newest`; `said` are these turns
    with what they say."""
    reading = _Reading(view, said, first, known)
    begins = [number for number in range(first, newest + 1) if is_text(view, number)]
    matter = _begun(view, first)
    for begin, end in pairwise(begins):
        for number in range(begin, end):
            reading.read(matter, number)
        if not matter.is_known or (matter.open_calls and view.transcript.is_adjacent):
            matter = _begun(view, end)
        elif matter.is_closed and not matter.open_calls:
            yield Stretch(matter.first, end - 1, summary(matter.asked, matter.events))
            matter = _begun(view, end)


def _begun(view: View, number: int) -> Matter:
    """The matter that a text begins. One behind a call without a result holds what was made up for it, and stays."""
    calls = view.turns[number - 1].calls if number else ()
    return Matter(number, is_known=not any(view.transcript.is_adjacent or call.wants_result for call in calls))


def is_text(view: View, number: int) -> bool:
    """Whether a turn is a user's own text, behind which a loop begins."""
    turn = view.turns[number]
    return turn.side is Side.USER and not turn.results


class _Reading:
    def __init__(self, view: View, said: Sequence[SideTurn], first: int, known: Known) -> None:
        self._view, self._said, self._first, self._known = view, said, first, known
        self._loops = list(accumulate(is_text(view, number) for number in range(len(view.turns))))
        self._results: dict[str, list[tuple[int, ResultSeen]]] = {}  # with the numbers of their turns
        for number, (named, seen) in enumerate(zip(view.turns[first:], said, strict=False), first):
            for one, result in zip(named.results, seen.results, strict=True):
                self._results.setdefault(one.call, []).append((number, result))

    def read(self, matter: Matter, number: int) -> None:
        turn = self._view.turns[number]
        if turn.side is Side.ASSISTANT:
            for place, call in enumerate(turn.calls):
                self._call(matter, number, place, call)
            return
        for result in turn.results:
            matter.answer(result.call)
        if not turn.results:
            matter.asked.append(own_words(self._said[number - self._first].texts, self._known.policy.not_user))
        self._refused(matter, number)

    def _call(self, matter: Matter, number: int, place: int, call: CallSeen) -> None:
        policy = self._known.policy
        if self._view.transcript.is_adjacent or call.wants_result:
            matter.open_calls[name_of(call)] += 1
        result = self._result(number, call)
        if name_of(call) in self._known.answered:
            self._denied(matter, call, result)
            return
        tool = policy.tool(call.name) or policy.unknown_tool
        row = self._known.rows.get((number, place))
        if row is None:
            matter.is_known = matter.is_known and tool.effect is ToolEffect.READ
            return
        if result is not None and tool.upkeep.closes_topic:
            matter.is_closed = True
        if tool.effect is ToolEffect.WRITE:
            state = self._state(row, number, call, result)
            matter.is_closed = matter.is_closed or state is MoneyState.EXECUTED
            matter.add(Written(_as_stored(policy, call), state, row.receipt))

    def _state(self, row: ReleasedCall, number: int, call: CallSeen, result: ResultSeen | None) -> MoneyState:
        """As it is kept; what is written behind may not be there yet, and is read from the result itself."""
        known = self._known
        if row.state is not None and (row.state.is_final or row.reservation is not None):
            return row.state
        if result is None:
            return MoneyState.UNKNOWN
        tool = known.policy.tool(call.name) or known.policy.unknown_tool
        past = PastResult(result.call, result.value, result.is_error, number, is_new=False)
        return state_of(known.policy, tool, past, known.now)

    def _result(self, number: int, call: CallSeen) -> ResultSeen | None:
        """What came back for a call, with its value, up to the next text of the user's."""
        came = self._results.get(name_of(call), [])
        place = bisect_right(came, number, key=itemgetter(0))
        if place == len(came) or self._loops[came[place][0]] != self._loops[number]:
            return None
        return came[place][1]

    def _denied(self, matter: Matter, call: CallSeen, result: ResultSeen | None) -> None:
        """A refusal that the model heard: its result is the gate's own."""
        told = result.value if result is not None and isinstance(result.value, dict) else {}
        policy = self._known.policy
        case = _text(told, "escalation")
        said = Denied(
            _as_stored(policy, call),
            _text(told, "reason"),
            _text(told, "receipt"),
            case,
            self._known.cases.get(case, ""),
        )
        matter.is_known = matter.is_known and bool(said.receipt and said.reason)
        matter.add(said)

    def _refused(self, matter: Matter, number: int) -> None:
        """What was refused in the answer to this turn, where a text of the gate's stands in the call's place."""
        turns, known = self._view.turns, self._known
        results = turns[number].results
        is_gates_own = bool(results) and all(one.call in known.answered for one in results)
        is_answered = number + 1 < len(turns) and turns[number + 1].side is Side.ASSISTANT
        if is_gates_own or not is_answered:
            return
        decision = known.decisions.get(number)
        if decision is None or not decision.notes:
            matter.is_known = False
            return
        shown = self._shown(number)
        notes = [note for note in known.notes.get(number, ()) if _bare(note.reply) and _bare(note.reply) in shown]
        if known.is_anybody and len({note.exchange for note in notes}) > 1:
            matter.is_known = False
            return
        for each in notes:
            status = known.cases.get(each.case, "")
            call = Asked(each.tool, each.things, each.amount)
            matter.add(Denied(call, each.reason, each.receipt, each.case, status))

    def _shown(self, number: int) -> str:
        """The texts of the answer to a turn, which goes on behind what the gate answered itself."""
        texts: list[str] = []
        for later in range(number + 1, self._first + len(self._said)):
            turn = self._view.turns[later]
            if turn.side is Side.USER and not (
                turn.results and all(one.call in self._known.answered for one in turn.results)
            ):
                break
            if turn.side is Side.ASSISTANT:
                texts += self._said[later - self._first].texts
        return _bare("".join(texts))


def asked(policy: Policy, name: str, arguments: Json) -> Asked:
    """A call, by its arguments as a receipt holds them: what is bounded by the policy, and no free text."""
    tool, money = policy.tool(name), stake(policy, name, arguments)
    if tool is None:
        return Asked("")
    given = arguments if isinstance(arguments, dict) else {}
    bounded = {key for key, one in (tool.arguments or {}).items() if one.pattern is not None or one.one_of}
    things = tuple((key, value) for key, value in given.items() if key in bounded and isinstance(value, str))
    return Asked(tool.name, things, "" if money is None else f"{money.amount} {money.currency}")


def _as_stored(policy: Policy, call: CallSeen) -> Asked:
    tool = policy.tool(call.name)
    return asked(policy, call.name, redacted(None if tool is None else tool.arguments, call.arguments or {}))


def case_of(value: Json) -> str:
    """The case that a result of the gate's own names."""
    return _text(value, "escalation") if isinstance(value, dict) else ""


def _text(told: Mapping[str, Json], key: str) -> str:
    value = told.get(key)
    return value if isinstance(value, str) else ""


def _bare(text: str) -> str:
    return "".join(text.split())
