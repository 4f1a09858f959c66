"""Hidden turns in the ledger's file: found by where they stand, kept durably, encrypted."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

import msgspec

from proxy.ledger.hidden import Hidden, from_bytes, to_bytes
from proxy.ledger.strongbox import VERSION, Kept, LedgerError, Strongbox

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from proxy.ledger.outline import Place

__all__ = ["VERSION", "LedgerError", "Vault", "new_hidden_id"]

_PLACES_A_QUESTION = 500  # far below what any SQLite takes
_FIND = "SELECT place, id, sealed FROM hidden WHERE place IN (?) ORDER BY seq"
_NAMED = "SELECT place, id, sealed FROM hidden WHERE id = ? AND tenant = ? ORDER BY seq"
_FEW = 16
_FIND_FEW = f"SELECT place, id, sealed FROM hidden WHERE root = ? ORDER BY seq LIMIT {_FEW + 1}"  # noqa: S608 - own number
_PUT = (
    "INSERT INTO hidden (place, root, tenant, id, subject, expires, sealed) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (place, id) DO UPDATE SET expires = excluded.expires, sealed = excluded.sealed"
)


class Vault(Strongbox):
    """The hidden turns. Every method blocks."""

    def knows(self, tenant: str, root: bytes) -> bool:
        """Whether a conversation of this tenant that began so may hide something."""
        with self.using() as connection:
            digest = self.digest(b"root", tenant, root)
            return connection.execute("SELECT 1 FROM hidden WHERE root = ? LIMIT 1", (digest,)).fetchone() is not None

    def find(self, tenant: str, places: Collection[Place], root: bytes | None = None) -> dict[Place, list[Hidden]]:
        """The entries of each place that has any, oldest first. What cannot be decrypted is not there.

        `root` is how their conversation begins: where few entries have it, no place need be named, and `places` is
        asked for each of them.
        """
        if root is not None and (few := self._few(tenant, places, root)) is not None:
            return few
        named = {self.digest(b"place", tenant, *place): place for place in places}
        found: dict[Place, list[Hidden]] = {}
        names = list(named)
        for first in range(0, len(names), _PLACES_A_QUESTION):
            some = names[first : first + _PLACES_A_QUESTION]
            asked = _FIND.replace("?", ",".join("?" * len(some)))
            with self.using() as connection:
                rows = connection.execute(asked, some).fetchall()
            for digest, id_, sealed in rows:
                if (hidden := self._open(digest, id_, sealed)) is not None:
                    found.setdefault(named[digest], []).append(hidden)
        return found

    def _few(self, tenant: str, places: Collection[Place], root: bytes) -> dict[Place, list[Hidden]] | None:
        """What begins so and stands at these places; None where too much begins so."""
        with self.using() as connection:
            rows = connection.execute(_FIND_FEW, (self.digest(b"root", tenant, root),)).fetchall()
        if len(rows) > _FEW:
            return None
        found: dict[Place, list[Hidden]] = {}
        for digest, id_, sealed in rows:
            hidden = self._open(digest, id_, sealed)
            if hidden is not None and (hidden.before, hidden.visible) in places:
                found.setdefault((hidden.before, hidden.visible), []).append(hidden)
        return found

    def named(self, tenant: str, id_: str) -> list[Hidden]:
        """The entries of this id, wherever they stand."""
        with self.using() as connection:
            rows = connection.execute(_NAMED, (id_, self.digest(b"tenant", tenant))).fetchall()
        return [hidden for row in rows if (hidden := self._open(*row)) is not None]

    def put(self, tenant: str, subject: str, hidden: Hidden, now: datetime) -> None:
        """Keep an entry, durably."""
        place = self.digest(b"place", tenant, hidden.before, hidden.visible)
        sealed = self.seal(place + hidden.id.encode(), to_bytes(hidden))
        row = (
            place,
            self.digest(b"root", tenant, hidden.root),
            self.digest(b"tenant", tenant),
            hidden.id,
            subject,
            now.timestamp() + self.seconds,
            sealed,
        )
        with self.using() as connection, self.writing():
            self.mark_used(Kept.HIDDEN)
            connection.execute(_PUT, row)

    def forget(self, tenant: str, entries: Sequence[Hidden]) -> None:
        """Remove these entries."""
        rows = [(self.digest(b"place", tenant, each.before, each.visible), each.id) for each in entries]
        with self.using() as connection, self.writing():
            connection.executemany("DELETE FROM hidden WHERE place = ? AND id = ?", rows)
            self._look()

    def touch(self, tenant: str, entries: list[Hidden], now: datetime) -> None:
        """These entries were needed: their time begins anew. Written at most once in a tenth of it."""
        until = now.timestamp() + self.seconds
        rows = [
            (until, self.digest(b"place", tenant, each.before, each.visible), each.id, until - self.seconds / 10)
            for each in entries
        ]
        with self.using() as connection:
            stale = "SELECT 1 FROM hidden WHERE place = ? AND id = ? AND expires < ?"
            due = [row[:3] for row in rows if connection.execute(stale, row[1:]).fetchone()]
            for row in due:
                connection.execute("UPDATE hidden SET expires = ? WHERE place = ? AND id = ?", row)

    def _open(self, place: bytes, id_: str, sealed: bytes) -> Hidden | None:
        plain = self.unseal(place + id_.encode(), sealed)
        try:
            return None if plain is None else from_bytes(plain)
        except msgspec.MsgspecError:
            return None


def new_hidden_id() -> str:
    """A mark: letters and digits, so that it may stand in a sealed signature."""
    return "hg" + secrets.token_hex(10)
