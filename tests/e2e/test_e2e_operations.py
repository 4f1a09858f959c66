"""What operators do: drain, edit the policy, halt, resume, erase, read what happened. Each by the means they have."""

from __future__ import annotations

import asyncio
import signal
import sqlite3
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import aiohttp
import orjson
import pytest
from click.testing import CliRunner

from proxy.cli import cli
from proxy.demo.serving import serving
from proxy.demo.turns import Call, Dialect, Text, Turn, always
from tests.e2e.client import BOTH, PATHS, ask, heard, request_body, request_headers
from tests.e2e.harness import CUSTOMER, desk, process, write_config
from tests.e2e.steps import Steps, events_of

if TYPE_CHECKING:
    from pathlib import Path

    from click.testing import Result

    from tests.e2e.harness import Desk
    from tests.e2e.steps import Cut

TURN = Turn((Text("I note it."), Call("note", '{"text": "alpha-mark"}'), Call("ping", "{}")))
NO_FACTS = "language: 1\npolicy: plain\ntools:\n  note: {effect: write}\n  ping: {effect: read}\n"


# -- drain


@pytest.mark.parametrize("dialect", BOTH, ids=[dialect.value for dialect in BOTH])
async def test_a_signal_lets_an_open_stream_end_and_takes_no_other(tmp_path: Path, dialect: Dialect) -> None:
    """After SIGTERM the open stream is whole, its calls judged and recorded; `/readyz` says so; nobody new is served.

    The process ends with 0, and the head that it logged last is the end of its chain.
    """
    reached, go_on = asyncio.Event(), asyncio.Event()

    async def before(number: int) -> Cut | None:
        if number == 4:
            reached.set()
            await go_on.wait()
        return None

    steps = Steps(events_of(dialect, TURN), before)
    async with serving(steps.app()) as provider, aiohttp.ClientSession(auto_decompress=False) as session:
        config = write_config(tmp_path / "gate", provider, NO_FACTS)
        async with process(tmp_path / "gate", config, {}) as gate:

            async def stream() -> bytes:
                data, fields = request_body(dialect, "x", streamed=True), request_headers(dialect)
                async with session.post(gate.url + PATHS[dialect], data=data, headers=fields) as got:
                    return await got.read()

            streaming = asyncio.ensure_future(stream())
            async with asyncio.timeout(10):
                await reached.wait()
            async with session.get(gate.admin + "/readyz") as ready:
                assert ready.status == 200
            gate.process.send_signal(signal.SIGTERM)
            async with asyncio.timeout(5):
                while True:
                    async with session.get(gate.admin + "/readyz") as ready:
                        if ready.status == 503:
                            assert "draining" in orjson.loads(await ready.read())["problems"]
                            break
                    await asyncio.sleep(0.02)
            async with session.get(gate.admin + "/healthz") as health:
                assert health.status == 200
            try:
                data, fields = request_body(dialect, "x", streamed=True), request_headers(dialect)
                async with session.post(gate.url + PATHS[dialect], data=data, headers=fields) as got:
                    assert got.status == 503
            except aiohttp.ClientConnectionError:
                pass
            go_on.set()
            body = await streaming
            assert body == b"".join(steps.events)
            answer = heard(dialect, 200, {"content-type": "text/event-stream"}, body)
            assert [call.name for call in answer.calls] == ["note", "ping"]
            assert await gate.ended() == 0
            events = gate.events()
            assert [each for each in events if each["event"] == "library"] == [], (
                "what ends is cancelled and waited for"
            )
            (head,) = (each for each in events if each["event"] == "chain_head")
            result = await _cli("receipts", "verify", "--state", str(gate.state))
            assert result.exit_code == 0
            assert f"head {head['writer']}:{head['seq']}:{head['hash']}" in result.stdout.splitlines()
            listed = await _cli("receipts", "list", "--state", str(gate.state), "--json", "--kind", "decided")
            assert {orjson.loads(line)["outcome"] for line in listed.stdout.splitlines()} == {"released"}
        assert steps.asked == 1


