"""PEERS.md section 3, entries 34 to 37, 42 to 44 and 65: what went wrong with Responses and Gemini elsewhere, and with
what runs past a gate, tried on this one. Each claim is seen to fail on a gate that has the reported fault.
"""

from __future__ import annotations

import json
from contextlib import suppress
from typing import TYPE_CHECKING, Any
from unittest import mock

import openai
import orjson
import pytest

from interceptors.calls import MalformedToolCall
from proxy.demo.turns import Block, Call, Text, Turn, always, by_text
from proxy.turn_memory import TurnMemory
from proxy.wire import responses_calls
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.responses_types import EXECUTED
from tests import strategies as model
from tests.e2e.harness import desk, session_header
from tests.e2e.mouths import MOUTHS
from tests.e2e.test_e2e_responses import HM, agent, turn
from tests.e2e.told import POLICY, call
from tests.peers.wire_subjects import Subject, gate, pass_through
from tests.proxy.wire.responses_model import events, read_responses, responses_frames
from tests.replay import Replay, allow, deny

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from proxy.wire.dialect import Dialect
    from tests.replay import Rule

MINE = model.ToolUse("call_Zqa", "process_refund", ('{"order": "Zqorder', '", "amount": 5}'))
TURN = model.Turn((model.Text("hello "), MINE, model.Text("bye")))
KEY = {"authorization": "Bearer sk-test", "x-goog-api-key": "sk-test", "content-type": "application/json"}


def frames(found: Sequence[dict[str, Any]]) -> list[bytes]:
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(found)]
    return [model.framed([frame]) for frame in responses_frames(numbered)]


def sent(data: bytes) -> list[dict[str, Any]]:
    lines = [line[6:] for line in data.split(b"\n") if line.startswith(b"data: {")]
    return [json.loads(line) for line in lines]


