"""Random conversations whose history is kept true and lean: never a 400, what went up once goes up again.

`CALLGATE_PROPERTY_TURNS` and `CALLGATE_PROPERTY_SEED` say how many turns, and which.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_part2_property import _POLICY as PLAIN
from tests.e2e.test_part2_property import TURNS_A_FAMILY, VARIANTS, events
from tests.e2e.upkeep import Clock
from tests.e2e.upkept_lives import READS, UpkeptFamily, UpkeptTrouble, edits_counted
from tests.e2e.worlds import names, world

if TYPE_CHECKING:
    from pathlib import Path

TURNS = int(os.environ.get("CALLGATE_PROPERTY_TURNS", "500"))
SEED = int(os.environ.get("CALLGATE_PROPERTY_SEED", "1"))
FAMILIES_AT_ONCE = 12
EPOCH_TURNS = 1000
POLICY = PLAIN.replace(
    "read_allowed: {effect: read}",
    "read_allowed: {effect: read, reads: {thing: args.n}, result: {keep: [status, 'lines[*].sku'], errors: standard}}\n"
    "  read_aged: {effect: read, reads: {thing: args.n}, result: {fresh_for: 10m, max_items: 1, errors: standard}}\n"
    "  read_zero: {effect: read, result: {fresh_for: 0, drop: [internal]}}",
).replace("write_allowed: {effect: write}", "write_allowed: {writes: {thing: args.n}, result: {max_bytes: 64}}")


async def epoch(folder: Path, seed: int, turns: int, counts: Counter[str]) -> list[str]:
    """Some conversations at once, while gates come and go and time passes; what was wrong."""
    variant, rules = VARIANTS[seed % len(VARIANTS)]
    rules = replace(rules, allowed=rules.allowed | set(READS))
    trouble, clock, problems = UpkeptTrouble(), Clock(), list[str]()
    policy = f"resume_after: 30m\nbroken_pairs: repair\ncompact_above: 900\n{(POLICY % variant).lstrip()}"
    dice = random.Random(f"epoch/{seed}")
    with edits_counted(clock, counts):
        async with world(folder, trouble.script, policy) as made:
            waiting = [seed * 1000 + number for number in range(max(1, turns // TURNS_A_FAMILY))]

            async def work() -> None:
                while waiting and not problems:
                    family = UpkeptFamily(made, waiting.pop(), rules, clock=clock)
                    trouble.families[family.seed] = family
                    await family.live(TURNS_A_FAMILY)
                    counts.update(family.counts)
                    problems.extend(f"seed {family.seed}: {problem}" for problem in family.problems)

            async with events(made, dice, loses=seed % 3 == 1, counts=counts):
                await asyncio.gather(*(work() for _ in range(FAMILIES_AT_ONCE)))
    return problems


@pytest.mark.timeout(3600 if TURNS > 2_000 else 240)
async def test_random_lives_with_pauses_are_never_refused_and_repeat_their_bytes(tmp_path: Path) -> None:
    """G7 under pruning, errors, pauses, ages of each tool, writes beside reads, broken pairs that are mended and
    matters that are summed up, with clients that mangle, restarts, two workers and losses."""
    counts: Counter[str] = Counter()
    number = 0
    while counts["turns"] < TURNS:
        turns = min(EPOCH_TURNS, TURNS - counts["turns"])
        problems = await epoch(tmp_path / str(number), SEED + number, turns, counts)
        assert not problems, problems[0]
        number += 1
    await asyncio.to_thread(sys.stderr.write, f"seed {SEED}\n{names(counts)}\n")
    edits = ("pruned", "error", "stale", "notice", "unanswered", "orphan", "compacted")
    pauses = ("pause", "short pause", "the same again")
    for kind in (*pauses, *(f"edit: {edit}" for edit in edits), *(f"stale: {name}" for name in READS)):
        assert counts[kind], kind
