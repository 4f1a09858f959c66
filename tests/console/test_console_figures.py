"""The figures of charts and gauges are what the store holds: counted here by hand, there by the database."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING

import pytest
from msgspec import structs

from interceptors.kinds import MoneyState
from policies import load_policy_text
from policies.model import Ruling
from proxy.business_metrics import BusinessMetrics
from proxy.console.earlier import decided_by
from proxy.console.gauges import read_gauges
from proxy.console.series import Fate, Span, held_money, money_arguments, read_series
from proxy.metrics import Metrics
from proxy.policy_texts import LEFT_OUT, policy_texts
from proxy.stakes import stake
from proxy.store import Entry, figures, open_store
from proxy.store.glances import reservations_of, waiting, waiting_count, waiting_since
from proxy.store.reviews import PICKED_BELOW, agreement, is_picked, sample, say
from proxy.store.revisions import KEPT_MAX, keep, newest
from tests.console.shop import pack_policy, propose, shop
from tests.proxy.store.samples import decided, draft

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import AsyncIterator
    from pathlib import Path

    from interceptors.calls import Json
    from proxy.store import Store

NOW = datetime(2026, 11, 30, 12, 30, tzinfo=UTC)
POLICY = load_policy_text(pack_policy())


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as opened:
        yield opened


async def test_series_are_what_was_decided(store: Store) -> None:
    """Answers, money, latencies and reasons by step; what lies before the span is not counted."""
    made = [
        (NOW, Ruling.ALLOW, 1),
        (NOW - timedelta(minutes=20), Ruling.ALLOW, 9),
        (NOW - timedelta(hours=2), Ruling.ESCALATE, 5),
        (NOW - timedelta(hours=23), Ruling.FORBID, 40),
        (NOW - timedelta(hours=30), Ruling.FORBID, 70),
    ]
    for time, ruling, hold in made:
        await store.commit([Entry(structs.replace(decided(time=time, ruling=ruling), latencies={"hold": hold}))])

    series = await store.read(lambda reader: reader.ask(lambda each: read_series(each, Span.DAY, NOW, POLICY)))

    assert series.starts[-1] == NOW.replace(minute=0)
    assert len(series.starts) == 24
    assert (series.verdicts[Ruling.ALLOW][-1], series.verdicts[Ruling.ESCALATE][-3]) == (2, 1)
    assert (series.verdicts[Ruling.FORBID][0], series.total) == (1, 4)
    money = series.money["USD"]
    assert money[Fate.ALLOWED][-1] == Decimal("1694.00")
    assert (money[Fate.REFUSED][-3], sum(money[Fate.REFUSED])) == (Decimal("847.00"), Decimal("1694.00"))
    assert (series.latencies[0][-1], series.latencies[1][-1], series.latencies[0][-2]) == (1, 9, None)
    assert series.reasons == [("over_limit", 2)]
    assert series.is_whole


async def test_what_is_unknown_is_not_allowed_a_second_time(tmp_path: Path) -> None:
    """A released call whose result never came is unknown money, in the chart and in the gauges of a scrape."""
    async with shop(tmp_path / "gate") as desk:
        await propose(desk, "A1002 120.00 damaged")
        await propose(desk, "A1003 80.00 damaged")
        await propose(desk, "A1001 847.00 damaged")
        await desk.settled(3)
        now = datetime.now(UTC)
        held = await desk.store.read(lambda reader: reader.reservations())
        await desk.store.resolve(held[0].id, MoneyState.EXECUTED, by="kim", reason="seen", at=now)
        await desk.store.expire(at=now + timedelta(hours=1))
        series = await desk.store.read(
            lambda reader: reader.ask(lambda each: read_series(each, Span.WEEK, now, POLICY))
        )
        money = {fate: sum(figures) for fate, figures in series.money["USD"].items()}
        await read_gauges(desk.store, desk.services.metrics, lambda: now + timedelta(seconds=90))
        said = desk.services.metrics.exposition().decode()
        names = [one.receipt for one in await desk.store.read(lambda reader: reader.receipts())]
        states = await desk.store.read(lambda reader: reader.ask(lambda each: reservations_of(each, names)))

    assert money == {Fate.ALLOWED: Decimal(80), Fate.REFUSED: Decimal(847), Fate.UNKNOWN: Decimal(120)}
    assert 'callgate_money_total{currency="USD",ruling="allow"} 200.0' in said
    assert 'callgate_money_total{currency="USD",ruling="escalate"} 847.0' in said
    assert 'callgate_reserved_money{currency="USD",state="unknown"} 120.0' in said
    assert 'callgate_reservations{state="held"} 0.0' in said
    assert "callgate_cases_open 1.0" in said
    assert float(said.partition("\ncallgate_cases_oldest_seconds ")[2].split("\n")[0]) == pytest.approx(90, abs=5)
    assert {state for _, state in states.values()} == {MoneyState.UNKNOWN, MoneyState.EXECUTED}


async def test_the_oldest_cases_come_first_and_all_are_counted(store: Store) -> None:
    """A bounded list begins with who waits longest."""
    for n in range(3):
        made = replace(draft(digest=str(n) * 64), id=f"esc_{n}", created=NOW + timedelta(minutes=n))
        await store.commit([Entry(decided(ruling=Ruling.ESCALATE), escalation=made)])

    found, count, since = await store.read(
        lambda reader: reader.ask(lambda each: (waiting(each, 2), waiting_count(each), waiting_since(each)))
    )

    assert [case.id for case in found] == ["esc_0", "esc_1"]
    assert (count, since) == (3, "2026-11-30T12:30:00.000000Z")


async def test_a_word_on_a_sampled_write_counts_once(store: Store) -> None:
    """Allowed writes only, picked ones only, one word a call; the share is that of all words."""
    ids = [f"rc_{'0' * 23}{end}" for end in ("000", "001", "0A7", "0A8", "ZZZ")]
    for receipt in ids:
        await store.commit([Entry(decided(receipt))])
    await store.commit([Entry(decided(f"rc_{'1' * 23}002", ruling=Ruling.FORBID))])

    async def word(receipt: str, *, agrees: bool) -> bool:
        return await store.write(lambda each: say(each, receipt, agrees=agrees, by="ana", note="n", at=NOW))

    found = await store.read(lambda reader: reader.ask(lambda each: sample(each, 10)))
    said = [await word(ids[0], agrees=True), await word(ids[0], agrees=False), await word(ids[1], agrees=False)]
    never = [await word(ids[3], agrees=True), await word(f"rc_{'1' * 23}002", agrees=True)]
    after = await store.read(lambda reader: reader.ask(agreement))

    assert [one.receipt for one in found] == [ids[2], ids[1], ids[0]]
    assert (said, never) == ([True, False, True], [False, False])
    assert (after.agreed, after.disagreed, after.waiting, after.share) == (1, 1, 1, 0.5)


def test_one_of_a_hundred_is_picked() -> None:
    """Of all endings that an id can have, 328 of 32768."""
    alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
    picked = sum(is_picked(f"rc_{a}{b}{c}") for a in alphabet for b in alphabet for c in alphabet)

    assert picked == 328
    assert PICKED_BELOW == "0A8"


async def test_a_note_goes_with_the_payload_of_its_call(store: Store) -> None:
    """What a reviewer wrote about a customer's call is erased with the customer; the word itself still counts."""
    receipt = f"rc_{'0' * 26}"
    await store.commit([Entry(decided(receipt, subject=store.subject_digest("cus_ada")))])
    await store.write(lambda each: say(each, receipt, agrees=False, by="ana", note="Ada called twice", at=NOW))

    await store.erase("cus_ada", by="kim", at=NOW)

    def notes(connection: sqlite3.Connection) -> list[tuple[str, int]]:
        return connection.execute("SELECT note, agrees FROM reviews").fetchall()

    assert await store.read(lambda reader: reader.ask(notes)) == [("", 0)]


