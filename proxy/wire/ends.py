"""The two ends of a history that is a list of messages, found without reading what lies between.

A dialect says which messages are the assistant's, and how some of them are read as turns.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proxy.wire.transcript import SideTurn

    Said = Callable[[bytes], bool]
    TurnsOf = Callable[[Sequence[bytes], int], list[SideTurn]]


def opening_of(messages: Sequence[bytes], is_said: Said, turns_of: TurnsOf) -> SideTurn | None:
    """The first turn of the user's side, where it stands before all of the assistant's."""
    last = 0
    while last < len(messages) and not is_said(messages[last]):
        last += 1
    return next((turn for turn in turns_of(messages[:last], 0) if turn.side is Side.USER), None)


def newest_of(messages: Sequence[bytes], is_said: Said, turns_of: TurnsOf) -> tuple[SideTurn | None, SideTurn | None]:
    """The last turn of the assistant's, and that of the user's side behind it."""
    behind = len(messages)
    while behind and not is_said(messages[behind - 1]):
        behind -= 1
    first = behind
    while first and is_said(messages[first - 1]):
        first -= 1
    turns = turns_of(messages[first:], first)
    said = next((turn for turn in turns if turn.side is Side.ASSISTANT), None)
    return said, next((turn for turn in reversed(turns) if turn.side is Side.USER), None)
