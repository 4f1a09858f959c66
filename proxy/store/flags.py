"""Memory that all processes of a state folder share: looked at without a thread or a system call in between."""

from __future__ import annotations

import mmap
import os
from typing import TYPE_CHECKING

from proxy.store.errors import StateFolderError

if TYPE_CHECKING:
    from pathlib import Path


def shared_byte(path: Path) -> mmap.mmap:
    """The byte, mapped; 0 where the file is new. Raises `StateFolderError`."""
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            os.ftruncate(handle, 1)
            return mmap.mmap(handle, 1)
        finally:
            os.close(handle)
    except OSError as error:
        raise StateFolderError(f"the file {str(path)!r} cannot be used: {error.strerror}") from error


def shared_numbers(path: Path, count: int) -> tuple[mmap.mmap, memoryview]:
    """`count` numbers of 64 bits, mapped, and the view to read and set them; 0 where the file is new.

    The view must be released before the mapping is closed. Raises `StateFolderError`.
    """
    size = 8 * count
    try:
        handle = os.open(path, os.O_CREAT | os.O_RDWR, 0o600)
        try:
            if os.fstat(handle).st_size < size:  # never cut: who has mapped more would be killed by looking at it
                os.posix_fallocate(handle, 0, size)  # and never sparse: nor may a full disk
            mapped = mmap.mmap(handle, size)
        finally:
            os.close(handle)
    except OSError as error:
        raise StateFolderError(f"the file {str(path)!r} cannot be used: {error.strerror}") from error
    return mapped, memoryview(mapped).cast("Q")
