"""Reports about history after a refusal, about other gates, as claims on this one (a real exchange, a strict provider).

Each claim is also held against a double that a careless gate would be, and must fail there.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import orjson
import pytest

from proxy import answers, settling
from proxy.demo.turns import Call, Dialect, Text, Thinking
from proxy.gate import Gate
from proxy.ledger import hidden, outline, restoring
from proxy.ledger.keeper import Ledger, Prepared
from proxy.wire.transcript import chained
from tests.e2e.told import POLICY, Told, call, told, turn

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

ANTHROPIC, CHAT = (Dialect.ANTHROPIC, True), (Dialect.CHAT, True)
PATIENCE_SECONDS = 30.0
MIXED = turn(Thinking("hm"), call("read_refused"), call("read_allowed", 2))
DONE = turn(Thinking("hm"), Text("One of two."))


def forgetful() -> AbstractContextManager[Any]:
    """A gate that puts nothing back: what other gates do."""

    async def prepare(_: Ledger, __: Any, body: bytes, *___: Any) -> Prepared:
        return Prepared(body, body)

    return patch.object(Ledger, "prepare", prepare)


def pairs(body: bytes) -> Iterator[tuple[str, int]]:
    """How many results each call of an Anthropic request has at the head of the very next message."""
    messages = orjson.loads(body)["messages"]
    for place, message in enumerate(messages):
        blocks = message["content"] if isinstance(message["content"], list) else []
        uses = [block["id"] for block in blocks if block["type"] == "tool_use"]
        follows = messages[place + 1]["content"] if uses else []
        kinds = [block["type"] for block in follows]
        assert kinds == sorted(kinds, key=lambda kind: kind != "tool_result"), "results first, text after"
        given = Counter(block["tool_use_id"] for block in follows if block["type"] == "tool_result")
        yield from ((use, given[use]) for use in uses)
        assert not given.keys() - set(uses), "a result without a call"


async def settled(one: Told, count: int) -> list[dict[str, Any]]:
    """The records of results, once there are so many, or what there is after a time: nobody waits for them."""
    found: list[dict[str, Any]] = []
    with suppress(TimeoutError):
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(found) < count:
                found = [each for each in await one.desk.records() if each["kind"] == "settled"]
                await asyncio.sleep(0.02)
    return found


async def mixed(one: Told, words: str = "and be quick") -> None:
    await one.ask()
    one.talk.answer("result", words)
    await one.ask()
    one.talk.say("More")
    await one.ask()


async def test_38_ids_that_recur_name_no_call(tmp_path: Path) -> None:
    """38: `list_dir:0` in every turn. State is bound to the place and the arguments, never to the provider's id."""
    first = turn(Call("read_refused", '{"n": 1}', id="call_0"), Call("read_allowed", '{"n": 2}', id="call_1"))
    second = turn(Call("read_refused", '{"n": 3}', id="call_0"), Call("read_allowed", '{"n": 4}', id="call_1"))
    async with told(tmp_path, CHAT, first, second, turn(Text("Done."))) as one:
        await one.ask()
        one.talk.answer("result")
        assert [proposed.arguments for proposed in (await one.ask()).calls] == [{"n": 4}]
        one.talk.answer("result")
        assert (await one.ask()).text == "Done."
        texts = [
            sent["function"]["arguments"] for message in one.messages() for sent in message.get("tool_calls") or ()
        ]
        assert [orjson.loads(text)["n"] for text in texts] == [1, 2, 3, 4]
        one.check()
        records = [each for each in await one.desk.settled(3) if each["kind"] == "decided"]
        assert len({each["receipt"] for each in records}) == 4
        ran = [each["receipt"] for each in records if each["ruling"] == "allow"]
        assert [(each["receipt"], each["cause"]) for each in await settled(one, 2)] == [
            (receipt, "result") for receipt in ran
        ]


async def test_38_fails_where_an_id_names_a_call(tmp_path: Path) -> None:
    """The mutation: what comes back is of the first call that ever bore its id."""
    with (
        patch.object(settling, "matching", lambda rows, _, but=(), by=None: rows[0] if rows else None),
        patch(f"{__name__}.PATIENCE_SECONDS", 1.0),
        pytest.raises(AssertionError),
    ):
        await test_38_ids_that_recur_name_no_call(tmp_path)


async def test_38_a_result_is_that_of_the_call_that_the_client_holds(tmp_path: Path) -> None:
    """38: a client goes back to an earlier call and answers it otherwise, when its id names a newer call, too."""
    first, second = (turn(Call("read_allowed", f'{{"n": {n}}}', id="call_0")) for n in range(2))
    async with told(tmp_path, CHAT, first, second, turn(Text("Done."))) as one:
        await one.ask()
        one.talk.answer("result")
        await one.ask()
        del one.talk.messages[2:]
        one.talk.answer("another")
        assert (await one.ask()).text == "Done."
        decided = [each["receipt"] for each in await one.desk.settled(3) if each["kind"] == "decided"]
        found = [(each["receipt"], each["cause"]) for each in await settled(one, 2)]
        assert found == [(decided[0], "result"), (decided[0], "another result of the same call says otherwise")]


