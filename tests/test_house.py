"""The net under every other test holds: a blocking call on the loop is found, and stays found when it is swallowed."""

from __future__ import annotations

import contextlib
import socket
from typing import TYPE_CHECKING, Any

import pytest
from blockbuster.blockbuster import BlockingError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

CALLS = {
    "sleep": "import time\ntime.sleep(0)",
    "file": "open(__import__('sys').executable, 'rb').read(1)",
    "database": "import sqlite3\nwith sqlite3.connect(':memory:') as c:\n    c.execute('select 1')",
}


def _run_as(path: Path, source: str) -> None:
    exec(compile(source, str(path), "exec"), {})


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("package", ["policies", "interceptors", "proxy"])
async def test_a_blocking_call_of_the_product_raises(blocking_calls: Any, root: Path, package: str, name: str) -> None:
    """Product code that sleeps, reads a file or asks a database on a running loop is stopped and counted."""
    with pytest.raises(BlockingError):
        _run_as(root / package / "planted.py", CALLS[name])

    assert len(blocking_calls.seen) == 1
    blocking_calls.forget()


async def test_a_swallowed_blocking_call_is_still_counted(blocking_calls: Any, root: Path) -> None:
    """Code that catches everything hides the exception, not the finding."""
    with contextlib.suppress(Exception):
        _run_as(root / "proxy" / "planted.py", CALLS["sleep"])

    assert blocking_calls.seen == ["time.sleep"]
    blocking_calls.forget()


@pytest.mark.filterwarnings("ignore::ResourceWarning")
async def test_tests_and_doubles_may_block(root: Path) -> None:
    """Only the product is watched: a test, or the scripted provider of the demo, may read a file on the loop."""
    _run_as(root / "tests" / "planted.py", CALLS["file"])
    _run_as(root / "proxy" / "demo" / "planted.py", CALLS["file"])


def test_off_the_loop_anything_may_block(root: Path) -> None:
    """Commands and threads have no loop to hold up."""
    _run_as(root / "proxy" / "planted.py", CALLS["sleep"])


def test_a_free_port_can_be_bound(free_port: Callable[[], int]) -> None:
    """The port of the helper is free, and two calls can both be used."""
    with socket.create_server(("127.0.0.1", free_port())), socket.create_server(("127.0.0.1", free_port())):
        pass
