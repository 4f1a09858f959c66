"""The processes of the client tests: the mock provider from npm, and `callgate serve` before it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

NODE = Path(__file__).parent / "node"
PROGRAMS = NODE / "node_modules" / ".bin"
UPSTREAMS = ("anthropic", "openai", "gemini", "ollama")
START_SECONDS = 30.0
_CALLGATE = Path(sys.executable).with_name("callgate")


def node() -> str | None:
    """The JavaScript runtime that the project's own lock installs, else the machine's."""
    own = Path(sys.executable).with_name("node")
    return str(own) if own.exists() else shutil.which("node")


def missing() -> str:
    """Why the clients cannot run here; empty where they can."""
    if node() is None:
        return "there is no node: `make test-clients` installs one"
    return "" if (PROGRAMS / "llmock").exists() else "the clients are not installed: `make test-clients` installs them"


def environment(**more: str) -> dict[str, str]:
    """Of a client's process: nothing of this machine but where its programs are."""
    runtime = node()
    assert runtime is not None
    return {"PATH": f"{Path(runtime).parent}{os.pathsep}{os.environ['PATH']}", "LANG": "C.UTF-8", **more}


@dataclass(frozen=True)
class Mock:
    """The mock provider. Every provider's API stands on its one port."""

    url: str

    def asked(self, word: str) -> list[dict[str, Any]]:
        """The requests whose body holds `word`, in order, as the mock read them."""
        with urllib.request.urlopen(f"{self.url}/__aimock/journal?limit=1000", timeout=10) as answer:
            entries = json.load(answer)
        listed = entries if isinstance(entries, list) else entries["entries"]
        return [entry for entry in listed if word in json.dumps(entry.get("body"))]


@dataclass(frozen=True)
class Gate:
    url: str
    log: Path

    def verdicts(self, conversation_word: str = "") -> list[str]:
        lines = [json.loads(line) for line in self.log.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
        return [verdict for line in lines for verdict in line.get("verdicts", ())]


def free_port() -> int:
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return int(listening.getsockname()[1])


@contextmanager
def mock_provider(folder: Path, fixtures: Path) -> Iterator[Mock]:
    port = free_port()
    command = [str(PROGRAMS / "llmock"), "-p", str(port), "-f", str(fixtures), "--log-level", "warn"]
    with _running(command, folder / "mock.log", port):
        yield Mock(f"http://127.0.0.1:{port}")


@contextmanager
def gate(folder: Path, policy: str, mock: Mock, upstreams: Sequence[str] = UPSTREAMS) -> Iterator[Gate]:
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    file = folder / "policy.yaml"
    file.write_text(policy, encoding="utf-8")
    file.chmod(0o600)
    port = free_port()
    command = [str(_CALLGATE), "serve", "--listen", f"127.0.0.1:{port}", "--policy", str(file)]
    command += ["--state", str(folder / "state")]
    for name in upstreams:
        command += ["--upstream", f"{name}={mock.url}"]
    with _running(command, folder / "gate.log", port):
        yield Gate(f"http://127.0.0.1:{port}", folder / "gate.log")


@contextmanager
def _running(command: Sequence[str], log: Path, port: int) -> Iterator[None]:
    with log.open("wb") as out:
        process = subprocess.Popen(
            command,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment(HOME=str(log.parent)),
            start_new_session=True,  # `node` may be a script that starts the real one: both end together
        )
    try:
        _wait(process, port, log)
        yield
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            break
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"{log.name} did not start: {log.read_text(encoding='utf-8')[-2000:]}")
