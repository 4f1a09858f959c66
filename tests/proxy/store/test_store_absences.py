"""What is known to be absent without asking: never what any process released, whenever it did."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sqlite3
import subprocess
import sys
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.store import Entry, ReleaseDraft, Store, StoreError, absences, open_store
from proxy.store.absences import Absences
from proxy.store.errors import StateFolderError
from tests.proxy.store.samples import NOW, Faults, decided

if TYPE_CHECKING:
    from collections.abc import Iterator

_receipts = count()


@pytest.fixture
def known(tmp_path: Path) -> Iterator[Absences]:
    with contextlib.closing(Absences(tmp_path)) as opened:
        yield opened


def allowed(tenant: str, call_id: str) -> Entry:
    receipt = f"rc_{next(_receipts):026}"
    draft = ReleaseDraft(
        receipt=receipt, tenant=tenant, call_id=call_id, tool="t", argument_digest="d", subject="", time=NOW
    )
    return Entry(decided(receipt), release=draft)


@dataclass
class Worlds:
    """Two processes on one folder, and what is on its disk. A question sees the disk as it was when it was asked."""

    state: Path
    workers: list[Absences] = field(default_factory=list)
    disk: set[tuple[str, str]] = field(default_factory=set)
    heard: set[tuple[str, str]] = field(default_factory=set)  # who released it was told that it is on the disk
    questions: list[tuple[int, str, dict[str, int], set[str]]] = field(default_factory=list)
    committed: list[tuple[int, tuple[str, str]]] = field(default_factory=list)

    def restart(self, worker: int) -> None:
        self.workers[worker].close()
        self.workers[worker] = Absences(self.state)
        self.questions = [each for each in self.questions if each[0] != worker]
        self.committed = [each for each in self.committed if each[0] != worker]  # killed: nobody hears of it


TENANTS, IDS = st.sampled_from("ab"), st.sampled_from(["c0", "c1", "c2"])
STEPS = st.lists(
    st.tuples(st.sampled_from(["look", "ask", "learn", "commit", "tell", "restart"]), st.integers(0, 1), TENANTS, IDS),
    min_size=10,
    max_size=60,
)


def step(world: Worlds, what: str, worker: int, tenant: str, call: str) -> None:
    """One thing that may happen between any two others."""
    absent = world.workers[worker]
    match what:
        case "look":
            if absent.covers(tenant, [call]):
                assert (tenant, call) not in world.heard
        case "ask":
            asked = absent.asks(tenant, [call, "c0"])
            world.questions.append((worker, tenant, asked, {each for each in asked if (tenant, each) in world.disk}))
        case "learn" if world.questions:
            by, of, asked, found = world.questions.pop(0)
            world.workers[by].learn(of, asked, found)
        case "commit":
            world.disk.add((tenant, call))
            world.committed.append((worker, (tenant, call)))
        case "tell" if world.committed:
            by, released = world.committed.pop()
            world.workers[by].released([released])
            world.heard.add(released)
        case "restart":
            world.restart(worker)
        case _:
            pass


@settings(max_examples=300, deadline=None)
@given(STEPS, st.sampled_from([1, 3, 4096]), st.sampled_from([1, 2, 4096]))
def test_what_anybody_heard_to_be_released_is_asked_for(
    steps: list[tuple[str, int, str, str]], numbers: int, remembered: int
) -> None:
    """However questions, commits, deaths and restarts of two processes interleave, and however many ids share a number:
    an id is not called absent from the moment at which its release is told, which is before its call leaves."""
    with pytest.MonkeyPatch.context() as patch, TemporaryDirectory() as folder:
        patch.setattr(absences, "NUMBERS", numbers)
        patch.setattr(absences, "REMEMBERED_MAX", remembered)
        world = Worlds(Path(folder), [Absences(Path(folder)), Absences(Path(folder))])
        try:
            for each in steps:
                step(world, *each)
            for tenant, call in world.heard:
                assert not any(worker.covers(tenant, [call]) for worker in world.workers)
        finally:
            for worker in world.workers:
                worker.close()


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from(["release", "ask", "restart"]), st.integers(0, 1), TENANTS, IDS), max_size=14)
)
def test_two_stores_on_one_folder_answer_as_the_disk_does(steps: list[tuple[str, int, str, str]]) -> None:
    """Whoever releases and whoever asks, however often: each finds exactly what was released, and what one says to be
    absent is."""
    with TemporaryDirectory() as folder:
        asyncio.run(two_stores(Path(folder), steps))


async def two_stores(state: Path, steps: list[tuple[str, int, str, str]]) -> None:
    stores = [await asyncio.to_thread(open_store, state) for _ in range(2)]
    released: dict[tuple[str, str], int] = {}
    for what, worker, tenant, call in steps:
        match what:
            case "release":
                await stores[worker].commit([allowed(tenant, call)])
                released[tenant, call] = released.get((tenant, call), 0) + 1
            case "restart":
                await stores[worker].close()
                stores[worker] = await asyncio.to_thread(open_store, state)
            case _:
                before = stores[worker].knows_none(tenant, [call, "other"])
                found = await stores[worker].released_calls(tenant, [call, "other"])
                expected = {call: released[tenant, call]} if (tenant, call) in released else {}
                assert {each: len(rows) for each, rows in found.items()} == expected
                assert not (before and found)
                assert stores[worker].knows_none(tenant, [call, "other"]) is not bool(found)
    for store in stores:
        await store.close()


async def test_another_process_ends_what_is_known(store: Store, state: Path, root: Path) -> None:
    """An id that was asked for in vain is asked for again once another process has released a call under it."""
    program = (
        "import asyncio, sys; from pathlib import Path; from proxy.store import open_store\n"
        "from tests.proxy.store.test_store_absences import allowed\n"
        "async def main():\n"
        "    async with open_store(Path(sys.argv[1])) as store: await store.commit([allowed('a', 'c1')])\n"
        "asyncio.run(main())\n"
    )
    assert await store.released_calls("a", ["c1", "c2"]) == {}
    assert store.knows_none("a", ["c1", "c2"])
    command = [sys.executable, "-c", program, str(state)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    await asyncio.to_thread(subprocess.run, command, cwd=root, check=True, timeout=60, env=environment)
    assert not store.knows_none("a", ["c1"])
    assert list(await store.released_calls("a", ["c1"])) == ["c1"]


async def test_what_is_absent_costs_no_question(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second time the store says so by itself; another tenant's and an unknown id are asked for."""
    asked: list[str] = []

    def released_calls(_: object, tenant: str, call_ids: list[str]) -> dict[str, tuple[()]]:
        asked.extend(f"{tenant}/{each}" for each in call_ids)
        return {}

    monkeypatch.setattr("proxy.store.reservations.released_calls", released_calls)
    for tenant, ids in [("a", ["c1", "c2", "c1"]), ("a", ["c2", "c1"]), ("b", ["c1"]), ("a", ["c3", "c1"])]:
        await store.released_calls(tenant, ids)
    assert asked == ["a/c1", "a/c2", "b/c1", "a/c3"]