async def test_a_kill_leaves_no_call_without_its_decision(tmp_path: Path) -> None:
    """Killed at once when the call is out: its decision is on the disk, since it was there before the call left."""
    turn = Turn((Call("note", '{"text": "alpha-mark"}'),))
    written = asyncio.Event()

    async def before(number: int) -> Cut | None:
        if number == len(steps.events):
            written.set()
            await asyncio.sleep(10)
        return None

    steps = Steps(events_of(Dialect.CHAT, turn), before)
    async with serving(steps.app(), shutdown_seconds=0.1) as provider, aiohttp.ClientSession() as session:
        config = write_config(tmp_path / "gate", provider, NO_FACTS)
        async with process(tmp_path / "gate", config, {}) as gate:
            data, fields = request_body(Dialect.CHAT, "x", streamed=True), request_headers(Dialect.CHAT)
            seen = b""
            async with session.post(gate.url + PATHS[Dialect.CHAT], data=data, headers=fields) as got:
                with suppress(aiohttp.ClientError):  # the connection may be lost first
                    async for chunk in got.content.iter_any():
                        seen += chunk
                        if b"[DONE]" in seen:
                            gate.process.kill()
                            break
            assert b'"note"' in seen
            await gate.ended()
        listed = await _cli("receipts", "list", "--state", str(gate.state), "--json", "--kind", "decided")
        (line,) = listed.stdout.splitlines()
        assert orjson.loads(line)["payload"]["ruling"] == "allow"
        verified = await _cli("receipts", "verify", "--state", str(gate.state))
        assert verified.exit_code == 0


# -- the policy


async def _write(path: Path, text: str) -> None:
    await asyncio.to_thread(path.write_text, text)


async def test_a_broken_edit_keeps_the_last_good_revision_for_a_while_and_then_refuses_writes(tmp_path: Path) -> None:
    """Within `policy_stale_seconds_max` the old revision decides; then no write passes; a mended edit is in force."""
    policy = NO_FACTS + "policy_stale_seconds_max: 1\n"
    async with desk(tmp_path, always(TURN), policy) as gate:
        assert len((await ask(gate, Dialect.CHAT)).calls) == 2
        await _write(gate.policy, "language: [")
        assert len((await ask(gate, Dialect.CHAT)).calls) == 2
        async with gate.session.get(gate.admin + "/readyz") as ready:
            assert ready.status == 200
        await asyncio.sleep(1.2)
        answer = await ask(gate, Dialect.CHAT)
        assert [call.name for call in answer.calls] == ["ping"]
        decided = [each for each in await gate.settled(3) if each.get("tool") == "note" and each["kind"] == "decided"]
        assert [each["reason"] for each in decided] == ["", "", "policy_unavailable"]
        async with gate.session.get(gate.admin + "/readyz") as ready:
            assert ready.status == 503
            assert "policy" in orjson.loads(await ready.read())["problems"]
        await _write(gate.policy, policy.replace("ping: {effect: read}", "pong: {effect: read}"))
        answer = await ask(gate, Dialect.CHAT)
        assert [call.name for call in answer.calls] == ["note"]
        async with gate.session.get(gate.admin + "/readyz") as ready:
            assert ready.status == 200


@pytest.mark.parametrize("named", ["mounted", "mounted/policy.yaml"], ids=["folder", "file"])
async def test_a_swapped_configmap_is_in_force_at_once(tmp_path: Path, named: str) -> None:
    """What Kubernetes does: `..data` is swapped for another folder in one rename; the next call is judged by it."""
    mounted = tmp_path / "mounted"
    for name, text in (("..one", NO_FACTS), ("..two", NO_FACTS.replace("note:", "other:"))):
        (mounted / name).mkdir(mode=0o755, parents=True)
        (mounted / name / "policy.yaml").write_text(text)
        (mounted / name / "policy.yaml").chmod(0o644)
    mounted.chmod(0o755)
    (mounted / "..data").symlink_to("..one")
    (mounted / "policy.yaml").symlink_to("..data/policy.yaml")
    async with desk(tmp_path, always(TURN), "", policy_path=named) as gate:
        for target, expected in (("..two", ["ping"]), ("..one", ["note", "ping"]), ("..two", ["ping"])):
            (mounted / "..tmp").symlink_to(target)
            (mounted / "..tmp").rename(mounted / "..data")
            answer = await ask(gate, Dialect.ANTHROPIC)
            assert [call.name for call in answer.calls] == expected


