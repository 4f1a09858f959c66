"""`callgate capture` in regular mode, end to end: an agent that only knows its proxy, and tries to get past it."""

from __future__ import annotations

import asyncio
import datetime
import os
import shutil
import ssl
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import aiohttp
import pytest
from aiohttp import web
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from proxy.demo.turns import Call, Dialect, Text, Turn, always
from tests.e2e.client import heard, request_body, request_headers
from tests.e2e.harness import DENY_ALL, Desk, desk

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).parents[2]
COMMAND = Path(os.environ.get("CALLGATE_CAPTURE", ROOT / ".venv-capture/bin/callgate"))
IS_REQUIRED = "CALLGATE_CAPTURE" in os.environ
pytestmark = pytest.mark.skipif(
    not IS_REQUIRED and not COMMAND.exists(), reason="there is no mitmproxy: `make test-capture` installs it"
)
HOSTS = {"anthropic": "api.anthropic.com", "openai": "api.openai.com"}
TURN = Turn((Text("One moment. "), Call("drop_tables", '{"text": "alpha-mark"}')))


class Captured:
    """A running capture, and a session that trusts its authority."""

    def __init__(self, url: str, authority: Path, errors: list[str]) -> None:
        self.url, self.authority, self.errors = url, authority, errors
        self.trusts = ssl.create_default_context(cafile=str(authority))

    @property
    def address(self) -> tuple[str, int]:
        host, _, port = self.url.removeprefix("http://").partition(":")
        return host, int(port)


@asynccontextmanager
async def capturing(folder: Path, gate: Desk, *words: str) -> AsyncIterator[Captured]:
    assert COMMAND.exists(), COMMAND
    port = _free_port()
    process = await asyncio.create_subprocess_exec(
        str(COMMAND), "capture", "--listen", f"127.0.0.1:{port}", "--gate", gate.url, "--state", str(folder), *words,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "HOME": str(folder)},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stderr is not None
    async with asyncio.timeout(60):
        first = (await process.stdout.readline()).decode().strip()
    errors: list[str] = []
    assert first == f"listening on http://127.0.0.1:{port}", (await process.stderr.read()).decode()
    try:
        yield Captured(first.removeprefix("listening on "), folder / "capture/mitmproxy-ca-cert.pem", errors)
    finally:
        process.terminate()
        _, told = await process.communicate()
        errors += told.decode().splitlines()


