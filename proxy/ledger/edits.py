"""What was decided about the history of a conversation, and when: kept beside its hidden turns, in the same file.

A decision stands at a place: behind a user-side turn, named by the meaning of everything up to it. It is made once, by
whoever writes it first, and holds for every request that has this place in its history, whatever the policy says later.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import msgspec

from proxy.ledger.edits_read import DecisionsRead
from proxy.ledger.strongbox import Kept

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from proxy.ledger.strongbox import Strongbox

_PLACES_A_QUESTION = 500
_FIND = "SELECT place, sealed FROM edits WHERE place IN (?)"
_NAMES_MAX = 2000
_NAMES = f"SELECT place FROM edits WHERE root = ? LIMIT {_NAMES_MAX + 1}"  # noqa: S608 - own number
_DUE = "SELECT 1 FROM edits WHERE place = ? AND expires < ?"
_PUT = "INSERT OR IGNORE INTO edits (place, root, subject, expires, sealed) VALUES (?, ?, ?, ?, ?)"
_PUT_ANEW = _PUT.replace("IGNORE", "REPLACE")


class ResultEdit(msgspec.Struct, frozen=True, array_like=True):
    """Other texts in a result. `turn` is the number of the turn that holds it; `why` is the value of an `Edit`."""

    turn: int
    call: str
    texts: tuple[str, ...]
    is_error: bool
    keeps_other: bool
    why: str


class ResultAdded(msgspec.Struct, frozen=True, array_like=True):
    """A result that is put in: what `HiddenResult` says of one."""

    call: str
    name: str
    kind: str
    content: str
    toolset: str
    provider_id: str


class PairEdit(msgspec.Struct, frozen=True, array_like=True):
    """The results of the user-side turn `turn` without those that are `dropped`, and with others, in this `order` of
    calls. Where the turn is the assistant's, the results stand behind it."""

    turn: int
    added: tuple[ResultAdded, ...] = ()
    order: tuple[str, ...] = ()
    dropped: tuple[bool, ...] = ()


class Stretch(msgspec.Struct, frozen=True, array_like=True):
    """The turns from `first` to `last`, both included, are one text: a matter that is closed."""

    first: int
    last: int
    text: str


class Rate(msgspec.Struct, frozen=True, array_like=True):
    """So many tokens the provider counted in a request of so many bytes; both 0 where it is not known."""

    size: int = 0
    tokens: int = 0


UNRATED = Rate()


class Decision(msgspec.Struct, frozen=True, array_like=True):
    """Of one place. `at` is when it was made, in seconds: when its results first went up.

    `notice` stands before the content of the result of the call `noticed`, in the place's own turn, or behind that turn
    where no call is named; it was said of the results in `told`, each a turn and a call.

    `stretches` follow each other, and those of earlier places stand before them. `rate` is what was known then;
    `notes`: calls that are refused in the answer are noted.
    """

    at: float
    results: tuple[ResultEdit, ...] = ()
    noticed: str = ""
    notice: str = ""
    told: tuple[tuple[int, str], ...] = ()
    pairs: tuple[PairEdit, ...] = ()
    stretches: tuple[Stretch, ...] = ()
    rate: Rate = UNRATED
    notes: bool = False


@dataclass(frozen=True, slots=True)
class Where:
    """A place in a conversation of a tenant, which began with `root`, and whom it is about (a digest)."""

    tenant: str
    place: bytes
    root: bytes
    subject: str


NOTHING: Mapping[bytes, Decision] = MappingProxyType({})
_encode = msgspec.msgpack.Encoder().encode
_decision = msgspec.msgpack.Decoder(Decision)


