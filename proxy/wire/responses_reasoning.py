"""Reasoning goes up with what follows it, or not at all: a provider looks for both by their ids (WIRE.md 3.3)."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING, Final

from proxy.wire import envelope
from proxy.wire.responses_history import mark_of
from proxy.wire.responses_items import is_reply
from proxy.wire.responses_references import came, read, shown, type_of
from proxy.wire.responses_types import (
    CUSTOM,
    FUNCTION,
    MESSAGE,
    PATCH,
    REASONING,
    REFERENCE,
    SEARCH,
    SHELL,
)
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.transcript import SideTurn


class Stand(Enum):
    """What an item is to the reasoning before it."""

    REASONING = auto()
    REPLY = auto()  # of ours, in the place of a call
    OWN = auto()  # the model's or the provider's own
    OTHER = auto()  # of another side


def orphans(stands: Sequence[Stand]) -> set[int]:
    """The places of reasoning before replies alone: what it was written for is gone.

    It is kept where an item of the provider's own follows it in its turn, before other reasoning.
    """
    found: set[int] = set()
    waiting: list[int] = []
    replied = False
    for place, stand in enumerate([*stands, Stand.OTHER]):
        if stand is Stand.REPLY:
            replied = True
            continue
        if replied and stand is not Stand.OWN:
            found |= set(waiting)
        if stand is not Stand.REASONING or replied:
            waiting = []
        if stand is Stand.REASONING:
            waiting.append(place)
        replied = False
    return found


def trailing(messages: Sequence[bytes], turns: Sequence[SideTurn]) -> Collection[bytes]:
    """Reasoning at the end of a turn with calls: the call that it was written for was hidden, and is lost. Where the
    token limit cut it, it says so."""
    said = [turn for turn in turns if turn.side is Side.ASSISTANT and turn.calls and turn.marks]
    ends = [messages[turn.last] for turn in said if b'"reasoning"' in messages[turn.last]]
    items = [(end, read(end)) for end in ends]
    return {end for end, item in items if type_of(item) == REASONING and item.get("status") != "incomplete"}


def marks(messages: Sequence[bytes], turns: Sequence[SideTurn]) -> Mapping[bytes, frozenset[str]]:
    """Of each item of the model's the hidden turns that its turn tells of; of turns that tell of none, nothing."""
    said = [turn for turn in turns if turn.side is Side.ASSISTANT and any(turn.marks)]
    return {
        message: frozenset(filter(None, turn.marks))
        for turn in said
        for message in messages[turn.first : turn.last + 1]
    }


_NAMELESS: Final = frozenset({MESSAGE, FUNCTION, CUSTOM, SHELL, PATCH, SEARCH})
"""Items that the provider takes without an id, and then misses no reasoning before."""


def bare(message: bytes) -> tuple[bytes, int]:
    """An item of a turn whose hidden part is lost, as it may go up, and how much reasoning that takes out.

    What the reasoning was written for may be what is lost, so that none of it stays; and what stays must not ask for
    it by its id.
    """
    item = read(message)
    kind = type_of(item)
    if kind == REASONING or (kind == REFERENCE and (is_reply(item) or str(item.get("id")).startswith("rs_"))):
        return b"", 1
    if kind in _NAMELESS and "id" in item:
        return envelope.edited(shown(message), id=envelope.REMOVED), 0
    mark, original = mark_of(str(item.get("id")))
    return (envelope.edited(came(message), id=original), 0) if mark else (message, 0)
