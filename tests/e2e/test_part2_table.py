"""Each row of the table of refusals, in both dialects, streamed and not: what the client gets, and what goes up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Block, Delivery, Dialect, HttpError, Reply, Text, Thinking, Turn
from tests.e2e.client import WAY_IDS, WAYS
from tests.e2e.told import NO_READ, NO_WRITE, POLICY, call, told, turn

if TYPE_CHECKING:
    from pathlib import Path

Way = tuple[Dialect, bool]
ways = pytest.mark.parametrize("way", WAYS, ids=WAY_IDS)
ANTHROPIC = [way for way in WAYS if way[0] is Dialect.ANTHROPIC]
CHAT = [way for way in WAYS if way[0] is Dialect.CHAT]
REFUSED = turn(Thinking("let me see"), Text("I look it up."), call("read_refused"))
DONE = turn(Thinking("not allowed"), Text("I cannot."))


def results(message: dict[str, Any]) -> list[dict[str, Any]]:
    """The gate's own results in a user-side message of the provider's request."""
    if message["role"] == "tool":
        return [orjson.loads(message["content"])]
    return [
        orjson.loads(block["content"])
        for block in message["content"]
        if block["type"] == "tool_result" and "isError" in block["content"]
    ]


@ways
async def test_a_refusal_goes_to_the_model_and_the_turn_goes_on(tmp_path: Path, way: Way) -> None:
    """Only refusals, all `model`: one merged answer with the first id; later requests hold what was hidden."""
    async with told(tmp_path, way, REFUSED, DONE, turn(Text("You are welcome."))) as one:
        first = await one.ask()
        assert (first.whole, first.calls) == (True, [])
        assert first.stop == ("end_turn" if way[0] is Dialect.ANTHROPIC else "stop")
        assert first.text.replace("\n\n", "") == "I look it up.I cannot."
        (result,) = results(one.messages()[2])
        assert (result["reason"], result["isRetryable"], result["errorCategory"]) == ("no_read", False, "policy")
        one.talk.say("Thanks")
        assert (await one.ask()).text == "You are welcome."
        assert len(one.messages()) == 5
        one.check()


@ways
async def test_usage_is_the_last_input_and_all_the_output(tmp_path: Path, way: Way) -> None:
    """The client counts its context by the last leg, and pays for the output of all."""
    async with told(tmp_path, way, REFUSED, DONE) as one:
        found = await one.ask()
        names = (
            ("input_tokens", "output_tokens") if way[0] is Dialect.ANTHROPIC else ("prompt_tokens", "completion_tokens")
        )
        assert found.usage[names[0]] == len(one.sent[1]) // 4 + 1
        assert found.usage[names[1]] > 30
        if way[0] is Dialect.CHAT:
            assert found.usage["total_tokens"] == found.usage[names[0]] + found.usage[names[1]]


@ways
async def test_rounds_have_a_cap(tmp_path: Path, way: Way) -> None:
    """After `rounds_max` the refusal is answered by code, in its call's place."""
    legs = [turn(Text(f"try {n}"), call("read_refused", n)) for n in range(3)]
    async with told(tmp_path, way, *legs, turn(Text("Yes."))) as one:
        found = await one.ask()
        assert len(one.sent) == 3
        assert found.text.replace("\n\n", "") == f"try 0try 1try 2{NO_READ}"
        assert found.calls == []
        one.talk.say("Then not")
        await one.ask(take=False)
        assert [message["role"] for message in one.messages()][-1] == "user"
        assert len([message for message in one.messages() if message["role"] == "assistant"]) == 3
        assert not any(received.refused for received in one.desk.provider.received)


