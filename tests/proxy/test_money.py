"""Money through the gate's judge and store: no order of turns, retries, results, failures pays twice or past a cap."""

from __future__ import annotations

import asyncio
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

import pytest

from interceptors.kinds import MoneyState
from policies.model import Ruling
from proxy.store import Store, open_store
from tests.proxy.money_desk import DAILY, NOW, OVER_PAID, TWICE, open_desk
from tests.proxy.store.samples import Faults

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

EXECUTED, NOT_EXECUTED, UNKNOWN = MoneyState.EXECUTED, MoneyState.NOT_EXECUTED, MoneyState.UNKNOWN


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[Store]:
    async with await asyncio.to_thread(open_store, tmp_path / "state") as opened:
        yield opened


async def test_sixty_and_sixty_of_a_hundred(store: Store) -> None:
    """In one turn, where both see the same snapshot, and in two: one is paid, the other gets the limit's outcome."""
    desk = await open_desk(store)
    desk.orders["A2"] = desk.orders["A1"]
    assert await desk.said("60", "60") == ["allow", "over_paid"]
    assert await desk.said("60", order="A2") + await desk.said("60", order="A2") == ["allow", "over_paid"]
    assert await desk.said("40") == ["allow"]
    assert await desk.held() == 16000


async def test_a_fact_that_lags(store: Store) -> None:
    """Whether the fact has counted what was paid or not: sixty and sixty is one, sixty and forty is both."""
    desk = await open_desk(store, (f"{OVER_PAID}, fact_counts: order.refunded",))
    [first] = await desk.turn("60")
    await desk.settle(first, EXECUTED)
    assert await desk.said("60") == ["over_paid"]
    desk.orders["A1"] = {"paid": 10000, "refunded": 6000}
    assert await desk.said("60", "40", "0.01") == ["over_paid", "allow", "over_paid"]


async def test_splitting_does_not_pass_a_daily_cap(store: Store) -> None:
    """847 as 499 and 348, on two orders, by two agents: the customer's day is one."""
    desk = await open_desk(store, (DAILY.replace("1000.00", "500.00"),))
    desk.orders["A2"] = desk.orders["A1"]
    assert await desk.said("847") == ["daily"]
    assert await desk.said("499", tenant="bot-1") == ["allow"]
    assert await desk.said("348", tenant="bot-2", order="A2") == ["daily"]
    assert await desk.said("348", customer="c2") == ["allow"]
    desk.later(hours=12)
    assert await desk.said("348") == ["allow"], "the next day has a cap of its own"


async def test_two_identities_and_a_rotated_credential_meet_one_payment(store: Store) -> None:
    """Another agent or another digest of a credential: one payment of the intent, one cap of the order."""
    desk = await open_desk(store, (OVER_PAID, TWICE))
    [first] = await desk.turn("60", tenant="agent-1", identity="agent-1")
    assert await desk.said("60", tenant="agent-2", identity="agent-2") == ["pending_reconciliation"]
    assert await desk.said("50", tenant="agent-2", identity="agent-2") == ["over_paid"]
    await desk.settle(first, EXECUTED)
    assert await desk.said("60", tenant="digest-after-rotation") == ["twice"]
    assert await desk.said("50", tenant="digest-after-rotation") == ["over_paid"]
    assert await desk.held() == 6000


@pytest.mark.parametrize(
    ("state", "after"), [(EXECUTED, "twice"), (UNKNOWN, "pending_reconciliation"), (NOT_EXECUTED, "allow")]
)
async def test_money_comes_free_only_by_what_says_so(store: Store, state: MoneyState, after: str) -> None:
    """Held, executed and unknown all count; a result that says not executed frees both the cap and the intent."""
    desk = await open_desk(store, (OVER_PAID, TWICE))
    [first] = await desk.turn("100")
    assert await desk.settle(first, state) == 1
    desk.later(seconds=1)
    assert await desk.said("100") == [after]
    assert (await desk.states())[0] == state.value
    assert await desk.settle(first, EXECUTED) == (state is UNKNOWN), "what is final stays what it is"


