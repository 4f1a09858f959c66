"""`callgate check`."""

from __future__ import annotations

from pathlib import Path

import click
import orjson

from policies.difference import difference
from policies.json_schema import json_schema
from policies.limits import counted
from policies.lint import lint
from proxy.commands.common import failing_on, policy_option, read_policy
from proxy.config import ConfigError, Flags, load_settings
from proxy.connected import check_together


@click.command()
@policy_option
@click.option(
    "--config", type=click.Path(path_type=Path), metavar="PATH", help="callgate.yaml, checked with the policy it names."
)
@click.option(
    "--diff",
    "old_path",
    type=click.Path(path_type=Path),
    metavar="OLD",
    help="Another policy, such as the one in force: what changes from it to this one, in sentences.",
)
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the policy language, for editors.")
@click.pass_context
def check(
    context: click.Context, *, policy_path: Path, config: Path | None, old_path: Path | None, schema: bool
) -> None:
    """Say whether a policy is valid, and what looks wrong in it.

    Exits with 2 where `serve` would refuse it. A finding is allowed and still looks wrong; it changes no exit code.
    No secret is needed and none is read. With --diff it only says what changes, with --schema
    it reads no policy.
    """
    if schema:
        click.echo(orjson.dumps(json_schema(), option=orjson.OPT_INDENT_2).decode())
        return
    settings = None
    if config is not None:
        with failing_on(ConfigError):
            settings = load_settings(Flags(config=config))
        if context.get_parameter_source("policy_path") is click.core.ParameterSource.DEFAULT:
            policy_path = settings.policy
    policy = read_policy(policy_path)
    if old_path is not None:
        sentences = difference(read_policy(old_path), policy)
        click.echo("\n".join(sentences) if sentences else "nothing changes: both decide alike, in the same words")
        return
    if settings is not None:
        with failing_on(ConfigError):
            check_together(settings, policy)
    scope = "the gate's state folder" if settings is None else f"the state folder {str(settings.state)!r}"
    for limit in counted(policy):
        click.echo(f"{limit.origin}: {limit.id} counts within {scope}; gates on another folder do not share it")
    findings = lint(policy)
    for finding in findings:
        click.echo(str(finding))
    tools = "1 tool" if len(policy.tools) == 1 else f"{len(policy.tools)} tools"
    count = "1 finding" if len(findings) == 1 else f"{len(findings)} findings"
    click.echo(f"{policy_path}: valid: policy {policy.name}, {tools}, revision {policy.revision[:12]}, {count}")
