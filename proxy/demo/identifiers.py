"""Identifiers as providers make them, yet the same on every run."""

from __future__ import annotations

import hashlib

_ALPHABET = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Identifiers:
    """A sequence of unlike identifiers; two of one prefix never repeat."""

    def __init__(self) -> None:
        self._made = 0

    def next(self, prefix: str, length: int) -> str:
        self._made += 1
        number = int.from_bytes(hashlib.sha256(f"{prefix}/{self._made}".encode()).digest(), "big")
        letters = []
        for _ in range(length):
            number, rest = divmod(number, len(_ALPHABET))
            letters.append(_ALPHABET[rest])
        return prefix + "".join(letters)
