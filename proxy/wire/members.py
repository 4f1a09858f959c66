"""Members that some clients find by any case of their names, and words that may be spelled with escapes.

Parsers of some languages fold case (Go's `encoding/json`, Newtonsoft): a `Tool_calls` beside or in place of
`tool_calls` is a call to them, and nothing to the gate. Providers send no such name, so it breaks the stream (G5).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import re2

if TYPE_CHECKING:
    from collections.abc import Collection

SHORT_BYTES: Final = 16 * 1024
"""Up to here a plain search for a few bytes costs less than to start the engine for patterns."""
_ESCAPE: Final = rb"\u00"  # how each of the escapes below begins
_ESCAPED: Final = re2.compile(rb"\\u00(?:5[fF]|6[0-9a-fA-F]|7[0-9aA])")  # a letter of a word, or its line


def may_mention(body: bytes, *words: bytes) -> bool:
    """Whether one of these words, of small letters and lines, may stand in JSON text, in whatever spelling.

    A body is searched from its end: that finds a word of such a length four times as fast as `in` does.
    """
    for word in words:
        if body.rfind(word) >= 0:
            return True
    if len(body) <= SHORT_BYTES and body.rfind(_ESCAPE) < 0:
        return False
    return _ESCAPED.search(body) is not None


def is_misspelled(members: Collection[str], names: frozenset[str]) -> bool:
    """Whether one of `members` is none of `names` and would be, were case no matter. `names` are in lower case."""
    spelled = "".join(members)
    if spelled.islower() and spelled.isascii():  # no case is folded in any of them
        return False
    return not names.isdisjoint([member.casefold() for member in members if member not in names])
