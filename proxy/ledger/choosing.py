"""Which entry of the ledger a turn gets, where several fit: surely its own, or none. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from proxy.ledger.hidden import Asker, Hidden


def choose(
    newest_first: Iterable[tuple[int, str]], found: Mapping[int, Sequence[Hidden]], asker: Asker
) -> tuple[dict[int, Hidden], int]:
    """The entry of each turn that gets one, by the turn's number, and how many turns fit several and got none.
    `newest_first` are the numbers and marks of all thinking.

    Thinking tells which hidden turns stood before it when it was made, so the newest that can be resolved decides for
    all before it: an equal turn of another branch, or one kept after this one was lost, must not come in there. Where
    no thinking tells, the asker does.
    """
    at = {entry.id: (place, entry) for place in sorted(found) for entry in found[place]}
    chosen: dict[int, Hidden] = {}
    first = ambiguous = 0
    for place, mark in newest_first:
        chain = _chain(mark, place, at)
        if chain is not None:
            chosen = chain
            first = max(place, max(chain, default=-1) + 1)
            break
    mark = chosen[max(chosen)].id if chosen else ""
    for place in sorted(found):
        if place < first:
            continue
        fitting = [entry for entry in found[place] if entry.depends == mark and entry.asked.may_be(asker)]
        entry = _one_of(fitting, asker)
        if entry is not None:
            chosen[place] = entry
            mark = mark if entry.is_own else entry.id
        ambiguous += entry is None and bool(fitting)
    return chosen, ambiguous


def _one_of(fitting: Sequence[Hidden], asker: Asker) -> Hidden | None:
    """The entry that was kept first, so that later ones change nothing: of this conversation, if it has a name; else
    only where all are alike, since another conversation may have begun in the same way."""
    own = [entry for entry in fitting if asker.conversation and entry.asked == asker]
    if own:
        return own[0]
    alike = all((entry.messages, entry.results) == (fitting[0].messages, fitting[0].results) for entry in fitting)
    return fitting[0] if fitting and alike else None


def _chain(mark: str, place: int, at: Mapping[str, tuple[int, Hidden]]) -> dict[int, Hidden] | None:
    """The hidden turns that thinking at `place` with this mark depends on; None where one of them is lost."""
    chain: dict[int, Hidden] = {}
    last = place
    while mark:
        stands, entry = at.get(mark, (len(at) + place + 1, None))
        if entry is None or stands > last or stands in chain:
            return None
        chain[stands] = entry
        last, mark = stands, entry.depends
    return chain
