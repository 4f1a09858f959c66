"""Where `${VAR}` and `${file:}` get their values: the process's environment and the files it may read.

Nothing else reads either. Values are handed out and kept nowhere here.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from policies.secrets import SecretError

if TYPE_CHECKING:
    from collections.abc import Callable

    from policies.secrets import Expandable

SECRET_BYTES_MAX = 64 * 1024


@dataclass(frozen=True, slots=True)
class Environment:
    """`lookup` gives a variable or None; `read` a file's text, raising `OSError` or `UnicodeDecodeError`."""

    lookup: Callable[[str], str | None]
    read: Callable[[str], str]

    def expand(self, text: Expandable) -> str:
        """The text with its secrets in place.

        Raises:
            SecretError: a reference stands for nothing, or for something with a line break or other control character,
                which no header could carry. It names the reference, never a value.
        """
        value = text.expand(self.lookup, self.read)
        if not value.isprintable():
            named = ", ".join(text.references) or "the text"
            raise SecretError(f"{named} holds a line break or another control character")
        return value

    def expand_text(self, text: Expandable) -> str:
        """As `expand`, for what may have several lines, such as a key in PEM form. Raises `SecretError`."""
        return text.expand(self.lookup, self.read)


def process_environment() -> Environment:
    """The environment of this process and its files."""
    return Environment(os.environ.get, _read)


def _read(path: str) -> str:
    with Path(path).open("rb") as file:
        data = file.read(SECRET_BYTES_MAX + 1)
    if len(data) > SECRET_BYTES_MAX:
        raise OSError("too large for a secret")
    return data.decode("utf-8")
