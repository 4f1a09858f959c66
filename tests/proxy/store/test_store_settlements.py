"""What becomes of held money: each step is one record, what is final stays, and shared reservations speak together."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from interceptors.chain import stamp
from interceptors.kinds import Kind, MoneyState
from proxy.store import Settlement, open_store, settlements
from tests.proxy.store.samples import NOW

if TYPE_CHECKING:
    from datetime import datetime

    from proxy.store import Store
    from proxy.store.reader import Reader
    from proxy.store.transaction import Transaction

HELD, EXECUTED = MoneyState.HELD, MoneyState.EXECUTED
NOT_EXECUTED, UNKNOWN = MoneyState.NOT_EXECUTED, MoneyState.UNKNOWN
_CONFLICT = "another result of the same call says otherwise"
LATER, DUE = NOW + timedelta(hours=1), NOW + timedelta(minutes=15)
Told: TypeAlias = "tuple[str, str | None, int]"
FREE: Told = ("not_executed", stamp(LATER), 0)
_RESERVE = (
    "INSERT INTO reservations (id, terms, ordinal, policy, tool, held, receipt, time, state, settle_by)"
    " VALUES (?, '', 0, 'desk', 'refund', '[]', ?, ?, 'held', ?)"
)
_CHARGE = "INSERT INTO charges (cap, time, currency, units, reservation) VALUES ('cap', ?, 'USD', 6000, ?)"
_RELEASE = (
    "INSERT INTO releases (receipt, tenant, call_id, tool, argument_digest, subject, time, reservation, state,"
    " settle_by) VALUES (?, 't', 'id', 'refund', 'd', ?, ?, ?, 'held', ?)"
)


async def hold(store: Store, *calls: str, reservation: str = "rv_1", due: datetime = DUE) -> None:
    """One reservation of 60.00 USD, handed out to these calls."""

    await store._writer.run(lambda each: reserve(each, calls, reservation, due))


def reserve(transaction: Transaction, calls: tuple[str, ...], reservation: str, due: datetime) -> None:
    connection = transaction.connection
    connection.execute(_RESERVE, (reservation, calls[0], stamp(NOW), stamp(due)))
    connection.execute(_CHARGE, (stamp(NOW), reservation))
    for call in calls:
        connection.execute(_RELEASE, (call, f"subject of {call}", stamp(NOW), reservation, stamp(due)))


async def told(store: Store, reservation: str = "rv_1") -> Told:
    """Its state, when it was settled, and the units that count."""

    def ask(reader: Reader) -> Told:
        row = reader._connection.execute("SELECT state, settled_at FROM reservations WHERE id = ?", (reservation,))
        state, settled_at = row.fetchone()
        query = "SELECT coalesce(sum(units), 0) FROM charges WHERE reservation = ?"
        return state, settled_at, reader._connection.execute(query, (reservation,)).fetchone()[0]

    return await store.read(ask)


async def records(store: Store) -> list[dict[str, Any]]:
    """What the chain says of settlements, in order."""

    def ask(reader: Reader) -> list[dict[str, Any]]:
        found = [one for one in reader.records() if one.kind == Kind.SETTLED.value]
        return [json.loads(one.payload or b"") for one in found]

    return await store.read(ask)


@pytest.mark.parametrize(
    ("result", "after"),
    [
        (EXECUTED, ("executed", stamp(LATER), 6000)),
        (NOT_EXECUTED, FREE),
        (UNKNOWN, ("unknown", None, 6000)),
    ],
)
async def test_a_result_settles_its_call(store: Store, result: MoneyState, after: Told) -> None:
    """The state is the result's, a final one has its time, and money counts on unless it was not executed."""
    await hold(store, "rc_1")

    assert await store.settle([Settlement("rc_1", result, "e" * 64)], at=LATER) == 1

    assert await told(store) == after
    (record,) = await records(store)
    said = {key: record[key] for key in ("receipt", "reservation", "state", "cause", "result", "subject")}
    assert said == {
        "receipt": "rc_1",
        "reservation": "rv_1",
        "state": result.value,
        "cause": "result",
        "result": "e" * 64,
        "subject": "subject of rc_1",
    }


