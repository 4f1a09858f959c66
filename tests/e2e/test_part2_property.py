"""Random conversations against the strict provider: never a 400, and each request extends what the provider saw.

`make property` runs 100,000 turns and prints how often each kind of thing occurred; `CALLGATE_PROPERTY_TURNS` and
`CALLGATE_PROPERTY_SEED` say otherwise.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from policies.model import Category
from policies.system_reasons import DEFAULT_REPLIES
from tests.e2e.extending import Rules
from tests.e2e.lives import Family, Trouble
from tests.e2e.worlds import World, names, world

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TURNS = int(os.environ.get("CALLGATE_PROPERTY_TURNS", "2000"))
SEED = int(os.environ.get("CALLGATE_PROPERTY_SEED", "1"))
FAMILIES = 60
TURNS_A_FAMILY = 20
AT_ONCE = 12

_POLICY = """
language: 1
policy: lives
session: {customer_id: {jwt: sub}}
reasons:
  no_read: {category: policy, reply: {en: "(no read)"}}
  no_write: {category: policy, reply: {en: "(no write)"}}
  ask_a_person: {category: escalated, reply: {en: "(a person)"}}
  malformed: {reply: {en: "(malformed)"}}
  unknown_tool: {reply: {en: "(unknown)"}}
  missing_parameter: {reply: {en: "(unclear)"}}
tools:
  read_allowed: {effect: read}
  write_allowed: {effect: write}
  read_refused: {effect: read, rules: [{forbid: no_read}]}
  write_refused: {effect: write, rules: [{forbid: no_write}]%s}
  write_escalated: {effect: write, rules: [{escalate: ask_a_person}]%s}
  write_unclear: {effect: write%s}
  read_broken: {effect: read}
"""
DEFAULT = DEFAULT_REPLIES[Category.POLICY]
_REPLIES = (
    *("(no read)", "(no write)", "(a person)", "(malformed)", "(unknown)", "(unclear)"),
    *DEFAULT_REPLIES.values(),
)
_MODEL, _BATCH = ", on_refusal: model", ", batch: all_or_nothing"
_ALLOWED = frozenset({"read_allowed", "write_allowed"})
VARIANTS = (
    (("", "", ""), Rules(_ALLOWED, frozenset({"read_refused"}), frozenset(), _REPLIES, DEFAULT)),
    (
        (_MODEL, _MODEL, _MODEL),
        Rules(
            _ALLOWED,
            frozenset({"read_refused", "write_refused", "write_escalated", "write_unclear"}),
            frozenset(),
            _REPLIES,
            DEFAULT,
        ),
    ),
    (
        (_MODEL, "", _BATCH),
        Rules(
            _ALLOWED,
            frozenset({"read_refused", "write_refused"}),
            frozenset({"write_unclear"}),
            _REPLIES,
            DEFAULT,
        ),
    ),
)


async def epoch(folder: Path, seed: int, turns: int) -> tuple[Counter[str], list[str]]:
    """Some conversations at once, while gates come and go; what occurred, and what was wrong."""
    variant, rules = VARIANTS[seed % len(VARIANTS)]
    trouble = Trouble()
    counts: Counter[str] = Counter()
    problems: list[str] = []
    dice = random.Random(f"epoch/{seed}")
    async with world(folder, trouble.script, _POLICY % variant) as made:
        waiting = [seed * 1000 + number for number in range(max(1, turns // TURNS_A_FAMILY))]

        async def work() -> None:
            while waiting and not problems:
                family = Family(made, waiting.pop(), rules)
                trouble.families[family.seed] = family
                await family.live(TURNS_A_FAMILY)
                counts.update(family.counts)
                problems.extend(f"seed {family.seed}: {problem}" for problem in family.problems)

        async with events(made, dice, loses=seed % 3 == 1, counts=counts):
            await asyncio.gather(*(work() for _ in range(AT_ONCE)))
    return counts, problems


@asynccontextmanager
async def events(made: World, dice: random.Random, *, loses: bool, counts: Counter[str]) -> AsyncIterator[None]:
    """Gates restart while the block lasts; in some epochs the ledger is lost meanwhile."""
    over = asyncio.Event()
    going = asyncio.ensure_future(_events(made, dice, over, loses=loses, counts=counts))
    try:
        yield
    finally:
        over.set()  # never cancelled: a gate that is half started would be nobody's to stop
        await going


async def _events(made: World, dice: random.Random, over: asyncio.Event, *, loses: bool, counts: Counter[str]) -> None:
    number = 0
    while True:
        with suppress(TimeoutError):
            await asyncio.wait_for(over.wait(), dice.uniform(0.1, 0.5))
        if over.is_set():
            return
        number += 1
        if loses and number % 6 == 3:
            await made.lose()
            counts["times the ledger was lost"] += 1
        else:
            await made.restart(dice)
            counts["times a gate restarted"] += 1


async def run(turns: int, seed: int, folder: Path) -> Counter[str]:
    counts: Counter[str] = Counter()
    number = 0
    while counts["turns"] < turns:
        began = time.monotonic()
        size = min(FAMILIES * TURNS_A_FAMILY, turns - counts["turns"])
        found, problems = await epoch(folder / str(number), seed + number, size)
        counts += found
        seconds = time.monotonic() - began
        sys.stderr.write(f"epoch of seed {seed + number}: {found['turns']} turns in {seconds:.1f} s\n")
        assert not problems, problems[0]
        number += 1
    return counts


@pytest.mark.timeout(3600 if TURNS > 10_000 else 240)
async def test_random_lives_are_never_refused_and_extend_what_was_seen(tmp_path: Path) -> None:
    """G7 under refusals of all kinds, clients that mangle, restarts, two workers, and losses."""
    counts = await run(TURNS, SEED, tmp_path)
    sys.stderr.write(f"seed {SEED}\n{names(counts)}\n")
    assert counts["went on"]
    assert counts["told beside allowed"]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as scratch:
        found = asyncio.run(run(TURNS, SEED, Path(scratch)))
    sys.stdout.write(f"seed {SEED}\n{names(found)}\n")
    rare = {kind: count for kind, count in found.items() if count < 500 and not kind.startswith(("times", "differs"))}
    if TURNS >= 100_000 and rare:
        raise SystemExit(f"too rare: {rare}")
