"""A request's history with the names of its places, and the edits that hold for it, put in."""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from interceptors.compaction import ANSWER
from interceptors.edits import Edit
from proxy.ledger.hidden import root_of
from proxy.ledger.outline import outlined
from proxy.wire.seal import edit_mark
from proxy.wire.transcript import Content, Side

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from proxy.ledger.edits import Decision, ResultEdit, Stretch
    from proxy.ledger.outline import Outline, Step
    from proxy.wire.transcript import HiddenResult, Transcript

_STATE_LENGTH = 24  # hex digits of a digest


@dataclass(frozen=True, slots=True)
class Repair:
    """What a user-side turn lacks or has too much of: results that are put in, and which of its own are taken out. Of
    a turn of the assistant's: the results that stand behind it."""

    added: tuple[HiddenResult, ...] = ()
    order: tuple[str, ...] = ()
    dropped: tuple[bool, ...] = ()  # of each of its results


class View:
    """`turns` are those of the user's and the assistant's side, by whose numbers decisions name them. `places` names
    the place behind each. `outline` is that of the request with its calls, where it is known. `begins` names the
    opening of a history of which this view shows only the end."""

    def __init__(self, transcript: Transcript, outline: Outline | None = None, begins: bytes | None = None) -> None:
        self.transcript = transcript
        self._begins = begins
        self.all_turns = outlined(transcript.turns(), with_calls=True) if outline is None else outline
        self.turns: list[Step] = [turn for turn in self.all_turns if turn.side is not Side.SYSTEM]
        self.places = [turn.after for turn in self.turns]

    @property
    def root(self) -> bytes:
        return root_of(self.transcript.opening()) if self._begins is None else self._begins

    @property
    def newest(self) -> int | None:
        """The number of the last turn where that is the user's side's."""
        return len(self.turns) - 1 if self.turns and self.turns[-1].side is Side.USER else None

    @property
    def unread(self) -> range:
        """The numbers of the turns that no assistant's turn stands behind: one, or more around a system's."""
        said = (number for number in range(len(self.turns) - 1, -1, -1) if self.turns[number].side is Side.ASSISTANT)
        return range(next(said, -1) + 1, len(self.turns))


class Changed(NamedTuple):
    """What stands in the place of the messages from `first` to before `behind`, which are those of the turn `number`;
    and what was edited up to there."""

    number: int
    first: int
    behind: int
    messages: Sequence[bytes]
    state: State
    counts: Mapping[Edit, int]


@dataclass(slots=True)
class Edited:
    """A history as it goes up. `mark` names all edits, for the thinking that will depend on them; it is empty where
    none does. `changes` are those of turns; summaries are not among them."""

    messages: list[bytes] = field(default_factory=list)
    changes: list[Changed] = field(default_factory=list)
    mark: str = ""
    taken_out: int = 0  # thinking blocks
    counts: Counter[Edit] = field(default_factory=Counter)

    @property
    def is_changed(self) -> bool:
        return bool(self.counts or self.taken_out)


class State:
    """The digest of all edits so far, in order; empty where there is none. It differs with how the history begins
    (`first` names the place behind its first turn): the same edits behind another beginning are not what thinking was
    made behind."""

    def __init__(self, first: bytes) -> None:
        self._hash = hashlib.sha256(first)
        self.mark = ""

    def copy(self) -> State:
        """This state, which more edits do not change."""
        other = State(b"")
        other._hash, other.mark = self._hash.copy(), self.mark
        return other

    def add(self, *parts: str) -> None:
        for part in parts:
            data = part.encode(errors="surrogatepass")
            self._hash.update(len(data).to_bytes(8, "big") + data)
        self.mark = edit_mark(self._hash.hexdigest()[:_STATE_LENGTH])


def edited(
    view: View,
    decisions: Mapping[int, Decision],
    repairs: Mapping[int, Repair],
    said: Callable[[str], bytes] | None = None,
    state: State | None = None,
) -> Edited:
    """The history with what was decided at its places, and with its pairs repaired. Thinking that depends on other
    edits than these, and `state` before them, is taken out (WIRE.md 1.7). `said` is what summaries need to speak."""
    summaries = {each.first: each for decision in decisions.values() for each in decision.stretches}
    results = _results(decisions)
    touched = {*results, *repairs, *(number for number, each in decisions.items() if each.notice)}
    found, state = Edited(), State(view.places[0] if view.places else b"") if state is None else state.copy()
    messages = view.transcript.messages
    copied, last = 0, -1  # of the messages, which are taken in runs, and of the turns that are summed up
    for number, turn in enumerate(view.turns):
        if (stretch := summaries.get(number)) is not None and number > last:
            found.messages += [*messages[copied : turn.first], *_summed_up(view, stretch, said, found, state)]
            last, copied = stretch.last, view.turns[stretch.last].last + 1
        is_touched = number in touched or (turn.side is Side.ASSISTANT and turn.marks)
        if number <= last or not is_touched:
            continue
        if turn.side is Side.ASSISTANT:
            raw, is_same = _opened(view.transcript, messages[turn.first : turn.last + 1], state.mark, found)
            if (behind := repairs.get(number)) is not None:
                raw += _repaired(view, None, [], behind, found, state)
            elif is_same:
                continue
        else:
            raw = list(messages[turn.first : turn.last + 1])
            raw = _with_results(view, number, raw, results.get(number, {}), found, state)
            raw = _noticed(view, number, raw, decisions.get(number), found, state)
            raw = _repaired(view, number, raw, repairs.get(number), found, state)
        found.messages += messages[copied : turn.first]
        found.messages += raw
        copied = turn.last + 1
        found.changes.append(Changed(number, turn.first, copied, raw, state.copy(), Counter(found.counts)))
    found.messages += messages[copied:]
    found.mark = state.mark if view.transcript.is_bound else ""
    return found


