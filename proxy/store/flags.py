"""One byte that all processes of a state folder share: looked at without a thread or a system call in between."""

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
