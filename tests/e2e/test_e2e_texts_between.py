"""Texts before, between and behind calls of which some are refused: what is remembered of a turn is what was read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from proxy.demo.turns import Call, Text, Turn, by_text
from tests.e2e.harness import desk
from tests.e2e.mouths import MOUTHS
from tests.e2e.test_verdict_matrix import _Talk, refusals
from tests.e2e.told import NO_WRITE, POLICY

if TYPE_CHECKING:
    from pathlib import Path

STEPS = by_text(
    {
        "Hello": (
            Turn((Text("I look."), Call("read_refused", '{"n": 1}'))),
            Turn(
                (
                    Text("Before."),
                    Call("write_refused", '{"n": 2}'),
                    Text("Behind."),
                    Call("read_allowed", '{"n": 3}'),
                )
            ),
            Turn((Text("Done."),)),
        )
    }
)


@pytest.mark.parametrize(("name", "streamed"), [*((name, True) for name in MOUTHS), ("ollama-chat", False)])
async def test_the_hidden_turn_finds_its_place_again(tmp_path: Path, name: str, streamed: bool) -> None:
    """The model heard one refusal, code said another between two texts: the next request holds the first, and the
    customer read the second."""
    mouth = MOUTHS[name]
    async with mouth.double(STEPS) as double, desk(tmp_path, STEPS, POLICY, upstream=double.app) as gate:
        one = _Talk(gate, mouth, streamed)
        await one.say("Hello")
        assert one.answer is not None
        assert [call.name for call in one.answer.calls] == ["read_allowed"]
        assert mouth.binds or NO_WRITE in one.answer.text
        await one.go_on()
        reasons = [value["reason"] for value in refusals(double.bodies()[-1])]
        assert reasons[:1] == ["no_read"]
        assert double.refused() == []
