"""What a policy says of the text of a turn, where it is more than text."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Structured:
    """Answers that are asked for in the form of one schema are calls of `tool` (its folded name)."""

    tool: str


class TextCalls(Enum):
    """What happens to a text that is written in the shape of a call. It is receipted in any case."""

    PASS = "pass"  # noqa: S105 - a word of the policy language
    FORBID = "forbid"  # the turn's text waits, and a reply takes its place
