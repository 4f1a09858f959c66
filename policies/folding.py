"""Names that differ only in case, width or separators, in one spelling."""

from __future__ import annotations

import unicodedata
from functools import lru_cache
from typing import Final

_NAMES_KEPT: Final = 1_024
_NAME_KEPT_MAX: Final = 128  # characters


def folded(name: str) -> str:
    """Names that differ only in case, width or separators are one tool (DESIGN 4, stage 1)."""
    return _kept(name) if len(name) <= _NAME_KEPT_MAX else _fold(name)


def _fold(name: str) -> str:
    kept = unicodedata.normalize("NFKC", name).casefold()
    return "".join(character for character in kept if character not in "._-" and not character.isspace())


_kept: Final = lru_cache(maxsize=_NAMES_KEPT)(_fold)  # the same few names are folded several times for each call
