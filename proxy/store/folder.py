"""The state folder: who may write it, and the key in it under which subjects are stored."""

from __future__ import annotations

import hashlib
import hmac
import os
import secrets
import stat
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.store.errors import StateFolderError

if TYPE_CHECKING:
    from pathlib import Path

DATABASE = "callgate.db"
HALT_FLAG = "callgate.halt"
RELEASE_MARKS = "callgate.releases"
KEY_BYTES = 32

_DOMAIN = b"callgate.subject.1\0"
_NAME_DOMAIN = b"callgate.usage.1\0"
_SEAL_DOMAIN = b"callgate.grant.1\0"
_SUBJECTS, _GRANTS = "subject.key", "grants.key"


@dataclass(frozen=True, slots=True, repr=False)
class SubjectKey:
    """Turns a subject's value into the digest that the store keeps: only who holds the key can find it again.

    `grants` is the key under which answers of people are sealed: whoever can write the database cannot make one.
    """

    secret: bytes
    grants: bytes = b""

    def digest(self, subject: str) -> str:
        """HMAC-SHA-256, hex. Raises `ValueError` for an empty subject, which would stand for everyone without one."""
        if not subject:
            raise ValueError("a subject must not be empty")
        return hmac.new(self.secret, _DOMAIN + subject.encode(), hashlib.sha256).hexdigest()

    def name(self, text: str) -> str:
        """The keyed digest under which a cap or an intent is kept: it tells nothing of the values in it."""
        return hmac.digest(self.secret, _NAME_DOMAIN + text.encode(), "sha256").hex()

    def seal(self, content: str) -> str:
        """What proves that a process of this state folder wrote the content. `ValueError` where the key is missing."""
        if not self.grants:
            raise ValueError("there is no key for grants")
        return hmac.digest(self.grants, _SEAL_DOMAIN + content.encode(), "sha256").hex()

    @property
    def fingerprint(self) -> str:
        """Tells whether a database belongs to this key, and nothing about the key."""
        return hashlib.sha256(b"callgate.fingerprint.1\0" + self.secret).hexdigest()


def check_folder(state: Path) -> None:
    """Refuse a state folder, or a file of the store in it, that group or world can write. Raises `StateFolderError`."""
    if not state.is_dir():
        raise StateFolderError(f"there is no state folder {str(state)!r}")
    for path in (state, state / DATABASE, state / HALT_FLAG, state / RELEASE_MARKS):
        if path.exists():
            mode = stat.S_IMODE(path.stat().st_mode)
            if mode & (stat.S_IWGRP | stat.S_IWOTH):
                who = "group" if mode & stat.S_IWGRP else "world"
                raise StateFolderError(f"{who} can write {str(path)!r} (mode {mode:04o}): take it away with chmod go-w")


def make_folder(state: Path) -> None:
    """Make the state folder (0700) and an empty database (0600) where there are none. Raises `StateFolderError`."""
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_folder(state)
        os.close(os.open(state / DATABASE, os.O_CREAT | os.O_RDWR, 0o600))
    except OSError as error:
        raise StateFolderError(f"the state folder {str(state)!r} cannot be used: {error.strerror}") from error


def read_key(state: Path) -> SubjectKey:
    """Read the keys of the state folder; that of grants may be missing. Raises `StateFolderError`."""
    grants = state / "keys" / _GRANTS
    return SubjectKey(_read(state / "keys" / _SUBJECTS), _read(grants) if grants.exists() else b"")


def _read(path: Path) -> bytes:
    try:
        mode = stat.S_IMODE(path.stat().st_mode)
        secret = path.read_bytes()
    except OSError as error:
        raise StateFolderError(f"the key {str(path)!r} cannot be read: {error.strerror}") from error
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise StateFolderError(f"others can use the key {str(path)!r} (mode {mode:04o}): make it 0600")
    if len(secret) != KEY_BYTES:
        raise StateFolderError(f"the key {str(path)!r} is not {KEY_BYTES} bytes long")
    return secret


def make_key(state: Path) -> SubjectKey:
    """Read the keys, made at random where there is none; of processes that start at once, one makes it for all."""
    folder = state / "keys"
    for path in (folder / _SUBJECTS, folder / _GRANTS):
        try:
            folder.mkdir(mode=0o700, exist_ok=True)
            if not path.exists():
                _place(path, secrets.token_bytes(KEY_BYTES))
        except OSError as error:
            raise StateFolderError(f"the key {str(path)!r} cannot be made: {error.strerror}") from error
    return read_key(state)


def _place(path: Path, secret: bytes) -> None:
    """Put a whole, durable file at `path`, unless another process was first."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    handle = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)
    try:
        os.write(handle, secret)
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink()
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
