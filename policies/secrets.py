"""Texts with references to secrets: `${VAR}` and `${file:/path}`. Parsed at load, expanded only by what connects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import re2

if TYPE_CHECKING:
    from collections.abc import Callable

_NAME = re2.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE = "file:"


class SecretError(ValueError):
    """A reference is malformed, or stands for nothing. The message names the variable or the file, never a value."""


@dataclass(frozen=True, slots=True)
class _Variable:
    name: str


@dataclass(frozen=True, slots=True)
class _File:
    path: str


@dataclass(frozen=True, slots=True, repr=False)
class Expandable:
    """`$${` stands for a plain `${`. It holds the source only; what it expands to is never kept, and not even the
    literal text around the references is printed, since an author may have written a secret there.
    """

    source: str
    _parts: tuple[str | _Variable | _File, ...] = field(compare=False)

    @classmethod
    def parse(cls, source: str) -> Expandable:
        """`SecretError` for an unclosed, empty or misspelled reference."""
        parts: list[str | _Variable | _File] = []
        rest = source
        while rest:
            before, mark, after = rest.partition("${")
            if not mark:
                parts.append(rest)
                break
            if before.endswith("$"):
                parts.append(before[:-1] + mark)
                rest = after
                continue
            reference, closing, rest = after.partition("}")
            if not closing:
                raise SecretError("a reference is not closed: write ${NAME}, or $${ for a plain ${")
            parts.extend((before, _reference(reference)))
        return cls(source, tuple(part for part in parts if part != ""))

    @property
    def references(self) -> tuple[str, ...]:
        """Each reference as it is spelled, `${BOT_TOKEN}`, in order."""
        return tuple(_spelled(part) for part in self._parts if not isinstance(part, str))

    def expand(self, lookup: Callable[[str], str | None], read: Callable[[str], str]) -> str:
        """The text with its secrets. `read` raises `OSError` or `UnicodeDecodeError`; one newline at a file's end is
        dropped. `SecretError` for a variable that is unset, a file that cannot be read, and either where empty:
        an empty token or key would be a door without a lock.
        """
        return "".join(part if isinstance(part, str) else _value(part, lookup, read) for part in self._parts)

    def __repr__(self) -> str:
        return f"Expandable({', '.join(self.references)})"


def _reference(text: str) -> _Variable | _File:
    if text.startswith(_FILE):
        path = text.removeprefix(_FILE)
        if not path.startswith("/"):
            raise SecretError("a secret's file is named by an absolute path: ${file:/run/secrets/NAME}")
        return _File(path)
    if not text.isascii() or not _NAME.fullmatch(text):
        raise SecretError("a reference is ${NAME} or ${file:/path}, NAME of letters, digits and _")
    return _Variable(text)


def _spelled(part: _Variable | _File) -> str:
    return "${" + (part.name if isinstance(part, _Variable) else _FILE + part.path) + "}"


def _value(part: _Variable | _File, lookup: Callable[[str], str | None], read: Callable[[str], str]) -> str:
    if isinstance(part, _Variable):
        value = lookup(part.name)
        if value is None:
            raise SecretError(f"{_spelled(part)} is not set")
    else:
        try:
            value = read(part.path)
        except (OSError, UnicodeDecodeError):
            # Not chained: a decoding error carries the bytes of the file.
            raise SecretError(f"{_spelled(part)} cannot be read") from None
        value = value.removesuffix("\n").removesuffix("\r")
    if not value:
        raise SecretError(f"{_spelled(part)} is empty")
    return value