def drops_frames(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """A guard that takes out the events of a refused call and leaves the others, and the copy at the end, alone."""
    judged = gate(dialect, chunks, rule, streamed)
    judged.data = b"".join(chunk for chunk in chunks if b'"output_index": 1' not in chunk)
    return judged


def functions_only(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """A guard that knows one kind of call."""
    is_known = any(b'"type": "function_call"' in chunk for chunk in chunks)
    return (gate if is_known else pass_through)(dialect, chunks, rule, streamed)


def _number_gaps(subject: Subject) -> None:
    found = sent(subject(OPENAI_RESPONSES, frames(events(TURN)), deny, True).data)
    assert [event["sequence_number"] for event in found] == list(range(len(found)))
    text = json.dumps(found)
    assert "Zq" not in text
    assert "process_refund" not in text
    done = [event["item"] for event in found if event["type"] == "response.output_item.done"]
    final = found[-1]["response"]
    assert (final["output"], final["status"]) == (done, "completed")


@pytest.mark.parametrize("rule", [allow, deny])
def test_34_an_edited_stream_has_no_gaps_and_one_story(rule: Rule) -> None:
    """Numbers had gaps, and the copy at the end still held the call: it is in all three places or in none."""
    _number_gaps(gate)
    result = gate(OPENAI_RESPONSES, frames(events(TURN)), rule, True)
    assert len(read_responses(result.data).calls) == (rule is allow)


@pytest.mark.parametrize("double", [pass_through, drops_frames])
def test_34_fails_where_events_are_only_dropped(double: Subject) -> None:
    """The claim can fail."""
    with pytest.raises(AssertionError):
        _number_gaps(double)


def _nameless() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(json.dumps(events(TURN)))
    for event in found:
        if event["type"] == "response.output_item.done" and event["output_index"] == 1:
            event["item"]["name"] = ""
    return found


def _disagreeing() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(json.dumps(events(TURN)))
    for event in found:
        if event["type"] == "response.output_item.done" and event["output_index"] == 1:
            event["item"]["arguments"] = '{"order": "Zqother", "amount": 900}'
    return found


def _judged_by_name(subject: Subject) -> None:
    result = subject(OPENAI_RESPONSES, frames(_nameless()), lambda one: one.name != "process_refund", True)
    assert b"Zq" not in result.data


def _disagreement_never_runs(subject: Subject) -> None:
    result = subject(OPENAI_RESPONSES, frames(_disagreeing()), allow, True)
    assert b"Zq" not in result.data
    assert [type(one) for one in result.refused] == [MalformedToolCall]


@pytest.mark.parametrize("claim", [_judged_by_name, _disagreement_never_runs])
def test_35_a_call_that_its_events_tell_differently(claim: Callable[[Subject], None]) -> None:
    """The done item had no name and went past a rule by name, or other arguments than the deltas, which ran."""
    claim(gate)
    with pytest.raises(AssertionError):
        claim(pass_through)


_CLIENTS = [
    *("apply_patch_call", "computer_call", "custom_tool_call", "function_call", "local_shell_call"),
    *("mcp_approval_request", "shell_call", "tool_search_call"),
    "hologram_call",
]


def _item(kind: str) -> dict[str, Any]:
    named = {"name": "edit", "server_label": "crm"} if kind in ("custom_tool_call", "mcp_approval_request") else {}
    told = {"arguments": '{"a": "Zq"}', "input": "Zq", "action": {"command": ["Zq"]}, "operation": {"path": "Zq"}}
    own = {"function_call": "arguments", "mcp_approval_request": "arguments", "custom_tool_call": "input"}
    own |= {"apply_patch_call": "operation", "tool_search_call": "arguments"}
    member = own.get(kind, "action")
    value: Any = {"q": "Zq"} if kind == "tool_search_call" else told[member]
    head = {"id": "it_1", "type": kind, "status": "completed", "call_id": "call_1", member: value}
    return head | named | ({"name": "pay"} if kind == "function_call" else {})


def _every_kind(kind: str, subject: Subject) -> None:
    item = _item(kind)
    said = events(model.Turn((model.Text("hi"),)))
    added = [{"type": f"response.output_item.{what}", "output_index": 1, "item": item} for what in ("added", "done")]
    said[-1]["response"]["output"].append(item)
    result = subject(OPENAI_RESPONSES, frames([*said[:-1], *added, said[-1]]), deny, True)
    assert len(result.refused) == 1
    assert b"Zq" not in result.data


@pytest.mark.parametrize("kind", _CLIENTS)
def test_36_every_kind_of_call_that_a_client_executes_is_gated(kind: str) -> None:
    """Guards knew `function_call` alone; shells, patches, custom tools and kinds to come went past."""
    assert kind not in EXECUTED or kind in ("shell_call", "tool_search_call"), "which say by a member who executes"
    _every_kind(kind, gate)
    if kind != "function_call":
        with pytest.raises(AssertionError):
            _every_kind(kind, functions_only)


_SEARCHES: dict[str, Any] = {
    "anthropic-messages": {"type": "web_search_20260318", "name": "web_search"},
    "openai-responses": {"type": "web_search"},
    "gemini-generate": {"googleSearch": {}},
}


@pytest.mark.parametrize("name", _SEARCHES)
@pytest.mark.parametrize(("policy", "status", "where"), [("forbid", 400, []), ("allow", 200, ["request"])])
async def test_37_what_runs_at_the_provider_is_judged_on_the_request(
    tmp_path: Path, name: str, policy: str, status: int, where: list[str]
) -> None:
    """It had run before any gate saw it: so the request is refused, or its record says that it was only observed."""
    mouth = MOUTHS[name]
    words = f"language: 1\npolicy: hands\nunknown_tools: {policy}\n"
    said = always(Turn((Text("Hello."),)))
    async with mouth.double(said) as double, desk(tmp_path, said, words, upstream=double.app) as running:
        body = mouth.body([mouth.words("Hi")], False) | {"tools": [_SEARCHES[name]]}
        headers = KEY | {"x-api-key": "sk", "anthropic-version": "2023-06-01"}
        async with running.session.post(running.url + mouth.path(False), json=body, headers=headers) as got:
            assert got.status == status, await got.text()
        assert len(double.bodies()) == len(where)
        records = await running.settled(1)
        assert [record["where"] for record in records if record["kind"] == "observed"] == where


async def _first_of_two_refused(folder: Path, policy: str = POLICY) -> list[str]:
    """A turn whose signed call code refuses, and whose other call runs; what the provider refused afterwards."""
    mouth = MOUTHS["gemini-generate"]
    said = by_text({"go": (turn(HM, call("write_refused"), call("read_allowed", 2)), turn(Text("Half.")))})
    async with mouth.double(said) as double, desk(folder, said, policy, upstream=double.app) as running:
        history = [mouth.words("go")]
        url, headers = running.url + mouth.path(False), KEY | session_header()
        for _ in range(2):
            async with running.session.post(url, json=mouth.body(history, False), headers=headers) as got:
                data = await got.read()
            if got.status != 200:
                break
            answer = mouth.read(data, False)
            history += [*answer.entries, *mouth.results(answer.calls, "done")]
        if not double.refused():
            parts = [part for part in double.bodies()[1]["contents"][1]["parts"] if "functionCall" in part]
            assert [part["functionCall"]["name"] for part in parts] == ["write_refused", "read_allowed"]
            assert ["thoughtSignature" in part for part in parts] == [True, False]
        return double.refused()


async def test_42_the_signed_call_goes_back_up_with_the_other(tmp_path: Path) -> None:
    """Only the first of parallel calls is signed; without it the provider answered 400 for the one that ran."""
    assert await _first_of_two_refused(tmp_path / "kept") == []
    with mock.patch.object(TurnMemory, "_bound", return_value={}):
        (refused,) = await _first_of_two_refused(tmp_path / "dropped")
    assert "missing a thought_signature" in refused


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
async def test_42_nothing_runs_beside_a_signed_call_that_no_history_can_hold(tmp_path: Path, streamed: bool) -> None:
    """A malformed call cannot go back up, and without its signature those beside it cannot: all are refused."""
    mouth = MOUTHS["gemini-generate"]
    broken = Turn((HM, Call("read_allowed", "[]"), call("read_allowed", 2), call("write_allowed", 3)))
    said = by_text({"go": (broken,)}, Turn((Text("Yes?"),)))
    async with mouth.double(said) as double, desk(tmp_path, said, POLICY, upstream=double.app) as running:
        url, headers = running.url + mouth.path(streamed), KEY | session_header()
        history = [mouth.words("go")]
        for words in ("Thanks", ""):
            async with running.session.post(url, json=mouth.body(history, streamed), headers=headers) as got:
                answer = mouth.read(await got.read(), streamed)
            assert answer.calls == ()
            history += [*answer.entries, mouth.words(words)]
        assert double.refused() == []
        decided = [record for record in await running.settled(2) if record["kind"] == "decided"]
        assert [record["reason"] for record in decided] == ["malformed", "refused_together", "refused_together"]


async def _hidden_and_gone_on(folder: Path, history: str) -> tuple[list[str], list[dict[str, Any]]]:
    turns = turn(HM, Text("I try."), call("write_refused"), call("read_refused", 2)), turn(HM, Text("Else?"))
    async with agent(folder, False, history, *turns) as one:
        await one.ask([{"role": "user", "content": "Pay"}])
        with suppress(openai.APIStatusError):
            await one.ask([{"role": "user", "content": "Well"}])
        return one.provider.refused, one.provider.contexts[-1]


async def test_43_what_the_provider_keeps_is_answered_with_the_next_request(tmp_path: Path) -> None:
    """The server held the refused call, the client had no result for it, and every later request was refused."""
    refused, seen = await _hidden_and_gone_on(tmp_path / "kept", "by_id")
    assert refused == []
    outputs = [orjson.loads(item["output"]) for item in seen if item.get("type") == "function_call_output"]
    assert [(output["isError"], output["reason"]) for output in outputs] == [(True, "no_write"), (True, "no_read")]
    with mock.patch.object(TurnMemory, "_standing", return_value=None):
        refused, _ = await _hidden_and_gone_on(tmp_path / "dropped", "by_id")
    assert refused
    assert "No tool output found for function call" in refused[0]


async def _told_and_gone_on(folder: Path) -> tuple[list[str], list[dict[str, Any]]]:
    turns = turn(HM, call("read_refused"), call("read_refused", 2)), turn(HM, Text("No.")), turn(Text("Bye."))
    async with agent(folder, True, "replay", *turns) as one:
        with suppress(openai.APIStatusError):
            await one.say("Look")
            await one.say("Thanks")
        return one.provider.refused, one.provider.contexts[-1]


async def test_44_results_are_paired_by_the_call_id_and_stand_behind_their_calls(tmp_path: Path) -> None:
    """`fc_` was taken for `call_`: no tool output was found, for ever."""
    refused, seen = await _told_and_gone_on(tmp_path / "kept")
    assert refused == []
    calls = [place for place, item in enumerate(seen) if item.get("type") == "function_call"]
    outputs = [place for place, item in enumerate(seen) if item.get("type") == "function_call_output"]
    assert outputs == [place + len(calls) for place in calls]
    assert [seen[place]["call_id"] for place in calls] == [seen[place]["call_id"] for place in outputs]
    assert all(seen[place]["call_id"].startswith("call_") for place in outputs)
    with mock.patch.object(responses_calls, "call_id", lambda item: str(item["id"])):
        refused, _ = await _told_and_gone_on(tmp_path / "confused")
    assert refused


_LIVE = (
    "/v1/responses",
    "/v1/realtime?model=gpt-realtime",
    "/ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent",
)


@pytest.mark.parametrize("path", _LIVE)
async def test_65_a_live_connection_is_refused_not_half_served(tmp_path: Path, path: str) -> None:
    """A blocked result left the other side waiting for ever; nothing of such a connection goes through here."""
    block = {"type": "message"}
    async with desk(tmp_path, always(Turn((Block(block, block),))), POLICY) as running:
        headers = KEY | {"upgrade": "websocket", "connection": "upgrade", "sec-websocket-version": "13"}
        async with running.session.get(running.url + path, headers=headers) as got:
            assert got.status == 426
        async with running.session.get(running.provider_url + path, headers=headers) as got:
            assert got.status != 426, "the claim can fail: without a gate the provider is reached"
        for route in ("/v1/realtime/client_secrets", "/v1/realtime/calls"):
            async with running.session.post(running.url + route, json={}, headers=KEY | session_header()) as got:
                assert got.status in (400, 403), await got.text()
        assert [one.method for one in running.provider.received] == ["GET"]
