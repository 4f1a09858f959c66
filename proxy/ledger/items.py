"""Items that a client may name by an id alone, since the provider keeps them: what each said when the client got it.

An id selects within its tenant and for the same subject. One under which two items were shown names neither: which of
them a request means, nobody can tell.
"""

from __future__ import annotations

import asyncio
import hashlib
from typing import TYPE_CHECKING

import msgspec

from proxy.ledger.strongbox import LedgerError
from proxy.wire.turn import KnownItem

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime

    from proxy.clock import Clock
    from proxy.ledger.strongbox import Strongbox
    from proxy.wire.dialect import Dialect

_NAMES_A_QUESTION = 500
_STEP_BYTES = 32 * 1024  # what is longer is not read on the loop
_FIND = "SELECT name, content, sealed FROM items WHERE name IN (?)"
_PUT = "INSERT OR IGNORE INTO items (name, content, subject, expires, sealed) VALUES (?, ?, ?, ?, ?)"
_TOUCH = "UPDATE items SET expires = ? WHERE name = ? AND expires < ?"

_encode = msgspec.msgpack.Encoder().encode
_item = msgspec.msgpack.Decoder(KnownItem)


def collapsed(dialect: Dialect, body: bytes) -> bytes:
    """A request without what `ShownItems.known` put in."""
    references = dialect.continuation.references
    return body if references is None else references.collapsed(body)


class ItemVault:
    """Every method blocks, and may raise `LedgerError`."""

    def __init__(self, vault: Strongbox) -> None:
        self._vault = vault

    def find(self, tenant: str, subject: str, ids: Sequence[str], now: datetime) -> dict[str, KnownItem]:
        """What was shown under these ids; their time begins anew. What cannot be decrypted is not there."""
        named = {self._name(tenant, subject, each): each for each in ids}
        found: dict[str, list[KnownItem]] = {}
        for name, content, sealed in self._rows(list(named)):
            plain = self._vault.unseal(name + content, sealed)
            if plain is not None:
                found.setdefault(named[name], []).append(_item.decode(plain))
        self._touch(list(named), now)
        return {each: items[0] for each, items in found.items() if len(items) == 1}

    def put(self, tenant: str, subject: str, items: Sequence[tuple[str, bytes]], turn: str, now: datetime) -> None:
        """Keep what was shown, durably. `turn` is the hidden turn that these items are the visible part of."""
        rows = []
        for each, item in items:
            name, content = self._name(tenant, subject, each), hashlib.sha256(item).digest()
            sealed = self._vault.seal(name + content, _encode(KnownItem(item, turn)))
            rows.append((name, content, subject, now.timestamp() + self._vault.seconds, sealed))
        with self._vault.using() as connection, self._vault.writing():
            connection.executemany(_PUT, rows)

    def _name(self, tenant: str, subject: str, each: str) -> bytes:
        parts = subject.encode(), each.encode(errors="surrogatepass")
        return self._vault.digest(b"item", tenant, *parts)

    def _rows(self, names: Sequence[bytes]) -> list[tuple[bytes, bytes, bytes]]:
        rows: list[tuple[bytes, bytes, bytes]] = []
        for first in range(0, len(names), _NAMES_A_QUESTION):
            some = names[first : first + _NAMES_A_QUESTION]
            with self._vault.using() as connection:
                rows += connection.execute(_FIND.replace("?", ",".join("?" * len(some))), some).fetchall()
        return rows

    def _touch(self, names: Sequence[bytes], now: datetime) -> None:
        """Written at most once in a tenth of their time: the first and the last one tell for all."""
        until = now.timestamp() + self._vault.seconds
        due = until - self._vault.seconds / 10
        asked = "SELECT 1 FROM items WHERE name = ? AND expires < ?"
        with self._vault.using() as connection:
            if any(connection.execute(asked, (name, due)).fetchone() for name in (*names[:1], *names[-1:])):
                connection.executemany(_TOUCH, [(until, name, due) for name in names])


class ShownItems:
    """One for the process, as exchanges use it. A ledger that fails is one that is lost."""

    def __init__(self, vault: Strongbox, clock: Clock, failed: Callable[[str], None]) -> None:
        self._items = ItemVault(vault)
        self._clock = clock
        self._failed = failed

    async def known(self, dialect: Dialect, body: bytes, tenant: str, subject: str) -> bytes:
        """The request with what stands behind the ids that it names.

        Raises `EnvelopeError`.
        """
        references = dialect.continuation.references
        if references is None:
            return body
        is_long = len(body) > _STEP_BYTES
        names = await asyncio.to_thread(references.named, body) if is_long else references.named(body)
        if not names:
            return body
        try:
            items = await asyncio.to_thread(self._items.find, tenant, subject, names, self._clock())
        except LedgerError as error:
            self._failed(str(error))
            return body
        return references.known(body, items) if items else body

    async def keep(self, items: Sequence[tuple[str, bytes]], turn: str, tenant: str, subject: str) -> None:
        """What is shown to the client. What cannot be kept is not known when it is named."""
        try:
            await asyncio.to_thread(self._items.put, tenant, subject, items, turn, self._clock())
        except LedgerError as error:
            self._failed(str(error))