async def test_38_fails_where_arguments_do_not_tell(tmp_path: Path) -> None:
    """The mutation: the newest call of that id is meant."""
    with (
        patch.object(settling, "matching", lambda rows, _, but=(), by=None: rows[-1] if rows else None),
        pytest.raises(AssertionError),
    ):
        await test_38_a_result_is_that_of_the_call_that_the_client_holds(tmp_path)


async def test_38_an_id_that_recurs_between_legs_is_two_calls(tmp_path: Path) -> None:
    """38, within one turn that goes on: the second answer's `call_0` is another call."""
    legs = [turn(Call("read_refused", f'{{"n": {n}}}', id="call_0")) for n in range(2)]
    async with told(tmp_path, CHAT, *legs, turn(Call("read_allowed", '{"n": 9}', id="call_0"))) as one:
        found = await one.ask()
        assert [proposed.arguments for proposed in found.calls] == [{"n": 9}]
        assert len(one.sent) == 3


async def test_39_every_call_is_answered_once_in_the_next_message(tmp_path: Path) -> None:
    """39: a refusal left an unanswered call. Results first, text after, in every later request."""
    async with told(tmp_path, ANTHROPIC, MIXED, DONE, turn(Text("Yes."))) as one:
        await mixed(one)
        found = [list(pairs(body)) for body in one.sent]
        assert [len(each) for each in found] == [0, 2, 2]
        assert all(count == 1 for each in found for _, count in each)
        one.check()


async def test_39_fails_where_the_refused_call_is_put_back_alone(tmp_path: Path) -> None:
    """The mutation: the provider's turn without our result."""

    def alone(self: Any, messages: Any, results: Any, order: Any) -> Any:
        return list(messages)

    with patch("proxy.wire.anthropic_transcript.AnthropicTranscript.with_results", alone):
        async with told(tmp_path, ANTHROPIC, MIXED, DONE) as one:
            await one.ask()
            one.talk.answer("result")
            assert (await one.ask(take=False)).status == 400
            assert "`tool_use` ids were found without" in one.desk.provider.received[1].refused


async def test_40_a_compacted_history_has_no_orphans(tmp_path: Path) -> None:
    """40: compaction removed one half of a pair. Where the anchor is gone, nothing is put back, call or result."""
    async with told(tmp_path, ANTHROPIC, MIXED, DONE, turn(Text("Yes."))) as one:
        await mixed(one)
        one.talk.compact(one.talk.user_places()[-1])
        one.talk.say("And now?")
        await one.ask()
        assert list(pairs(one.sent[-1])) == []
        assert b"isError" not in one.sent[-1]
        one.talk.compact(0)
        one.talk.messages[0]["content"] = "Summary of everything."
        one.talk.say("Still?")
        await one.ask()
        assert not any(received.refused for received in one.desk.provider.received)


async def test_40_a_turn_whose_beginning_was_compacted_away_gets_nothing_back(tmp_path: Path) -> None:
    """40: what was hidden belongs behind what stood there, and that is gone."""
    quick = turn(call("read_refused"), call("read_allowed", 2))
    async with told(tmp_path, CHAT, quick, turn(Text("One of two.")), turn(Text("Yes."))) as one:
        await mixed(one)
        assert b'"isError' in one.sent[-1].replace(b"\\", b"")
        one.talk.messages[0] = {"role": "user", "content": "Summary of everything."}
        one.talk.say("And now?")
        await one.ask()
        assert b'"isError' not in one.sent[-1].replace(b"\\", b"")
        assert not any(received.refused for received in one.desk.provider.received)


async def test_40_fails_where_a_turn_is_found_wherever_it_stands(tmp_path: Path) -> None:
    """The mutation: a turn is named by what it says alone, and all conversations begin alike."""
    start = patch.object(outline, "chained", lambda *_: outline.CHAIN_START)
    roots = [patch.object(module, "root_of", lambda _: b"") for module in (hidden, restoring)]
    with start, roots[0], roots[1], pytest.raises(AssertionError):
        await test_40_a_turn_whose_beginning_was_compacted_away_gets_nothing_back(tmp_path)


async def test_40_a_turn_behind_a_compacted_middle_gets_nothing_back(tmp_path: Path) -> None:
    """40: the opening is kept, and so is what stands right before the turn; what stood between them is a summary."""
    quick = turn(call("read_refused"), call("read_allowed", 2))
    replies = (turn(Text("First.")), quick, turn(Text("One of two.")), turn(Text("Yes.")))
    async with told(tmp_path, CHAT, *replies) as one:
        await one.ask()
        one.talk.say("More")
        await mixed(one)
        assert b'"isError' in one.sent[-1].replace(b"\\", b"")
        one.talk.messages[1] = {"role": "assistant", "content": "Summary of everything."}
        one.talk.say("And now?")
        await one.ask()
        assert b'"isError' not in one.sent[-1].replace(b"\\", b"")
        assert not any(received.refused for received in one.desk.provider.received)


