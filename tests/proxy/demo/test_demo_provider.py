"""The scripted provider speaks as the real ones do: the official SDKs read back exactly what the script said."""

from __future__ import annotations

import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import aiohttp
import pytest
from anthropic import APIStatusError as AnthropicStatusError
from anthropic import AsyncAnthropic
from openai import APIError, APIStatusError, AsyncOpenAI
from yarl import URL

from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.demo.turns import (
    Call,
    Delivery,
    Encoding,
    HttpError,
    Reply,
    Stop,
    Text,
    Thinking,
    Turn,
    Usage,
    Verbatim,
    always,
    by_text,
)

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

TURN = Turn(
    (
        Thinking("They want their money back.", "c2lnbmF0dXJl"),
        Text("Let me look at that order … one moment."),
        Call("lookup_order", '{"order_id": "A1001"}'),
        Call("process_refund", '{"order_id": "A1001", "amount": 120.00, "reason": "damaged"}'),
    ),
    usage=Usage(500, 77),
)
CALLS = [
    ("lookup_order", {"order_id": "A1001"}),
    ("process_refund", {"order_id": "A1001", "amount": 120.0, "reason": "damaged"}),
]
DELIVERIES = [
    Delivery(),
    Delivery(write_bytes=1),
    Delivery(write_bytes=7, fragment_chars=1),
    Delivery(pings=True, fragment_chars=1000),
    Delivery(delay_seconds=0.01, pause_seconds=0.001),
    *(Delivery(encoding=encoding) for encoding in (Encoding.GZIP, Encoding.BROTLI, Encoding.DEFLATE)),
]
HELLO = [{"role": "user", "content": "hello"}]


@asynccontextmanager
async def anthropic(provider: Provider) -> AsyncIterator[AsyncAnthropic]:
    async with serving(provider.app()) as url, AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
        yield client


@asynccontextmanager
async def chat(provider: Provider) -> AsyncIterator[AsyncOpenAI]:
    async with serving(provider.app()) as url, AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as client:
        yield client


async def anthropic_message(client: AsyncAnthropic, streamed: bool, messages=HELLO):
    asked = {"model": "claude-sonnet-5-5", "max_tokens": 100, "messages": messages}
    if not streamed:
        return await client.messages.create(**asked)
    async with client.messages.stream(**asked) as stream:
        return await stream.get_final_message()


async def chat_completion(client: AsyncOpenAI, streamed: bool, messages=HELLO, **more):
    asked = {"model": "gpt-5.4", "messages": messages, **more}
    if not streamed:
        return await client.chat.completions.create(**asked)
    async with client.chat.completions.stream(**asked, stream_options={"include_usage": True}) as stream:
        return await stream.get_final_completion()


@pytest.mark.parametrize("delivery", DELIVERIES, ids=str)
@pytest.mark.parametrize("streamed", [True, False])
async def test_anthropic_sdk_reads_the_turn(streamed: bool, delivery: Delivery) -> None:
    """Every part, the stop reason and the usage arrive, however the bytes are cut, paced or encoded."""
    async with anthropic(Provider(always(TURN, delivery))) as client:
        message = await anthropic_message(client, streamed)

    thinking, text, *calls = message.content
    assert (thinking.thinking, thinking.signature) == ("They want their money back.", "c2lnbmF0dXJl")
    assert text.text == "Let me look at that order … one moment."
    assert [(call.name, call.input) for call in calls] == CALLS
    assert len({call.id for call in calls}) == 2
    assert (message.stop_reason, message.usage.input_tokens, message.usage.output_tokens) == ("tool_use", 500, 77)


@pytest.mark.parametrize("delivery", DELIVERIES, ids=str)
@pytest.mark.parametrize("streamed", [True, False])
async def test_openai_sdk_reads_the_turn(streamed: bool, delivery: Delivery) -> None:
    """Text, calls, finish reason and usage arrive, however the bytes are cut, paced or encoded."""
    async with chat(Provider(always(TURN, delivery))) as client:
        completion = await chat_completion(client, streamed)

    (choice,) = completion.choices
    calls = choice.message.tool_calls
    assert choice.message.content == "Let me look at that order … one moment."
    assert [(call.function.name, json.loads(call.function.arguments)) for call in calls] == CALLS
    assert len({call.id for call in calls}) == 2
    assert (choice.finish_reason, completion.usage.total_tokens) == ("tool_calls", 577)