@pytest.mark.parametrize("first", [EXECUTED, NOT_EXECUTED])
@pytest.mark.parametrize("second", [EXECUTED, NOT_EXECUTED, UNKNOWN])
async def test_what_is_final_stays(store: Store, first: MoneyState, second: MoneyState) -> None:
    """After a final state no result, no time, no abort and no person changes anything, and nothing is recorded."""
    await hold(store, "rc_1")
    await store.settle([Settlement("rc_1", first)], at=LATER)
    before = await told(store)

    assert await store.settle([Settlement("rc_1", second)], at=LATER + timedelta(hours=1)) == 0
    assert await store.free(["rc_1"], at=LATER) == 0
    assert await store.expire(at=LATER) == 0
    assert await store.resolve("rv_1", EXECUTED, by="anna", reason="seen", at=LATER) is None

    assert await told(store) == before
    assert len(await records(store)) == 1


async def test_unknown_is_not_the_end(store: Store) -> None:
    """A late result settles what time had made unknown; the same result again changes nothing."""
    await hold(store, "rc_1")
    await store.expire(at=LATER)
    assert await told(store) == ("unknown", None, 6000)

    assert await store.settle([Settlement("rc_1", UNKNOWN)], at=LATER) == 0
    assert await store.settle([Settlement("rc_1", EXECUTED), Settlement("rc_1", EXECUTED)], at=LATER) == 1
    assert [each["state"] for each in await records(store)] == ["unknown", "executed"]


async def released(store: Store, receipt: str) -> None:
    """An allowed call that reserves nothing."""

    def release(transaction: Transaction) -> None:
        values = (receipt, "", stamp(NOW), None, None)
        transaction.connection.execute(_RELEASE.replace("'held'", "NULL"), values)

    await store._writer.run(release)


async def test_a_receipt_that_nobody_knows_settles_nothing(store: Store) -> None:
    """And an abort of a call that holds nothing frees nothing."""
    await released(store, "rc_1")
    assert await store.settle([Settlement("rc_0", EXECUTED)], at=LATER) == 0
    assert await store.free(["rc_1", "rc_0"], at=LATER) == 0
    assert await records(store) == []


@pytest.mark.parametrize(
    ("said", "then"),
    [
        ([(EXECUTED, "a")], [("executed", "result")]),
        ([(EXECUTED, "a"), (EXECUTED, "a")], [("executed", "result")]),
        ([(UNKNOWN, "a"), (UNKNOWN, "a")], [("unknown", "result")]),
        ([(UNKNOWN, "a"), (EXECUTED, "a")], [("unknown", "result"), ("executed", "result")]),
        ([(UNKNOWN, "a"), (EXECUTED, "b")], [("unknown", "result"), ("executed", _CONFLICT)]),
        ([(EXECUTED, "a"), (UNKNOWN, "b")], [("executed", "result"), ("executed", _CONFLICT)]),
        ([(EXECUTED, "a"), (EXECUTED, "b"), (EXECUTED, "b")], [("executed", "result"), ("executed", _CONFLICT)]),
        ([(UNKNOWN, "a"), (NOT_EXECUTED, "b")], [("unknown", "result"), ("unknown", _CONFLICT)]),
        ([(NOT_EXECUTED, "a")], [("not_executed", "result")]),
    ],
)
async def test_a_result_settles_what_holds_nothing(
    store: Store, said: list[tuple[MoneyState, str]], then: list[tuple[str, str]]
) -> None:
    """One record for the first result, one for each that says otherwise, none for the same again; no reservation."""
    await released(store, "rc_1")
    for state, result in said:
        assert await store.settle([Settlement("rc_1", state, result)], at=LATER) == 0
    found = await records(store)
    assert [(each["state"], each["cause"]) for each in found] == then
    assert {each["reservation"] for each in found} == {""}


@pytest.mark.parametrize(("seconds", "count"), [(-1, 0), (0, 1), (1, 1)])
async def test_time_is_up_at_its_end(store: Store, seconds: int, count: int) -> None:
    """`settle_by` itself is too late for a result; a moment before it is not."""
    await hold(store, "rc_1")
    assert await store._writer.run(lambda each: settlements.expire(each, at=DUE + timedelta(seconds=seconds))) == count
    assert (await told(store))[0] == ("unknown" if count else "held")
    causes = [each["cause"] for each in await records(store)]
    assert causes == ["no result within settle_within"] * count


