"""What was refused in the answer to a place of a conversation: kept beside its edits, for when it is summed up.

The client holds nothing of such a call but the text that stands in its place.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from proxy.ledger.edits import Where
    from proxy.ledger.strongbox import Strongbox

_PLACES_A_QUESTION = 500
_FIND = "SELECT place, receipt, sealed FROM notes WHERE place IN (?) AND subject = ? ORDER BY receipt"
_PUT = "INSERT OR IGNORE INTO notes (place, receipt, subject, expires, sealed) VALUES (?, ?, ?, ?, ?)"


class Note(msgspec.Struct, frozen=True, array_like=True):
    """One refused call, as its receipt has it: `tool`, `things` and `amount` as `interceptors.compaction.Asked` says,
    `case` empty for none. `reply` is the text in its place; `conversation` is as the request named it."""

    tool: str
    things: tuple[tuple[str, str], ...]
    amount: str
    reason: str
    receipt: str
    case: str
    reply: str
    exchange: str
    conversation: str


_encode = msgspec.msgpack.Encoder().encode
_note = msgspec.msgpack.Decoder(Note)


class NoteVault:
    """One for the process. Every method blocks, and may raise `LedgerError`."""

    def __init__(self, vault: Strongbox) -> None:
        self._vault = vault

    def put(self, where: Where, notes: Sequence[Note], now: datetime) -> None:
        """Keep them, durably."""
        digest = self._vault.digest(b"edits place", where.tenant, where.place)
        until = now.timestamp() + self._vault.seconds
        rows = [
            (digest, note.receipt, where.subject, until, self._vault.seal(_name(digest, note.receipt), _encode(note)))
            for note in notes
        ]
        with self._vault.using() as connection, self._vault.writing():
            connection.executemany(_PUT, rows)

    def find(self, tenant: str, subject: str, places: Iterable[bytes]) -> dict[bytes, list[Note]]:
        """Those of this subject, by place, oldest first. What cannot be decrypted is not there."""
        named = {self._vault.digest(b"edits place", tenant, place): place for place in places}
        names, found = list(named), dict[bytes, list[Note]]()
        for first in range(0, len(names), _PLACES_A_QUESTION):
            some = names[first : first + _PLACES_A_QUESTION]
            asked = _FIND.replace("?", ",".join("?" * len(some)), 1)
            with self._vault.using() as connection:
                rows = connection.execute(asked, [*some, subject]).fetchall()
            for digest, receipt, sealed in rows:
                plain = self._vault.unseal(_name(digest, receipt), sealed)
                if plain is not None:
                    found.setdefault(named[digest], []).append(_note.decode(plain))
        return found


def _name(place: bytes, receipt: str) -> bytes:
    return place + b"\0note\0" + receipt.encode()
