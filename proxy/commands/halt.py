"""`callgate halt` and `callgate resume`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proxy.commands.admin_client import admin_options, ask

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@admin_options
@click.option("--reason", required=True, help="Why; it stands in the receipt.")
def halt(reason: str, state: Path, admin: str | None, token_file: Path | None) -> None:
    """Refuse every write from this moment on.

    It holds for every gate on the state folder, for calls that are held now too, and until `callgate resume`.
    """
    answer = ask("POST", "/halt", {"reason": reason}, state=state, admin=admin, token_file=token_file)
    assert isinstance(answer, dict)
    click.echo(f"halted: every write is refused until `callgate resume` (receipt {answer['receipt']})")


@click.command()
@admin_options
def resume(state: Path, admin: str | None, token_file: Path | None) -> None:
    """Lift the halt.

    A policy that says `mode: halt` still refuses every write: the stricter of the two holds.
    """
    answer = ask("POST", "/resume", {}, state=state, admin=admin, token_file=token_file)
    assert isinstance(answer, dict)
    receipt = answer["receipt"]
    click.echo("no halt was in force" if receipt is None else f"resumed (receipt {receipt})")