@ways
@pytest.mark.parametrize("failure", [429, 500, 529, "slow"])
async def test_a_way_on_that_fails_ends_with_the_first_refusal(tmp_path: Path, way: Way, failure: Any) -> None:
    """Whatever is wrong with the second leg's head: the client reads the template, and the talk goes on for ever."""
    if isinstance(failure, int):
        second: Any = HttpError(failure, "overloaded_error", "no")
    else:
        second = Reply(DONE, Delivery(delay_seconds=5))
    limits = {"exchange_ms_max": 1000} if failure == "slow" else None
    async with told(tmp_path, way, REFUSED, second, turn(Text("Yes.")), limits=limits) as one:
        found = await one.ask()
        assert (found.status, found.whole, found.error) == (200, True, None)
        assert found.text.replace("\n\n", "") == f"I look it up.{NO_READ}"
        one.talk.say("Go on")
        assert (await one.ask()).text == "Yes."
        assert [message["role"] for message in one.messages()].count("assistant") == 2
        assert not any(received.refused for received in one.desk.provider.received)


@ways
async def test_a_second_leg_that_is_no_turn_ends_with_the_first_refusal(tmp_path: Path, way: Way) -> None:
    """An error under the status of a success is none: the client reads the template, and the talk goes on."""
    odd = HttpError(200, "none", "none")
    async with told(tmp_path, way, REFUSED, odd, turn(Text("Yes."))) as one:
        found = await one.ask()
        assert (found.status, found.whole, found.error) == (200, True, None)
        assert found.text.replace("\n\n", "") == f"I look it up.{NO_READ}"
        one.talk.say("Go on")
        assert (await one.ask()).text == "Yes."
        one.check()


LONG = turn(Thinking("not allowed at all"), Text("I cannot do that. " * 8))
DEATHS = [
    *(Delivery(cut_after=n, clean_cut=clean) for n in (0, 7) for clean in (False, True)),
    *(Delivery(error_after=n) for n in (1, 7)),
]
BODY_DEATHS = [Delivery(cut_after=0, clean_cut=clean) for clean in (False, True)]


@pytest.mark.parametrize(
    ("way", "delivery"), [(way, delivery) for way in WAYS for delivery in (DEATHS if way[1] else BODY_DEATHS)]
)
async def test_a_second_leg_that_dies_midway_ends_with_the_first_refusal(
    tmp_path: Path, way: Way, delivery: Delivery
) -> None:
    """Wherever it stops and however: what the client has read of it stays, the template stands behind it, the turn is
    whole, and later requests hold what was hidden."""
    async with told(tmp_path, way, REFUSED, Reply(LONG, delivery), turn(Text("Yes."))) as one:
        found = await one.ask()
        assert (found.status, found.whole, found.error, found.calls) == (200, True, None, [])
        assert found.stop == ("end_turn" if way[0] is Dialect.ANTHROPIC else "stop")
        text = found.text.replace("\n\n", "")
        assert text.startswith("I look it up.")
        assert text.endswith(NO_READ)
        assert text.removeprefix("I look it up.").removesuffix(NO_READ) in "I cannot do that. " * 8
        one.talk.say("Go on")
        assert (await one.ask()).text == "Yes."
        assert b'"read_refused","input"' in one.sent[-1] or b'"name":"read_refused","arguments"' in one.sent[-1]
        assert not any(received.refused for received in one.desk.provider.received)


@pytest.mark.parametrize("way", [way for way in WAYS if way[1]], ids=("anthropic", "chat"))
async def test_a_second_leg_that_dies_within_a_call_delivers_none_of_it(tmp_path: Path, way: Way) -> None:
    """A call that was not whole is aborted in the record, and the template ends the turn."""
    second = Reply(
        turn(Text("Then so."), call("write_allowed", 7)), Delivery(cut_after=4 if way[0] is Dialect.CHAT else 7)
    )
    async with told(tmp_path, way, REFUSED, second, turn(Text("Yes."))) as one:
        found = await one.ask()
        assert (found.whole, found.error, found.calls) == (True, None, [])
        assert found.text.replace("\n\n", "").endswith(NO_READ)
        assert b"write_allowed" not in found.body
        one.talk.say("Go on")
        assert (await one.ask()).text == "Yes."
        one.check()