async def test_expiry_goes_in_steps(store: Store) -> None:
    """One transaction finds `EXPIRE_MAX` calls at most, the longest due first; what is left is found by the next."""

    def holds(transaction: Transaction) -> None:
        for number in range(settlements.EXPIRE_MAX + 1):
            reserve(transaction, (f"rc_{number}",), f"rv_{number}", DUE - timedelta(seconds=number))

    await store._writer.run(holds)

    assert await store._writer.run(lambda each: settlements.expire(each, at=LATER)) == settlements.EXPIRE_MAX
    assert await told(store, "rv_0") == ("held", None, 6000)
    assert await store._writer.run(lambda each: settlements.expire(each, at=LATER)) == 1
    assert await store._writer.run(lambda each: settlements.expire(each, at=LATER)) == 0


async def test_an_abort_frees_only_what_is_held(store: Store) -> None:
    """No byte of the call left, so its money is free; where its fate is open for another reason, it stays so."""
    await hold(store, "rc_1")
    await hold(store, "rc_2", reservation="rv_2")
    await store.settle([Settlement("rc_2", UNKNOWN)], at=NOW)

    assert await store.free(["rc_1", "rc_2"], at=LATER) == 1

    assert await told(store) == FREE
    assert await told(store, "rv_2") == ("unknown", None, 6000)
    assert (await records(store))[-1]["cause"] == "aborted before a byte of the call left"


@pytest.mark.parametrize("expired", [False, True])
async def test_a_person_resolves_what_is_open(store: Store, expired: bool) -> None:
    """Held or unknown, of all its calls; the record has the person, the words, and the first call's receipt."""
    await hold(store, "rc_1", "rc_2")
    if expired:
        await store.expire(at=LATER)

    assert await store.resolve("rv_1", NOT_EXECUTED, by="anna", reason="never arrived", at=LATER) == "rc_1"

    assert await told(store) == FREE
    said = (await records(store))[-1]
    words = [said[key] for key in ("cause", "by", "reason", "subject")]
    assert words == ["a person resolved it", "anna", "never arrived", "subject of rc_1"]
    assert await store.settle([Settlement("rc_2", EXECUTED)], at=LATER) == 0, "what a person said is final"


async def test_there_must_be_something_to_resolve(store: Store) -> None:
    """A reservation that is not there has no receipt, and nothing is recorded."""
    assert await store.resolve("rv_1", EXECUTED, by="anna", reason="seen", at=LATER) is None
    assert await records(store) == []


def together(calls: list[MoneyState]) -> MoneyState:
    """Executed as soon as one is; free only when none may have been."""
    return next((one for one in (EXECUTED, HELD, UNKNOWN) if one in calls), NOT_EXECUTED)


STEPS = st.lists(st.tuples(st.integers(0, 2), st.sampled_from([EXECUTED, NOT_EXECUTED, UNKNOWN])), max_size=8)


@given(STEPS)
@settings(max_examples=12)
def test_several_calls_speak_together(steps: list[tuple[int, MoneyState]]) -> None:
    """Whatever comes back for three calls of one reservation, in any order, it is what all of them say together."""

    async def live() -> None:
        calls, state, changes = [HELD] * 3, HELD, 0
        with TemporaryDirectory() as folder:
            async with await asyncio.to_thread(open_store, Path(folder) / "state") as store:
                await hold(store, "rc_0", "rc_1", "rc_2")
                for place, said in steps:
                    if not state.is_final and not calls[place].is_final:
                        calls[place] = said
                    changed = not state.is_final and together(calls) is not state
                    state, changes = together(calls) if changed else state, changes + changed
                    assert await store.settle([Settlement(f"rc_{place}", said)], at=LATER) == changed
                    units = 0 if state is NOT_EXECUTED else 6000
                    assert await told(store) == (state.value, stamp(LATER) if state.is_final else None, units)
                assert len(await records(store)) == changes

    asyncio.run(live())
