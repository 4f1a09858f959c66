"""Reports about pairs and stale history, as claims on this one: a real exchange, a provider that refuses what it would.

Each claim is also held against what a gate would be without the rule, and must fail there.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import openai
import orjson
import pytest

from interceptors import freshness
from proxy.demo.turns import Dialect, Text
from proxy.history import keeper
from proxy.history.pairs import Broken
from proxy.ledger import keeper as ledger
from tests.e2e.responding import agent
from tests.e2e.responding import call as call_of
from tests.e2e.test_history_freshness import KEYS, READ, SAID
from tests.e2e.test_history_freshness import policy as fresh
from tests.e2e.test_history_pairs import ask, ended, orphan, policy
from tests.e2e.told import call, told, turn
from tests.e2e.upkeep import Clock, document, results, seen

if TYPE_CHECKING:
    from contextlib import AbstractContextManager
    from pathlib import Path

CHAT = (Dialect.CHAT, False)


def blind() -> AbstractContextManager[Any]:
    """A gate that sees no broken pair."""
    return patch.object(keeper, "broken", lambda _: Broken({}, {}))


@pytest.mark.parametrize("dialect", ["anthropic", "chat", "responses", "gemini"])
async def test_40_an_orphan_bricks_no_session(tmp_path: Path, dialect: str) -> None:
    """40: a client kept a result whose call it had compacted away, and every later request was a 400."""
    history = orphan(dialect)
    longer = [*history, *ended(dialect)]
    mended = await ask(tmp_path, dialect, policy("repair"), history, longer)
    assert [status for status, _ in mended.answers] == [200, 200]


async def test_40_fails_where_pairs_are_not_looked_at(tmp_path: Path) -> None:
    """The mutation."""
    with blind(), pytest.raises(AssertionError):
        await test_40_an_orphan_bricks_no_session(tmp_path, "chat")


async def test_43_a_call_that_the_server_keeps_is_answered(tmp_path: Path) -> None:
    """43: with `previous_response_id` the provider holds a call that the client never saw: it is owed a result."""
    refused, done = turn(call_of("write_refused")), turn(Text("Yes."))
    async with agent(tmp_path, False, "by_id", refused, done, policy=policy("repair")) as one:
        await one.say("Hello")
        await one.say("And now?")
        kinds = [item.get("type") for item in one.provider.received[-1]["input"]]
        assert kinds[0] == "function_call_output"


async def test_43_fails_where_what_is_owed_is_not_remembered(tmp_path: Path) -> None:
    """The mutation: the ledger keeps nothing of an answer that the provider keeps."""
    with (
        patch.object(ledger, "_pointers", lambda *_: []),
        pytest.raises(openai.BadRequestError, match="No tool output"),
    ):
        await test_43_a_call_that_the_server_keeps_is_answered(tmp_path)


async def test_44_an_output_is_paired_by_its_call_id_alone(tmp_path: Path) -> None:
    """44: `fc_` ids of items beside `call_` ids: the output that is put in stands next to its call, under the id that
    the provider looks for."""
    both = turn(call_of("read_allowed"), call_of("write_allowed", 2))
    async with agent(tmp_path, False, "replay", both, turn(Text("Yes.")), policy=policy("repair")) as one:
        made = [item for item in (await one.ask([{"role": "user", "content": "Hi"}])).output if "call" in item.type]
        assert all(item.id != item.call_id for item in made)
        output = {"type": "function_call_output", "call_id": made[1].call_id, "output": "ok"}
        assert (await one.ask([output, {"role": "user", "content": "So?"}])).output_text == "Yes."
        sent = one.provider.received[-1]["input"]
        pairs = [(item["type"], item["call_id"]) for item in sent if "call_id" in item]
        kinds = ("function_call", "function_call_output")
        assert pairs == [(kind, item.call_id) for kind in kinds for item in made]
        assert sent[-1]["content"] == "So?", "strict backends want a result next to its call"
        outputs = [item["output"] for item in sent if item.get("type") == "function_call_output"]
        assert "No result of this call came back." in outputs[0]
        assert outputs[1] == "ok"


async def test_44_fails_where_pairs_are_not_looked_at(tmp_path: Path) -> None:
    """The mutation: "no tool output found"."""
    with blind(), pytest.raises(openai.BadRequestError, match="No tool output found"):
        await test_44_an_output_is_paired_by_its_call_id_alone(tmp_path)


async def test_46_what_was_read_beside_a_write_is_out_of_date(tmp_path: Path) -> None:
    """46: a write and a read in one batch, and the read showed what was before. The model is told so at once."""
    both = turn(call("read_allowed"), call("write_allowed"))
    keys = [each.replace("order_id", "n") for each in KEYS]
    async with told(tmp_path, CHAT, both, SAID, policy=fresh(*keys)) as one:
        await one.ask()
        results(one, document(status="OPEN"), document(done=True))
        await one.ask()
        read, written = seen(one)
        assert orjson.loads(read).get("stale") is True
        assert orjson.loads(written) == {"done": True}
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


async def test_46_fails_where_a_batch_has_an_order(tmp_path: Path) -> None:
    """The mutation: no write goes past a read."""
    with patch.object(freshness, "_is_overtaken", lambda *_: False), pytest.raises(AssertionError):
        await test_46_what_was_read_beside_a_write_is_out_of_date(tmp_path)


async def test_48_pruning_leaves_the_cache_whole(tmp_path: Path) -> None:
    """48: one more old result pruned with every turn cost the cache each time. Here each request is a prefix of the
    next, but for the one batch behind a pause."""
    text = fresh(", result: {keep: [status], fresh_for: 30m}")
    async with told(tmp_path, CHAT, READ, SAID, READ, SAID, SAID, policy=text) as one:
        clock = Clock()
        clock.rules(one)
        await one.ask()
        for words in ("And?", "And now?"):
            results(one, document(status="OPEN", more="x" * 99))
            await one.ask()
            one.talk.say(words)
            clock.passes(minutes=5)
            await one.ask()
        bodies = [one.messages(number) for number in range(len(one.sent))]
        assert all(later[: len(earlier)] == earlier for earlier, later in pairwise(bodies))
        clock.passes(hours=1)
        one.talk.say("Still?")
        await one.ask()
        assert sum("stale" in each for each in seen(one)) == 2


async def test_48_fails_where_each_text_is_a_new_batch(tmp_path: Path) -> None:
    """The mutation: whatever was read before is old as soon as the user speaks."""
    with patch.object(freshness, "_is_old", lambda *_: True), pytest.raises(AssertionError):
        await test_48_pruning_leaves_the_cache_whole(tmp_path)
