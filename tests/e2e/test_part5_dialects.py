"""Random conversations in the other dialects whose history is kept true and lean: no provider refuses any, and each
request extends what was seen, but for results that became notices where the user spoke.

`CALLGATE_PROPERTY_TURNS` and `CALLGATE_PROPERTY_SEED` say how many turns, and which; the counts are printed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_part2_property import VARIANTS
from tests.e2e.test_part5_property import POLICY
from tests.e2e.test_property_dialects import ALL
from tests.e2e.upkeep import Clock
from tests.e2e.upkept_lives import READS, edits_counted
from tests.e2e.upkept_wandering import UpkeptModel, UpkeptWandering
from tests.e2e.wanderers import ByIdWanderer, ResponsesWanderer
from tests.e2e.worlds import names, world

if TYPE_CHECKING:
    from pathlib import Path

TURNS = int(os.environ.get("CALLGATE_PROPERTY_TURNS", "30"))
SEED = int(os.environ.get("CALLGATE_PROPERTY_SEED", "1"))
TURNS_A_TALK = 15
FEW = ("gemini", "ollama", "responses-replay", "responses-by-id", "bedrock-converse")
"""Of every run; the others speak as one of these, or as those of `test_part5_property`."""
TOP = "resume_after: 30m\nbroken_pairs: repair\nserver_held: notice\n"


async def lives(folder: Path, name: str, seed: int, turns: int) -> Counter[str]:
    """Conversations one after the other, each under the next policy. Raises `AssertionError` at the first problem."""
    counts: Counter[str] = Counter()
    number = 0
    while counts["turns"] < turns:
        own = seed * 1000 + number
        variant, rules = VARIANTS[number % len(VARIANTS)]
        rules = replace(rules, allowed=rules.allowed | set(READS))
        wanderer = ALL[name]()
        model, clock = UpkeptModel(wanderer), Clock()
        async with AsyncExitStack() as stack:
            stack.enter_context(edits_counted(clock, counts))
            if isinstance(wanderer, ResponsesWanderer):
                wanderer.double = wanderer.made(model)
            else:
                wanderer.double = await stack.enter_async_context(wanderer.mouth.double(model))
            policy = TOP + (POLICY % variant).lstrip()
            made = await stack.enter_async_context(
                world(folder / str(own), model, policy, upstream=wanderer.double.app)
            )
            one = UpkeptWandering(made, wanderer, model, rules, own, clock=clock)
            await one.live(TURNS_A_TALK, loses=wanderer.loses and number % 3 == 1)
        counts += one.counts + model.counts
        assert not one.problems, f"{name}, seed {own}: {one.problems[0]}"
        number += 1
    return counts


@pytest.mark.timeout(3600 if TURNS > 100 else 120)
@pytest.mark.parametrize("name", ALL if TURNS > 100 else FEW)
async def test_random_conversations_with_pauses_are_never_refused(tmp_path: Path, name: str) -> None:
    """G7 in this dialect, under pruning, errors, freshness and repaired pairs."""
    counts = await lives(tmp_path, name, SEED, TURNS)
    sys.stderr.write(f"{name}, seed {SEED}\n{names(counts)}\n")
    if issubclass(ALL[name], ByIdWanderer):
        assert counts["edit: notice"]
        return
    for kind in ("pruned", "stale"):
        assert counts[f"edit: {kind}"], kind
