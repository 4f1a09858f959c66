"""The files of a policy on disk: one consistent snapshot of their bytes, and its revision.

A policy is one YAML file, or a folder whose `*.yaml` and `*.yml` are one policy together. Hidden files and test suites
(`policy_test.yaml`) are not policy. In a mounted ConfigMap `..data` is resolved once, so that all files are of one
revision even while the mount is swapped.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from policies.model import Origin
from policies.problems import DocumentError, Problem
from policies.yaml_reader import BYTES_MAX

if TYPE_CHECKING:
    from pathlib import Path

FILES_MAX = 64
SUFFIXES = (".yaml", ".yml")
TEST_SUITES = frozenset({"policy_test.yaml", "policy_test.yml"})
_ATTEMPTS = 5

Stamp: TypeAlias = "tuple[tuple[str, int, int, int], ...]"
"""Name, inode, size and time of change of each file: while it is equal, so is the policy."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """`texts` are (name, bytes) in the order of the names; `paths` are the files as they were named, to watch."""

    texts: tuple[tuple[str, bytes], ...]
    paths: tuple[Path, ...]
    folder: Path  # what relative paths of the policy are relative to
    stamp: Stamp
    root: Path | None = None  # the folder with all links followed, where files next to the policy stand

    @property
    def revision(self) -> str:
        """SHA-256 over names and bytes, each with its length, so that no two sets of files share one."""
        digest = hashlib.sha256()
        for name, data in self.texts:
            encoded = name.encode("utf-8", "surrogateescape")
            digest.update(b"%d:%s%d:" % (len(encoded), encoded, len(data)))
            digest.update(data)
        return digest.hexdigest()


def read_snapshot(path: Path) -> Snapshot:
    """Read the policy at `path`. Raises `DocumentError` where there is none, or where it does not hold still."""
    for _ in range(_ATTEMPTS):
        try:
            before = stamp(path)
            root = _root(path)
            texts = tuple((name, _read(root / name)) for name in _names(root)) if root.is_dir() else (_single(path),)
            if stamp(path) == before:
                folder, beside = (path, root) if path.is_dir() else (path.parent, root.parent)
                return Snapshot(texts, _paths(path), folder, before, beside)
        except FileNotFoundError:
            if not path.exists():
                break
        except OSError as error:
            raise _error(str(path), f"cannot be read: {(error.strerror or 'input error').lower()}") from None
    if not path.exists():
        raise _error(str(path), "no such file or folder")
    raise _error(str(path), "the files change while they are read")


def stamp(path: Path) -> Stamp:
    """What `stat` says of the policy's files at this moment: cheap enough to ask before each decision.

    Raises `OSError` where the path is gone.
    """
    root = _root(path)
    files = [root / name for name in _names(root)] if root.is_dir() else [root]
    found = []
    for file in files:
        status = file.stat()
        found.append((str(file), status.st_ino, status.st_size, status.st_mtime_ns))
    return tuple(found)


def _root(path: Path) -> Path:
    """The folder or file with all links followed; a folder's `..data` is followed too."""
    data = path / "..data"
    return (data if data.is_dir() else path).resolve(strict=True)


def _names(folder: Path) -> list[str]:
    names = sorted(
        entry.name
        for entry in os.scandir(folder)
        if entry.name.endswith(SUFFIXES)
        and entry.name not in TEST_SUITES
        and not entry.name.startswith(".")
        and entry.is_file()
    )
    if not names:
        raise _error(str(folder), "the folder holds no .yaml file")
    if len(names) > FILES_MAX:
        raise _error(str(folder), f"the folder holds more than {FILES_MAX} files")
    return names


def _paths(path: Path) -> tuple[Path, ...]:
    return tuple(path / name for name in _names(_root(path))) if path.is_dir() else (path,)


def _single(path: Path) -> tuple[str, bytes]:
    return path.name, _read(path)


def _read(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(BYTES_MAX + 1)


def _error(name: str, message: str) -> DocumentError:
    return DocumentError((Problem(Origin(name, 1), "", message),))
