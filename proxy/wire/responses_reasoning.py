"""Reasoning goes up with what follows it, or not at all: a provider looks for both by their ids (WIRE.md 3.3)."""

from __future__ import annotations

from enum import Enum, auto
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


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
