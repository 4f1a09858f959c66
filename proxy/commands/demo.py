"""`callgate demo`."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from proxy.commands.common import CommandError


@click.command()
@click.option("--live", is_flag=True, help="Use the real providers whose keys are in the environment.")
@click.option(
    "--keep",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Keep the demo's policy, state and log here.",
)
def demo(live: bool, folder: Path | None) -> None:
    """Watch a support agent behind the gate: no key, no network.

    Starts a scripted provider, an order back end and Callgate with the refund-desk policy, and sends customers
    through all three.
    """
    try:
        from proxy.demo.run import main  # noqa: PLC0415 - its clients are an extra that may be missing
    except ModuleNotFoundError as error:
        raise CommandError(f"the demo needs {error.name!r}: pip install 'callgate[demo]'") from None
    sys.exit(main(live, folder))
