"""`callgate fees`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import click
import orjson

from interceptors.strict_json import StrictJsonError, parse
from policies.fees import (
    Blocked,
    Cancellation,
    CandidateError,
    Computed,
    ReferenceKind,
    Refused,
    Source,
    account,
    compute,
    explain,
    read_candidate,
    validate,
)
from policies.spelling import parse_amount_text, parse_date, parse_timestamp
from policies.values import Money
from proxy.commands.common import CommandError, ExitCode, printable
from proxy.commands.fees_extract import extract
from proxy.commands.fees_files import notices, text_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from datetime import date, datetime

    from policies.fees import Schedule, Validated


def _files(function: Callable[..., None]) -> Callable[..., None]:
    source = click.argument("source", type=click.Path(path_type=Path))
    return source(click.argument("candidate", type=click.Path(path_type=Path))(function))


@click.group()
def fees() -> None:
    """Hold a fee schedule against its text, and compute what a cancellation costs.

    SOURCE is the text of the terms in UTF-8, CANDIDATE a proposed schedule in JSON, whoever wrote it; it calls the
    source by its file's name. A candidate that the source does not bear out is refused with every reason, exit code 2.
    """


fees.add_command(extract)


@fees.command("validate")
@_files
def validate_command(source: Path, candidate: Path) -> None:
    """Say whether the source states what the candidate says."""
    validated = _validated(source, candidate)
    schedule = validated.schedule
    count = "1 interval" if len(schedule.intervals) == 1 else f"{len(schedule.intervals)} intervals"
    click.echo(f"{candidate}: valid: schedule {schedule.id}, {count}, source sha256 {schedule.source}")


@fees.command("explain")
@_files
def explain_command(source: Path, candidate: Path) -> None:
    """Tell the schedule in plain sentences, each with the words it rests on."""
    _say(explain(_validated(source, candidate).schedule))


@fees.command("compute")
@_files
@click.option("--paid", metavar="AMOUNT", help="What was paid so far, such as 399.00; with or without the currency.")
@click.option("--price", metavar="AMOUNT", help="The price, where the schedule takes percentages of it.")
@click.option("--departure", metavar="DATE", help="The departure date, such as 2026-07-01.")
@click.option("--arrival", metavar="DATE", help="The arrival date.")
@click.option("--event", metavar="DATE", help="The date of the event.")
@click.option("--cancelled-at", metavar="TIME", help="When it was cancelled, with an offset: 2026-06-01T12:00:00Z.")
@click.option("--zone", metavar="NAME", help="The zone whose calendar days count, such as Europe/Berlin.")
@click.option("--json", "as_json", is_flag=True, help="The result as JSON.")
def compute_command(
    *,
    source: Path,
    candidate: Path,
    paid: str | None,
    price: str | None,
    departure: str | None,
    arrival: str | None,
    event: str | None,
    cancelled_at: str | None,
    zone: str | None,
    as_json: bool,
) -> None:
    """Compute the fee and the refund of one cancellation.

    Exits with 3, and names the input, where one is missing; no amount is guessed.
    """
    schedule = _validated(source, candidate).schedule
    given = {ReferenceKind.DEPARTURE: departure, ReferenceKind.ARRIVAL: arrival, ReferenceKind.EVENT: event}
    cancellation = Cancellation(
        paid=_money("--paid", paid, schedule),
        price=_money("--price", price, schedule),
        cancelled_at=_time(cancelled_at),
        zone=_zone(zone),
        dates={kind: _date(f"--{kind.value}", text) for kind, text in given.items() if text is not None},
    )
    result = compute(schedule, cancellation)
    if isinstance(result, Blocked):
        _blocked(result, as_json=as_json)
    elif as_json:
        _say_json(_shown(result))
    else:
        _say(account(result))


def _validated(source: Path, candidate: Path) -> Validated:
    """The validated schedule; notices go to standard error, problems end the command."""
    text = text_of(source)
    try:
        proposed = read_candidate(parse(text_of(candidate)))
    except StrictJsonError as error:
        raise CommandError(f"{candidate}: not strict JSON: {error}") from None
    except CandidateError as error:
        raise CommandError("\n".join(f"{candidate}: {printable(message)}" for message in error.messages)) from None
    validation = validate(proposed, Source(source.name, text))
    notices(validation.notices)
    if isinstance(validation, Refused):
        raise CommandError("\n".join(printable(str(problem)) for problem in validation.problems))
    return validation


def _money(option: str, text: str | None, schedule: Schedule) -> Money | None:
    if text is None:
        return None
    number, _, currency = text.strip().partition(" ")
    try:
        return Money(parse_amount_text(number), currency.strip() or schedule.currency)
    except ValueError as error:
        raise CommandError(f"{option}: {error}") from None


def _date(option: str, text: str) -> date:
    try:
        return parse_date(text)
    except ValueError as error:
        raise CommandError(f"{option}: {error}") from None


def _time(text: str | None) -> datetime | None:
    try:
        return None if text is None else parse_timestamp(text)
    except ValueError as error:
        raise CommandError(f"--cancelled-at: {error}") from None


def _zone(name: str | None) -> ZoneInfo | None:
    try:
        return None if name is None else ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise CommandError(f"--zone: unknown time zone {name!r}") from None


def _blocked(result: Blocked, *, as_json: bool) -> None:
    if as_json:
        _say_json({"blocked": result.input.value, "cause": result.cause.name.lower(), "message": str(result)})
    click.echo(f"callgate: blocked: {result}", err=True)
    sys.exit(ExitCode.MISSING_INPUT)


def _say(lines: Iterable[str]) -> None:
    for line in lines:
        click.echo(printable(line))


def _say_json(shown: dict[str, object]) -> None:
    click.echo(orjson.dumps(shown, option=orjson.OPT_INDENT_2).decode())


def _shown(result: Computed) -> dict[str, object]:
    place = result.interval.quoted.place
    return {
        "schedule": result.schedule,
        "source": {"sha256": result.source, "document": place.document},
        "currency": result.paid.currency,
        "paid": str(result.paid.amount),
        "fee": str(result.fee.amount),
        "refund": str(result.refund.amount),
        "capped": result.capped,
        "cancelledOn": result.cancelled_on.isoformat(),
        "referenceDate": result.reference_date.isoformat(),
        "daysBefore": result.distance,
        "evidence": {
            "interval": result.interval.position,
            "quotation": result.interval.quoted.text,
            "line": place.line,
            "column": place.column,
            "start": place.span.start,
            "end": place.span.end,
            "stated": list(result.interval.stated),
        },
        "scope": list(result.scope),
    }
