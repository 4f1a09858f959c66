"""Random conversations in the other dialects against their strict providers: never an error, and each request extends
what the provider saw (G7), under refusals of all kinds, parallel calls, clients that mangle, restarts and losses.

`test_part2_property` says the same of Anthropic and Chat with many conversations at once. `CALLGATE_PROPERTY_TURNS` and
`CALLGATE_PROPERTY_SEED` say otherwise here too; the counts are printed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

import pytest

from tests.e2e.cloud_wanderers import CLOUDS
from tests.e2e.test_part2_property import _POLICY, VARIANTS
from tests.e2e.wanderers import WANDERERS, ResponsesWanderer
from tests.e2e.wandering import Model, Wandering
from tests.e2e.worlds import names, world

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.wanderers import Wanderer

TURNS = int(os.environ.get("CALLGATE_PROPERTY_TURNS", "45"))
SEED = int(os.environ.get("CALLGATE_PROPERTY_SEED", "1"))
TURNS_A_TALK = 15
ALL: dict[str, type[Wanderer]] = WANDERERS | CLOUDS
OTHER_PATHS = frozenset({"anthropic-vertex", "gemini-vertex", "azure-chat", "azure-responses"})
"""They speak as a dialect that is here already, and go on for fewer turns."""


async def lives(folder: Path, name: str, seed: int, turns: int) -> Counter[str]:
    """Conversations one after the other, each under the next policy. Raises `AssertionError` at the first problem."""
    counts: Counter[str] = Counter()
    number = 0
    while counts["turns"] < turns:
        own = seed * 1000 + number
        variant, rules = VARIANTS[number % len(VARIANTS)]
        wanderer = ALL[name]()
        model = Model(wanderer)
        async with AsyncExitStack() as stack:
            if isinstance(wanderer, ResponsesWanderer):
                wanderer.double = wanderer.made(model)
            else:
                wanderer.double = await stack.enter_async_context(wanderer.mouth.double(model))
            made = await stack.enter_async_context(
                world(folder / str(own), model, _POLICY % variant, upstream=wanderer.double.app)
            )
            one = Wandering(made, wanderer, model, rules, own)
            await one.live(TURNS_A_TALK, loses=wanderer.loses and number % 3 == 1)
        counts += one.counts + model.counts
        assert not one.problems, f"{name}, seed {own}: {one.problems[0]}"
        number += 1
    return counts


@pytest.mark.timeout(3600 if TURNS > 100 else 120)
@pytest.mark.parametrize("name", ALL)
async def test_random_conversations_are_never_refused_and_extend_what_was_seen(tmp_path: Path, name: str) -> None:
    """G7 in this dialect: no request is one that its strict provider refuses, and none rewrites what it saw."""
    counts = await lives(tmp_path, name, SEED, TURNS * 2 // 3 if name in OTHER_PATHS else TURNS)
    sys.stderr.write(f"{name}, seed {SEED}\n{names(counts)}\n")
    assert counts["went on"]
    assert counts["parallel calls"]