@pytest.mark.parametrize(
    ("stop", "anthropic_reason", "chat_reason"),
    [
        (Stop.END, "end_turn", "stop"),
        (Stop.LENGTH, "max_tokens", "length"),
        (Stop.STOP_SEQUENCE, "stop_sequence", "stop"),
        (Stop.REFUSAL, "refusal", "content_filter"),
    ],
)
async def test_stop_reasons(stop: Stop, anthropic_reason: str, chat_reason: str) -> None:
    """A stated stop is spelled as each dialect spells it, whatever the parts are."""
    provider = Provider(always(Turn((Text("no more"),), stop)))
    async with anthropic(provider) as client:
        assert (await anthropic_message(client, streamed=True)).stop_reason == anthropic_reason
    async with chat(provider) as client:
        assert (await chat_completion(client, streamed=False)).choices[0].finish_reason == chat_reason


@pytest.mark.parametrize("streamed", [True, False])
async def test_several_choices(streamed: bool) -> None:
    """Choices keep their own parts and finish reasons, interleaved though their chunks are."""
    turn = Turn((Call("a", '{"n": 1}'),), more_choices=((Text("only text, and long enough to interleave"),),))
    async with chat(Provider(always(turn))) as client:
        completion = await chat_completion(client, streamed, n=2)

    first, second = completion.choices
    assert first.message.tool_calls[0].function.arguments == '{"n": 1}'
    assert (first.finish_reason, second.finish_reason) == ("tool_calls", "stop")
    assert second.message.content == "only text, and long enough to interleave"


@pytest.mark.parametrize("streamed", [True, False])
async def test_legacy_and_custom_calls(streamed: bool) -> None:
    """A legacy function call and a freeform custom call are stated in their own fields."""
    legacy = Turn((Call("add", '{"a": 1}'),), Stop.LEGACY_CALL)
    custom = Turn((Call("math", "4 + 4", custom=True),))
    found = []
    for turn in (legacy, custom):
        async with chat(Provider(always(turn))) as client:
            response = await client.chat.completions.create(model="m", messages=HELLO, stream=streamed)
            found.append([chunk.to_dict() async for chunk in response] if streamed else [response.to_dict()])

    deltas = [[c["delta"] if "delta" in c else c["message"] for d in doc for c in d["choices"]] for doc in found]
    functions = [delta["function_call"] for delta in deltas[0] if delta.get("function_call")]
    customs = [call["custom"] for delta in deltas[1] for call in delta.get("tool_calls") or ()]
    assert "".join(one.get("name", "") for one in functions) == "add"
    assert "".join(one["arguments"] for one in functions) == '{"a": 1}'
    assert "".join(one.get("name", "") for one in customs) == "math"
    assert "".join(one["input"] for one in customs) == "4 + 4"


async def test_raw_arguments_are_not_mended() -> None:
    """What a script writes as arguments stands on the wire as it is, broken or doubled."""
    broken = '{"amount": 1, "amount": 900'
    async with serving(Provider(always(Turn((Call("pay", broken),)))).app()) as url, aiohttp.ClientSession() as session:
        headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
        asked = {"model": "m", "max_tokens": 9, "messages": HELLO}
        async with session.post(f"{url}/v1/messages", json=asked, headers=headers) as response:
            assert broken.encode() in await response.read()


@pytest.mark.parametrize("after", range(8))
@pytest.mark.parametrize("clean", [True, False])
async def test_cut_after_each_event(after: int, clean: bool) -> None:
    """Exactly that many events arrive; then the body ends in order, or the connection is lost."""
    script = always(Turn((Call("pay", '{"a": 1}'),)), Delivery(cut_after=after, clean_cut=clean))
    got = b""
    lost = False
    async with serving(Provider(script).app()) as url, aiohttp.ClientSession() as session:
        headers = {"x-api-key": "k", "anthropic-version": "2023-06-01"}
        asked = {"model": "m", "max_tokens": 9, "stream": True, "messages": HELLO}
        async with session.post(f"{url}/v1/messages", json=asked, headers=headers) as response:
            try:
                async for piece in response.content.iter_any():
                    got += piece
            except aiohttp.ClientPayloadError:
                lost = True

    assert got.count(b"\n\n") == after
    assert lost is not clean


