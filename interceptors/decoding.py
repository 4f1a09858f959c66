"""What a text may carry in another coding: its base64 parts and its percent-encoding, each decoded once."""

from __future__ import annotations

from base64 import b64decode
from typing import TYPE_CHECKING, Final

import re2

from policies.allowed import percent_decoded

if TYPE_CHECKING:
    from collections.abc import Iterator

BASE64_LENGTH_MIN: Final = 18
"""Characters: less holds none of what is looked for."""

_STANDARD: Final = re2.compile(r"[A-Za-z0-9+/]{18,}")
_URL_SAFE: Final = re2.compile(r"[A-Za-z0-9_-]{18,}")
_URL_SAFE_TO_STANDARD: Final = str.maketrans("-_", "+/")
_SPACE: Final = str.maketrans("", "", " \t\r\n")


def decoded(text: str) -> Iterator[str]:
    """The text in other readings: percent-decoded, and the bytes of what may be base64, as Latin-1.

    Base64 is taken as it stands, and once more over the whole text without white space, for lines that were wrapped.
    """
    text = text.encode("utf-8", "replace").decode()
    if "%" in text:
        yield percent_decoded(text)
        yield percent_decoded(text.replace("+", " "))
    parts = dict.fromkeys(match.group() for match in _STANDARD.finditer(text))
    parts |= dict.fromkeys(match.group().translate(_URL_SAFE_TO_STANDARD) for match in _URL_SAFE.finditer(text))
    unwrapped = text.translate(_SPACE)
    if len(unwrapped) < len(text):
        parts |= dict.fromkeys(match.group() for match in _STANDARD.finditer(unwrapped))
    for part in parts:
        yield b64decode(part[: len(part) - (len(part) % 4 == 1)] + "=" * (-len(part) % 4 % 3)).decode("latin-1")
