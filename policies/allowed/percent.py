"""Percent-encoding (RFC 3986, 2.1), read once."""

from __future__ import annotations

from typing import Final

_HEX: Final = frozenset("0123456789abcdefABCDEF")


def percent_decoded(text: str) -> str:
    """The text with each `%XX` as the byte it stands for, read as UTF-8; what is no UTF-8 becomes U+FFFD.

    A `%` without two hexadecimal digits behind it stays. Linear, total.
    """
    head, *parts = text.split("%")
    found = bytearray(head.encode("utf-8", "replace"))
    for part in parts:
        is_coded = len(part) > 1 and part[0] in _HEX and part[1] in _HEX
        found += bytes((int(part[:2], 16),)) if is_coded else b"%"
        found += (part[2:] if is_coded else part).encode("utf-8", "replace")
    return found.decode("utf-8", "replace")