async def test_no_result_in_time_is_unknown(store: Store) -> None:
    """The back end pays and the agent dies: nothing is freed by time, nor by the end of `within`."""
    desk = await open_desk(store, (OVER_PAID, TWICE))
    await desk.turn("60")
    desk.later(minutes=14)
    assert await store.expire(at=desk.now) == 0
    desk.later(minutes=1)
    assert await store.expire(at=desk.now) == 1
    assert await desk.states() == ["unknown"]
    desk.later(days=30)
    assert await desk.said("60", "50") == ["pending_reconciliation", "over_paid"]


async def test_within_ends_what_was_executed(store: Store) -> None:
    """A day after the execution, which is when the result came, the same may be done again."""
    desk = await open_desk(store, (TWICE,))
    [first] = await desk.turn("60")
    desk.later(minutes=10)
    await desk.settle(first, EXECUTED)
    desk.later(hours=23, minutes=55)
    assert await desk.said("60") == ["twice"]
    desk.later(minutes=5)
    assert await desk.said("60") == ["allow"]


async def test_a_person_resolves(store: Store) -> None:
    """What a person says of an unknown payment holds, is a record with the reason, and cannot be said twice."""
    desk = await open_desk(store, (OVER_PAID, TWICE))
    await desk.turn("60")
    desk.later(hours=1)
    await store.expire(at=desk.now)
    [one] = await store.read(lambda reader: reader.reservations(state=UNKNOWN))

    receipt = await store.resolve(one.id, NOT_EXECUTED, by="anna", reason="the bank has none", at=desk.now)
    assert receipt == one.receipt
    assert await store.resolve(one.id, EXECUTED, by="ben", reason="no", at=desk.now) is None
    records = await store.read(lambda reader: list(reader.records()))
    assert [record.kind for record in records] == ["decided", "reserved", "settled", "settled"]
    assert b'"by":"anna"' in (records[-1].payload or b"")
    assert b'"reason":"the bank has none"' in (records[-1].payload or b"")
    assert (await store.read(lambda reader: reader.verify())).findings == ()
    assert await desk.held() == 0
    assert await desk.said("60") == ["allow"]


async def test_an_abort_before_a_byte_frees(store: Store) -> None:
    """A call that never left holds nothing, and is none that a result could come for; one that left is not freed."""
    desk = await open_desk(store, (OVER_PAID, TWICE))
    [first] = await desk.turn("60")
    assert [call.receipt for call in (await store.released_calls("t", ["call_0"]))["call_0"]] == [first.receipt]
    assert await store.free([first.receipt], at=desk.now) == 1
    assert await store.released_calls("t", ["call_0"]) == {}
    assert await store.free([first.receipt], at=desk.now) == 0
    desk.later(seconds=1)
    [second] = await desk.turn("60")
    await desk.settle(second, EXECUTED)
    assert await store.free([second.receipt], at=desk.now) == 0
    assert await desk.states() == ["not_executed", "executed"]


INJECT = "    inject: idempotency_key"


async def test_a_retry_with_a_key_goes_through_once(store: Store) -> None:
    """A 504 after the payment, an agent that starts again: the same key, the same money, until a result settles it."""
    desk = await open_desk(store, (OVER_PAID, TWICE), INJECT)
    [first] = await desk.turn("60")
    await desk.settle(first, UNKNOWN)
    [retry] = await desk.turn("60", tenant="restarted")
    assert retry.is_allowed
    assert first.as_released is not None
    assert retry.as_released is not None
    assert first.as_released.arguments["idempotency_key"] == retry.as_released.arguments["idempotency_key"]
    assert await desk.held() == 6000
    assert await desk.states() == ["held"]

    await desk.settle(retry, NOT_EXECUTED)
    assert await desk.states() == ["unknown"], "the first may have been executed: only both together free it"
    await desk.settle(first, EXECUTED)
    assert await desk.states() == ["executed"]
    assert await desk.said("60") == ["twice"]
    desk.later(days=2)
    [new] = await desk.turn("40")
    assert new.as_released is not None
    assert new.as_released.arguments["idempotency_key"] != first.as_released.arguments["idempotency_key"]


async def test_an_abort_of_a_retry_frees_nothing(store: Store) -> None:
    """The retry never left, the first call did."""
    desk = await open_desk(store, (TWICE,), INJECT)
    await desk.turn("60")
    [retry] = await desk.turn("60")
    await store.free([retry.receipt], at=desk.now)
    assert await desk.states() == ["held"]


