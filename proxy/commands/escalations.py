"""`callgate escalations`."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click
import orjson

from proxy.commands.common import CommandError, failing_on, printable, state_option
from proxy.store import EscalationStatus, StoreError, open_reader

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Escalation

LIST_MAX = 10_000


@click.group()
def escalations() -> None:
    """List and show the cases that wait for a person."""


@escalations.command("list")
@state_option
@click.option("--status", type=click.Choice([s.value for s in EscalationStatus]), help="Cases in this state only.")
@click.option("--limit", type=click.IntRange(1, LIST_MAX), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_cases(state: Path, status: str | None, limit: int, as_json: bool) -> None:
    """List cases, the newest first."""
    with failing_on(StoreError, OSError), open_reader(state) as reader:
        cases = reader.escalations(status=None if status is None else EscalationStatus(status), limit=limit)
    for case in cases:
        click.echo(_as_json(case) if as_json else _as_line(case))
    if not cases and not as_json:
        click.echo("no cases", err=True)


@escalations.command()
@state_option
@click.argument("case_id", metavar="CASE")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show(state: Path, case_id: str, as_json: bool) -> None:
    """Show one CASE: what a person needs to decide it."""
    with failing_on(StoreError, OSError), open_reader(state) as reader:
        case = reader.escalation(case_id)
    if case is None:
        raise CommandError(f"there is no case {case_id!r}")
    if as_json:
        click.echo(_as_json(case))
        return
    rows = {"case": case.id, "status": case.status.value, "opened": case.created, "tool": case.tool}
    rows |= {"reason": case.reason, **{name.replace("_", " "): text for name, text in case.summary.items()}}
    rows["receipt"] = case.receipt
    width = max(map(len, rows))
    for name, text in rows.items():
        click.echo(f"{name:<{width}}  {printable(text)}")


def _as_line(case: Escalation) -> str:
    action = case.summary.get("recommended_action", "")
    return "  ".join(
        filter(None, (f"{case.created[:19]}Z", case.id, case.status.value, case.tool, case.reason, printable(action)))
    )


def _as_json(case: Escalation) -> str:
    return orjson.dumps({**asdict(case), "status": case.status.value}).decode()
