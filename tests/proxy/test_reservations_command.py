"""`callgate reservations`, `decide` and `check` about money: a real admin listener, a real state folder."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
from aiohttp import web
from click.testing import CliRunner

from interceptors.kinds import MoneyState
from proxy.admin import Collaborators, Persons, admin_app, write_address
from proxy.approvals import Approvals
from proxy.cli import cli
from proxy.commands import reservations
from proxy.connected import PersonToken
from proxy.expiry import expire_held
from proxy.logs import Logs
from proxy.metrics import Metrics
from proxy.settings import Address, Role
from proxy.store import Store, StoreError, open_store
from tests.proxy.money_desk import NOW, OVER_PAID, POLICY, TWICE, Desk, open_desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from click.testing import Result

OWNER, VIEWER = "o" * 24, "v" * 24


def _run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, list(arguments), env=environment)


class _Sink:
    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes, /) -> None:
        self.written += data

    def flush(self) -> None: ...


@pytest.fixture
async def gate(tmp_path: Path) -> AsyncIterator[tuple[Desk, Path, str]]:
    """A desk whose first refund is held, its state folder, and the address of its admin listener."""
    tmp_path.chmod(0o755)
    state = tmp_path / "state"
    async with await asyncio.to_thread(open_store, state) as store:
        desk = await open_desk(store, (OVER_PAID, TWICE))
        await desk.turn("60")
        persons = Persons([PersonToken("anna", Role.OWNER, OWNER), PersonToken("ben", Role.VIEWER, VIEWER)])
        policy: Any = desk.judge.policy
        nothing: Any = None
        app = admin_app(
            Collaborators(
                persons=persons,
                approvals=Approvals(store, policy, lambda: desk.now, Logs(_Sink()), lambda _: None),
                store=store,
                ledger=nothing,
                policy=policy,
                metrics=Metrics(),
                logs=Logs(_Sink()),
                clock=lambda: desk.now,
                is_draining=lambda: False,
            )
        )
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port = runner.addresses[0][1]
        await asyncio.to_thread(write_address, state, Address("127.0.0.1", port))
        yield desk, state, f"http://127.0.0.1:{port}"
        await runner.cleanup()


async def test_a_person_lists_and_resolves(gate: tuple[Desk, Path, str]) -> None:
    """From the command line, with the owner's token and a reason: the money is free; the receipt says who and why."""
    desk, state, _ = gate
    listed = await asyncio.to_thread(_run, "reservations", "list", "--state", str(state), "--json")
    [one] = [json.loads(line) for line in listed.stdout.splitlines()]
    assert (one["state"], one["tool"], one["held"][0]) == (
        "held",
        "refund",
        {"limit": "refund.limits[0]", "amount": "60.00 USD"},
    )

    resolve = (
        "reservations",
        "resolve",
        one["id"],
        "--as",
        "not_executed",
        "--reason",
        "no payout",
        "--state",
        str(state),
    )
    refused = await asyncio.to_thread(lambda: _run(*resolve, CALLGATE_TOKEN=VIEWER))
    assert (refused.exit_code, "needs the role owner" in refused.stderr) == (2, True)
    done = await asyncio.to_thread(lambda: _run(*resolve, CALLGATE_TOKEN=OWNER))
    assert (done.exit_code, done.stdout) == (0, f"{one['id']} is not_executed (receipt {one['receipt']})\n")
    again = await asyncio.to_thread(lambda: _run(*resolve, CALLGATE_TOKEN=OWNER))
    assert (again.exit_code, "held or unknown" in again.stderr) == (2, True)
    assert await desk.said("100") == ["allow"]

    lines = await asyncio.to_thread(_run, "reservations", "list", "--state", str(state), "--in", "not_executed")
    assert "60.00 USD under refund.limits[0]" in lines.stdout
    assert (
        await asyncio.to_thread(_run, "reservations", "list", "--state", str(state), "--in", "unknown")
    ).stdout == ""
    assert reservations.LIST_MAX >= 1000


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"state": "held", "reason": "x"}, 400),
        ({"state": "unknown", "reason": "x"}, 400),
        ({"state": "paid", "reason": "x"}, 400),
        ({"state": "executed", "reason": " "}, 400),
        ({"state": "executed"}, 400),
        ({"state": "executed", "reason": "x", "by": "me"}, 400),
        ({"state": "executed", "reason": "x"}, 404),
    ],
)
async def test_the_listener_takes_nothing_but_what_a_person_can_know(
    gate: tuple[Desk, Path, str], body: dict[str, str], status: int
) -> None:
    """Executed or not executed, with a reason; an unknown reservation is not found."""
    _, _, url = gate
    headers = {"Authorization": f"Bearer {OWNER}"}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{url}/reservations/rs_none/resolve", json=body) as response,
    ):
        assert response.status == status


