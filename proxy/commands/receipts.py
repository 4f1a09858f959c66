"""`callgate receipts`."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
import orjson

from interceptors.chain import Head, stamp
from interceptors.kinds import Kind
from interceptors.verification import LIMITS
from policies.model import Ruling
from proxy.commands.admin_client import admin_options, ask
from proxy.commands.common import CommandError, failing_on, policy_option, printable, read_policy, state_option
from proxy.store import StoreError, open_reader, payload_of
from proxy.store.export import to_line
from proxy.suites.incident import as_case

if TYPE_CHECKING:
    from pathlib import Path

    from interceptors.chain import Sealed
    from proxy.store import ReceiptLine

ALTERED = 1
"""The exit code of `verify` where a chain is not what was written."""
LIST_MAX = 10_000


@click.group()
def receipts() -> None:
    """List, show, verify, export and erase what was decided.

    All but `erase` read the state folder; a gate may be running on it or not.
    """


@receipts.command("list")
@state_option
@click.option("--tool", metavar="NAME", help="Calls of this tool only, as the policy spells it.")
@click.option("--ruling", type=click.Choice([r.value for r in Ruling]), help="Calls with this answer only.")
@click.option(
    "--kind", type=click.Choice([k.value for k in Kind if not k.is_outcome]), help="Receipts of this kind only."
)
@click.option("--subject", metavar="VALUE", help="Calls for this customer only.")
@click.option("--since", metavar="TIME", help="From this time on, such as 2026-03-01 or 2026-03-01T12:00:00Z.")
@click.option("--until", metavar="TIME", help="Before this time.")
@click.option("--limit", type=click.IntRange(1, LIST_MAX), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_receipts(
    *,
    state: Path,
    tool: str | None,
    ruling: str | None,
    kind: str | None,
    subject: str | None,
    since: str | None,
    until: str | None,
    limit: int,
    as_json: bool,
) -> None:
    """List receipts, the newest first."""
    with failing_on(StoreError, OSError, ValueError), open_reader(state) as reader:
        found = reader.receipts(
            limit=limit,
            kind=None if kind is None else Kind(kind),
            tool=tool,
            ruling=None if ruling is None else Ruling(ruling),
            subject=None if subject is None else reader.subject_digest(subject),
            since=_time("--since", since),
            until=_time("--until", until),
        )
    for line in found:
        click.echo(_as_json(line) if as_json else _as_text(line))
    if not found and not as_json:
        click.echo("no receipts", err=True)


@receipts.command()
@state_option
@click.argument("receipt")
def show(state: Path, receipt: str) -> None:
    """Show all records of one RECEIPT, as JSON.

    Each rule with its answer, the facts that were read, and what left the gate.
    """
    with failing_on(StoreError, OSError), open_reader(state) as reader:
        records = [_record(sealed) for sealed in reader.receipt(receipt)]
    if not records:
        raise CommandError(f"there is no receipt {receipt!r}")
    click.echo(orjson.dumps(records, option=orjson.OPT_INDENT_2, default=str).decode())


@receipts.command()
@state_option
@click.option(
    "--head",
    "heads",
    multiple=True,
    metavar="WRITER:SEQ:HASH",
    help="The end of a chain as it was noted elsewhere, from the log or from an earlier verify; may be repeated.",
)
def verify(state: Path, heads: tuple[str, ...]) -> None:
    """Find records that were altered, removed or put in another order.

    Prints the end of each chain: kept elsewhere and given back with --head, it shows a tail that was cut. Exits with 1
    where something is not as it was written.
    """
    noted = [_head(text) for text in heads]
    with failing_on(StoreError, OSError), open_reader(state) as reader:
        report = reader.verify(noted)
    for finding in report.findings:
        click.echo(str(finding))
    said = "every chain is intact" if report.is_intact else f"{len(report.findings)} faults"
    click.echo(f"{report.records} records, {report.erased} of them erased: {said}")
    for head in report.heads:
        click.echo(f"head {head.writer}:{head.seq}:{head.hash}")
    for head in report.pruned:
        click.echo(f"removed at the end of retention: {head.writer} up to {head.seq}")
    for head in report.unchecked:
        click.echo(f"not checked, removed at the end of retention: {head.writer}:{head.seq}")
    click.echo("what no chain can show:", err=True)
    for limit in LIMITS:
        click.echo(f"  - {limit}", err=True)
    sys.exit(0 if report.is_intact else ALTERED)


@receipts.command()
@state_option
@policy_option
@click.option("--as-test", metavar="RECEIPT", help="Write one decided call as a case for the suite of the policy.")
def export(state: Path, policy_path: Path, as_test: str | None) -> None:
    """Write every record as a line of JSON, the oldest first.

    With --as-test, write what one decision rested on as a case of policy_test.yaml. What the receipt does not keep is
    named in the case, to be filled in before it runs; --policy is read for the shapes of its facts.
    """
    if as_test is not None:
        _export_case(state, policy_path, as_test)
        return
    with failing_on(StoreError), open_reader(state) as reader:
        for record in reader.records():
            sys.stdout.buffer.write(to_line(record) + b"\n")


@receipts.command()
@admin_options
@click.option("--subject", required=True, metavar="VALUE", help="The customer, as the signed header names them.")
def erase(subject: str, state: Path, admin: str | None, token_file: Path | None) -> None:
    """Erase what is recorded about a customer.

    The payloads, their salts and open cases are deleted by the running gate; the chain still verifies and
    says `erased`.
    """
    answer = ask("POST", "/erase", {"subject": subject}, state=state, admin=admin, token_file=token_file)
    assert isinstance(answer, dict)
    if answer["receipt"] is None and not answer["escalations"]:
        click.echo("nothing is recorded about this subject")
        return
    click.echo(f"erased {answer['records']} records and {answer['escalations']} cases (receipt {answer['receipt']})")
    if not answer["scrubbed"]:
        click.echo("a reader was at work: an old copy stays in the write-ahead log until the next checkpoint", err=True)


def _export_case(state: Path, policy_path: Path, receipt: str) -> None:
    policy = read_policy(policy_path)
    with failing_on(StoreError, OSError), open_reader(state) as reader:
        decided = next((one for one in reader.receipt(receipt) if one.kind == Kind.DECIDED.value), None)
    if decided is None:
        raise CommandError(f"there is no receipt {receipt!r} of a decided call")
    payload = payload_of(decided)
    if payload is None:
        raise CommandError(f"the receipt {receipt!r} is erased")
    if payload["policy"] != policy.name:
        raise CommandError(f"the receipt is of the policy {payload['policy']!r}, not of {policy.name!r}")
    click.echo(as_case(policy, receipt, decided.time, payload), nl=False)


def _as_text(line: ReceiptLine) -> str:
    payload = line.payload
    if payload is None:
        return f"{line.time[:19]}Z  {line.receipt}  {line.kind.value}  erased"
    said = [printable(str(payload[name])) for name in ("tool", "ruling", "reason", "language") if payload.get(name)]
    if line.kind is not Kind.DECIDED:
        said.insert(0, line.kind.value)
    if payload.get("by"):
        said.append(f"by {printable(str(payload['by']))}")
    outcome = "" if line.outcome is None else line.outcome.value
    return "  ".join(filter(None, (f"{line.time[:19]}Z", line.receipt, " ".join(said), outcome)))


def _as_json(line: ReceiptLine) -> str:
    value = {
        "receipt": line.receipt,
        "time": line.time,
        "kind": line.kind.value,
        "outcome": None if line.outcome is None else line.outcome.value,
        "erased": line.payload is None,
        "payload": line.payload,
    }
    return orjson.dumps(value, default=str).decode()


def _record(sealed: Sealed) -> dict[str, object]:
    return {
        "receipt": sealed.receipt,
        "kind": sealed.kind,
        "time": sealed.time,
        "writer": sealed.writer,
        "seq": sealed.seq,
        "hash": sealed.hash,
        "erased": sealed.payload is None,
        "payload": payload_of(sealed),
    }


def _head(text: str) -> Head:
    writer, _, rest = text.partition(":")
    seq, _, digest = rest.partition(":")
    if not writer or not seq.isascii() or not seq.isdecimal() or not digest:
        raise CommandError(f"--head: {text!r} is no WRITER:SEQ:HASH")
    return Head(writer, int(seq), digest)


def _time(option: str, text: str | None) -> str | None:
    if text is None:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        raise CommandError(f"{option}: {text!r} is no time such as 2026-03-01 or 2026-03-01T12:00:00Z") from None
    return stamp(time if time.tzinfo is not None else time.replace(tzinfo=UTC))