async def test_errors_are_the_providers() -> None:
    """An HTTP error and an error in mid-stream reach the SDKs as their own exceptions, with the text."""
    overloaded = HttpError(529, "overloaded_error", "Overloaded")
    async with anthropic(Provider(always(overloaded))) as client:
        with pytest.raises(AnthropicStatusError, match="Overloaded"):
            await anthropic_message(client, streamed=True)
    async with anthropic(Provider(always(TURN, Delivery(error_after=3)))) as client:
        with pytest.raises(AnthropicStatusError) as raised:
            await anthropic_message(client, streamed=True)
        assert raised.value.status_code == 200
    async with chat(Provider(always(HttpError(429, "tokens", "slow down", code="rate_limit_exceeded")))) as openai:
        with pytest.raises(APIStatusError, match="slow down"):
            await chat_completion(openai, streamed=False)
    async with chat(Provider(always(TURN, Delivery(error_after=2)))) as openai:
        with pytest.raises(APIError, match="had an error"):
            await chat_completion(openai, streamed=True)


async def test_keys_are_required() -> None:
    """Without credentials each dialect refuses with 401, in its own shape."""
    async with serving(Provider(always(TURN)).app()) as url, aiohttp.ClientSession() as session:
        async with session.post(f"{url}/v1/messages", json={}) as response:
            assert (response.status, (await response.json())["type"]) == (401, "error")
        async with session.post(f"{url}/v1/chat/completions", json={}) as response:
            assert (response.status, set((await response.json())["error"])) == (
                401,
                {"message", "type", "param", "code"},
            )


async def test_every_request_is_recorded_as_it_came() -> None:
    """Method, raw target, headers in their own case and the body's bytes are kept, refused requests included."""
    provider = Provider(always(TURN))
    async with serving(provider.app()) as url, aiohttp.ClientSession() as session:
        target = URL(f"{url}/v1/messages?beta=true&x=%41", encoded=True)
        async with session.post(target, data=b"{ }", headers={"X-Odd": "1"}):
            pass
        async with session.get(f"{url}/v1/models", headers={"anthropic-version": "2023-06-01"}) as response:
            assert (await response.json())["data"][0]["type"] == "model"

    first, second = provider.received
    assert (first.method, first.target, first.body) == ("POST", "/v1/messages?beta=true&x=%41", b"{ }")
    assert ("X-Odd", "1") in first.headers
    assert first.refused == "x-api-key header is required"
    assert (second.method, second.target, second.refused) == ("GET", "/v1/models", "")


async def test_a_script_answers_step_by_step() -> None:
    """A scenario is found by the newest user text, its step by the rounds since then, in both dialects."""
    steps = {"refund me": (Turn((Call("lookup_order", id="c1"),)), Turn((Text("done"),)))}
    provider = Provider(by_text(steps))
    opening = [{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]
    asked = [*opening, {"role": "user", "content": "refund me"}]
    async with anthropic(provider) as client:
        first = await anthropic_message(client, streamed=True, messages=asked)
        result = {"type": "tool_result", "tool_use_id": first.content[0].id, "content": "{}"}
        turns = [{"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
        last = await anthropic_message(client, streamed=True, messages=[*asked, *turns])
    assert (first.content[0].name, last.content[0].text) == ("lookup_order", "done")
    async with chat(provider) as openai:
        first = (await chat_completion(openai, streamed=False, messages=asked)).choices[0].message
        turns = [first.to_dict(), {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "{}"}]
        last = (await chat_completion(openai, streamed=False, messages=[*asked, *turns])).choices[0].message
    assert (first.tool_calls[0].function.name, last.content) == ("lookup_order", "done")


async def test_recorded_bytes_pass_as_they_are() -> None:
    """`Verbatim` sends recorded bytes and their content type, whatever the request asked for."""
    reply = Reply(Verbatim(b"\x00raw", "application/x-odd", 203))
    async with serving(Provider(lambda asked: reply).app()) as url, aiohttp.ClientSession() as session:
        asked = {"model": "m", "messages": HELLO}
        headers = {"Authorization": "Bearer k"}
        async with session.post(f"{url}/chat/completions", json=asked, headers=headers) as response:
            assert (response.status, response.content_type) == (203, "application/x-odd")
            assert await response.read() == b"\x00raw"


async def test_tokens_are_counted() -> None:
    """`count_tokens` answers without `max_tokens`, and checks the history like the rest."""
    async with anthropic(Provider(always(TURN))) as client:
        counted = await client.messages.count_tokens(model="claude-sonnet-5-5", messages=HELLO)
        assert counted.input_tokens > 0
        with pytest.raises(AnthropicStatusError, match="must end with a user message"):
            await client.messages.count_tokens(model="m", messages=[*HELLO, {"role": "assistant", "content": "x"}])