class EditVault:
    """One for the process. Every method blocks, but `is_empty`; each may raise `LedgerError`."""

    def __init__(self, vault: Strongbox) -> None:
        self._vault = vault
        self._read: DecisionsRead[Decision] = DecisionsRead()

    def is_empty(self) -> bool:
        """Whether nothing was decided about any history."""
        return self._vault.is_empty(Kept.EDITS)

    def generation(self) -> int:
        """Another number each time that anything was removed, by any process."""
        return self._vault.generation()

    def knows(self, tenant: str, root: bytes) -> bool:
        """Whether something was decided about a conversation of this tenant that began so."""
        digest = self._vault.digest(b"edits root", tenant, root)
        with self._vault.using() as connection:
            return connection.execute("SELECT 1 FROM edits WHERE root = ? LIMIT 1", (digest,)).fetchone() is not None

    def find(self, tenant: str, places: Iterable[bytes], root: bytes | None = None) -> dict[bytes, Decision]:
        """What was decided at these places. What cannot be decrypted is not there. `root` is how their conversation
        begins, where that is known: then what was found before is not asked for again."""
        self._read.keep_up(self._vault.generation())
        found, unknown = self._read.among(tenant, places)
        if root is not None and not self._has_more(tenant, root, len(found)):
            return found
        named = {self._vault.digest(b"edits place", tenant, place): place for place in unknown}
        for digest, sealed in self._rows(list(named)):
            plain = self._vault.unseal(digest, sealed)
            try:
                if plain is not None:
                    found[named[digest]] = decision = _decision.decode(plain)
                    self._read.add(tenant, named[digest], decision, len(plain))
            except msgspec.MsgspecError:
                continue
        return found

    def _has_more(self, tenant: str, root: bytes, count: int) -> bool:
        """Whether more than so many decisions may stand in conversations that begin so."""
        digest = self._vault.digest(b"edits root", tenant, root)
        with self._vault.using() as connection:
            return len(connection.execute(_NAMES, (digest,)).fetchall()) > min(count, _NAMES_MAX)

    def recall(self, tenant: str, names: Iterable[bytes]) -> dict[bytes, Decision]:
        """What was last decided of results with these names, wherever they stood."""
        named = {self._vault.digest(b"edits result", tenant, name): name for name in names}
        found: dict[bytes, Decision] = {}
        for digest, sealed in self._rows(list(named)):
            plain = self._vault.unseal(digest, sealed)
            with suppress(msgspec.MsgspecError):
                if plain is not None:
                    found[named[digest]] = _decision.decode(plain)
        return found

    def decide(
        self,
        where: Where,
        decision: Decision,
        now: datetime,
        before: Mapping[bytes, Decision] = NOTHING,
        results: Mapping[bytes, Decision] = NOTHING,
    ) -> Decision:
        """Keep the decision, durably, unless there is one: the one that holds. `before` are those of other places of
        the same history, which are kept in the same way; `results` those of results by their names, for `recall`."""
        places = {**before, where.place: decision}
        rows = [self._row(replace(where, place=place), each, now) for place, each in places.items()]
        loose = replace(where, root=b"")
        again = [self._row(replace(loose, place=name), each, now, b"edits result") for name, each in results.items()]
        with self._vault.using() as connection, self._vault.writing():
            self._vault.mark_used(Kept.EDITS)
            connection.executemany(_PUT, rows)
            connection.executemany(_PUT_ANEW, again)
        return self.find(where.tenant, [where.place]).get(where.place, decision)

    def _row(
        self, where: Where, decision: Decision, now: datetime, kind: bytes = b"edits place"
    ) -> tuple[bytes, bytes, str, float, bytes]:
        digest = self._vault.digest(kind, where.tenant, where.place)
        name = self._vault.digest(b"edits root", where.tenant, where.root)
        sealed = self._vault.seal(digest, _encode(decision))
        return digest, name, where.subject, now.timestamp() + self._vault.seconds, sealed

    def touch(self, tenant: str, places: Iterable[bytes], now: datetime) -> None:
        """These places were needed: their time begins anew. Written at most once in a tenth of it."""
        until = now.timestamp() + self._vault.seconds
        due = until - self._vault.seconds / 10
        all_places = list(places)

        def rows(some: Iterable[bytes]) -> list[tuple[float, bytes, float]]:
            return [(until, self._vault.digest(b"edits place", tenant, place), due) for place in some]

        ends = rows([*all_places[-1:], *all_places[:1]])
        with self._vault.using() as connection:
            if any(connection.execute(_DUE, row[1:]).fetchone() for row in ends):
                for table in ("edits", "notes"):  # what is noted lies under the names of the same places
                    touched = f"UPDATE {table} SET expires = ? WHERE place = ? AND expires < ?"  # noqa: S608 - own words
                    connection.executemany(touched, rows(all_places))

    def is_due(self, tenant: str, place: bytes, now: datetime) -> bool:
        """Whether a place would be touched."""
        due = now.timestamp() + self._vault.seconds * 9 / 10
        with self._vault.using() as connection:
            return (
                connection.execute(_DUE, (self._vault.digest(b"edits place", tenant, place), due)).fetchone()
                is not None
            )

    def _rows(self, names: Sequence[bytes]) -> Iterable[tuple[bytes, bytes]]:
        for first in range(0, len(names), _PLACES_A_QUESTION):
            some = names[first : first + _PLACES_A_QUESTION]
            with self._vault.using() as connection:
                yield from connection.execute(_FIND.replace("?", ",".join("?" * len(some))), some).fetchall()
