"""What the `fees` commands share: texts of bounded size, and notices on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from proxy.commands.common import CommandError, failing_on, printable

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from policies.fees import Notice

BYTES_MAX = 1 << 20
"""Of a source text or a candidate."""


def text_of(path: Path) -> str:
    with failing_on(OSError), path.open("rb") as file:
        data = file.read(BYTES_MAX + 1)
    if len(data) > BYTES_MAX:
        raise CommandError(f"{path}: larger than {BYTES_MAX} bytes")
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise CommandError(f"{path}: not UTF-8") from None


def notices(found: Iterable[Notice]) -> None:
    for notice in found:
        click.echo(f"notice: {printable(str(notice))}", err=True)
