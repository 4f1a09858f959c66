"""How bytes that come again begin: a name for them, and what stands in other places of them than it came."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, NamedTuple, Protocol

from cryptography.hazmat.primitives.ciphers.aead import AESGCM

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from proxy.wire.dialect import Dialect


class Names:
    """Names of beginnings: a keyed digest that no one sees, of a key that no one knows; a tenth of the time of any
    other."""

    def __init__(self) -> None:
        self._digest = AESGCM(secrets.token_bytes(16))

    def of(self, owner: bytes, data: bytes, size: int) -> bytes:
        """That of the first `size` bytes; `owner` is what `owner_of` says."""
        return self._digest.encrypt(bytes(12), owner, memoryview(data)[:size])


def owner_of(dialect: Dialect, tenant: str) -> bytes:
    """Whose a beginning is: nothing is shared between two tenants, or two dialects."""
    return f"{dialect.name}\0{tenant}".encode(errors="surrogatepass")


class Patch(NamedTuple):
    """What stands in the place of some bytes."""

    start: int
    end: int
    text: bytes


class Change(Protocol):
    """What stands in the place of the messages from `first` to before `behind`."""

    @property
    def first(self) -> int: ...
    @property
    def behind(self) -> int: ...
    @property
    def messages(self) -> Sequence[bytes]: ...


def patches(changes: Iterable[Change], ends: Sequence[int], offset: int) -> Iterable[Patch]:
    """What is put into bytes whose messages end at these places, each with its comma, counted from `offset`."""
    for change in changes:
        start = offset + (ends[change.first - 1] if change.first else 0)
        yield Patch(start, offset + ends[change.behind - 1] - 1, b",".join(change.messages))


def patched(data: bytes, changes: Iterable[Patch], start: int = 0, end: int | None = None) -> bytes:
    """The bytes from `start` to before `end` with others in some places: copied once."""
    view, place = memoryview(data), start
    parts: list[bytes | memoryview] = []
    for patch in changes:
        parts += [view[place : patch.start], patch.text]
        place = patch.end
    return b"".join([*parts, view[place:end]])
