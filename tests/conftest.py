"""What every test may lean on: a loop that must not block, bounded properties, the shared data where it is present."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from blockbuster import blockbuster as detector
from hypothesis import HealthCheck, settings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parent.parent

# The same examples on every run, so that a red build is red again; `dev` looks for new ones.
settings.register_profile(
    "ci", derandomize=True, database=None, deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile("dev", deadline=None, max_examples=500, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# What may be called on a running loop although it can block, and why.
_A_LOOK = "a policy is looked at anew for each decision; a stat of a local file takes a microsecond"
MAY_BLOCK = {"os.stat": _A_LOOK, "os.readlink": _A_LOOK, "os.path.islink": _A_LOOK, "os.path.abspath": _A_LOOK}


class _BlockingCalls:
    """The blocking calls that were refused; counted, since the product turns what it catches into a refusal."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def forget(self) -> None:
        self.seen.clear()


@pytest.fixture(scope="session")
def _detector() -> Iterator[_BlockingCalls]:
    calls = _BlockingCalls()

    class Counted(detector.BlockingError):
        def __init__(self, function: str) -> None:
            calls.seen.append(function)
            super().__init__(function)

    original = detector.BlockingError
    with detector.blockbuster_ctx(["policies", "interceptors", "proxy"], excluded_modules=["proxy.demo"]) as buster:
        for function in MAY_BLOCK:
            buster.functions[function].deactivate()
        for function in ("sqlite3.Connection.execute", "sqlite3.Cursor.fetchone"):
            # The halt must be looked at right before bytes leave: an indexed read of 3 us that never waits for a lock.
            buster.functions[function].can_block_in("proxy/store/halts.py", {"is_halted"})
        detector.BlockingError = Counted  # type: ignore[misc,assignment] # the wrappers look the name up when they raise
        try:
            yield calls
        finally:
            detector.BlockingError = original  # type: ignore[misc] # as it was


@pytest.fixture(autouse=True)
def blocking_calls(_detector: _BlockingCalls) -> Iterator[_BlockingCalls]:
    """No product code may block a running loop: the call raises, and the test fails even where that is caught."""
    _detector.forget()
    yield _detector
    assert _detector.seen == [], f"blocking calls on the event loop: {_detector.seen}"


@pytest.fixture(scope="session")
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture(scope="session")
def shared() -> Path:
    """The recorded exchanges and the examiner, which lie beside the checkout and not in it."""
    folder = ROOT.parent / "shared"
    if not (folder / "corpus").is_dir():
        pytest.skip("the shared corpus is not beside this checkout (../shared)")
    return folder


@pytest.fixture
def free_port() -> Callable[[], int]:
    """A loopback port that was free a moment ago."""

    def probe() -> int:
        with socket.socket() as listener:
            listener.bind(("127.0.0.1", 0))
            port: int = listener.getsockname()[1]
            return port

    return probe
