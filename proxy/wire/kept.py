"""What was read from the same bytes before, in a bounded room: agents state their tools in the same bytes each time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Stated: TypeAlias = "bytes | bool | str | tuple[bytes, ...] | tuple[str, ...]"
T = TypeVar("T")
KEPT_MAX: Final = 128
BYTES_MAX: Final = 256 * 1024
"""Of one request; what states more is read anew, since a client must not choose how much stays in memory."""


def kept(read: Callable[..., T]) -> Callable[..., T]:
    """`read`, a pure function of a few bytes, remembers what it gave lately."""
    remembering = lru_cache(maxsize=KEPT_MAX)(read)

    def look(*stated: Stated) -> T:
        size = 0
        for each in stated:
            size += len(each) if isinstance(each, bytes) else _size(each)
        return remembering(*stated) if size <= BYTES_MAX else read(*stated)

    return look


def _size(stated: Stated) -> int:
    if isinstance(stated, bytes | str):
        return len(stated)
    return sum(map(len, stated)) if isinstance(stated, tuple) else 0
