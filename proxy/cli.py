"""The `callgate` command. Each command is a module of `proxy.commands`, imported when it is named.

What a user did wrong, or what is not there, is one line on standard error and exit code 2; nobody sees a traceback.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import os
import sys
from typing import TYPE_CHECKING, NamedTuple

import click

if TYPE_CHECKING:
    from types import TracebackType


class _Lazy(NamedTuple):
    """Where a command is (`attribute` of a module of `proxy.commands`), and its line in the list of commands."""

    module: str
    attribute: str
    summary: str


COMMANDS = {
    "serve": _Lazy("serve", "serve", "Run the gate between agents and their providers."),
    "demo": _Lazy("demo", "demo", "Watch a support agent behind the gate: no key, no network."),
    "check": _Lazy("check", "check", "Say whether a policy is valid, and what looks wrong in it."),
    "test": _Lazy("test", "test", "Run the suite of each POLICY, by default that of policy.yaml."),
    "explain": _Lazy("explain", "explain", "Tell the rules of a policy in sentences."),
    "decide": _Lazy("decide", "decide", "Decide one call, as the gate would, and print why."),
    "receipts": _Lazy("receipts", "receipts", "List, show, verify, export and erase what was decided."),
    "escalations": _Lazy("escalations", "escalations", "List, show and answer the cases that wait for a person."),
    "reservations": _Lazy("reservations", "reservations", "List what calls hold, and say what became of it."),
    "capture": _Lazy("capture", "capture", "Catch agents whose base URL cannot be changed."),
    "fees": _Lazy("fees", "fees", "Hold a fee schedule against its text"),
    "halt": _Lazy("halt", "halt", "Refuse every write from this moment on."),
    "resume": _Lazy("halt", "resume", "Lift the halt."),
}


class _Group(click.Group):
    """Knows its commands by name, and imports the one that is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        cmd_name: str,
    ) -> click.Command | None:
        lazy = COMMANDS.get(cmd_name)
        if lazy is None:
            return None
        module = importlib.import_module(f"proxy.commands.{lazy.module}")
        command: click.Command = getattr(module, lazy.attribute)
        return command

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - click's signature
        formatter: click.HelpFormatter,
    ) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, lazy.summary) for name, lazy in COMMANDS.items()])


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        click.echo(f"callgate {importlib.metadata.version('callgate')}")
        ctx.exit()


@click.group(cls=_Group, context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_version, help="Print the version."
)
def cli() -> None:
    """The gate between AI agents and the real world: the model proposes, code decides.

    Exit codes: 0 allow or done, 2 usage or invalid policy, 3 blocked on a missing input, 10 forbid, 11 escalate,
    12 clarify.
    """


def _without_traceback(kind: type[BaseException], _: BaseException, __: TracebackType | None) -> None:
    # Its message and its frames may hold a value.
    click.echo(f"callgate: internal error ({kind.__name__})", err=True)


def main() -> None:
    """The console script."""
    sys.excepthook = _without_traceback
    try:
        cli(prog_name="callgate")
    finally:
        _flush()


def _flush() -> None:
    """Write what is still buffered. The interpreter would do so at its end, and talk about a reader that has left."""
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    main()
