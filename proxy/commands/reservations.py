"""`callgate reservations`."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

import click
import orjson

from interceptors.kinds import MoneyState
from proxy.admin.reservations import reservation_json
from proxy.commands.admin_client import admin_options, ask
from proxy.commands.common import failing_on, printable, state_option
from proxy.store import StoreError, open_reader

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.store import Reservation

LIST_MAX = 10_000
_RESOLVED = [state.value for state in MoneyState if state.is_final]


@click.group()
def reservations() -> None:
    """List what calls hold, and say what became of it.

    A call that is allowed holds what it uses of each limit: `held` until its result says `executed` or `not_executed`,
    `unknown` where no result says so in time. Only `not_executed` frees it.
    """


@reservations.command("list")
@state_option
@click.option(
    "--in", "in_state", type=click.Choice([state.value for state in MoneyState]), help="Those in this state only."
)
@click.option("--limit", type=click.IntRange(1, LIST_MAX), default=50, show_default=True, help="At most so many.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object a line.")
def list_reservations(state: Path, in_state: str | None, limit: int, as_json: bool) -> None:
    """List reservations, the newest first."""
    wanted = None if in_state is None else MoneyState(in_state)
    with failing_on(StoreError, OSError), open_reader(state) as reader:
        found = reader.reservations(state=wanted, limit=limit)
    for one in found:
        click.echo(orjson.dumps(reservation_json(one)).decode() if as_json else _as_line(one))
    if not found and not as_json:
        click.echo("no reservations", err=True)


@reservations.command()
@admin_options
@click.argument("reservation", metavar="RESERVATION")
@click.option("--as", "as_state", type=click.Choice(_RESOLVED), required=True, help="What became of it.")
@click.option("--reason", required=True, help="How you know; it stands in the receipt.")
def resolve(
    *, reservation: str, as_state: str, reason: str, state: Path, admin: str | None, token_file: Path | None
) -> None:
    """Say what became of a RESERVATION that is held or unknown.

    `not_executed` frees what it holds, `executed` keeps it for good. Look it up where the money is: nothing undoes it.
    """
    path = f"/reservations/{quote(reservation, safe='')}/resolve"
    body = {"state": as_state, "reason": reason}
    answer = ask("POST", path, body, state=state, admin=admin, token_file=token_file)
    assert isinstance(answer, dict)
    click.echo(f"{reservation} is {as_state} (receipt {answer['receipt']})")


def _as_line(one: Reservation) -> str:
    held = ", ".join(f"{each.amount} under {each.limit}" for each in one.held) or "its intent"
    until = f" until {one.settle_by[:19]}Z" if one.state is MoneyState.HELD else ""
    return printable(f"{one.time[:19]}Z  {one.id}  {one.state.value}{until}  {one.tool}  {held}  {one.receipt}")
