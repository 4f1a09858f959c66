"""Several processes on one state folder, and one that is killed in mid-traffic."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

from proxy.store import open_reader
from proxy.store.folder import make_folder, make_key

if TYPE_CHECKING:
    from pathlib import Path

WRITER = """
import asyncio, sys
from pathlib import Path
from proxy.store import Entry, open_store
from tests.proxy.store.samples import decided

async def main(state, count):
    store = await asyncio.to_thread(open_store, state)
    async def one():
        record = decided()
        await store.commit([Entry(record)])
        sys.stdout.write(record.receipt + "\\n")
        sys.stdout.flush()
    async with store:
        done = 0
        while done < count:
            await asyncio.gather(*(one() for _ in range(8)))
            done += 8

asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2])))
"""


def _start(root: Path, state: Path, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", WRITER, str(state), str(count)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(root)},
    )


def _lines(process: subprocess.Popen[str]) -> list[str]:
    assert process.stdout is not None
    return [line.strip() for line in process.stdout if line.endswith("\n")]


def test_a_killed_writer_loses_nothing_it_promised(root: Path, state: Path) -> None:
    """After kill -9 in mid-traffic the chain verifies, and each receipt whose commit had returned is in it."""
    with _start(root, state, 1_000_000) as process:
        assert process.stdout is not None
        promised = [process.stdout.readline().strip() for _ in range(200)]
        process.send_signal(signal.SIGKILL)
        promised += _lines(process)

    with open_reader(state) as reader:
        report = reader.verify()
        kept = {record.receipt for record in reader.records()}
    assert report.findings == ()
    assert set(promised) <= kept
    assert len(promised) >= 200


def test_processes_share_a_folder(root: Path, state: Path) -> None:
    """Three processes that open one fresh folder at once and write at once: three whole chains, nothing lost."""
    processes = [_start(root, state, 160) for _ in range(3)]
    promised = [_lines(process) for process in processes]
    for process in processes:
        assert process.stdout is not None
        process.stdout.close()
        assert process.wait() == 0

    with open_reader(state) as reader:
        report = reader.verify()
        kept = [record.receipt for record in reader.records()]
    assert report.findings == ()
    assert [head.seq for head in report.heads] == [160, 160, 160]
    assert sorted(kept) == sorted(receipt for each in promised for receipt in each)


def test_the_key_is_made_once(state: Path) -> None:
    """Making the key again gives the same key."""
    make_folder(state)

    assert make_key(state).secret == make_key(state).secret
