"""`callgate capture`."""

from __future__ import annotations

import asyncio
import importlib.util
from pathlib import Path

import click

from proxy.capture.run import Capture
from proxy.capture.run import run as capture_until_stopped
from proxy.capture.ways import Ways
from proxy.commands.common import CommandError, failing_on
from proxy.config_values import parse_address
from proxy.upstream import read_upstream_url


@click.command()
@click.option(
    "--listen", default="127.0.0.1:8081", show_default=True, metavar="HOST:PORT", help="Where agents connect."
)
@click.option(
    "--gate", default="http://127.0.0.1:8080", show_default=True, metavar="URL", help="Where the gate listens."
)
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    required=True,
    metavar="DIR",
    help="Where the authority that agents must trust is kept (DIR/capture); made if missing.",
)
@click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="HOST=NAME",
    help="A provider's host, and the name of its upstream at the gate; may be repeated. Anthropic, OpenAI and Gemini "
    "are known.",
)
@click.option(
    "--egress",
    multiple=True,
    metavar="HOST",
    help="A host that may be reached past the gate, or `*.host` for those below it; may be repeated. Others are "
    "refused.",
)
@click.option(
    "--transparent",
    is_flag=True,
    help="Take connections that a firewall redirects here, in place of those that agents make to a proxy. Only "
    "providers are reached; deploy/capture has the recipe.",
)
def capture(
    *, listen: str, gate: str, state: Path, providers: tuple[str, ...], egress: tuple[str, ...], transparent: bool
) -> None:
    """Catch agents whose base URL cannot be changed.

    A forward proxy that sends what goes to a provider through the gate, lets the hosts of --egress pass as they are,
    and refuses the rest. It decides nothing itself. Needs the extra `callgate[capture]`.

    \b
    callgate capture --state ./state --egress api.github.com
    HTTPS_PROXY=http://127.0.0.1:8081 SSL_CERT_FILE=./state/capture/mitmproxy-ca-cert.pem agent
    """
    if importlib.util.find_spec("mitmproxy") is None:
        raise CommandError("mitmproxy is not installed: pip install 'callgate[capture]'")
    if transparent and egress:
        raise CommandError("--egress has no effect with --transparent: other hosts are the firewall's to allow")
    with failing_on(ValueError, OSError):
        where = parse_address(listen)
        read_upstream_url(gate)
        given = Capture(
            where.host, where.port, gate.rstrip("/"), state / "capture", Ways.of(providers, egress), transparent
        )
        asyncio.run(capture_until_stopped(given))
