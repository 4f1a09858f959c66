"""What commands share: how they fail, and the options that several have."""

from __future__ import annotations

from contextlib import contextmanager
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from policies.model import Policy


class ExitCode(IntEnum):
    """What a command's exit code says (DESIGN 9)."""

    OK = 0
    INVALID = 2
    MISSING_INPUT = 3
    FORBID = 10
    ESCALATE = 11
    CLARIFY = 12


class CommandError(click.ClickException):
    """One or more lines for the user."""

    exit_code = ExitCode.INVALID

    def show(self, file: object = None) -> None:
        del file
        for line in self.message.split("\n"):
            click.echo(f"callgate: {line}", err=True)


class MissingInputError(CommandError):
    """Something outside of the command line is missing, such as a secret."""

    exit_code = ExitCode.MISSING_INPUT


@contextmanager
def failing_on(*kinds: type[Exception]) -> Iterator[None]:
    """Turns these errors, whose messages are made for users, into the command's failure."""
    try:
        yield
    except kinds as error:
        raise CommandError(_said(error)) from None


def _said(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        name = f"{error.filename}: " if error.filename else ""
        return f"{name}{error.strerror.lower()}"
    return str(error)


def policy_option(function: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--policy",
        "policy_path",
        type=click.Path(path_type=Path),
        default=Path("policy.yaml"),
        show_default=True,
        metavar="PATH",
        help="The policy: a YAML file, or a folder of them.",
    )(function)


def state_option(function: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--state",
        type=click.Path(path_type=Path),
        default=Path("state"),
        show_default=True,
        metavar="DIR",
        help="The state folder of the gate.",
    )(function)


def read_policy(path: Path) -> Policy:
    """The policy, or the command's failure with each problem on its line."""
    from policies.loader import load_policy  # noqa: PLC0415 - half a second that most commands need not spend
    from policies.problems import DocumentError  # noqa: PLC0415 - as above

    with failing_on(DocumentError):
        return load_policy(path)


def printable(text: str) -> str:
    """What a model or a person wrote, for a terminal: it moves no cursor and begins no line."""
    return "".join(character if character.isprintable() else " " for character in text)
