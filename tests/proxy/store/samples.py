"""Records to store, and connections that fail when they are told to."""

from __future__ import annotations

import sqlite3
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from interceptors.calls import Proposer
from interceptors.decisions import Decision, FactRead, Verdict
from interceptors.receipts import Decided, Released, decided_record
from policies.model import Category, Mode, Ruling
from proxy.store import EscalationDraft, new_escalation_id, new_receipt_id

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def decided(
    receipt: str = "",
    *,
    time: datetime = NOW,
    subject: str = "",
    ruling: Ruling = Ruling.ALLOW,
    tool: str = "process_refund",
    note: str = "",
) -> Decided:
    decision = Decision(
        ruling=ruling,
        tool=tool,
        is_write=True,
        reason="" if ruling is Ruling.ALLOW else "over_limit",
        category=None if ruling is Ruling.ALLOW else Category.POLICY,
        verdicts=(Verdict("rules", ruling, "over_limit", f"{tool}.rules[0]"),),
        facts=(FactRead("order", "A1234", NOW, {"paid": "847.00 USD"}),),
        arguments={"order_id": "A1234", "amount": Decimal("847.00"), "note": note},
        digest="a" * 64,
        policy="refund-desk",
        revision="b" * 64,
    )
    return decided_record(
        decision,
        receipt=receipt or new_receipt_id(time),
        time=time,
        exchange="ex_1",
        turn=3,
        position=0,
        tenant="support-bot",
        identity="support-bot",
        subject=subject,
        proposer=Proposer.MODEL,
        dialect="anthropic-messages",
        model="a-model",
        call_id="toolu_1",
        mode=Mode.ENFORCE,
        latencies={"decide": 1},
    )


def released(receipt: str, *, time: datetime = NOW, subject: str = "") -> Released:
    return Released(receipt=receipt, time=time, exchange="ex_1", subject=subject)


def draft(receipt: str = "rc_1", *, tenant: str = "t", subject: str = "", digest: str = "a" * 64) -> EscalationDraft:
    return EscalationDraft(
        id=new_escalation_id(NOW),
        tenant=tenant,
        subject=subject,
        tool="process_refund",
        argument_digest=digest,
        summary={"root_cause": "a parcel arrived broken", "recommended_action": "approve"},
        reason="over_limit",
        receipt=receipt,
        created=NOW,
    )


class Faults:
    """Connections whose statement number `fail_at` fails, counted over all of them; with `after` it runs first."""

    def __init__(self) -> None:
        self.count = 0
        self.fail_at = 0
        self.fail_all_from = 0
        self.only = ""
        self.after = False
        self.error: Callable[[], Exception] = lambda: sqlite3.OperationalError("disk I/O error")
        self.statements: list[str] = []
        self.hit = ""
        self.also: tuple[str, ...] = ()

    def connect(self, path: Path) -> sqlite3.Connection:
        self._count("CONNECT")
        return sqlite3.connect(path, isolation_level=None, check_same_thread=False, factory=self._connection())

    def _connection(self) -> type[sqlite3.Connection]:
        faults = self

        class Failing(sqlite3.Connection):
            def execute(self, sql: str, parameters: Any = ()) -> sqlite3.Cursor:
                return faults._run(sql, lambda: sqlite3.Connection.execute(self, sql, parameters))

            def executemany(self, sql: str, parameters: Any) -> sqlite3.Cursor:
                return faults._run(sql, lambda: sqlite3.Connection.executemany(self, sql, parameters))

        return Failing

    def _run(self, sql: str, statement: Callable[[], sqlite3.Cursor]) -> sqlite3.Cursor:
        if self.after:
            cursor = statement()
            self._count(sql)
            return cursor
        self._count(sql)
        return statement()

    def _count(self, sql: str) -> None:
        self.statements.append(sql)
        if self.also and sql.startswith(self.also):
            raise self.error()
        if self.only and not sql.startswith(self.only):
            return
        self.count += 1
        if self.count == self.fail_at or 0 < self.fail_all_from <= self.count:
            self.hit = sql
            raise self.error()
