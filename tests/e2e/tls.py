"""What stands before the gate where clients want TLS: it ends it, and hands on what came as it came."""

from __future__ import annotations

import datetime
import ipaddress
import ssl
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from yarl import URL

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

_HOST = "127.0.0.1"
_HOP_BY_HOP = {"connection", "transfer-encoding", "content-length", "host"}


@dataclass(frozen=True, slots=True)
class Secure:
    url: str
    certificate: Path


@asynccontextmanager
async def secured(url: str, folder: Path) -> AsyncIterator[Secure]:
    """The gate at `url` over TLS while the block lasts, with a certificate of its own in `folder`."""
    certificate, key = _issued(folder)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    async with aiohttp.ClientSession(auto_decompress=False) as session:

        async def relay(request: web.Request) -> web.StreamResponse:
            headers = [(name, value) for name, value in request.headers.items() if name.lower() not in _HOP_BY_HOP]
            target = URL(url + request.raw_path, encoded=True)
            body = await request.read()
            async with session.request(request.method, target, data=body, headers=headers) as got:
                kept = [(name, value) for name, value in got.headers.items() if name.lower() not in _HOP_BY_HOP]
                response = web.StreamResponse(status=got.status)
                response.headers.extend(kept)
                await response.prepare(request)
                async for piece in got.content.iter_any():
                    await response.write(piece)
                await response.write_eof()
                return response

        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", relay)
        runner = web.AppRunner(app, access_log=None, auto_decompress=False, shutdown_timeout=0.1)
        await runner.setup()
        try:
            await web.TCPSite(runner, _HOST, 0, ssl_context=context).start()
            yield Secure(f"https://{_HOST}:{runner.addresses[0][1]}", certificate)
        finally:
            await runner.cleanup()


def _issued(folder: Path) -> tuple[Path, Path]:
    """A certificate for the loopback that is its own authority, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "a test")])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(hours=1))
        .not_valid_after(now + datetime.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(_HOST))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    certificate, secret = folder / "certificate.pem", folder / "key.pem"
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    secret.write_bytes(private)
    return certificate, secret
