"""Random conversations in two other dialects whose closed matters are summed up: never a request that is refused.

`test_part5_property` says more of Anthropic and Chat: what each summary may stand for.
"""

from __future__ import annotations

import os
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from tests.e2e.test_part2_property import _POLICY, VARIANTS
from tests.e2e.test_property_dialects import ALL, TURNS_A_TALK
from tests.e2e.upkeep import Clock
from tests.e2e.upkept_lives import edits_counted
from tests.e2e.wandering import Model, Wandering
from tests.e2e.worlds import world

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.mouths import Entry

TURNS = int(os.environ.get("CALLGATE_PROPERTY_TURNS", "30"))
SEED = int(os.environ.get("CALLGATE_PROPERTY_SEED", "7"))
NAMES = ("gemini", "bedrock-converse")  # whose turns alternate, and whose calls or thoughts are signed
POLICY = _POLICY.replace("policy: lives\n", "policy: lives\ncompact_above: 300\n").lstrip()


@dataclass(slots=True)
class Summed(Wandering):
    """What goes up with a summary in it is not what was seen: its provider must take it."""

    def _wrong(self, leg: list[Entry]) -> list[str]:
        return [] if "Summary by the gate" in str(leg) else Wandering._wrong(self, leg)


@pytest.mark.timeout(3600 if TURNS > 100 else 240)
@pytest.mark.parametrize("name", NAMES)
async def test_a_history_with_summaries_is_never_refused(tmp_path: Path, name: str) -> None:
    """Under refusals of all kinds, parallel calls, clients that mangle and rewind, restarts and losses; what has no
    summary extends what was seen."""
    counts: Counter[str] = Counter()
    number = 0
    with edits_counted(Clock(), counts):
        while counts["turns"] < TURNS:
            own = SEED * 1000 + number
            variant, rules = VARIANTS[number % len(VARIANTS)]
            wanderer = ALL[name]()
            model = Model(wanderer)
            async with (
                wanderer.mouth.double(model) as double,
                world(tmp_path / str(own), model, POLICY % variant, upstream=double.app) as made,
            ):
                wanderer.double = double
                one = Summed(made, wanderer, model, rules, own)
                await one.live(TURNS_A_TALK, loses=number % 3 == 1)
            counts.update(one.counts)
            assert not one.problems, f"{name}, seed {own}: {one.problems[0]}"
            number += 1
    assert counts["edit: compacted"]