@ways
@pytest.mark.parametrize("limits", [{"exchange_ms_max": 1000}])
async def test_a_second_leg_that_takes_too_long_ends_with_the_first_refusal(
    tmp_path: Path, way: Way, limits: dict[str, int]
) -> None:
    """A limit of the exchange that is reached in a later leg is a cap like any other."""
    second = Reply(LONG, Delivery(pause_seconds=0.3, write_bytes=None if way[1] else 100))
    async with told(tmp_path, way, REFUSED, second, turn(Text("Yes.")), limits=limits) as one:
        found = await one.ask()
        assert (found.status, found.whole, found.error) == (200, True, None)
        assert found.text.replace("\n\n", "").endswith(NO_READ)


@ways
async def test_code_beside_model_ends_the_turn(tmp_path: Path, way: Way) -> None:
    """Only refusals, one of them by code: each text in its place, and nothing goes upstream."""
    both = turn(Text("Both."), call("read_refused"), call("write_refused"))
    async with told(tmp_path, way, both, turn(Text("Yes."))) as one:
        found = await one.ask()
        assert len(one.sent) == 1
        assert found.text.replace("\n\n", "") == f"Both.{NO_READ}{NO_WRITE}"
        assert found.calls == []
        one.talk.say("Go on")
        await one.ask()
        assert not one.desk.provider.received[1].refused


@ways
@pytest.mark.parametrize("first", [True, False])
async def test_a_refusal_beside_a_call_that_runs_is_heard_next_time(tmp_path: Path, way: Way, first: bool) -> None:
    """The call that runs goes out; the other one comes back to the model with the next request, and stays there."""
    pair = (call("read_refused"), call("read_allowed", 2))
    mixed = turn(Thinking("two"), Text("Both."), *(pair if first else reversed(pair)))
    async with told(tmp_path, way, mixed, turn(Text("One worked.")), turn(Text("Yes."))) as one:
        found = await one.ask()
        assert [proposed.name for proposed in found.calls] == ["read_allowed"]
        assert (found.text, found.stop) == ("Both.", "tool_use" if way[0] is Dialect.ANTHROPIC else "tool_calls")
        one.talk.answer("result")
        assert (await one.ask()).text == "One worked."
        given = [result["reason"] for message in one.messages()[2:] for result in _own(message)]
        assert given == ["no_read"]
        one.talk.say("More")
        await one.ask()
        one.check()


def _own(message: dict[str, Any]) -> list[dict[str, Any]]:
    if message["role"] == "tool" and "isError" in message["content"]:
        return [orjson.loads(message["content"])]
    return results(message) if message["role"] == "user" and isinstance(message["content"], list) else []


@ways
async def test_code_beside_a_call_that_runs_is_a_text_in_its_place(tmp_path: Path, way: Way) -> None:
    """Anthropic at the call's own index; Chat in the content, which stands before the calls."""
    mixed = turn(Text("Both."), call("write_refused"), call("read_allowed", 2))
    async with told(tmp_path, way, mixed, turn(Text("Yes."))) as one:
        found = await one.ask()
        assert [proposed.name for proposed in found.calls] == ["read_allowed"]
        assert found.text.replace("\n\n", "") == f"Both.{NO_WRITE}"
        if way[0] is Dialect.ANTHROPIC:
            assert [block["type"] for block in one.talk.messages[-1]["content"]] == ["text", "text", "tool_use"]
        one.talk.answer("result")
        await one.ask()
        assert not one.desk.provider.received[1].refused
        assert "no_write" not in one.sent[1].decode()


@pytest.mark.parametrize("way", CHAT)
async def test_several_choices_are_answered_by_code(tmp_path: Path, way: Way) -> None:
    """There is no one turn that could go on."""
    several = Turn((call("read_refused"),), more_choices=((call("read_refused", 2),),))
    async with told(tmp_path, way, several, n=2) as one:
        found = await one.ask(take=False)
        assert len(one.sent) == 1
        assert found.body.decode().count(NO_READ) == 2
        assert b"read_refused" not in found.body