async def test_a_policy_that_says_halt_refuses_writes(tmp_path: Path) -> None:
    """`mode: halt` by an edit of the policy, and a `resume` does not lift it."""
    async with desk(tmp_path, always(TURN), NO_FACTS) as gate:
        await _write(gate.policy, NO_FACTS + "mode: halt\n")
        assert [call.name for call in (await ask(gate, Dialect.CHAT)).calls] == ["ping"]
        assert (await _cli("resume", "--state", str(gate.state))).exit_code == 0
        assert [call.name for call in (await ask(gate, Dialect.CHAT)).calls] == ["ping"]


# -- the command line


async def _cli(*arguments: str, **environment: str) -> Result:
    return await asyncio.to_thread(lambda: CliRunner().invoke(cli, arguments, env=environment))


async def _calls(gate: Desk) -> list[str]:
    return [call.name for call in (await ask(gate, Dialect.ANTHROPIC)).calls]


PERSONS = (
    "admin:\n  listen: 127.0.0.1:0\n  persons:\n"
    "    vera: {token: token-of-the-viewer, role: viewer}\n"
    "    rob: {token: token-of-the-reviewer, role: reviewer}\n"
    "    olga: {token: token-of-the-owner, role: owner}\n"
)


async def test_only_an_owner_halts_resumes_and_erases(tmp_path: Path) -> None:
    """A viewer, a reviewer, a stranger get exit code 2 and change nothing; an owner's word holds at once."""
    async with desk(tmp_path, always(TURN), extra=PERSONS) as gate:
        state = ("--state", str(gate.state))
        commands = (("halt", "--reason", "test"), ("resume",), ("receipts", "erase", "--subject", CUSTOMER))
        for token in ("token-of-the-viewer", "token-of-the-reviewer", "token-of-nobody-at-all"):
            for arguments in commands:
                result = await _cli(*arguments, *state, CALLGATE_TOKEN=token)
                assert result.exit_code == 2, (token, arguments)
                assert token not in result.output
        assert await _calls(gate) == ["note", "ping"]
        result = await _cli("halt", *state, "--reason", "fire drill", CALLGATE_TOKEN="token-of-the-owner")
        assert (result.exit_code, result.stdout.startswith("halted")) == (0, True)
        assert await _calls(gate) == ["ping"]
        result = await _cli("resume", *state, CALLGATE_TOKEN="token-of-the-owner")
        assert (result.exit_code, result.stdout.startswith("resumed")) == (0, True)
        assert await _calls(gate) == ["note", "ping"]
        records = [each for each in await gate.records() if each["kind"] in ("halted", "resumed")]
        assert [(each["kind"], each["by"]) for each in records] == [("halted", "olga"), ("resumed", "olga")]
        assert records[0]["reason"] == "fire drill"


async def test_without_persons_the_token_is_in_the_state_folder(tmp_path: Path) -> None:
    """Who may read the state folder may halt; a reason is required; without a gate the commands say so."""
    async with desk(tmp_path, always(TURN)) as gate:
        state = ("--state", str(gate.state))
        assert (await _cli("halt", *state)).exit_code == 2
        assert (await _cli("halt", *state, "--reason", "x")).exit_code == 0
        assert await _calls(gate) == ["ping"]
        assert (await _cli("resume", *state)).exit_code == 0
        again = await _cli("resume", *state)
        assert (again.exit_code, again.stdout) == (0, "no halt was in force\n")
    gone = await _cli("halt", *state, "--reason", "x")
    assert gone.exit_code == 2
    assert "Traceback" not in gone.output


