"""The form of the reference: one table for each object of the language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import re2

if TYPE_CHECKING:
    from collections.abc import Mapping

CHOICES: Final = "{choices}"
"""Stands in a cell for the words of the model's own enumeration."""
_LINK: Final = re2.compile(r"\[([^\[\]]*)\]\([^()]*\)")


@dataclass(frozen=True, slots=True)
class Reference:
    """`head` names the columns, that of the keys first; `rows` are the cells behind each key, in Markdown.

    The last cell says what the key does.
    """

    head: tuple[str, ...]
    rows: Mapping[str, tuple[str, ...]]

    def said(self, key: str) -> str:
        """What the key does, as a text without links; empty for a key that has no row."""
        return _LINK.sub(r"\1", self.rows[key][-1]) if key in self.rows else ""
