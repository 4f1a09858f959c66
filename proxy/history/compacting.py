"""Whether a request has more tokens than its policy wants, and which of its closed matters become summaries then.

Only where the newest turn is a user's text, and only once: what is decided is remembered as every edit. What was summed
up before keeps its bytes; a later decision takes the matters behind it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interceptors.compaction import ANSWER
from proxy.history.matters import Known, case_of, is_text, stretches
from proxy.released import matching
from proxy.wire.transcript import Side, part_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from proxy.history.lifting import Request
    from proxy.history.view import View
    from proxy.ledger.edits import Decision, Stretch
    from proxy.ledger.notes import Note
    from proxy.store import ReleasedCall
    from proxy.wire.dialect import Dialect
    from proxy.wire.transcript import CallSeen, SideTurn


@dataclass(frozen=True, slots=True)
class Open:
    """What may be summed up of a history: the turns from `first` on, with what they say. `clients` are the calls as the
    client holds them, by id, where the gate put arguments into some."""

    view: View
    first: int
    said: Sequence[SideTurn]
    notes: Mapping[int, Sequence[Note]]
    clients: Mapping[str, Sequence[CallSeen]]

    @property
    def calls(self) -> list[str]:
        return [call.id for turn in self.view.turns for call in turn.calls if call.id]

    @property
    def cases(self) -> list[str]:
        """Those that anything in it names."""
        told = [case_of(result.value) for turn in self.said for result in turn.results]
        noted = [note.case for notes in self.notes.values() for note in notes]
        return [case for case in dict.fromkeys([*told, *noted]) if case]


@dataclass(frozen=True, slots=True)
class Overlong:
    """A request with more tokens than its policy wants. What is decided of it so far is `own` of its newest turn, and
    `before` of earlier ones."""

    request: Request
    of: Open
    own: Decision
    before: Mapping[int, Decision]
    tokens: int


@dataclass(frozen=True, slots=True)
class Accounts:
    """What the receipts say: released calls by id, and what became of cases."""

    rows: Mapping[str, Sequence[ReleasedCall]]
    cases: Mapping[str, str]


def covered(decisions: Iterable[Decision]) -> int:
    """The last turn that is summed up already; -1 for none."""
    return max((each.last for decision in decisions for each in decision.stretches), default=-1)


def beginning(view: View, newest: int, decisions: Iterable[Decision]) -> int | None:
    """The first turn that may be summed up; None where there is none."""
    if view.transcript.is_continued or not is_text(view, newest):
        return None
    texts = (number for number in range(covered(decisions) + 1, newest) if is_text(view, number))
    return next(texts, None)


def said_in(dialect: Dialect, view: View, first: int, newest: int) -> list[SideTurn] | None:
    """The turns from `first` up to the newest with all that they say; None where they do not come out as before."""
    messages = view.transcript.messages[view.turns[first].first : view.turns[newest].first]
    turns = [
        turn for turn in dialect.continuation.transcript(part_of(messages)).turns() if turn.side is not Side.SYSTEM
    ]
    same = [(turn.side, len(turn.calls), len(turn.results)) for turn in view.turns[first:newest]]
    return turns if [(turn.side, len(turn.calls), len(turn.results)) for turn in turns] == same else None


def clients_calls(dialect: Dialect, client_body: bytes, body: bytes) -> dict[str, list[CallSeen]]:
    found: dict[str, list[CallSeen]] = {}
    if client_body and client_body is not body:
        for turn in dialect.continuation.transcript(client_body).turns():
            for call in turn.calls:
                found.setdefault(call.id, []).append(call)
    return found


def summed_up(request: Request, of: Open, found: Accounts) -> tuple[Stretch, ...]:
    """The matters that become summaries from here on: those that are shorter so."""
    newest, asker, said = request.view.newest, request.subject.asker, request.dialect.continuation.said
    assert newest is not None, "it ends with a user's text"
    known = Known(
        request.policy,
        request.now,
        request.before,
        request.subject.answered,
        _rows(of, found.rows, asker.subject),
        of.notes,
        found.cases,
        is_anybody=not asker.subject and not asker.conversation,
    )
    return tuple(
        each
        for each in stretches(of.view, of.said, of.first, newest, known)
        if _size((of.view.transcript.reminder(each.text), said(ANSWER))) < _size(_messages(of.view, each))
    )


def _messages(view: View, stretch: Stretch) -> Sequence[bytes]:
    return view.transcript.messages[view.turns[stretch.first].first : view.turns[stretch.last].last + 1]


def _size(messages: Iterable[bytes]) -> int:
    return sum(map(len, messages))


def _rows(of: Open, rows: Mapping[str, Sequence[ReleasedCall]], subject: str) -> dict[tuple[int, int], ReleasedCall]:
    """The released call of each call in the history. Equal ones are told apart by their order, the newest first: what
    other conversations released under the same name is older than what this one did."""
    found: dict[tuple[int, int], ReleasedCall] = {}
    taken: set[str] = set()
    for number in range(len(of.view.turns) - 1, -1, -1):
        calls = of.view.turns[number].calls
        for place in range(len(calls) - 1, -1, -1):
            call = calls[place]
            spelled = [call, *of.clients.get(call.id, ())]
            own = [row for row in rows.get(call.id, ()) if row.subject == subject]
            fitting = (matching(own, each, but=taken) for each in spelled)
            row = next((each for each in fitting if each is not None), None)
            if row is not None:
                found[number, place] = row
                taken.add(row.receipt)
    return found