async def test_the_release_is_on_the_disk_before_it_is_told(
    store: Store, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And told before who committed it hears of that: a question in between finds it, one before it is void."""
    seen: list[object] = []

    def released(calls: list[tuple[str, str]]) -> None:
        with contextlib.closing(sqlite3.connect(state / "callgate.db")) as other:
            for each in calls:
                seen.append(each)
                seen.append(other.execute("SELECT count(*) FROM releases WHERE call_id = ?", each[1:]).fetchone()[0])

    writes = vars(store)["_writer"]
    monkeypatch.setattr(writes, "_released", released)
    await store.commit([allowed("a", "c1"), allowed("a", "c2")])
    assert seen == [("a", "c1"), 1, ("a", "c2"), 1]


async def test_an_unsure_commit_counts_as_a_release(state: Path) -> None:
    """Where a commit reports a failure and is on the disk all the same: what was known of its ids ends."""
    faults = Faults()
    async with await asyncio.to_thread(partial(open_store, state, connect=faults.connect)) as store:
        await store.released_calls("a", ["c1"])
        faults.only, faults.after, faults.fail_at = "COMMIT", True, faults.count + 1
        with pytest.raises(StoreError):
            await store.commit([allowed("a", "c1")])
        assert not store.knows_none("a", ["c1"])
        assert list(await store.released_calls("a", ["c1"])) == ["c1"]


def test_what_is_remembered_is_bounded(known: Absences, monkeypatch: pytest.MonkeyPatch) -> None:
    """The oldest is forgotten, which only costs a question; long ids are not kept, and no empty one is known."""
    monkeypatch.setattr(absences, "REMEMBERED_MAX", 2)
    for each in ["c1", "c2", "c3", "x" * 200, ""]:
        known.learn("a", known.asks("a", [each]), ())
    assert [known.covers("a", [each]) for each in ["c1", "c2", "c3", "x" * 200, ""]] == [
        False,
        True,
        True,
        False,
        False,
    ]


def test_an_id_of_any_characters_has_its_number(known: Absences) -> None:
    """Also one that no text can hold."""
    known.learn("a", known.asks("a", ["\ud800"]), ())
    assert known.covers("a", ["\ud800"])
    known.released([("a", "\ud800")])
    assert not known.covers("a", ["\ud800"])


def test_a_file_that_cannot_be_had_is_said(tmp_path: Path) -> None:
    """At start, as with every other file of the folder."""
    with pytest.raises(StateFolderError, match=r"callgate\.releases"):
        Absences(tmp_path / "missing")
