"""Prints what each command says with `--help`, as docs/cli.md shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.testing import CliRunner

from proxy.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDTH = 80


def helps() -> Iterator[tuple[str, str]]:
    """The name of each command, `callgate` first and a group before its own, with its help."""
    context = click.Context(cli)
    waiting = [("callgate",), *(("callgate", name) for name in cli.list_commands(context))]
    while waiting:
        path = waiting.pop(0)
        yield " ".join(path), _help_of(path)
        command = cli.get_command(context, path[1]) if len(path) == 2 else None
        if isinstance(command, click.Group):
            waiting[:0] = [(*path, name) for name in command.list_commands(context)]


def _help_of(path: tuple[str, ...]) -> str:
    result = CliRunner().invoke(cli, [*path[1:], "--help"], prog_name="callgate", terminal_width=WIDTH)
    assert result.exit_code == 0, result.output
    return result.output


if __name__ == "__main__":
    for command_name, text in helps():
        click.echo(f"## {command_name}\n\n```text\n{text}```\n")
