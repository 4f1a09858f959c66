"""What becomes of released calls and of held money: settled by a result, by time, by an abort, or by a person.

Each step is a record. A call that reserves nothing is settled by its result alone, and its record names no reservation.

A reservation that was handed out several times is what all of its calls say together: executed as soon as one is, and
free only when none may have been.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.chain import stamp
from interceptors.kinds import MoneyState, SettlementCause
from interceptors.receipts import Settled
from proxy.store.grants import give_back

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from proxy.store.entries import Settlement
    from proxy.store.transaction import Transaction

EXPIRE_MAX = 200
"""How many calls one transaction finds expired: decisions are made in between."""

_FIND = "SELECT reservation, state, subject, result FROM releases WHERE receipt = ?"
_RESULT = "UPDATE releases SET result = ? WHERE receipt = ?"
_SET = "UPDATE releases SET state = ? WHERE receipt = ?"
_STATES = "SELECT state FROM releases WHERE reservation = ?"
_DUE = "SELECT receipt FROM releases WHERE state = 'held' AND settle_by <= ? ORDER BY settle_by LIMIT ?"


def settle(transaction: Transaction, settlements: Iterable[Settlement], *, at: datetime) -> int:
    """Settle calls by what came back for them; how many reservations changed. One that is final stays what it is."""
    changed = 0
    for one in settlements:
        row = transaction.connection.execute(_FIND, (one.receipt,)).fetchone()
        if row is None:
            continue
        if one.result:
            transaction.connection.execute(_RESULT, (one.result, one.receipt))
        if row[0] is None:
            _say(transaction, one, row, at)
        elif row[3] and one.result and row[3] != one.result:
            changed += _conflict(transaction, one, at)
        else:
            changed += _settle(transaction, one.receipt, one.state, SettlementCause.RESULT, at, result=one.result)
    return changed


def expire(transaction: Transaction, *, at: datetime) -> int:
    """Count as unknown what had no result in time; how many calls were found so, `EXPIRE_MAX` at most."""
    due = transaction.connection.execute(_DUE, (stamp(at), EXPIRE_MAX)).fetchall()
    for (receipt,) in due:
        _settle(transaction, receipt, MoneyState.UNKNOWN, SettlementCause.EXPIRED, at)
    return len(due)


def free(transaction: Transaction, receipts: Iterable[str], *, at: datetime) -> int:
    """Undo what these calls held: no byte of them was handed to the socket. How many reservations changed."""
    changed = 0
    for receipt in receipts:
        transaction.connection.execute("UPDATE releases SET aborted = 1 WHERE receipt = ?", (receipt,))
        give_back(transaction.connection, receipt)
        row = transaction.connection.execute(_FIND, (receipt,)).fetchone()
        if row is not None and row[1] == MoneyState.HELD.value:
            changed += _settle(transaction, receipt, MoneyState.NOT_EXECUTED, SettlementCause.ABORTED, at)
    return changed


def resolve(
    transaction: Transaction, reservation: str, state: MoneyState, *, by: str, reason: str, at: datetime
) -> str | None:
    """A person says what became of a reservation that is held or unknown; its receipt, None where it is neither."""
    assert state.is_final
    connection = transaction.connection
    row = connection.execute(
        "SELECT receipt FROM reservations WHERE id = ? AND state IN ('held', 'unknown')", (reservation,)
    ).fetchone()
    if row is None:
        return None
    (receipt,) = row
    (subject,) = connection.execute("SELECT subject FROM releases WHERE receipt = ?", (receipt,)).fetchone() or ("",)
    connection.execute(
        "UPDATE releases SET state = ? WHERE reservation = ? AND state IN ('held', 'unknown')",
        (state.value, reservation),
    )
    _become(transaction, reservation, state, at)
    transaction.append(
        Settled(
            receipt=receipt,
            time=at,
            reservation=reservation,
            state=state,
            cause=SettlementCause.PERSON,
            by=by,
            reason=reason,
            subject=subject,
        )
    )
    return str(receipt)


def _say(transaction: Transaction, one: Settlement, row: tuple[str | None, ...], at: datetime) -> None:
    """What a result says of a call that reserves nothing; another one later may say that it ran, and no less."""
    _, said, subject, result = row
    if result and result == one.result and (said is None or said == one.state.value or MoneyState(said).is_final):
        return
    before = MoneyState.UNKNOWN if said is None else MoneyState(said)
    is_more = not before.is_final and (not result or one.state is MoneyState.EXECUTED or result == one.result)
    state = one.state if is_more else before
    transaction.connection.execute(_SET, (state.value, one.receipt))
    transaction.append(
        Settled(
            receipt=one.receipt,
            time=at,
            reservation="",
            state=state,
            cause=SettlementCause.CONFLICT if result and result != one.result else SettlementCause.RESULT,
            result=one.result,
            subject=subject or "",
        )
    )


def _conflict(transaction: Transaction, one: Settlement, at: datetime) -> bool:
    """A second, different result of a call: always a record. It can say that money was spent, and never free it."""
    if one.state is MoneyState.EXECUTED and _settle(
        transaction, one.receipt, one.state, SettlementCause.CONFLICT, at, result=one.result
    ):
        return True
    reservation, _, subject, _ = transaction.connection.execute(_FIND, (one.receipt,)).fetchone()
    (state,) = transaction.connection.execute("SELECT state FROM reservations WHERE id = ?", (reservation,)).fetchone()
    transaction.append(
        Settled(
            receipt=one.receipt,
            time=at,
            reservation=reservation,
            state=MoneyState(state),
            cause=SettlementCause.CONFLICT,
            result=one.result,
            subject=subject,
        )
    )
    return False


def _settle(
    transaction: Transaction,
    receipt: str,
    state: MoneyState,
    cause: SettlementCause,
    at: datetime,
    *,
    result: str = "",
) -> bool:
    """Note the state of one call; True where it changed that of its reservation, which is then a record."""
    connection = transaction.connection
    row = connection.execute(_FIND, (receipt,)).fetchone()
    if row is None or row[0] is None or MoneyState(row[1]).is_final:
        return False
    reservation, _, subject, _ = row
    (before,) = connection.execute("SELECT state FROM reservations WHERE id = ?", (reservation,)).fetchone()
    if MoneyState(before).is_final:
        return False
    connection.execute(_SET, (state.value, receipt))
    together = _together(MoneyState(each) for (each,) in connection.execute(_STATES, (reservation,)))
    if together is MoneyState(before):
        return False
    _become(transaction, reservation, together, at)
    transaction.append(
        Settled(
            receipt=receipt,
            time=at,
            reservation=reservation,
            state=together,
            cause=cause,
            result=result,
            subject=subject,
        )
    )
    return True


def _together(states: Iterable[MoneyState]) -> MoneyState:
    found = set(states)
    for state in (MoneyState.EXECUTED, MoneyState.HELD, MoneyState.UNKNOWN):
        if state in found:
            return state
    return MoneyState.NOT_EXECUTED


def _become(transaction: Transaction, reservation: str, state: MoneyState, at: datetime) -> None:
    transaction.connection.execute(
        "UPDATE reservations SET state = ?, settled_at = ? WHERE id = ?",
        (state.value, stamp(at) if state.is_final else None, reservation),
    )
    if state is MoneyState.NOT_EXECUTED:
        transaction.connection.execute("DELETE FROM charges WHERE reservation = ?", (reservation,))
