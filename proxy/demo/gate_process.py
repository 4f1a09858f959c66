"""Callgate as its users run it: the real command, in a process of its own, on free ports, with a folder of its own."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import orjson

import policies

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping

PACK = Path(policies.__file__).parent / "packs" / "refund-desk" / "policy.yaml"
SESSION_HEADER = "x-callgate-session"
_READY = "listening on "
_START_SECONDS_MAX = 30.0
_STOP_SECONDS_MAX = 10.0


class GateFailedError(Exception):
    """Callgate did not start, or a command of it failed. The message ends with what it said."""


@dataclass(frozen=True, slots=True)
class GateFolder:
    """Everything of one gate on the disk: policy, configuration, state, log."""

    path: Path

    @property
    def policy(self) -> Path:
        return self.path / "policy.yaml"

    @property
    def config(self) -> Path:
        return self.path / "callgate.yaml"

    @property
    def state(self) -> Path:
        return self.path / "state"

    @property
    def log(self) -> Path:
        return self.path / "callgate.log"

    def prepare(self, upstreams: Mapping[str, str], policy: Path) -> None:
        """Write the configuration and a copy of the policy, which nobody but the user can write."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(policy, self.policy)
        self.policy.chmod(0o600)
        lines = ["listen: 127.0.0.1:0", "admin: {listen: 127.0.0.1:0}", "upstreams:"]
        lines += [f"  {name}: {{url: {_quoted(url)}}}" for name, url in upstreams.items()]
        lines += [
            f"session_header: {{name: {SESSION_HEADER}, jwt: {{algorithm: HS256, key: '${{SESSION_KEY}}'}}}}",
            "policy: policy.yaml",
            "state: state",
        ]
        self.config.write_text("\n".join(lines) + "\n", encoding="utf-8")
        self.config.chmod(0o600)

    def said(self) -> str:
        """The end of what the gate wrote to its log."""
        return self.log.read_text(encoding="utf-8", errors="replace")[-2000:] if self.log.exists() else ""


def _quoted(text: str) -> str:
    return orjson.dumps(text).decode()


def command(*arguments: str) -> list[str]:
    """The command line of this installation's `callgate`."""
    # -P: a `proxy.py` in the folder where the demo is run must not be taken for ours.
    return [sys.executable, "-P", "-m", "proxy.cli", *arguments]


@asynccontextmanager
async def running(folder: GateFolder, environment: Mapping[str, str]) -> AsyncIterator[str]:
    """`callgate serve` while the block lasts; yields its base URL. Raises `GateFailedError` where it does not start."""
    with folder.log.open("wb") as log:
        process = await asyncio.create_subprocess_exec(
            *command("serve", "--config", str(folder.config)),
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
            env=dict(environment),
        )
    try:
        yield await _base_url(process, folder)
    finally:
        await _stop(process)


async def _base_url(process: asyncio.subprocess.Process, folder: GateFolder) -> str:
    assert process.stdout is not None
    try:
        async with asyncio.timeout(_START_SECONDS_MAX):
            line = (await process.stdout.readline()).decode("utf-8", "replace").strip()
    except TimeoutError:
        raise GateFailedError(f"callgate was not ready within {_START_SECONDS_MAX:.0f} s\n{folder.said()}") from None
    if not line.startswith(_READY):
        raise GateFailedError(f"callgate did not start\n{line}\n{folder.said()}".rstrip())
    return line.removeprefix(_READY).rstrip("/")


async def _stop(process: asyncio.subprocess.Process) -> None:
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        async with asyncio.timeout(_STOP_SECONDS_MAX):
            # What it still prints must be read, or it could wait for us for ever.
            await process.communicate()
    except TimeoutError:
        process.kill()
        await process.communicate()


async def run_command(*arguments: str, environment: Mapping[str, str]) -> str:
    """The standard output of a `callgate` command. Raises `GateFailedError` for an exit code other than 0."""
    process = await asyncio.create_subprocess_exec(
        *command(*arguments),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=dict(environment),
    )
    out, err = await process.communicate()
    if process.returncode != 0:
        said = err.decode("utf-8", "replace").strip()
        raise GateFailedError(f"callgate {' '.join(arguments)} ended with {process.returncode}\n{said}")
    return out.decode("utf-8")