def _free_port() -> int:
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.CHAT], ids=str)
async def test_what_goes_to_a_provider_passes_the_gate(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """The agent asks its provider by name, over TLS, and hears what the gate says; the provider is asked once."""
    host, path = (
        (HOSTS["anthropic"], "/v1/messages")
        if dialect is Dialect.ANTHROPIC
        else (HOSTS["openai"], "/v1/chat/completions")
    )
    async with (
        desk(tmp_path / "gate", always(TURN), DENY_ALL) as gate,
        capturing(tmp_path / "state", gate) as capture,
        aiohttp.ClientSession() as session,
        session.post(
            f"https://{host}{path}",
            data=request_body(dialect, "x", streamed=streamed),
            headers=request_headers(dialect),
            proxy=capture.url,
            ssl=capture.trusts,
        ) as answer,
    ):
        found = heard(dialect, answer.status, dict(answer.headers), await answer.read())
        assert found.status == 200
        assert b"alpha-mark" not in found.body
        assert b"One moment." in found.body
        assert [each.target for each in gate.provider.received] == [path]


async def test_no_other_host_is_reached(tmp_path: Path) -> None:
    """A host on no list, an address, another port and plain HTTP are refused before anything is connected."""
    async with (
        desk(tmp_path / "gate", always(TURN), DENY_ALL) as gate,
        capturing(tmp_path / "state", gate) as capture,
        aiohttp.ClientSession() as session,
    ):
        for url in ("https://evil.example/x", "https://127.0.0.1:1/x", "https://api.anthropic.com:444/v1/messages"):
            with pytest.raises(aiohttp.ClientHttpProxyError) as refused:
                await session.get(url, proxy=capture.url, ssl=capture.trusts)
            assert refused.value.status == 403
        for url in ("http://evil.example/x", "http://api.anthropic.com/v1/messages", f"{gate.url}/v1/models"):
            async with session.get(url, proxy=capture.url) as got:
                assert got.status == 403
        assert gate.provider.received == []
        assert gate.lines() == []
    assert any("egress list" in line for line in capture.errors)


async def test_a_request_cannot_name_another_host_than_its_tunnel(tmp_path: Path) -> None:
    """A tunnel to a provider with the name of another host in the request is read in two ways, so it is refused."""
    async with (
        desk(tmp_path / "gate", always(TURN), DENY_ALL) as gate,
        capturing(tmp_path / "state", gate, "--egress", "localhost") as capture,
        aiohttp.ClientSession() as session,
    ):
        for other in ("evil.example", "localhost", HOSTS["openai"]):
            url, fields = f"https://{HOSTS['anthropic']}/v1/messages", {"host": other}
            async with session.post(url, headers=fields, proxy=capture.url, ssl=capture.trusts) as got:
                assert got.status == 403
        assert gate.provider.received == []


async def test_a_listed_host_is_reached_with_its_own_certificate(tmp_path: Path) -> None:
    """What is on the egress list passes undecrypted: the agent sees the host's certificate, not the authority's."""
    trusted, port, runner = await _https_server(tmp_path)
    try:
        async with (
            desk(tmp_path / "gate", always(TURN), DENY_ALL) as gate,
            capturing(tmp_path / "state", gate, "--egress", "localhost") as capture,
            aiohttp.ClientSession() as session,
        ):
            url = f"https://localhost:{port}/here"
            async with session.get(url, proxy=capture.url, ssl=trusted) as got:
                assert await got.text() == "its own"
            with pytest.raises(aiohttp.ClientConnectorCertificateError):
                await session.get(url, proxy=capture.url, ssl=capture.trusts)
    finally:
        await runner.cleanup()


async def test_bytes_that_are_no_http_do_not_pass_a_decrypted_tunnel(tmp_path: Path) -> None:
    """A tunnel to a provider carries requests that the gate can read, and nothing else."""
    async with (
        desk(tmp_path / "gate", always(TURN), DENY_ALL) as gate,
        capturing(tmp_path / "state", gate) as capture,
    ):
        reader, writer = await asyncio.open_connection(*capture.address)
        writer.write(b"CONNECT api.anthropic.com:443 HTTP/1.1\r\nHost: api.anthropic.com:443\r\n\r\n")
        assert b"200" in await reader.readuntil(b"\r\n\r\n")
        writer.write(b"\x00\x01EHLO past the gate\r\n\r\n")
        async with asyncio.timeout(20):
            answer = await reader.read()
        assert not answer or answer.startswith(b"HTTP/1.1 400")
        writer.close()
        assert gate.provider.received == []


async def test_the_authority_is_made_and_shown_and_kept_to_its_owner(tmp_path: Path) -> None:
    """Its key is made on this machine at first start, and nobody else can read the folder it lies in."""
    async with (
        desk(tmp_path / "gate", always(TURN), DENY_ALL) as gate,
        capturing(tmp_path / "state", gate) as capture,
    ):
        assert capture.authority.exists()
        assert capture.authority.parent.stat().st_mode & 0o077 == 0
    shipped = list(ROOT.joinpath("proxy").rglob("*.pem"))
    assert shipped == []


async def _https_server(folder: Path) -> tuple[ssl.SSLContext, int, web.ServerRunner]:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = certificate.public_bytes(serialization.Encoding.PEM)
    secret = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    (folder / "server.pem").write_bytes(pem + secret)
    (folder / "trusted.pem").write_bytes(pem)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(folder / "server.pem")

    async def answer(request: web.BaseRequest) -> web.Response:
        del request
        return web.Response(text="its own")

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    site = web.TCPSite(runner, "localhost", 0, ssl_context=serving)
    await site.start()
    trusted = ssl.create_default_context(cafile=str(folder / "trusted.pem"))
    return trusted, runner.addresses[0][1], runner


def test_where_it_is_required_it_is_there() -> None:
    """A suite that only skips proves nothing."""
    assert not IS_REQUIRED or shutil.which(str(COMMAND)), COMMAND
