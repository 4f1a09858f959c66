"""Money that is held: reserved in the transaction of its receipt, listed for people, and found by what comes back."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import msgspec

from interceptors.chain import stamp
from interceptors.kinds import MoneyState
from interceptors.receipts import Held, Reserved
from proxy.store.entries import ReleasedCall, Reservation
from proxy.store.errors import StoreError

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from proxy.store.entries import ReleaseDraft, Reserving
    from proxy.store.folder import SubjectKey

RELEASE_COLUMNS = "receipt, tenant, call_id, tool, argument_digest, subject, time, reservation, state, settle_by"
_RESERVE = (
    "INSERT INTO reservations (id, intent, terms, ordinal, policy, tool, held, receipt, time, state, settle_by)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 'held', ?)"
)
_RENEW = (
    "UPDATE reservations SET state = 'held', settled_at = NULL, settle_by = ?"
    " WHERE id = ? AND state IN ('held', 'unknown')"
)
_CHARGE = "INSERT INTO charges (cap, time, currency, units, counted, reservation) VALUES (?, ?, ?, ?, ?, ?)"
_COLUMNS = "id, policy, tool, held, receipt, time, state, settled_at, settle_by"
_CALLS_MAX = 500  # names of one question: below the database's bound of parameters


def release_row(draft: ReleaseDraft, held: Reserved | None) -> tuple[object, ...]:
    """That this call was allowed, and what it holds, as `RELEASE_COLUMNS` say."""
    return (
        draft.receipt,
        draft.tenant,
        draft.call_id,
        draft.tool,
        draft.argument_digest,
        draft.subject,
        stamp(draft.time),
        None if held is None else held.reservation,
        None if held is None else MoneyState.HELD.value,
        None if held is None else stamp(held.settle_by),
    )


def hold(connection: sqlite3.Connection, draft: ReleaseDraft, reserving: Reserving, naming: SubjectKey) -> Reserved:
    """Hold what the call would use, or hand out again what an earlier call of its intent holds; the record of it.

    What the decision rested on was looked at again in this transaction. Raises `StoreError` where it cannot be.
    """
    obligation = reserving.obligation
    reserved = Reserved(
        receipt=draft.receipt,
        time=draft.time,
        reservation=obligation.renews or reserving.id,
        held=tuple(Held(limit=one.limit, amount=one.amount) for one in obligation.charges),
        settle_by=draft.time + obligation.settle_within,
        again=bool(obligation.renews),
        injected=reserving.injected,
        subject=draft.subject,
    )
    if not obligation.renews:
        _make(connection, draft, reserving, naming, reserved)
    elif connection.execute(_RENEW, (stamp(reserved.settle_by), obligation.renews)).rowcount != 1:
        raise StoreError("a reservation that was open is not")
    return reserved


def _make(
    connection: sqlite3.Connection,
    draft: ReleaseDraft,
    reserving: Reserving,
    naming: SubjectKey,
    reserved: Reserved,
) -> None:
    obligation, time = reserving.obligation, stamp(draft.time)
    connection.execute(
        _RESERVE,
        (
            reserving.id,
            naming.name(obligation.intent) if obligation.intent else None,
            naming.name(obligation.terms) if obligation.terms else "",
            obligation.ordinal,
            reserving.policy,
            draft.tool,
            msgspec.json.encode(reserved.held).decode(),
            draft.receipt,
            time,
            stamp(reserved.settle_by),
        ),
    )
    for one in obligation.charges:
        charge = one.charge
        connection.execute(
            _CHARGE, (naming.name(one.name), time, charge.currency, charge.units, charge.counted, reserving.id)
        )


def show(connection: sqlite3.Connection, reservation: str) -> Reservation | None:
    query = f"SELECT {_COLUMNS} FROM reservations WHERE id = ?"  # noqa: S608 # own names
    row = connection.execute(query, (reservation,)).fetchone()
    return None if row is None else _reservation(row)


def newest(
    connection: sqlite3.Connection, state: MoneyState | None, before: str | None, limit: int
) -> tuple[Reservation, ...]:
    """The newest first; `before` is the id at which the last page ended."""
    rows = connection.execute(
        f"SELECT {_COLUMNS} FROM reservations"  # noqa: S608 # own names
        " WHERE (?1 IS NULL OR state = ?1) AND (?2 IS NULL OR id < ?2) ORDER BY id DESC LIMIT ?3",
        (None if state is None else state.value, before, limit),
    )
    return tuple(_reservation(row) for row in rows)


def released_calls(
    connection: sqlite3.Connection, tenant: str, call_ids: Sequence[str]
) -> dict[str, tuple[ReleasedCall, ...]]:
    """By call id, the calls of this tenant that were allowed and not aborted, oldest first: ids may recur."""
    found: dict[str, tuple[ReleasedCall, ...]] = {}
    wanted = list(dict.fromkeys(call_ids))
    for start in range(0, len(wanted), _CALLS_MAX):
        page = wanted[start : start + _CALLS_MAX]
        marks = ", ".join("?" * len(page))
        rows = connection.execute(
            "SELECT receipt, call_id, tool, argument_digest, time, reservation, state, result, subject"  # noqa: S608 # question marks
            f" FROM releases WHERE tenant = ? AND call_id IN ({marks}) AND aborted = 0"
            " AND argument_digest <> '' ORDER BY time, receipt",  # of an erased subject's call nobody may know again
            (tenant, *page),
        )
        for receipt, call_id, tool, argument_digest, time, reservation, state, result, subject in rows:
            call = ReleasedCall(
                receipt,
                call_id,
                tool,
                argument_digest,
                datetime.fromisoformat(time),
                reservation,
                None if state is None else MoneyState(state),
                result,
                subject,
            )
            found[call_id] = (*found.get(call_id, ()), call)
    return found


def _reservation(row: tuple[str, ...]) -> Reservation:
    reservation, policy, tool, held, receipt, time, state, settled_at, settle_by = row
    return Reservation(
        id=reservation,
        policy=policy,
        tool=tool,
        held=msgspec.json.decode(held, type=tuple[Held, ...]),
        receipt=receipt,
        time=time,
        state=MoneyState(state),
        settled_at=settled_at,
        settle_by=settle_by,
    )
