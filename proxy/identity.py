"""Who is asking: an identity of the policy, or the keyed digest of a credential that passes through.

Tokens are compared as keyed digests in constant time, each against every identity, so that neither the length nor the
position of a match shows in the time it takes.
"""

from __future__ import annotations

import contextlib
import hmac
import os
import secrets
from typing import TYPE_CHECKING

import msgspec

from proxy.store.errors import StateFolderError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from proxy.credentials import Credential

_KEY_BYTES = 32
_TENANT_HEX = 32


class Caller(msgspec.Struct, frozen=True):
    """`tenant` separates conversations, ledgers and grants; `identity` is None where the policy names none."""

    tenant: str
    identity: str | None


class UnknownCredentialError(Exception):
    """The policy has identities and the request shows none of their tokens, or those of two. The answer is 401."""


def token_digest(token: str, key: bytes) -> bytes:
    """What is kept of an identity's token for comparing."""
    return hmac.digest(key, token.encode(), "sha256")


def identify(credentials: Sequence[Credential], digests: Mapping[str, bytes], key: bytes) -> Caller:
    """The caller of a request.

    Args:
        credentials: every credential that the request carries.
        digests: `token_digest` of each identity's token by its name; empty where the policy has no identities.
        key: of this state folder (`tenant_key`).

    Raises:
        UnknownCredentialError: with identities, unless exactly one is shown.
    """
    if not digests:
        # A client may carry two credentials at once; both belong to who it is.
        text = "\n".join([f"{c.header}:{c.secret}" for c in credentials])
        return Caller(hmac.digest(key, text.encode(), "sha256").hex()[:_TENANT_HEX], None)
    shown = [token_digest(c.secret, key) for c in credentials]
    matches = {name for name, digest in digests.items() if _is_any(digest, shown)}
    if len(matches) != 1:
        raise UnknownCredentialError("the credential is not one that this gate knows")
    name = matches.pop()
    return Caller(name, name)


def tenant_key(state: Path) -> bytes:
    """The key of this state folder for digests of credentials. Raises as `state_key`."""
    return state_key(state, "tenant.key")


def state_key(state: Path, name: str) -> bytes:
    """A key of this state folder, made at first use (0600), shared by its processes.

    Raises:
        OSError: the folder cannot be read or written.
        StateFolderError: the file holds something else than a key.
    """
    folder = state / "keys"
    path = folder / name
    folder.mkdir(mode=0o700, exist_ok=True)
    if not path.exists():
        scratch = folder / f".{name}.{secrets.token_hex(8)}"
        descriptor = os.open(scratch, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(secrets.token_bytes(_KEY_BYTES))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(scratch, path)  # whole or not at all; the first process wins
        finally:
            scratch.unlink()
    key = path.read_bytes()
    if len(key) != _KEY_BYTES:
        raise StateFolderError(f"{path.name!r} in the state folder does not hold a key of {_KEY_BYTES} bytes")
    return key


def _is_any(digest: bytes, shown: Sequence[bytes]) -> bool:
    found = False
    for one in shown:
        found |= hmac.compare_digest(digest, one)
    return found
