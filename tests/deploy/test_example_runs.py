"""The compose example runs as it is mounted: started, asked for its health as the image asks, ended by SIGTERM."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
START_SECONDS_MAX = 20
SECRETS = ("anthropic-key", "session-key", "agent-token", "orders-token")


def _probe(admin: str) -> list[str]:
    """The command of the example's health check, at this admin address."""
    compose = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
    command = compose["services"]["callgate"]["healthcheck"]["test"][1:]
    return [sys.executable, *(word.replace("127.0.0.1:8081", admin) for word in command[1:])]


@pytest.fixture
def mounted(tmp_path: Path, free_port: Callable[[], int]) -> tuple[Path, str]:
    """The example's files with their mount points below `tmp_path`, and its admin address on a free port."""
    admin = f"127.0.0.1:{free_port()}"
    moved = {
        "/run/secrets": str(tmp_path / "secrets"),
        "/etc/callgate-policy": str(tmp_path / "policy"),
        "/var/lib/callgate": str(tmp_path / "volume"),
        "0.0.0.0:8080": f"127.0.0.1:{free_port()}",
        "127.0.0.1:8081": admin,
    }
    for source, target in (("config/callgate.yaml", "callgate.yaml"), ("policy/policy.yaml", "policy/policy.yaml")):
        text = (DEPLOY / "compose" / source).read_text()
        for before, after in moved.items():
            text = text.replace(before, after)
        (tmp_path / target).parent.mkdir(exist_ok=True, mode=0o755)
        (tmp_path / target).write_text(text)
    (tmp_path / "secrets").mkdir()
    for name in SECRETS:
        (tmp_path / "secrets" / name).write_text(f"{name}-of-the-test-that-is-long-enough-for-a-key\n")
    (tmp_path / "volume").mkdir(mode=0o700)
    return tmp_path, admin


@pytest.fixture
def gate(mounted: tuple[Path, str]) -> Iterator[subprocess.Popen[bytes]]:
    folder, _ = mounted
    command = [str(Path(sys.executable).with_name("callgate")), "serve", "--config", str(folder / "callgate.yaml")]
    environment = {"PATH": os.environ["PATH"], "PYTHONDONTWRITEBYTECODE": "1"}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, cwd=folder / "volume", env=environment)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def test_the_example_starts_answers_and_ends(mounted: tuple[Path, str], gate: subprocess.Popen[bytes]) -> None:
    """It becomes ready, its health check passes, SIGTERM ends it in order, and it writes in its volume alone."""
    folder, admin = mounted
    files = {path for path in folder.rglob("*") if (folder / "volume") not in path.parents}
    assert gate.stdout is not None
    assert gate.stdout.readline().startswith(b"listening on http://127.0.0.1:"), (folder / "log").read_text()

    healthy = subprocess.run(_probe(admin), check=False, capture_output=True, timeout=START_SECONDS_MAX)
    started = time.monotonic()
    gate.send_signal(signal.SIGTERM)

    assert healthy.returncode == 0, healthy.stderr
    assert gate.wait(START_SECONDS_MAX) == 0
    assert time.monotonic() - started < 10
    assert {path for path in folder.rglob("*") if (folder / "volume") not in path.parents} == files
    assert (folder / "volume" / "state").stat().st_mode & 0o077 == 0
    assert subprocess.run(_probe(admin), check=False, capture_output=True, timeout=START_SECONDS_MAX).returncode != 0


def test_a_missing_secret_stops_it(mounted: tuple[Path, str]) -> None:
    """Without a file that the configuration names it does not start, and says which, never what the others hold."""
    folder, _ = mounted
    (folder / "secrets" / "anthropic-key").unlink()
    command = [str(Path(sys.executable).with_name("callgate")), "serve", "--config", str(folder / "callgate.yaml")]

    done = subprocess.run(command, check=False, capture_output=True, timeout=START_SECONDS_MAX, cwd=folder / "volume")

    assert done.returncode == 2
    assert b"anthropic-key" in done.stderr
    assert b"long-enough" not in done.stdout + done.stderr
