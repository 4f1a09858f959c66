"""Runs the `console` blocks of a page as a reader would: each `$ callgate ...` in a folder with the page's files.

What stands under a command must occur in its output, in that order; `...` stands for lines that are left out.
`$ echo $?` shows the exit code. Commands that need a running gate are not run: `LIVE` names them.
"""

from __future__ import annotations

import os
import shlex
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from click.testing import CliRunner

from proxy.cli import cli

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.docs.pages import Block, Page

LIVE = ("serve", "demo", "halt", "resume", "receipts", "escalations")


@dataclass
class Step:
    """A command with what a page shows under it."""

    command: str
    shown: list[str] = field(default_factory=list)


def steps(block: Block) -> list[Step]:
    found: list[Step] = []
    for line in block.text.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:]))
        elif found and found[-1].command.endswith("\\"):
            found[-1].command = found[-1].command[:-1] + line.strip()
        elif found:
            found[-1].shown.append(line)
    return found


def write_files(folder: Path, blocks: list[Block]) -> None:
    """Each titled block is a file of that name; a later one replaces an earlier one."""
    for block in blocks:
        if block.title and "." in block.title:
            path = folder / block.title
            path.write_text(block.text, encoding="utf-8")
            path.chmod(0o600)


def run_page(page: Page, folder: Path) -> list[str]:
    """Follow the page from top to bottom; what was not as shown, a line each."""
    wrong: list[str] = []
    code = 0
    folder.chmod(0o700)
    for block in page.blocks:
        write_files(folder, [block])
        if block.language != "console":
            continue
        for step in steps(block):
            if step.command == "echo $?":
                output = str(code)
            elif _runs(step.command):
                with _inside(folder):
                    result = CliRunner().invoke(cli, shlex.split(step.command)[1:], prog_name="callgate")
                code, output = result.exit_code, result.output
            else:
                continue
            missing = _missing(step.shown, output)
            if missing is not None:
                wrong.append(f"{block}: $ {step.command}\n  shows {missing!r}, and not in:\n{output}")
    return wrong


def _runs(command: str) -> bool:
    words = shlex.split(command)
    return words[0] == "callgate" and not (set(words[1:2]) & set(LIVE))


def _missing(shown: list[str], output: str) -> str | None:
    lines = [line.strip() for line in output.splitlines()]
    at = 0
    for line in (line.strip() for line in shown):
        if line in ("", "..."):
            continue
        if line not in lines[at:]:
            return line
        at += lines[at:].index(line) + 1
    return None


@contextmanager
def _inside(folder: Path) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)