async def test_revisions_are_kept_once_each_and_bounded(store: Store) -> None:
    """The same revision twice in a row is one; the oldest of too many goes."""
    for n in range(KEPT_MAX + 3):
        for _ in range(2):
            await store.write(partial(keep, revision=f"r{n}", policy="p", files={"policy.yaml": str(n)}, at=NOW))

    found = await store.read(lambda reader: reader.ask(lambda each: newest(each, 1000)))

    assert len(found) == KEPT_MAX
    assert (found[0].revision, found[0].files) == (f"r{KEPT_MAX + 2}", {"policy.yaml": str(KEPT_MAX + 2)})


async def test_an_earlier_policy_is_read_again_from_what_was_kept(store: Store) -> None:
    """Under its own revision; one that was not kept, or that this version cannot read, lends nothing."""
    earlier = load_policy_text("language: 1\npolicy: earlier\n")
    kept = {"good": {"policy.yaml": "language: 1\npolicy: earlier\n"}, "bad": {"policy.yaml": "language: 99\n"}}
    for revision, files in kept.items():
        await store.write(partial(keep, revision=revision, policy="p", files=files, at=NOW))

    found = {name: await decided_by(store, {"revision": name}, POLICY) for name in ("good", "bad", "none")}

    assert (found["good"].name, found["good"].revision) == (earlier.name, "good")
    assert found["bad"] is found["none"] is POLICY
    assert await decided_by(store, {"revision": POLICY.revision}, POLICY) is POLICY


def test_a_plain_credential_is_not_kept(tmp_path: Path) -> None:
    """Tokens and headers that stand in the policy itself are left out of what is kept; references stay."""
    path = tmp_path / "policy.yaml"
    path.write_text(
        "language: 1\npolicy: p\nidentities:\n  bot: {token: plain-token-in-the-file}\n  ref: {token: '${BOT}'}\n"
        "facts:\n  order:\n    key: {pattern: '[A-Z]'}\n    http: 'http://x/{key}'\n"
        "    headers: {authorization: Bearer plain-secret}\n    missing: {forbid: gone}\n"
        "    fields: {paid: {money: USD, unit: minor}}\nreasons: {gone: {category: policy}}\n"
    )
    from policies import load_policy

    policy = load_policy(path)
    texts = policy_texts(path, policy)

    assert texts is not None
    assert texts["policy.yaml"].count(LEFT_OUT) == 2
    assert "plain-" not in texts["policy.yaml"]
    assert "${BOT}" in texts["policy.yaml"]
    path.write_text("language: 1\npolicy: other\n")
    assert policy_texts(path, policy) is None


def test_the_stake_of_a_call_is_its_first_money() -> None:
    """As the policy types it; nothing where there is no such tool, argument or amount."""
    assert str(stake(POLICY, "process_refund", {"amount": Decimal("847.00")})).endswith("'USD')")
    others: list[tuple[str, Json]] = [
        ("lookup_order", {"order_id": "A1"}),
        ("process_refund", {"amount": "x"}),
        ("none", {}),
    ]
    for tool, arguments in others:
        assert stake(POLICY, tool, arguments) is None
    assert list(money_arguments(POLICY)) == ["process_refund"]
    assert [
        str(one.amount) for one in held_money('[{"limit":"a","amount":"60.00 USD"},{"limit":"b","amount":"2"}]')
    ] == ["60.00"]
    assert figures.DECIDED_MAX == 100_000
    assert isinstance(Metrics().business, BusinessMetrics)