async def test_what_happened_is_told_by_the_commands(tmp_path: Path) -> None:
    """All commands agree on a refund that was escalated; its case is shown; an altered record is found."""
    turn = Turn((Call("process_refund", '{"order_id": "A1001", "amount": 847}'), Call("ping", "{}")))
    async with desk(tmp_path, always(turn)) as gate:
        state = ("--state", str(gate.state))
        await ask(gate, Dialect.ANTHROPIC, headers=gate.signed())
        await gate.settled()

        listed = await _cli("receipts", "list", *state, "--json", "--ruling", "escalate")
        (line,) = [orjson.loads(each) for each in listed.stdout.splitlines()]
        assert (line["payload"]["tool"], line["outcome"]) == ("process_refund", "substituted")
        by_subject = await _cli("receipts", "list", *state, "--json", "--subject", CUSTOMER, "--kind", "decided")
        assert len(by_subject.stdout.splitlines()) == 2
        assert (await _cli("receipts", "list", *state, "--subject", "nobody")).stdout == ""
        shown = orjson.loads((await _cli("receipts", "show", *state, line["receipt"])).stdout)
        assert [each["kind"] for each in shown] == ["decided", "substituted"]
        assert (await _cli("receipts", "show", *state, "rc_none")).exit_code == 2
        exported = (await _cli("receipts", "export", *state)).stdout_bytes.splitlines()
        assert sum(orjson.loads(each)["receipt"] == line["receipt"] for each in exported) == 2

        cases = await _cli("escalations", "list", *state, "--json")
        (case,) = [orjson.loads(each) for each in cases.stdout.splitlines()]
        assert (case["receipt"], case["status"], case["reason"]) == (line["receipt"], "open", "over_limit")
        text = (await _cli("escalations", "show", *state, case["id"])).stdout
        assert "Approve the refund of" in text
        assert "A1001" in text
        assert (await _cli("escalations", "show", *state, "esc_none")).exit_code == 2

        verified = await _cli("receipts", "verify", *state)
        assert (verified.exit_code, "every chain is intact" in verified.stdout) == (0, True)
    await asyncio.to_thread(_alter, gate.state)
    altered = await _cli("receipts", "verify", *state)
    assert altered.exit_code == 1
    assert "faults" in altered.stdout


def _alter(state: Path) -> None:
    with closing(sqlite3.connect(state / "callgate.db")) as database, database:
        changed = database.execute(
            "UPDATE payloads SET payload = replace(payload, '847', '120') WHERE payload LIKE '%847%'"
        ).rowcount
        assert changed


async def test_an_erased_customer_is_gone_and_the_chain_still_verifies(tmp_path: Path) -> None:
    """After `erase` nothing of the customer's calls is left, others' stand, and verify says erased."""
    turn = Turn((Call("process_refund", '{"order_id": "A1001", "amount": 847}'),))
    async with desk(tmp_path, always(turn)) as gate:
        state = ("--state", str(gate.state))
        await ask(gate, Dialect.ANTHROPIC, headers=gate.signed())
        await ask(gate, Dialect.ANTHROPIC, headers=gate.signed("cus_other"))
        await gate.settled(2)
        done = await _cli("receipts", "erase", *state, "--subject", CUSTOMER)
        assert (done.exit_code, done.stdout.startswith("erased")) == (0, True)
        mine = await _cli("receipts", "list", *state, "--json", "--subject", CUSTOMER)
        assert all(orjson.loads(line)["erased"] for line in mine.stdout.splitlines())
        others = await _cli("receipts", "list", *state, "--json", "--subject", "cus_other")
        assert [orjson.loads(line)["erased"] for line in others.stdout.splitlines()] == [False]
        verified = await _cli("receipts", "verify", *state)
        assert verified.exit_code == 0
        assert " of them erased" in verified.stdout
        assert (await _cli("receipts", "erase", *state, "--subject", "nobody")).exit_code == 0
