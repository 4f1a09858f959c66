"""`callgate escalations` against a running gate, with a person's token: list, show, approve, reject, watch."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson
from click.testing import CliRunner

from proxy.cli import cli
from proxy.demo.turns import Call, Turn, always
from tests.e2e.harness import DESK, desk
from tests.e2e.test_e2e_approvals import ask

if TYPE_CHECKING:
    from pathlib import Path

TURN = Turn((Call("process_refund", '{"order_id": "A1001", "amount": 847}'),))
REVIEWER, VIEWER = "r" * 24, "v" * 24
PERSONS = f"""
admin:
  persons:
    rita: {{token: {REVIEWER}, role: reviewer}}
    vera: {{token: {VIEWER}, role: viewer}}
"""


async def run(*arguments: str, token: str = REVIEWER) -> Any:
    return await asyncio.to_thread(lambda: CliRunner().invoke(cli, list(arguments), env={"CALLGATE_TOKEN": token}))


async def test_a_case_from_the_command_line(tmp_path: Path) -> None:
    """A viewer sees it and may not answer; a reviewer approves it; it runs; a second answer comes too late."""
    async with desk(tmp_path, always(TURN), DESK, extra=PERSONS) as gate:
        await ask(gate)
        at = ("--state", str(gate.state), "--admin", gate.admin.removeprefix("http://"))
        listed = await run("escalations", "list", "--json", *at, token=VIEWER)
        [case] = [orjson.loads(line) for line in listed.stdout.splitlines()]
        shown = await run("escalations", "show", case["id"], *at, token=VIEWER)
        refused = await run("escalations", "approve", case["id"], "--reason", "right", *at, token=VIEWER)
        approved = await run("escalations", "approve", case["id"], "--reason", "right", *at)
        late = await run("escalations", "reject", case["id"], "--reason", "wrong", *at)
        watched = await run("escalations", "watch", "--looks", "1", *at)
        calls = (await ask(gate))[1]
        after = await run("escalations", "show", case["id"], "--state", str(gate.state))

    assert (case["status"], case["canBeApproved"], case["onApproval"]) == ("open", True, "next_time")
    assert "Approve the refund of 847.00 USD" in shown.stdout
    assert (refused.exit_code, "needs the role reviewer" in refused.stderr) == (2, True)
    assert f"{case['id']} is approved until" in approved.stdout
    assert "closed: approved by rita" in late.stderr
    assert (watched.exit_code, watched.stdout) == (0, "")
    assert calls == [{"order_id": "A1001", "amount": 847}]
    assert "rita: yes: right" in after.stdout
    assert "used by rc_" in after.stdout


async def test_watch_tells_what_comes_and_what_changes(tmp_path: Path) -> None:
    """A case that opens, and its answer, each once."""
    async with desk(tmp_path, always(TURN), DESK, extra=PERSONS) as gate:
        at = ("--state", str(gate.state), "--admin", gate.admin.removeprefix("http://"))
        watching = asyncio.ensure_future(run("escalations", "watch", "--every", "0.2", "--looks", "15", *at))
        await ask(gate)
        await asyncio.sleep(0.6)
        [case] = await gate.store.read(lambda reader: reader.escalations())
        rejected = await run("escalations", "reject", case.id, "--reason", "wrong", *at)
        lines = (await watching).stdout.splitlines()

    assert "is rejected" in rejected.stdout
    assert [line.split("  ")[2] for line in lines] == ["open", "rejected"]