async def test_a_key_that_nobody_injects_is_refused(store: Store) -> None:
    """Without the key a second hand-out would be a second payment."""
    desk = await open_desk(store, (TWICE,), INJECT)
    object.__setattr__(desk.judge, "injects", False)
    assert await desk.said("60") == ["internal_error"]
    assert await desk.states() == []


async def test_released_calls_are_those_of_the_tenant(store: Store) -> None:
    """By id and tenant, several where an id recurs, refused ones never; with the digest of what left."""
    desk = await open_desk(store, (OVER_PAID,))
    first, refused = await desk.turn("60", "60")
    [again] = await desk.turn("40")
    assert not refused.is_allowed
    found = await store.released_calls("t", ["call_0", "call_1", "call_9"])
    assert {key: [call.receipt for call in calls] for key, calls in found.items()} == {
        "call_0": sorted([first.receipt, again.receipt])
    }
    assert {call.argument_digest for call in found["call_0"]} == {first.decision.digest, again.decision.digest}
    assert await store.released_calls("other", ["call_0"]) == {}


async def test_fifty_at_once_against_a_cap_of_seven(store: Store) -> None:
    """Fifty calls, some alone and some in a turn together: exactly seven are released and hold seven."""
    desk = await open_desk(store, (OVER_PAID.replace("order.paid", "70.00 USD"),))
    answers = await asyncio.gather(*(desk.said(*["10"] * (1 + n % 2)) for n in range(34)))
    said = Counter(answer for turn in answers for answer in turn)
    assert said == {"allow": 7, "over_paid": 44}
    assert await desk.held() == 7000
    kinds = Counter(record.kind for record in await store.read(lambda reader: list(reader.records())))
    assert kinds == {"decided": 51, "reserved": 7}


@pytest.mark.parametrize("after", [False, True])
async def test_the_store_failing_at_any_operation_releases_nothing(tmp_path: Path, after: bool) -> None:
    """For every n: the n-th statement fails; what was answered an allow is held and recorded, a refusal is one.

    Where COMMIT worked and then reported a fault, money is held for a call that was refused, which is the safe side.
    """
    faults = Faults()
    state = tmp_path / "state"
    async with await asyncio.to_thread(lambda: open_store(state, connect=faults.connect)) as store:
        desk = await open_desk(store, (OVER_PAID.replace("order.paid", "100000.00 USD"),))
        n, is_hit, allowed = 0, True, 0
        while is_hit:
            n += 1
            faults.after, faults.count, faults.fail_at, faults.hit = after, 0, n, ""
            said = await desk.said("60", "60")
            faults.fail_at = 0
            is_hit = bool(faults.hit)
            allowed += said.count("allow")
            assert set(said) <= {"allow", "store_unavailable"}
            kinds = Counter(record.kind for record in await store.read(lambda reader: list(reader.records())))
            assert kinds["reserved"] == len(await desk.states()) == kinds["decided"]
            assert await desk.held() == 6000 * kinds["reserved"]
            extra = kinds["reserved"] - allowed
            assert extra == 0 or after
        assert n > 8, "the loop never met the statements of a reservation"
        assert (await store.read(lambda reader: reader.verify())).findings == ()


async def test_a_raise_in_the_reserve_releases_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever breaks while a decision is made anew in the transaction: the call is refused and nothing is held."""
    desk = await open_desk(store)

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("interceptors.pipeline.reply", broken)
    answers = await desk.turn("60", "60")
    assert [one.decision.ruling for one in answers] == [Ruling.ALLOW, Ruling.FORBID]
    assert answers[1].decision.reason == "internal_error"
    assert await desk.held() == 6000


async def test_a_halt_in_between_holds_nothing(store: Store) -> None:
    """The halt that comes between the verdict and the record refuses the call; no money is held for it."""
    desk = await open_desk(store)
    decide = desk.judge.decide

    async def decide_then_halt(*about: Any) -> Any:
        judged = await decide(*about)
        assert all(one.is_allowed for one in judged.values())
        await store.halt(by="anna", reason="stop", at=NOW)
        return judged

    halted = cast("Any", SimpleNamespace(decide=decide_then_halt, record=desk.judge.record))
    desk.judge = halted
    assert await desk.said("60") == ["halted"]
    assert (await desk.states(), await desk.held()) == ([], 0)
