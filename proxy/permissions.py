"""Whether a file that decides can be changed by others than its owner."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path


class WritableByOthersError(Exception):
    """A policy that group or world can write decides nothing. The message names the path and its mode."""


def refuse_writable(path: Path, files: Iterable[Path]) -> None:
    """Looks at the policy's files and at the folder they are in.

    A mounted ConfigMap is 0777 on a file system that is read-only; nobody can write that.

    Raises:
        WritableByOthersError: one of them can be written by group or world.
        OSError: one of them cannot be looked at.
    """
    folder = path if path.is_dir() else path.parent
    for one in (folder, *files):
        status = one.stat()
        mode = stat.S_IMODE(status.st_mode)
        # In a sticky folder such as /tmp others can add files, and replace none.
        is_sticky_parent = one == folder and folder != path and bool(mode & stat.S_ISVTX)
        if mode & (stat.S_IWGRP | stat.S_IWOTH) and not is_sticky_parent and not _is_read_only(one):
            who = "world" if mode & stat.S_IWOTH else "group"
            raise WritableByOthersError(f"{one}: {who} can write it (mode {mode:04o}): chmod go-w")


def _is_read_only(path: Path) -> bool:
    return bool(os.statvfs(path).f_flag & os.ST_RDONLY)