@pytest.mark.parametrize("way", ANTHROPIC)
@pytest.mark.parametrize("bound", ["program", "pending"])
async def test_calls_that_wait_together_are_refused_together(tmp_path: Path, way: Way, bound: str) -> None:
    """A program's call, or one beside a pending server tool: one refusal refuses all, and the model hears of each."""
    server = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {}}
    if bound == "pending":
        parts: list[Any] = [Block(server, server)]
    else:
        use = {"type": "tool_use", "id": "toolu_p", "name": "read_allowed", "input": {"n": 3}}
        program = use | {"caller": {"type": "code_execution_20250825", "tool_id": "srvtoolu_9"}}
        parts = [Block(program, program)]
    bound_turn = turn(*parts, call("read_allowed", 2), call("read_refused"))
    policy = POLICY + "unknown_tools: allow\n"
    tools = [
        {"name": "web_fetch", "type": "web_fetch_20250910"},
        {"name": "read_allowed", "input_schema": {"type": "object"}},
    ]
    async with told(tmp_path, way, bound_turn, DONE, policy=policy, tools=tools) as one:
        found = await one.ask(take=False)
        assert found.calls == []
        assert len(one.sent) == 2
        given = [result["reason"] for result in results(one.messages()[2])]
        assert sorted(given) == ["no_read", *["refused_together"] * (len(given) - 1)]
        assert len(given) == (3 if bound == "program" else 2)


@ways
async def test_all_or_nothing_is_refused_together(tmp_path: Path, way: Way) -> None:
    """`batch: all_or_nothing`: the call that was allowed is refused too, by code since its tool says so."""
    policy = POLICY.replace("write_allowed: {effect: write}", "write_allowed: {effect: write, batch: all_or_nothing}")
    pair = turn(call("write_allowed"), call("read_refused"))
    async with told(tmp_path, way, pair, turn(call("write_allowed")), policy=policy) as one:
        found = await one.ask()
        assert (found.calls, len(one.sent)) == ([], 1)
        assert NO_READ in found.text
        one.talk.say("Only the write")
        assert [proposed.name for proposed in (await one.ask()).calls] == ["write_allowed"]


@ways
async def test_the_clients_bound_on_output_holds_for_the_turn(tmp_path: Path, way: Way) -> None:
    """What a leg used is no longer there for the next one; with nothing left the turn ends by the template."""
    name = "max_tokens" if way[0] is Dialect.ANTHROPIC else "max_completion_tokens"
    async with told(tmp_path, way, REFUSED, DONE, **{name: 1000}, stream_options={"include_usage": True}) as one:
        await one.ask()
        assert orjson.loads(one.sent[0])[name] == 1000
        assert 900 < orjson.loads(one.sent[1])[name] < 1000
    async with told(
        tmp_path / "small", way, REFUSED, DONE, **{name: 20}, stream_options={"include_usage": True}
    ) as one:
        found = await one.ask()
        assert len(one.sent) == 1
        assert found.text.endswith(NO_READ)


@ways
async def test_a_forced_choice_is_lifted(tmp_path: Path, way: Way) -> None:
    """A model that must call again could never say why not; the client's own next request is forced as it says."""
    forced: Any = {"type": "any"} if way[0] is Dialect.ANTHROPIC else "required"
    async with told(tmp_path, way, REFUSED, DONE, tool_choice=forced) as one:
        await one.ask()
        choices = [orjson.loads(body)["tool_choice"] for body in one.sent]
        assert choices == [forced, {"type": "auto"} if way[0] is Dialect.ANTHROPIC else "auto"]


@ways
async def test_the_same_call_again(tmp_path: Path, way: Way) -> None:
    """The second time the result says so, the third time the turn ends by code, in later requests too."""
    again = turn(call("read_refused"))
    async with told(tmp_path, way, again, DONE, again, again, turn(Text("Yes."))) as one:
        await one.ask()
        assert "again" not in results(one.messages()[2])[0]["message"]
        assert "It was refused before" not in results(one.messages()[2])[0]["message"]
        one.talk.say("Try again")
        found = await one.ask()
        assert len(one.sent) == 4
        assert "It was refused before" in results(one.messages()[6])[0]["message"]
        assert found.calls == []
        assert found.text
        records = await one.desk.settled(2)
        reasons = [record["reason"] for record in records if record["kind"] == "decided"]
        assert reasons == ["no_read", "no_read", "repeated"]
        one.talk.say("Well")
        assert (await one.ask()).text == "Yes."
        assert not any(received.refused for received in one.desk.provider.received)