def _summed_up(
    view: View, stretch: Stretch, said: Callable[[str], bytes] | None, found: Edited, state: State
) -> list[bytes]:
    """Turns of both sides, since those before and behind are of both, too; what the system says in between stays."""
    assert said is not None, "who has summaries can say them"
    found.counts[Edit.COMPACTED] += 1
    state.add(Edit.COMPACTED.value, stretch.text)
    first, last = view.turns[stretch.first].first, view.turns[stretch.last].last
    between = [turn for turn in view.all_turns if turn.side is Side.SYSTEM and first < turn.first < last]
    kept = [message for turn in between for message in view.transcript.messages[turn.first : turn.last + 1]]
    return [view.transcript.reminder(stretch.text), said(ANSWER), *kept]


def _results(decisions: Mapping[int, Decision]) -> dict[int, dict[str, ResultEdit]]:
    """By turn and call; what was decided later holds."""
    found: dict[int, dict[str, ResultEdit]] = {}
    for number in sorted(decisions):
        for each in decisions[number].results:
            if each.turn <= number:
                found.setdefault(each.turn, {})[each.call] = each
    return found


def _with_results(
    view: View, number: int, raw: list[bytes], edits: Mapping[str, ResultEdit], found: Edited, state: State
) -> list[bytes]:
    wanted = [edits.get(result.call) for result in view.turns[number].results]
    if not any(wanted):
        return raw
    for each in wanted:
        if each is not None:
            found.counts[Edit(each.why)] += 1
            state.add(each.why, each.call, *each.texts)
    contents = [
        None if each is None else Content(each.texts, each.is_error, keeps_other=each.keeps_other) for each in wanted
    ]
    return view.transcript.with_contents(raw, contents)


def _noticed(
    view: View, number: int, raw: list[bytes], decision: Decision | None, found: Edited, state: State
) -> list[bytes]:
    """The notice stands before what the result says, as one text with it: no dialect is without that."""
    if decision is None or not decision.notice:
        return raw
    found.counts[Edit.NOTICE] += 1
    state.add(Edit.NOTICE.value, decision.notice)
    if not decision.noticed:
        return [*raw, view.transcript.reminder(decision.notice)]
    held = zip(view.turns[number].results, view.transcript.contents(raw), strict=True)
    news = [_behind(decision.notice, said) if result.call == decision.noticed else None for result, said in held]
    return view.transcript.with_contents(raw, news)


def _behind(notice: str, said: Content) -> Content:
    first = f"{notice}\n{said.texts[0]}" if said.texts else notice
    return Content((first, *said.texts[1:]), said.is_error)


def _repaired(
    view: View, number: int | None, raw: list[bytes], repair: Repair | None, found: Edited, state: State
) -> list[bytes]:
    """`number` is None for a turn that the client left out, behind one of the assistant's."""
    if repair is None:
        return raw
    if number is not None and any(repair.dropped):
        found.counts[Edit.ORPHAN] += sum(repair.dropped)
        state.add(Edit.ORPHAN.value, *map(str, repair.dropped))
        raw = view.transcript.without_results(raw, repair.dropped)
    if repair.added:
        found.counts[Edit.UNANSWERED] += len(repair.added)
        state.add(Edit.UNANSWERED.value, *(each.call for each in repair.added))
        raw = view.transcript.with_results(raw, repair.added, repair.order)
    return raw


def _opened(transcript: Transcript, raw: Sequence[bytes], mark: str, found: Edited) -> tuple[list[bytes], bool]:
    """The messages of an assistant turn, and whether they are the same."""
    messages = []
    is_same = True
    for message in raw:
        opened, removed = transcript.opened(message, mark)
        found.taken_out += removed
        is_same = is_same and opened is message
        messages.append(opened)
    return messages, is_same
