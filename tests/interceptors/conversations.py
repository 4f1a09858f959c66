"""Histories by hand: what was said, called and answered, one entry a turn unless it is told otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.history import Author, Entry, History, PastCall, PastResult, Said
from interceptors.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from interceptors.calls import Json


def user(text: str, turn: int = -1, *, beside_results: bool = False) -> Said:
    return Said(Author.USER, text, turn, beside_results)


def assistant(text: str) -> Said:
    return Said(Author.ASSISTANT, text, -1)


def system(text: str) -> Said:
    return Said(Author.SYSTEM, text, -1)


def call(
    tool: str,
    name: str = "c1",
    released: str = "rc_1",
    *,
    arguments: dict[str, Json] | None = None,
    reason: str = "",
) -> PastCall:
    return PastCall(name, tool, arguments or {}, "", -1, released, reason)


def result(content: str, name: str = "c1", *, is_error: bool = False) -> PastResult:
    """Of content that is JSON, or a text."""
    value: Json
    try:
        value = parse(content)
    except StrictJsonError:
        value = content
    return PastResult(name, value, is_error, -1)


def history(*entries: Entry) -> History:
    """Each entry is a turn of its own, but one that names its turn."""
    placed = [
        type(entry)(**{name: getattr(entry, name) for name in entry.__dataclass_fields__} | {"turn": turn})
        if entry.turn < 0
        else entry
        for turn, entry in enumerate(entries)
    ]
    return History(tuple(placed), calls={entry.id: entry for entry in placed if isinstance(entry, PastCall)})
