"""`callgate serve`."""

from __future__ import annotations

from pathlib import Path

import click

from policies.problems import DocumentError
from proxy.admin.access import AdminFileError
from proxy.app import serve as run
from proxy.commands.common import failing_on
from proxy.config import ConfigError, Flags, load_settings
from proxy.ledger.vault import LedgerError
from proxy.policy_source import PolicyUnusableError
from proxy.store import StoreError


@click.command()
@click.option("--listen", metavar="HOST:PORT", help="Where agents connect.  [default: 127.0.0.1:8080]")
@click.option(
    "--policy", type=click.Path(path_type=Path), metavar="PATH", help="The policy: a YAML file, or a folder of them."
)
@click.option(
    "--upstream",
    "upstreams",
    multiple=True,
    metavar="NAME=URL",
    help="A provider; may be repeated. `anthropic` and `openai` serve the providers' own paths, any other NAME is the "
    "first part of the path.",
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where receipts and cases are kept; made if missing.",
)
@click.option(
    "--config", type=click.Path(path_type=Path), metavar="PATH", help="callgate.yaml; what a flag says goes before it."
)
@click.option("--admin", metavar="HOST:PORT", help="Where operators connect.  [default: 127.0.0.1, any free port]")
def serve(
    *,
    listen: str | None,
    policy: Path | None,
    upstreams: tuple[str, ...],
    state: Path | None,
    config: Path | None,
    admin: str | None,
) -> None:
    """Run the gate between agents and their providers.

    Needs a policy, a state folder and an upstream, by flags or by --config. Point the agent's base URL here; the
    first line on standard output says where. The log goes to standard error. Ends on SIGTERM, after open exchanges.

    \b
    callgate serve --policy policy.yaml --state ./state --upstream anthropic=https://api.anthropic.com
    """
    flags = Flags(config=config, listen=listen, policy=policy, upstreams=upstreams, state=state, admin=admin)
    with failing_on(ConfigError, PolicyUnusableError, DocumentError, AdminFileError, StoreError, LedgerError, OSError):
        run(load_settings(flags))
