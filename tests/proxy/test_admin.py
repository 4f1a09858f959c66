"""The admin listener: who may ask what, and that what is asked is done and recorded."""

from __future__ import annotations

import asyncio
import stat
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, cast

import aiohttp
import pytest
from aiohttp import web

from interceptors.kinds import Kind
from proxy.admin import (
    AdminFileError,
    Collaborators,
    Persons,
    admin_app,
    first_owner,
    read_token,
    remove_address,
    write_address,
)
from proxy.approvals import Approvals
from proxy.connected import PersonToken
from proxy.environment import Environment
from proxy.logs import Logs
from proxy.metrics import Metrics
from proxy.policy_source import PolicySource, Revision, revision_loader
from proxy.settings import Address, Role
from proxy.store import Entry, EscalationDraft, Store, open_store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from proxy.ledger.keeper import Ledger

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
TOKENS = {role: role.value[0] * 24 for role in Role}
PERSONS = [PersonToken(role.value, role, token) for role, token in TOKENS.items()]
ROUTES = [
    ("GET", "/metrics", Role.VIEWER, None),
    ("GET", "/escalations", Role.VIEWER, None),
    ("GET", "/escalations/esc_none", Role.VIEWER, None),
    ("POST", "/escalations/esc_none/approve", Role.REVIEWER, {"reason": "it is right"}),
    ("POST", "/escalations/esc_none/reject", Role.REVIEWER, {"reason": "it is wrong"}),
    ("GET", "/reservations", Role.VIEWER, None),
    ("POST", "/reservations/rs_none/resolve", Role.OWNER, {"state": "executed", "reason": "paid"}),
    ("POST", "/halt", Role.OWNER, {"reason": "odd refunds"}),
    ("POST", "/resume", Role.OWNER, None),
    ("POST", "/erase", Role.OWNER, {"subject": "C-1"}),
]


class NoSink:
    """The log of a test that does not look at it."""

    def __init__(self) -> None:
        self.written = b""

    def write(self, data: bytes, /) -> None:
        self.written += data

    def flush(self) -> None: ...


class NoLedger:
    """The ledger of a test that does not look at it."""

    def erase(self, _: str) -> int:
        return 0


@dataclass
class Desk:
    """A listener that stands, with what is behind it."""

    url: str
    store: Store
    session: aiohttp.ClientSession
    policy: Path
    sink: NoSink
    draining: list[bool]

    async def ask(self, method: str, path: str, body: object = None, **headers: str) -> tuple[int, dict]:
        headers.setdefault("Authorization", f"Bearer {TOKENS[Role.OWNER]}")
        async with self.session.request(method, self.url + path, json=body, headers=headers) as response:
            return response.status, await response.json()


@asynccontextmanager
async def _desk(tmp_path: Path) -> AsyncIterator[Desk]:
    tmp_path.chmod(0o755)
    policy = tmp_path / "policy.yaml"
    policy.write_text("language: 1\npolicy: p\npolicy_stale_seconds_max: 0\n")
    policy.chmod(0o644)
    store = await asyncio.to_thread(open_store, tmp_path / "state")

    async def changed(_: Revision) -> None: ...

    load = revision_loader(policy, Environment(lambda _: None, lambda _: ""), b"k" * 32, lambda _: None)
    clock = asyncio.get_running_loop().time
    source = PolicySource(policy, load, changed=changed, failed=lambda _: None, monotonic=clock)
    await source.start()
    sink, draining = NoSink(), [False]
    app = admin_app(
        Collaborators(
            persons=Persons(PERSONS),
            approvals=Approvals(store, source, lambda: NOW, Logs(sink), lambda _: None),
            store=store,
            ledger=cast("Ledger", NoLedger()),
            policy=source,
            metrics=Metrics(),
            logs=Logs(sink),
            clock=lambda: NOW,
            is_draining=lambda: draining[0],
        )
    )
    runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    async with aiohttp.ClientSession() as session, store:
        url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield Desk(url, store, session, policy, sink, draining)
    await runner.cleanup()


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with _desk(tmp_path) as made:
        yield made


@pytest.mark.parametrize(("method", "path", "least", "body"), ROUTES)
@pytest.mark.parametrize("role", list(Role))
async def test_a_role_may_do_what_it_includes_and_no_more(
    desk: Desk, method: str, path: str, least: Role, body: object, role: Role
) -> None:
    """Each route with each role."""
    headers = {"Authorization": f"Bearer {TOKENS[role]}"}
    async with desk.session.request(method, desk.url + path, json=body, headers=headers) as response:
        status = response.status

    assert (status == 403) is not role.includes(least)
    assert status in (200, 403, 404)
    assert desk.store.is_halted() is (path == "/halt" and role is Role.OWNER)


