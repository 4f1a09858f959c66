"""Members that some clients find by any case of their names.

Parsers of some languages fold case (Go's `encoding/json`, Newtonsoft): a `Tool_calls` beside or in place of
`tool_calls` is a call to them, and nothing to the gate. Providers send no such name, so it breaks the stream (G5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def is_misspelled(members: Iterable[str], names: frozenset[str]) -> bool:
    """Whether one of `members` is none of `names` and would be, were case no matter. `names` are in lower case."""
    return not names.issuperset(members) and any(
        member not in names and member.casefold() in names for member in members
    )
