"""`callgate escalations`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
import orjson

from proxy.admin.answers import PAGE_MAX
from proxy.admin.escalations import case_json, votes_json
from proxy.commands.admin_client import admin_options, ask
from proxy.commands.common import CommandError, failing_on, printable
from proxy.store import EscalationStatus, StoreError, open_reader

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

Case = dict[str, Any]

LIST_MAX = PAGE_MAX
_STATUSES = [status.value for status in EscalationStatus]


@click.group()
def escalations() -> None:
    """List, show and answer the cases that wait for a person.

    With --admin or --token-file the running gate is asked, with a person's token; else `list` and `show` read the state
    folder.
    """


@escalations.command("list")
@admin_options
@click.option("--status", type=click.Choice(_STATUSES), help="Cases in this state only.")
@click.option("--limit", type=click.IntRange(1, LIST_MAX), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_cases(
    *, state: Path, admin: str | None, token_file: Path | None, status: str | None, limit: int, as_json: bool
) -> None:
    """List cases, the newest first."""
    if admin is None and token_file is None:
        with failing_on(StoreError, OSError), open_reader(state) as reader:
            found = reader.escalations(status=None if status is None else EscalationStatus(status), limit=limit)
        cases = [case_json(case) for case in found]
    else:
        cases = _listed(status, limit, state=state, admin=admin, token_file=token_file)
    for case in cases:
        click.echo(orjson.dumps(case).decode() if as_json else _as_line(case))
    if not cases and not as_json:
        click.echo("no cases", err=True)


@escalations.command()
@admin_options
@click.argument("case_id", metavar="CASE")
@click.option("--json", "as_json", is_flag=True, help="As JSON.")
def show(*, state: Path, admin: str | None, token_file: Path | None, case_id: str, as_json: bool) -> None:
    """Show one CASE: what a person needs to decide it, and what was said of it."""
    if admin is None and token_file is None:
        with failing_on(StoreError, OSError), open_reader(state) as reader:
            found, votes = reader.escalation(case_id), reader.votes(case_id)
        if found is None:
            raise CommandError(f"there is no case {case_id!r}")
        case = {**case_json(found), "answers": votes_json(votes)}
    else:
        case = _object(ask("GET", _path(case_id), {}, state=state, admin=admin, token_file=token_file))
    if as_json:
        click.echo(orjson.dumps(case).decode())
        return
    rows = dict(_rows(case))
    width = max(map(len, rows))
    for name, text in rows.items():
        click.echo(f"{name:<{width}}  {printable(text)}")


@escalations.command()
@admin_options
@click.argument("case_id", metavar="CASE")
@click.option("--reason", required=True, help="Why; it stands in the receipt.")
def approve(*, state: Path, admin: str | None, token_file: Path | None, case_id: str, reason: str) -> None:
    """Let the call of CASE run: exactly this call, once.

    When it runs, everything is decided anew on fresh facts; your approval counts for what passed it to you.
    """
    path = f"{_path(case_id)}/approve"
    case = _object(ask("POST", path, {"reason": reason}, state=state, admin=admin, token_file=token_file))
    if missing := case.get("missing"):
        click.echo(f"{case_id} needs {missing} more approval{'' if missing == 1 else 's'}")
    else:
        click.echo(f"{case_id} is approved until {str(case['validUntil'])[:19]}Z (receipt {case['receipt']})")


@escalations.command()
@admin_options
@click.argument("case_id", metavar="CASE")
@click.option("--reason", required=True, help="Why; it stands in the receipt.")
def reject(*, state: Path, admin: str | None, token_file: Path | None, case_id: str, reason: str) -> None:
    """Refuse the call of CASE, which closes the case."""
    path = f"{_path(case_id)}/reject"
    case = _object(ask("POST", path, {"reason": reason}, state=state, admin=admin, token_file=token_file))
    click.echo(f"{case_id} is rejected (receipt {case['receipt']})")


@escalations.command()
@admin_options
@click.argument("case_id", metavar="CASE")
@click.option("--reason", required=True, help="What was done; it stands in the receipt.")
def close(*, state: Path, admin: str | None, token_file: Path | None, case_id: str, reason: str) -> None:
    """Say that CASE is dealt with: a customer asked for a person, and there is no call to decide."""
    path = f"{_path(case_id)}/close"
    case = _object(ask("POST", path, {"reason": reason}, state=state, admin=admin, token_file=token_file))
    click.echo(f"{case_id} is closed (receipt {case['receipt']})")


@escalations.command()
@admin_options
@click.option(
    "--every", type=click.FloatRange(0.1, 3600), default=2.0, show_default=True, help="Seconds between looks."
)
@click.option("--looks", type=click.IntRange(1), help="End after so many looks.  [default: never]")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def watch(
    *, state: Path, admin: str | None, token_file: Path | None, every: float, looks: int | None, as_json: bool
) -> None:
    """Print each case that waits, and each change of it, as they come."""
    known: dict[str, tuple[object, object]] = {}
    count = 0
    while True:
        cases = _listed(None, LIST_MAX, state=state, admin=admin, token_file=token_file)
        for case in reversed(cases):
            seen = known.get(case["id"])
            now = (case["status"], case["note"])
            known[case["id"]] = now
            if seen != now and (seen is not None or case["status"] == EscalationStatus.OPEN.value):
                click.echo(orjson.dumps(case).decode() if as_json else _as_line(case))
        count += 1
        if count == looks:
            return
        time.sleep(every)


def _listed(status: str | None, limit: int, *, state: Path, admin: str | None, token_file: Path | None) -> list[Case]:
    query = f"?limit={limit}" + ("" if status is None else f"&status={status}")
    answer = _object(ask("GET", f"/escalations{query}", {}, state=state, admin=admin, token_file=token_file))
    found: list[Case] = answer["escalations"]
    return found


def _object(answer: object) -> Case:
    if not isinstance(answer, dict):
        raise CommandError("the gate's answer is no JSON object")
    return answer


def _path(case_id: str) -> str:
    return f"/escalations/{quote(case_id, safe='')}"


def _as_line(case: Case) -> str:
    action, note = case["summary"].get("recommended_action", ""), case["note"] or ""
    parts = (f"{case['created'][:19]}Z", case["id"], case["status"], case["tool"], case["reason"], action, note)
    return printable("  ".join(filter(None, parts)))


def _rows(case: Case) -> Iterator[tuple[str, str]]:
    summary: Mapping[str, str] = case["summary"]
    yield from {"case": case["id"], "status": case["status"], "opened": case["created"]}.items()
    is_call = case["kind"] == "call"
    if is_call:
        yield "tool", case["tool"]
    yield "reason", case["reason"]
    yield from ((name.replace("_", " "), text) for name, text in summary.items())
    if case["proposedBy"]:
        yield "proposed by", f"{case['proposedBy']} ({case['proposer']})"
    if case["answerBy"]:
        yield "answer by", case["answerBy"]
    if not is_call:
        yield "note", "a customer asked for a person: close the case once it is dealt with"
    elif not case["canBeApproved"]:
        yield "note", "an approval would not let this call run"
    for number, one in enumerate(case.get("answers", ()), 1):
        word = "yes" if one["approves"] else "no" if is_call else "closed"
        yield f"answer {number}", f"{one['person']}: {word}: {one['reason']}"
    if case["note"]:
        yield "outcome", case["note"]
    yield "receipt", case["receipt"]
