"""Files next to a policy, such as lists of one entry a line: read once for a revision, and part of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import re2

from policies.model import Origin
from policies.problems import DocumentError, Problem

if TYPE_CHECKING:
    from pathlib import Path

BYTES_MAX: Final = 4 << 20
ENTRIES_MAX: Final = 100_000
_NAME: Final = re2.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_POLICY_SUFFIXES: Final = (".yaml", ".yml")


class Lists:
    """The files of one folder. `texts` are those that were read, by name: what the revision is made of."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._entries: dict[str, tuple[str, ...]] = {}
        self.texts: dict[str, bytes] = {}

    def read(self, name: str) -> tuple[str, ...]:
        """The entries of a file: its lines without white space around, without the empty ones and those that begin with
        `#`. `ValueError` where the name is no file's next to the policy, or it cannot be read.
        """
        if name not in self._entries:
            self._entries[name] = _entries(name, self._bytes(name, "a list"))
        return self._entries[name]

    def text(self, name: str) -> str:
        """A file as it is. `ValueError` as of `read`, and where it is not UTF-8."""
        try:
            return self._bytes(name, "a text").decode()
        except UnicodeDecodeError:
            raise ValueError(f"{name!r} is not UTF-8") from None

    def _bytes(self, name: str, what: str) -> bytes:
        if name not in self.texts:
            if _NAME.fullmatch(name) is None or name.endswith(_POLICY_SUFFIXES):
                raise ValueError(f"{name!r} is no name of {what}: a file next to the policy, not itself policy")
            self.texts[name] = self._read(name)
        return self.texts[name]

    def _read(self, name: str) -> bytes:
        try:
            with (self._folder / name).open("rb") as file:
                data = file.read(BYTES_MAX + 1)
        except OSError as error:
            raise ValueError(f"{name!r} cannot be read: {(error.strerror or 'input error').lower()}") from None
        if len(data) > BYTES_MAX:
            raise ValueError(f"{name!r} has more than {BYTES_MAX} bytes")
        return data


def _entries(name: str, data: bytes) -> tuple[str, ...]:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise ValueError(f"{name!r} is not UTF-8") from None
    found: dict[str, int] = {}
    problems: list[Problem] = []
    for number, line in enumerate(text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n"), 1):
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        if not entry.isprintable():
            problems.append(Problem(Origin(name, number), "", "a character that cannot be seen"))
        elif entry in found:
            problems.append(Problem(Origin(name, number), "", f"stands here and in line {found[entry]}"))
        found.setdefault(entry, number)
    if problems:
        raise DocumentError(tuple(problems))
    if len(found) > ENTRIES_MAX:
        raise ValueError(f"{name!r} has more than {ENTRIES_MAX} entries")
    return tuple(found)
