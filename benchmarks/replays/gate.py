"""A gate for some runs: the real command in a process of its own, and what its receipts say."""

from __future__ import annotations

import asyncio
import os
import secrets
import shutil
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import aiohttp
import orjson

from interceptors.receipts import Kind
from proxy.demo.gate_process import SESSION_HEADER, GateFolder, running
from proxy.session_header import JwtAlgorithm, JwtKey, sign_session
from proxy.store.reader import Reader

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterable, Mapping
    from pathlib import Path

    from benchmarks.replays.family import Message, Pack

RECEIPTS_FIRST = 4
"""So many are read at once; where all of them are new, twice as many. Few turns have more calls."""


class ReplayError(Exception):
    """The gate answered as it must not; what was measured so far is not to be trusted."""


@dataclass(slots=True)
class Gate:
    """`decided` gives what the last exchange decided; the gate has one exchange at a time."""

    url: str
    session_key: str
    tools: bytes
    client: aiohttp.ClientSession
    reader: Reader
    thread: ThreadPoolExecutor
    _seen: int = 0
    _signed: dict[tuple[tuple[str, str], ...], str] = field(default_factory=dict)

    async def ask(self, key: str, history: Iterable[bytes], claims: Mapping[str, str] | None) -> Message:
        """One request of the agent; the message that it gets. Raises `ReplayError`."""
        headers = {"authorization": f"Bearer {key}", "content-type": "application/json"}
        if claims is not None:
            headers[SESSION_HEADER] = self._sign(claims)
        body = b'{"model":"recorded","messages":[' + b",".join(history) + b"]" + self.tools + b"}"
        async with self.client.post(f"{self.url}/v1/chat/completions", data=body, headers=headers) as response:
            answer = await response.read()
        if response.status != 200:
            raise ReplayError(f"the gate answered {response.status} in run {key}: {answer[:400]!r}")
        message: dict[str, Any] = orjson.loads(answer)["choices"][0]["message"]
        return message

    async def decided(self) -> list[Mapping[str, Any]]:
        """The payloads of the decisions since the last question, in their order."""
        loop, limit = asyncio.get_running_loop(), RECEIPTS_FIRST
        while True:
            read = partial(self.reader.receipts, limit=limit, kind=Kind.DECIDED)
            lines = await loop.run_in_executor(self.thread, read)
            new = [line for line in lines if line.place > self._seen]
            if len(new) < limit:
                break
            limit *= 2
        if new:
            self._seen = new[0].place
        return [line.payload for line in reversed(new) if line.payload is not None]

    def _sign(self, claims: Mapping[str, str]) -> str:
        wanted = tuple(sorted(claims.items()))
        if wanted not in self._signed:
            self._signed[wanted] = sign_session(dict(claims), JwtKey(JwtAlgorithm.HS256, self.session_key))
        return self._signed[wanted]


@asynccontextmanager
async def gate(folder: Path, pack: Pack, doubles: str, lane: str) -> AsyncIterator[Gate]:
    """`callgate serve` with a copy of the pack, between the doubles at that address. Raises `GateFailedError`."""
    key = secrets.token_urlsafe(48)
    place = await asyncio.to_thread(_prepare, folder, pack, doubles)
    environment = {**os.environ, "SESSION_KEY": key}
    if pack.facts_variable:
        environment[pack.facts_variable] = f"{doubles}/facts/{lane}"
    tools = b',"tools":' + orjson.dumps(list(pack.tools)) if pack.tools else b""
    timeout = aiohttp.ClientTimeout(total=120)
    loop = asyncio.get_running_loop()
    async with running(place, environment) as url, aiohttp.ClientSession(timeout=timeout) as client:
        # A connection of SQLite belongs to its thread.
        with ThreadPoolExecutor(1) as thread:
            reader = await loop.run_in_executor(thread, Reader, place.state)
            try:
                yield Gate(url, key, tools, client, reader, thread)
            finally:
                await loop.run_in_executor(thread, reader.close)


def _prepare(folder: Path, pack: Pack, doubles: str) -> GateFolder:
    place = GateFolder(folder)
    policy = folder / "policy"
    policy.mkdir(mode=0o700, parents=True)
    folder.chmod(0o700)
    for path in pack.folder.iterdir():
        if path.is_file() and path.suffix != ".md":
            shutil.copyfile(path, policy / path.name)
    for name, text in pack.files.items():
        (policy / name).write_text(text, encoding="utf-8")
    for path in policy.iterdir():
        path.chmod(0o600)
    lines = ["listen: 127.0.0.1:0", f"upstreams: {{openai: {{url: '{doubles}'}}}}", "policy: policy", "state: state"]
    if "\nsession:" in (policy / "policy.yaml").read_text(encoding="utf-8"):
        lines.append(f"session_header: {{name: {SESSION_HEADER}, jwt: {{algorithm: HS256, key: '${{SESSION_KEY}}'}}}}")
    place.config.write_text("\n".join(lines) + "\n", encoding="utf-8")
    place.config.chmod(0o600)
    return place
