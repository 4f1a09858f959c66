"""A ledger lost behind a merged Responses turn with reasoning: the provider, which looks for reasoning and what follows
it by their ids, refuses nothing of what is left, and the record says what was taken out."""

from __future__ import annotations

import asyncio
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from proxy.demo.turns import Text, Turn
from tests.e2e.responding import HM, Agent, agent, call, turn, ways
from tests.e2e.told import NO_WRITE

if TYPE_CHECKING:
    from pathlib import Path

TURNS: dict[str, tuple[Turn, ...]] = {
    "it thinks again": (turn(HM, call("read_refused")), turn(HM, Text("I may not."))),
    "it does not": (turn(HM, call("read_refused")), turn(Text("I may not."))),
    "it calls another": (turn(HM, call("read_refused")), turn(call("read_allowed", 2)), turn(Text("I may not."))),
    "it thinks, and calls": (
        turn(HM, call("read_refused")),
        turn(HM, call("read_allowed", 2)),
        turn(HM, Text("I may not.")),
    ),
    "code answers the next": (turn(HM, call("read_refused")), turn(HM, call("write_refused", 2))),
    "beside one that runs": (
        turn(call("read_allowed"), HM, call("read_refused")),
        turn(HM, Text("I may not.")),
    ),
}


def lose(one: Agent) -> None:
    """All that is hidden is gone, and what was shown by which id."""
    connection = sqlite3.connect(one.desk.state / "ledger.db", isolation_level=None)
    for table in ("hidden", "items"):
        connection.execute(f"DELETE FROM {table}")
    connection.close()


@ways
@pytest.mark.parametrize(
    ("history", "words"), [*(("replay", words) for words in TURNS), ("stateless", "it thinks again")]
)
async def test_a_merged_turn_whose_ledger_is_lost(tmp_path: Path, streamed: bool, history: str, words: str) -> None:
    """The talk goes on with all that the customer read; of the model's reasoning in that turn nothing goes up."""
    async with agent(tmp_path, streamed, history, *TURNS[words], turn(HM, Text("More.")), turn(Text("Bye."))) as one:
        await one.say("go")
        await asyncio.to_thread(lose, one)
        assert await one.say("and?") == "More."
        assert await one.say("thanks") == "Bye."
        assert one.provider.refused == []
        said = items(one, -2)
        assert not any(item.get("type") == "reasoning" for item in said)
        assert "cg1." not in str(said)
        last = [item["content"][0]["text"] for item in said if item.get("role") == "assistant"][-1]
        assert last == (NO_WRITE if words == "code answers the next" else "I may not.")
        edits = [each["edit"] for each in await one.desk.records() if each["kind"] == "edited"]
        assert "thinking_taken_out" in edits


@ways
async def test_a_loop_whose_ledger_is_lost(tmp_path: Path, streamed: bool) -> None:
    """The loss comes between a call and its result: reasoning at the end of that turn was for the call that is gone."""
    hidden = turn(HM, call("read_refused", 2)), turn(HM, Text("I may not."))
    turns = *hidden, turn(call("read_allowed"), HM, call("read_refused")), turn(HM, Text("Found.")), turn(Text("Bye."))
    async with agent(tmp_path, streamed, "replay", *turns) as one:
        await one.say("go")
        first = await one.ask([{"role": "user", "content": "and?"}])
        assert [item.type for item in first.output] == ["function_call", "reasoning"]
        await asyncio.to_thread(lose, one)
        found = await one.ask([one._run(item) for item in first.output if item.type == "function_call"])
        assert found.output_text == "Found."
        assert await one.say("thanks") == "Bye."
        assert one.provider.refused == []
        assert [item["type"] for item in items(one, -1) if "type" in item].count("reasoning") == 1


def items(one: Agent, request: int) -> list[Any]:
    found: list[Any] = one.provider.received[request]["input"]
    return found
