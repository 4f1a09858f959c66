"""Results that went up before behind another beginning: clients leave the oldest messages out, or sum them up.

Then no place is known, but a result may be: it was read when it first went up, and goes up as it did then.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from msgspec.structs import replace

from interceptors import strict_json
from proxy.history.calls import call_of
from proxy.ledger.edits import Decision
from proxy.wire.positional import is_positional

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from interceptors.calls import Json
    from proxy.history.view import View


def recognized(
    view: View, numbers: Iterable[int], recall: Callable[[Iterable[bytes]], Mapping[bytes, Decision]]
) -> dict[int, Decision]:
    """What was decided of the results of these turns, where all of a turn's are known."""
    names = {number: _names(view, number) for number in numbers if view.turns[number].results}
    known = recall({name for each in names.values() for name in each}) if names else {}
    return {
        number: Decision(
            min(known[name].at for name in own),
            tuple(replace(edit, turn=number, call=call) for name, call in own.items() for edit in known[name].results),
        )
        for number, own in names.items()
        if own and own.keys() <= known.keys()
    }


def named(view: View, decisions: Mapping[int, Decision]) -> dict[bytes, Decision]:
    """What was decided of each result when its turn first went up, by the result's name."""
    found: dict[bytes, Decision] = {}
    for number, decision in decisions.items():
        if view.turns[number].results:
            own = {edit.call: edit for edit in decision.results if edit.turn == number}
            for name, call in _names(view, number).items():
                found[name] = Decision(decision.at, (own[call],) if call in own else ())
    return found


def _names(view: View, number: int) -> dict[bytes, str]:
    """The call of each result of a turn, by what names the result: its call, and what it says."""
    turn = view.turns[number]
    contents = view.transcript.contents(view.transcript.messages[turn.first : turn.last + 1])
    found: dict[bytes, str] = {}
    for result, content in zip(turn.results, contents, strict=True):
        call = call_of(view, number, result.call)
        if call is not None:
            own = "" if is_positional(call.id) else call.id
            said: Json = [own, call.name, call.digest, list(content.texts), content.other_bytes]
            found[hashlib.sha256(strict_json.canonical(said)).digest()] = result.call
    return found