async def test_the_listener_lists_by_state_and_page(gate: tuple[Desk, Path, str]) -> None:
    """Newest first, by state, in pages; a wrong query is told."""
    desk, _, url = gate
    desk.later(seconds=1)
    await desk.turn("30")
    headers = {"Authorization": f"Bearer {VIEWER}"}

    async def page(query: str) -> Any:
        async with session.get(f"{url}/reservations{query}") as response:
            return (await response.json()).get("reservations")

    async with aiohttp.ClientSession(headers=headers) as session:
        both = await page("")
        assert [one["held"][0]["amount"] for one in both] == ["30.00 USD", "60.00 USD"]
        assert await page(f"?before={both[0]['id']}") == both[1:]
        assert await page("?limit=1&state=held") == both[:1]
        assert await page("?state=executed") == []
        assert await page("?state=odd") is None
        assert await page("?other=1") is None


async def test_what_is_held_too_long_becomes_unknown_by_itself(tmp_path: Path) -> None:
    """The sweep looks at once and again, also behind a store that failed."""
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        desk = await open_desk(store)
        await desk.turn("60")
        failures: list[None] = []
        flaky: Any = _Flaky(store)
        sweep = asyncio.ensure_future(
            expire_held(flaky, lambda: NOW + timedelta(hours=1), lambda: failures.append(None), every=0.01)
        )
        while await desk.states() != ["unknown"]:  # noqa: ASYNC110 - the store tells nobody
            await asyncio.sleep(0.01)
        sweep.cancel()
        assert failures == [None]


class _Flaky:
    def __init__(self, store: Store) -> None:
        self._store = store
        self._is_first = True

    async def expire(self, *, at: Any) -> int:
        if self._is_first:
            self._is_first = False
            raise StoreError("once")
        return await self._store.expire(at=at)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    tmp_path.chmod(0o755)
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY % (f"      - {{{OVER_PAID}}}\n      - {{{TWICE}}}", "    inject: key"))
    path.chmod(0o644)
    (tmp_path / "orders.json").write_text('{"A1":{"paid":10000,"refunded":0}}')
    (tmp_path / "orders.json").chmod(0o644)
    return path


def _decide(policy: Path, amount: int, *more: str) -> Any:
    arguments = f'{{"order_id":"A1","amount":{amount}}}'
    result = _run("decide", "--policy", str(policy), "--tool", "refund", "--arguments", arguments, *more)
    return json.loads(result.stdout)


def test_decide_shows_what_would_be_held_and_holds_nothing(policy: Path, tmp_path: Path) -> None:
    """Twice the same answer; with a state folder what is used there counts."""
    for _ in range(2):
        shown = _decide(policy, 60)
        reserve, inject = shown["obligations"]
        assert reserve["reserve"] == [{"limit": "refund.limits[0]", "amount": "60.00 USD"}]
        assert reserve["settleWithinSeconds"] == 900
        assert {name: len(value) for name, value in inject["inject"].items()} == {"key": 36}
    assert _decide(policy, 101)["obligations"] == []

    state = tmp_path / "state"

    async def hold() -> None:
        async with await asyncio.to_thread(open_store, state) as store:
            desk = await open_desk(store)
            await desk.turn("60")

    asyncio.run(hold())
    for _ in range(2):
        assert _decide(policy, 40, "--state", str(state))["ruling"] == "allow"
    shown = _decide(policy, 41, "--state", str(state))
    assert (shown["ruling"], shown["reason"]) == ("forbid", "over_paid")
    assert "60.00 USD of 100.00 USD used" in [row["detail"] for row in shown["verdicts"]]


def test_check_prints_the_scope_beside_each_limit(policy: Path) -> None:
    """Each limit that keeps a count, with its line: what is counted is counted in one state folder."""
    shown = _run("check", "--policy", str(policy))
    lines = [line for line in shown.stdout.splitlines() if "counts within" in line]
    assert [line.split(": ")[1].split()[0] for line in lines] == ["refund.limits[0]", "refund.limits[1]"]
    assert all("the gate's state folder" in line for line in lines)


def test_states_are_of_two_kinds() -> None:
    """Two are final and can be said by a person."""
    assert [state for state in MoneyState if state.is_final] == [MoneyState.EXECUTED, MoneyState.NOT_EXECUTED]
