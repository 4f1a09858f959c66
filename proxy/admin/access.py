"""Who may do what on the admin listener: persons, their tokens, and the one owner that is made at first start."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import os
import secrets
import stat
from typing import TYPE_CHECKING

from proxy.connected import TOKEN_LENGTH_MIN, PersonToken
from proxy.settings import Role

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from proxy.settings import Address

TOKEN_FILE = "admin.token"  # noqa: S105 - the name of a file
ADDRESS_FILE = "admin.address"
FIRST_OWNER = "owner"


class AdminFileError(Exception):
    """A file of the state folder that the admin listener needs cannot be used; the message says what to change."""


class Persons:
    """Recognises a person by a token, in constant time over all of them."""

    def __init__(self, persons: Iterable[PersonToken]) -> None:
        # Digests under a key of this process: equal length, and no relation to what is guessed.
        self._key = secrets.token_bytes(32)
        self._persons = tuple((person, self._digest(person.token)) for person in persons)

    def find(self, token: str) -> PersonToken | None:
        shown = self._digest(token)
        found: PersonToken | None = None
        for person, digest in self._persons:
            if hmac.compare_digest(digest, shown):
                found = person
        return found

    def _digest(self, token: str) -> bytes:
        return hmac.digest(self._key, token.encode("utf-8", "surrogateescape"), hashlib.sha256)


def first_owner(state: Path) -> PersonToken:
    """The owner of a configuration without persons; the token is made at first start and kept (0600).

    Raises:
        AdminFileError: the file cannot be made or read, others can read it, or it holds no token.
    """
    path = state / TOKEN_FILE
    try:
        if not path.exists():
            with contextlib.suppress(FileExistsError):
                _create(path, secrets.token_urlsafe(32) + "\n")
        return PersonToken(FIRST_OWNER, Role.OWNER, read_token(path))
    except OSError as error:
        raise AdminFileError(f"{path}: cannot be used: {(error.strerror or 'input error').lower()}") from None


def read_token(path: Path) -> str:
    """The token in a file.

    Raises:
        AdminFileError: others can read it, or it holds no token.
        OSError: it cannot be read.
    """
    mode = stat.S_IMODE(path.stat().st_mode)
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise AdminFileError(f"{path}: others can read it (mode {mode:04o}): chmod 600")
    token = path.read_bytes().decode("ascii", "replace").strip()
    if len(token) < TOKEN_LENGTH_MIN or not token.isascii() or not token.isprintable():
        raise AdminFileError(f"{path}: holds no token")
    return token


def write_address(state: Path, address: Address) -> None:
    """Tells the commands of this machine where the admin listener stands. Raises `OSError`."""
    path = state / ADDRESS_FILE
    scratch = state / f".{ADDRESS_FILE}.{secrets.token_hex(8)}"
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(f"{address}\n")
        scratch.replace(path)
    finally:
        scratch.unlink(missing_ok=True)


def remove_address(state: Path, address: Address) -> None:
    """Takes the address away at the end, unless another process has put its own there."""
    path = state / ADDRESS_FILE
    with contextlib.suppress(OSError):
        if path.read_text("ascii").strip() == str(address):
            path.unlink()


def _create(path: Path, text: str) -> None:
    scratch = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.link(scratch, path)  # whole or not at all; of processes that start at once, the first one's stands
    finally:
        scratch.unlink()
