"""mitmproxy with one addon, and the authority that the agent must trust."""

from __future__ import annotations

import asyncio
import signal
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click
from cryptography import x509
from cryptography.hazmat.primitives import hashes

from proxy.capture.addon import Redirect

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.capture.ways import Ways

_REFUSED = 403
CA_FILE = "mitmproxy-ca-cert.pem"


@dataclass(frozen=True, slots=True)
class Capture:
    """`folder` holds the authority's key and certificate; it is made at first start, readable by its owner alone."""

    host: str
    port: int
    gate: str
    folder: Path
    ways: Ways
    is_transparent: bool = False


def fingerprint(authority: Path) -> str:
    """SHA-256 of the certificate, as browsers and OpenSSL show it."""
    certificate = x509.load_pem_x509_certificate(authority.read_bytes())
    return certificate.fingerprint(hashes.SHA256()).hex(":").upper()


class _Started:
    """Knows when all listeners are up: mitmproxy calls this hook then."""

    def __init__(self) -> None:
        self.event = asyncio.Event()

    def running(self) -> None:
        self.event.set()


async def run(capture: Capture) -> None:
    """Until SIGINT or SIGTERM. Raises `OSError` where the address is taken."""
    from mitmproxy import certs, http, options  # noqa: PLC0415 - only who has the extra has it
    from mitmproxy.tools.dump import DumpMaster  # noqa: PLC0415 - only who has the extra has it

    def refusal(reason: str) -> Any:
        click.echo(f"refused: {reason}", err=True)
        return http.Response.make(_REFUSED, f"callgate capture: {reason}\n", {"content-type": "text/plain"})

    capture.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    certs.CertStore.from_store(capture.folder, "mitmproxy", 2048)
    mode = ["transparent" if capture.is_transparent else "regular"]
    given = {"listen_host": capture.host, "listen_port": capture.port, "mode": mode, "confdir": str(capture.folder)}
    master = DumpMaster(options.Options(**given), with_termlog=False, with_dumper=False)
    # Nothing is opened before the addon has spoken, and no provider is asked for its certificate. What is no HTTP
    # inside a tunnel that is decrypted does not pass.
    master.options.update(connection_strategy="lazy", upstream_cert=False, rawtcp=False)
    started = _Started()
    master.addons.add(Redirect(capture.ways, capture.gate, refusal, is_transparent=capture.is_transparent), started)
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, master.shutdown)
    running = asyncio.create_task(master.run())
    waiting = asyncio.create_task(started.event.wait())
    await asyncio.wait({running, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if running.done() or not master.addons.get("proxyserver").listen_addrs():
        raise OSError(f"{capture.host}:{capture.port}: cannot listen there")
    _announce(capture)
    await running


def _announce(capture: Capture) -> None:
    certificate = capture.folder / CA_FILE
    click.echo(f"listening on http://{capture.host}:{capture.port}")
    click.echo(f"flows to {', '.join(sorted(capture.ways.providers))} go to {capture.gate}")
    click.echo(f"the agent must trust {certificate}")
    click.echo(f"  SHA-256 {fingerprint(certificate)}")
    way = "" if capture.is_transparent else f"HTTPS_PROXY=http://{capture.host}:{capture.port} "
    click.echo(f"  {way}SSL_CERT_FILE={certificate} (Python, Go)")
    click.echo(f"  {way}NODE_EXTRA_CA_CERTS={certificate} (Node.js)")