@pytest.mark.parametrize(("method", "path", "least", "body"), ROUTES)
@pytest.mark.parametrize(
    "authorization",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Bearer unknown",
        f"Bearer {TOKENS[Role.OWNER]}x",
        f"Bearer {TOKENS[Role.OWNER][:-1]}",
        f"Bearer {TOKENS[Role.OWNER].upper()}",
        f"Basic {TOKENS[Role.OWNER]}",
        TOKENS[Role.OWNER],
        f"Bearer {TOKENS[Role.OWNER]}, Bearer {TOKENS[Role.OWNER]}",
    ],
)
async def test_without_a_persons_token_nothing_is_done(
    desk: Desk, method: str, path: str, least: Role, body: object, authorization: str | None
) -> None:
    """Whatever looks like one."""
    headers = {} if authorization is None else {"Authorization": authorization}
    async with desk.session.request(method, desk.url + path, json=body, headers=headers) as response:
        answer = await response.json()

    assert (response.status, answer["error"]["code"]) == (401, "unauthorized")
    assert response.headers["WWW-Authenticate"] == "Bearer"
    assert not desk.store.is_halted()


async def test_two_tokens_are_none(desk: Desk) -> None:
    """A request is one person's."""
    headers = [("Authorization", f"Bearer {TOKENS[role]}") for role in (Role.VIEWER, Role.OWNER)]
    async with desk.session.post(desk.url + "/halt", json={"reason": "x"}, headers=headers) as response:
        assert response.status == 401


async def test_halt_and_resume_are_done_by_a_person_for_a_reason_and_recorded(desk: Desk) -> None:
    """The receipt names the person; a resume where nothing is halted has none."""
    status, answer = await desk.ask("POST", "/halt", {"reason": "odd refunds"})
    assert (status, answer["halted"], desk.store.is_halted()) == (200, True, True)
    (halted,) = await desk.store.read(lambda reader: reader.receipts(kind=Kind.HALTED))
    assert halted.receipt == answer["receipt"]
    assert (halted.payload["by"], halted.payload["reason"]) == ("owner", "odd refunds")

    status, answer = await desk.ask("POST", "/resume")
    assert (status, answer["halted"], desk.store.is_halted()) == (200, False, False)
    assert answer["receipt"]
    assert await desk.ask("POST", "/resume") == (200, {"halted": False, "receipt": None})
    assert desk.sink.written.count(b'"event":"halted"') == 1
    assert b"odd refunds" not in desk.sink.written


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/halt", None),
        ("/halt", {}),
        ("/halt", {"reason": ""}),
        ("/halt", {"reason": "  "}),
        ("/halt", {"reason": 1}),
        ("/halt", {"reason": "x" * 1001}),
        ("/halt", {"reason": "x", "for": "1h"}),
        ("/halt", ["x"]),
        ("/resume", {"reason": "x"}),
        ("/erase", {}),
        ("/erase", {"subject": ""}),
        ("/erase", {"subject": None}),
    ],
)
async def test_a_body_that_says_anything_else_is_refused(desk: Desk, path: str, body: object) -> None:
    """Nothing is guessed and no key ignored."""
    status, answer = await desk.ask("POST", path, body)

    assert (status, answer["error"]["code"]) == (400, "invalid")
    assert not desk.store.is_halted()


@pytest.mark.parametrize("data", [b'{"reason":"a","reason":"b"}', b"{", b'{"reason":"\xff"}'])
async def test_a_body_is_strict_json(desk: Desk, data: bytes) -> None:
    """Two reasons are none."""
    headers = {"Authorization": f"Bearer {TOKENS[Role.OWNER]}"}
    async with desk.session.post(desk.url + "/halt", data=data, headers=headers) as response:
        assert response.status == 400
    async with desk.session.post(desk.url + "/halt", data=b"x" * 100_000, headers=headers) as response:
        assert (response.status, (await response.json())["error"]["code"]) == (413, "too_large")


