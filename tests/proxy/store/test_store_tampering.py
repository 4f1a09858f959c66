"""A database that was changed behind the store's back: each change is found where it was made, or named as a limit."""

from __future__ import annotations

import asyncio
import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest

from interceptors.verification import LIMITS, Fault, Finding
from proxy.store import Entry, open_reader
from tests.proxy.store.samples import decided

if TYPE_CHECKING:
    from pathlib import Path

    from interceptors.chain import Head
    from interceptors.verification import Report
    from proxy.store import Store

TAMPERING = {
    "alter the ruling": (
        "UPDATE payloads SET payload = replace(payload, 'allow', 'forbid') WHERE record = 3",
        3,
        Fault.PAYLOAD_ALTERED,
    ),
    "alter the salt": ("UPDATE payloads SET salt = zeroblob(32) WHERE record = 3", 3, Fault.PAYLOAD_ALTERED),
    "swap two payloads": (
        (
            "UPDATE payloads SET record = CASE record WHEN 3 THEN -4 ELSE -3 END WHERE record IN (3, 4);"
            "UPDATE payloads SET record = -record WHERE record < 0"
        ),
        3,
        Fault.PAYLOAD_ALTERED,
    ),
    "delete a payload": ("DELETE FROM payloads WHERE record = 3", 3, Fault.PAYLOAD_MISSING),
    "delete a record": ("DELETE FROM records WHERE seq = 3; DELETE FROM payloads WHERE record = 3", 4, Fault.REMOVED),
    "delete the first": ("DELETE FROM records WHERE seq = 1; DELETE FROM payloads WHERE record = 1", 2, Fault.REMOVED),
    "swap two numbers": (
        "UPDATE records SET seq = -seq WHERE seq IN (3, 4); UPDATE records SET seq = seq + 7 WHERE seq < 0",
        3,
        Fault.ALTERED,
    ),
    "renumber over a gap": (
        (
            "DELETE FROM records WHERE seq = 3; DELETE FROM payloads WHERE record = 3;"
            "UPDATE records SET seq = seq - 1 WHERE seq > 3"
        ),
        3,
        Fault.UNLINKED,
    ),
    "put one in twice": (
        (
            "INSERT INTO records SELECT 99, schema, digest, writer, 99, prev, kind, receipt, time, commitment, hash"
            " FROM records WHERE seq = 3"
        ),
        99,
        Fault.REMOVED,
    ),
    **{
        f"alter {column} to {value}": (f"UPDATE records SET {column} = {value} WHERE seq = 3", 3, fault)
        for column, value, fault in (
            ("schema", "2", Fault.UNKNOWN_FORMAT),
            ("digest", "'md5'", Fault.UNKNOWN_FORMAT),
            ("kind", "'released'", Fault.ALTERED),
            ("kind", "'nonsense'", Fault.UNKNOWN_FORMAT),
            ("receipt", "'rc_x'", Fault.ALTERED),
            ("time", "'2020-01-01T00:00:00.000000Z'", Fault.ALTERED),
            ("prev", "hex(zeroblob(32))", Fault.ALTERED),
            ("commitment", "hex(zeroblob(32))", Fault.ALTERED),
            ("hash", "hex(zeroblob(32))", Fault.ALTERED),
        )
    },
}


async def _six(store: Store) -> list[Head]:
    return [(await store.commit([Entry(decided())]))[0].head for _ in range(6)]


def _tamper(state: Path, script: str) -> None:
    with contextlib.closing(sqlite3.connect(state / "callgate.db")) as connection:
        connection.executescript(f"DROP TRIGGER records_are_immutable; {script}")


async def _verify(state: Path, noted: tuple[Head, ...] = ()) -> Report:
    def ask() -> Report:
        with open_reader(state) as reader:
            return reader.verify(noted)

    return await asyncio.to_thread(ask)


@pytest.mark.parametrize("deed", TAMPERING)
async def test_tampering_is_found_at_its_place(store: Store, state: Path, deed: str) -> None:
    """Whatever is altered, removed, reordered or swapped, verification names it first at the record it was done to."""
    script, seq, fault = TAMPERING[deed]
    await _six(store)
    _tamper(state, script)

    report = await _verify(state)

    assert report.findings[0].seq == seq
    assert fault in {finding.fault for finding in report.findings if finding.seq == seq}


async def test_untouched_chains_verify(store: Store, state: Path) -> None:
    """What was not touched has no finding, and its head is the one that was promised."""
    heads = await _six(store)

    report = await _verify(state, tuple(heads))

    assert (report.findings, report.heads, report.records) == ((), (heads[-1],), 6)


async def test_a_cut_tail_is_found_by_a_noted_head_only(store: Store, state: Path) -> None:
    """The chain alone cannot show that its end is missing, and says so; a head that was kept outside shows it."""
    heads = await _six(store)
    _tamper(state, "DELETE FROM records WHERE seq = 6")

    assert (await _verify(state)).findings == ()
    assert any("cut tail" in limit for limit in LIMITS)
    assert (await _verify(state, (heads[-1],))).findings == (Finding(Fault.CUT, heads[-1].writer, 6),)
    assert (await _verify(state, (heads[-2],))).findings == ()


async def test_records_cannot_be_updated_by_mistake(store: Store, state: Path) -> None:
    """The database itself refuses to change a record."""
    await _six(store)
    with (
        contextlib.closing(sqlite3.connect(state / "callgate.db")) as connection,
        pytest.raises(sqlite3.IntegrityError, match="a record is immutable"),
    ):
        connection.execute("UPDATE records SET kind = 'released'")
