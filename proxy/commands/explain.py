"""`callgate explain`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from policies.explain import explain as sentences
from proxy.commands.common import policy_option, read_policy

if TYPE_CHECKING:
    from pathlib import Path


@click.command()
@policy_option
@click.argument("tool", required=False)
def explain(policy_path: Path, tool: str | None) -> None:
    """Tell the rules of a policy in sentences.

    For one TOOL, or for all. The sentences are made from the same tree that decides: what finance signs is what runs.
    """
    click.echo(sentences(read_policy(policy_path), tool), nl=False)
