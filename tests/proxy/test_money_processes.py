"""Two processes on one state folder against one cap, and one that is killed while it pays."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
from contextlib import closing
from typing import TYPE_CHECKING

from proxy.store import open_reader

if TYPE_CHECKING:
    from pathlib import Path

AGENT = """
import asyncio, sys
from pathlib import Path
from proxy.store import open_store
from tests.proxy.money_desk import OVER_PAID, open_desk

async def main(state, count, most):
    async with await asyncio.to_thread(open_store, state) as store:
        desk = await open_desk(store, (OVER_PAID.replace("order.paid", f"{most}.00 USD"),))
        async def one():
            for said in await desk.said("1", tenant=sys.argv[4]):
                sys.stdout.write(said + "\\n")
                sys.stdout.flush()
        sys.stdout.write("ready\\n")
        sys.stdout.flush()
        sys.stdin.readline()
        done = 0
        while done < count:
            await asyncio.gather(*(one() for _ in range(5)))
            done += 5

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3]))
"""


def _start(root: Path, state: Path, count: int, most: int, tenant: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", AGENT, str(state), str(count), str(most), tenant],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


def _said(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return [line.strip() for line in process.stdout if line.endswith("\n")]


def _go(*processes: subprocess.Popen[str]) -> None:
    for process in processes:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()


def _sums(state: Path) -> tuple[int, int]:
    """How many reservations there are, and the units that they hold."""
    with closing(sqlite3.connect(state / "callgate.db")) as connection:
        (count,) = connection.execute("SELECT count(*) FROM reservations").fetchone()
        (units,) = connection.execute("SELECT coalesce(sum(units), 0) FROM charges").fetchone()
    return count, units


def test_two_processes_release_exactly_what_the_cap_allows(root: Path, tmp_path: Path) -> None:
    """Fifty calls of two processes with identities of their own against a cap of 21: 21 allowed, sums exact."""
    state = tmp_path / "state"
    processes = [_start(root, state, 25, 21, tenant) for tenant in ("one", "two")]
    _go(*processes)
    said = [answer for process in processes for answer in _said(process)]
    for process in processes:
        process.communicate()
        assert process.returncode == 0
    assert (said.count("allow"), said.count("over_paid"), len(said)) == (21, 29, 50)
    assert _sums(state) == (21, 2100)
    with open_reader(state) as reader:
        assert reader.verify().findings == ()


def test_a_killed_process_frees_nothing(root: Path, tmp_path: Path) -> None:
    """After kill -9 in mid-traffic each promised call is held with its record, and the cap holds for who comes next."""
    state = tmp_path / "state"
    with _start(root, state, 10_000, 400, "one") as killed:
        _go(killed)
        assert killed.stdout is not None
        promised = [killed.stdout.readline().strip() for _ in range(60)]
        killed.send_signal(signal.SIGKILL)
        promised += _said(killed)
    count, units = _sums(state)
    assert units == count * 100
    assert promised.count("allow") <= count
    with open_reader(state) as reader:
        kinds = [record.kind for record in reader.records()]
        assert reader.verify().findings == ()
    assert kinds.count("reserved") == count

    second = _start(root, state, 450, 400, "two")
    _go(second)
    said = _said(second)
    second.communicate()
    assert said.count("allow") == 400 - count
    assert _sums(state) == (400, 40000)
