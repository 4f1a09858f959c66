"""Processes under measurement: started by their command, ready at their first line, ended by their own id."""

from __future__ import annotations

import select
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped] # it ships no types

if TYPE_CHECKING:
    from collections.abc import Iterator

START_SECONDS_MAX = 20
STOP_SECONDS_MAX = 40
READY = "listening on http://"
ROOT = Path(__file__).resolve().parent.parent


class BenchmarkError(Exception):
    """A process did not start, did not last, or did not answer as it must; nothing was measured."""


@dataclass(frozen=True, slots=True)
class Process:
    """A running server. `host` is `127.0.0.1:PORT`."""

    name: str
    pid: int
    host: str

    def cpu_seconds(self) -> float:
        """User and system time of all its threads, those that have ended included."""
        if sys.platform == "linux":
            return time.clock_gettime((~self.pid << 3) | 2)  # clock_getcpuclockid(3): nanoseconds, not ticks
        times = psutil.Process(self.pid).cpu_times()
        return times.user + times.system

    def resident_bytes(self) -> int:
        return int(psutil.Process(self.pid).memory_info().rss)


@contextmanager
def running(name: str, command: list[str], log: Path) -> Iterator[Process]:
    """The server that `command` starts; its other output goes to `log`. Raises `BenchmarkError`."""
    with log.open("wb") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, cwd=ROOT)
    try:
        yield Process(name, process.pid, _ready(name, process, log))
        if process.poll() is not None:
            raise BenchmarkError(f"{name} exited with {process.returncode}: {_last_words(log)}")
    finally:
        process.terminate()
        try:
            process.wait(STOP_SECONDS_MAX)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def _ready(name: str, process: subprocess.Popen[bytes], log: Path) -> str:
    assert process.stdout is not None
    deadline = time.monotonic() + START_SECONDS_MAX
    while (left := deadline - time.monotonic()) > 0:
        if not select.select([process.stdout], [], [], left)[0]:
            break
        line = process.stdout.readline().decode()
        if READY in line:
            return line.rpartition(READY)[2].strip().rstrip("/")
        if not line:
            break
    raise BenchmarkError(f"{name} was not listening: {_last_words(log)}")


def _last_words(log: Path) -> str:
    return " | ".join(log.read_text(errors="replace").strip().split("\n")[-5:])


def free_port() -> int:
    """A loopback port that was free a moment ago."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