async def test_40_fails_where_a_place_is_named_by_the_turn_before_it(tmp_path: Path) -> None:
    """The mutation: the chain forgets what stood further back."""
    with (
        patch.object(outline, "chained", lambda _, meaning: chained(outline.CHAIN_START, meaning)),
        pytest.raises(AssertionError),
    ):
        await test_40_a_turn_behind_a_compacted_middle_gets_nothing_back(tmp_path)


async def test_40_fails_where_half_of_a_pair_is_put_back(tmp_path: Path) -> None:
    """The mutation: our result without the provider's call."""

    def none_of_it(transcript: Any, turn: Any, _: Any) -> list[bytes]:
        return list(transcript.messages[turn.first : turn.last + 1])

    with patch.object(hidden, "_put_back", none_of_it):
        async with told(tmp_path, ANTHROPIC, MIXED, DONE) as one:
            await one.ask()
            one.talk.answer("result")
            assert (await one.ask(take=False)).status == 400
            assert "unexpected `tool_use_id` found" in one.desk.provider.received[1].refused


async def test_41_thinking_beside_a_refused_call_is_what_it_was(tmp_path: Path) -> None:
    """41: "blocks in the latest assistant message cannot be modified". The original turn goes up, blocks untouched."""
    between = turn(Thinking("first"), call("read_refused"), Thinking("second"), call("read_allowed", 2))
    async with told(tmp_path, ANTHROPIC, between, DONE, turn(Text("Yes."))) as one:
        await mixed(one)
        said = one.desk.provider.received[0].turn
        assert said is not None
        for number in (1, 2):
            assert one.messages(number)[1]["content"] == said["content"]
        one.check()


async def test_41_fails_where_nothing_is_put_back(tmp_path: Path) -> None:
    """The double: thinking that was made behind a hidden turn comes back without it."""
    with forgetful(), patch("proxy.wire.anthropic_writer.seal_member", lambda block, _member, _mark: block):
        async with told(tmp_path, ANTHROPIC, turn(call("read_refused")), DONE) as one:
            await one.ask()
            one.talk.say("More")
            assert (await one.ask(take=False)).status == 400
            assert "bound to a different conversation" in one.desk.provider.received[-1].refused


async def test_49_identical_refused_calls_come_to_an_end(tmp_path: Path) -> None:
    """49: 21 identical attempts. The second is told more, the third ends the turn; a restart forgets nothing, since
    the count is what stands in the conversation."""
    same = turn(call("read_refused", 7))
    async with told(tmp_path, CHAT, *[same] * 8, limits={"rounds_max": 8}) as one:
        await one.ask()
        assert len(one.sent) == 3
        given = [orjson.loads(message["content"])["message"] for message in one.messages() if message["role"] == "tool"]
        assert [("refused before" in text) for text in given] == [False, True]
        one.talk.say("Again")
        await one.ask()
        assert len(one.sent) == 4


async def test_49_fails_where_nobody_counts(tmp_path: Path) -> None:
    """The mutation: each refusal is the first."""
    same = turn(call("read_refused", 7))
    with patch.object(answers, "_ENDED", 99):
        async with told(tmp_path, CHAT, *[same] * 12, limits={"rounds_max": 8}) as one:
            await one.ask()
            assert len(one.sent) == 9


ATOMIC = POLICY.replace("write_allowed: {effect: write}", "write_allowed: {effect: write, batch: all_or_nothing}")


@pytest.mark.parametrize(("policy", "runs"), [(POLICY, ["write_allowed"]), (ATOMIC, [])], ids=["independent", "atomic"])
async def test_52_siblings_of_a_refused_call(tmp_path: Path, policy: str, runs: list[str]) -> None:
    """52: siblings of a rejected call kept running, or all were cancelled. The policy says which, for each tool."""
    batch = turn(call("write_allowed"), call("read_allowed", 2), call("write_refused"))
    for way in (ANTHROPIC, CHAT):
        async with told(tmp_path / way[0].value, way, batch, policy=policy) as one:
            found = await one.ask(take=False)
            assert [proposed.name for proposed in found.calls] == [*runs, *(["read_allowed"] if runs else [])]


async def test_52_fails_where_the_policy_is_not_asked(tmp_path: Path) -> None:
    """The mutation: calls are never bound to each other."""
    with patch.object(Gate, "_is_bound", lambda _: False), pytest.raises(AssertionError):
        await test_52_siblings_of_a_refused_call(tmp_path, ATOMIC, [])


async def test_the_doubles_are_what_fails(tmp_path: Path) -> None:
    """Restoring is what these claims rest on: without it the hidden call is gone from the second request."""
    with patch.object(hidden, "choose", lambda *_: ({}, 0)):
        async with told(tmp_path, CHAT, MIXED, DONE) as one:
            await one.ask()
            one.talk.answer("result")
            await one.ask()
            assert b'read_refused","arguments' not in one.sent[1]
            with pytest.raises(AssertionError):
                one.check()