async def test_cases_are_listed_the_newest_first_and_shown(desk: Desk) -> None:
    """A page at a time; what is not there is 404."""
    from interceptors.operations import Halted

    ids = ["esc_1", "esc_2", "esc_3"]
    for case in ids:
        draft = EscalationDraft(
            id=case,
            tenant="t",
            subject="s",
            tool="refund",
            argument_digest=case,
            summary={"root_cause": "damaged"},
            reason="over_limit",
            receipt="rc",
            created=NOW,
        )
        record = Halted(receipt=f"rc_{case}", time=NOW, by="test", reason="a record to go with")
        await desk.store.commit([Entry(record, escalation=draft)])

    status, answer = await desk.ask("GET", "/escalations?limit=2&status=open")
    assert (status, [case["id"] for case in answer["escalations"]]) == (200, ["esc_3", "esc_2"])
    status, answer = await desk.ask("GET", "/escalations?before=esc_2")
    assert [case["id"] for case in answer["escalations"]] == ["esc_1"]
    status, answer = await desk.ask("GET", "/escalations/esc_1")
    assert (status, answer["tool"], answer["summary"]) == (200, "refund", {"root_cause": "damaged"})
    assert (await desk.ask("GET", "/escalations/esc_9"))[0] == 404


@pytest.mark.parametrize(
    "query", ["limit=0", "limit=x", "limit=501", "limit=%C2%B2", "status=shut", "stauts=open", "limit=1&limit=2"]
)
async def test_a_query_that_says_anything_else_is_refused(desk: Desk, query: str) -> None:
    """A filter that is spelled wrongly must not show everything."""
    assert (await desk.ask("GET", f"/escalations?{query}"))[0] == 400


async def test_health_and_readiness_need_no_token_and_tell_no_detail(desk: Desk) -> None:
    """Ready is a policy that is in force, a store that answers, and a process that stays."""

    async def ready() -> tuple[int, list[str]]:
        async with desk.session.get(desk.url + "/readyz") as response:
            return response.status, (await response.json())["problems"]

    async with desk.session.get(desk.url + "/healthz") as response:
        assert (response.status, await response.json()) == (200, {"status": "ok"})
    assert await ready() == (200, [])

    desk.policy.write_text("language: 1\npolicy: [")
    await ready()
    assert await ready() == (503, ["policy"])
    desk.draining[0] = True
    await desk.store.close()
    assert await ready() == (503, ["policy", "store", "draining"])


async def test_a_store_that_fails_is_503_and_nothing_is_told_as_done(desk: Desk) -> None:
    """An operator must see that the halt did not happen."""
    await desk.store.close()

    status, answer = await desk.ask("POST", "/halt", {"reason": "x"})
    assert (status, answer["error"]["code"]) == (503, "store")


async def test_what_is_not_there_is_json_too(desk: Desk) -> None:
    """Unknown paths and methods."""
    assert (await desk.ask("GET", "/nothing"))[1]["error"]["code"] == "not_found"
    assert (await desk.ask("GET", "/halt"))[0] == 405
    assert (await desk.ask("DELETE", "/escalations/esc_1"))[0] == 405


async def test_metrics_are_in_the_format_that_is_scraped(desk: Desk) -> None:
    """With a viewer's token."""
    headers = {"Authorization": f"Bearer {TOKENS[Role.VIEWER]}"}
    async with desk.session.get(desk.url + "/metrics", headers=headers) as response:
        assert response.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        assert "callgate_exchanges_open" in await response.text()


def test_the_first_owners_token_is_made_once_and_is_private(tmp_path: Path) -> None:
    """The next start, and the commands, find the same one."""
    owner = first_owner(tmp_path)

    assert (owner.name, owner.role) == ("owner", Role.OWNER)
    assert len(owner.token) >= 43
    assert first_owner(tmp_path) == owner
    assert read_token(tmp_path / "admin.token") == owner.token
    assert stat.S_IMODE((tmp_path / "admin.token").stat().st_mode) == 0o600
    assert [path.name for path in tmp_path.iterdir()] == ["admin.token"]
    assert owner.token not in repr(owner)


@pytest.mark.parametrize(("content", "mode"), [("a" * 40, 0o640), ("a" * 40, 0o604), ("", 0o600), ("short", 0o600)])
def test_a_token_that_others_can_read_or_that_is_none_is_refused(tmp_path: Path, content: str, mode: int) -> None:
    """The message names the file, not what is in it."""
    path = tmp_path / "admin.token"
    path.write_text(content)
    path.chmod(mode)

    with pytest.raises(AdminFileError, match=r"admin\.token") as refusal:
        first_owner(tmp_path)
    assert "aaaa" not in str(refusal.value)


def test_the_address_is_written_and_taken_away_by_who_wrote_it(tmp_path: Path) -> None:
    """A second process on the folder keeps its own."""
    first, second = Address("127.0.0.1", 1), Address("::1", 2)
    write_address(tmp_path, first)
    write_address(tmp_path, second)
    remove_address(tmp_path, first)
    assert (tmp_path / "admin.address").read_text() == "[::1]:2\n"

    remove_address(tmp_path, second)
    assert list(tmp_path.iterdir()) == []
