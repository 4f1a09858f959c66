"""The official SDKs and frameworks, unmodified but for their base URL: behind the gate as without it.

The scripted provider gives the same ids to the same requests, so that what a client reads directly and what it reads
through an allow-all gate must be equal whole, ids included.
"""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import orjson
import pytest

from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Call, Dialect, Text, Turn, always
from tests.e2e.harness import ALLOW_ALL, DENY_ALL, PARTIAL, REFUSAL, desk, session_header

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from tests.e2e.harness import Desk

TURN = Turn(
    (
        Text("I will look at it — gleich."),
        Call("allowed", '{"order_id": "A1001", "amount": 12.50}'),
        Call("refused", '{"order_id": "A1001", "amount": 900, "note": "über"}'),
    )
)
MESSAGES: Any = [{"role": "user", "content": "Refund A1001, please."}]
_SCHEMA = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string"},
        "amount": {"type": "number"},
        "note": {"type": "string"},
    },
}
ANTHROPIC_TOOLS: Any = [{"name": name, "input_schema": _SCHEMA} for name in ("allowed", "refused")]
OPENAI_TOOLS: Any = [
    {"type": "function", "function": {"name": name, "parameters": _SCHEMA}} for name in ("allowed", "refused")
]


def _read_message(message: Any) -> Any:
    """As every reader here: text, calls, stop reason, tokens in and out, and the whole as the client dumps it."""
    return (
        "".join(block.text for block in message.content if block.type == "text"),
        [(block.name, block.input) for block in message.content if block.type == "tool_use"],
        message.stop_reason,
        (message.usage.input_tokens, message.usage.output_tokens),
        message.model_dump(),
    )


def _read_completion(completion: Any) -> Any:
    choice = completion.choices[0]
    return (
        choice.message.content or "",
        [(call.function.name, orjson.loads(call.function.arguments)) for call in choice.message.tool_calls or ()],
        choice.finish_reason,
        (completion.usage.prompt_tokens, completion.usage.completion_tokens),
        completion.model_dump(),
    )


def _anthropic_request() -> Any:
    return {"model": "claude-sonnet-5-5", "max_tokens": 512, "messages": MESSAGES, "tools": ANTHROPIC_TOOLS}


def _openai_request() -> Any:
    return {"model": "gpt-5.4", "messages": MESSAGES, "tools": OPENAI_TOOLS}


async def anthropic_async(url: str) -> Any:
    async with anthropic.AsyncAnthropic(api_key="sk", base_url=url, default_headers=session_header()) as client:
        return _read_message(await client.messages.create(**_anthropic_request()))


async def anthropic_async_stream(url: str) -> Any:
    async with (
        anthropic.AsyncAnthropic(api_key="sk", base_url=url, default_headers=session_header()) as client,
        client.messages.stream(**_anthropic_request()) as stream,
    ):
        return _read_message(await stream.get_final_message())


async def anthropic_sync(url: str) -> Any:
    def ask() -> Any:
        with anthropic.Anthropic(api_key="sk", base_url=url, default_headers=session_header()) as client:
            return _read_message(client.messages.create(**_anthropic_request()))

    return await asyncio.to_thread(ask)


async def anthropic_sync_stream(url: str) -> Any:
    def ask() -> Any:
        with (
            anthropic.Anthropic(api_key="sk", base_url=url, default_headers=session_header()) as client,
            client.messages.stream(**_anthropic_request()) as stream,
        ):
            return _read_message(stream.get_final_message())

    return await asyncio.to_thread(ask)


async def openai_async(url: str) -> Any:
    async with openai.AsyncOpenAI(api_key="sk", base_url=url + "/v1", default_headers=session_header()) as client:
        return _read_completion(await client.chat.completions.create(**_openai_request()))


async def openai_async_stream(url: str) -> Any:
    usage: Any = {"include_usage": True}
    async with (
        openai.AsyncOpenAI(api_key="sk", base_url=url + "/v1", default_headers=session_header()) as client,
        client.chat.completions.stream(**_openai_request(), stream_options=usage) as stream,
    ):
        return _read_completion(await stream.get_final_completion())


async def openai_sync(url: str) -> Any:
    def ask() -> Any:
        with openai.OpenAI(api_key="sk", base_url=url + "/v1", default_headers=session_header()) as client:
            return _read_completion(client.chat.completions.create(**_openai_request()))

    return await asyncio.to_thread(ask)


async def openai_sync_stream(url: str) -> Any:
    usage: Any = {"include_usage": True}

    def ask() -> Any:
        with (
            openai.OpenAI(api_key="sk", base_url=url + "/v1", default_headers=session_header()) as client,
            client.chat.completions.stream(**_openai_request(), stream_options=usage) as stream,
        ):
            return _read_completion(stream.get_final_completion())

    return await asyncio.to_thread(ask)


def _read_chunk(message: Any) -> Any:
    meta = message.response_metadata
    return (
        message.text if isinstance(message.text, str) else message.text(),
        [(call["name"], call["args"]) for call in message.tool_calls],
        meta.get("stop_reason") or meta.get("finish_reason"),
        (message.usage_metadata["input_tokens"], message.usage_metadata["output_tokens"]),
        message.model_dump(exclude={"id"}),
    )


async def _langchain(model: Any, tools: Any, *, streamed: bool, in_thread: bool) -> Any:
    bound = model.bind_tools(tools)
    if in_thread:

        def ask() -> Any:
            if not streamed:
                return bound.invoke("Refund A1001, please.")
            whole = None
            for chunk in bound.stream("Refund A1001, please."):
                whole = chunk if whole is None else whole + chunk
            return whole

        return _read_chunk(await asyncio.to_thread(ask))
    if not streamed:
        return _read_chunk(await bound.ainvoke("Refund A1001, please."))
    whole = None
    async for chunk in bound.astream("Refund A1001, please."):
        whole = chunk if whole is None else whole + chunk
    return _read_chunk(whole)


def _langchain_anthropic(*, streamed: bool, in_thread: bool) -> Callable[[str], Awaitable[Any]]:
    async def ask(url: str) -> Any:
        from langchain_anthropic import ChatAnthropic, _client_utils

        model = ChatAnthropic(
            model_name="claude-sonnet-5-5", api_key="sk", base_url=url, default_headers=session_header(), max_retries=0
        )
        try:
            return await _langchain(model, ANTHROPIC_TOOLS, streamed=streamed, in_thread=in_thread)
        finally:
            # The framework keeps its connections in a cache for the life of the process.
            await model._async_client.close()
            model._client.close()
            _client_utils._get_default_httpx_client.cache_clear()
            _client_utils._get_default_async_httpx_client.cache_clear()

    return ask


def _langchain_openai(*, streamed: bool, in_thread: bool) -> Callable[[str], Awaitable[Any]]:
    async def ask(url: str) -> Any:
        from langchain_openai import ChatOpenAI
        from langchain_openai.chat_models import _client_utils

        model = ChatOpenAI(
            model="gpt-5.4",
            api_key="sk",
            base_url=url + "/v1",
            default_headers=session_header(),
            max_retries=0,
            stream_usage=True,
        )
        try:
            return await _langchain(model, OPENAI_TOOLS, streamed=streamed, in_thread=in_thread)
        finally:
            await model.root_async_client.close()
            model.root_client.close()
            _client_utils._cached_sync_httpx_client.cache_clear()
            _client_utils._cached_async_httpx_client.cache_clear()

    return ask


def _pydantic_ai(dialect: Dialect, *, streamed: bool) -> Callable[[str], Awaitable[Any]]:
    async def ask(url: str) -> Any:
        from pydantic_ai.direct import model_request, model_request_stream
        from pydantic_ai.messages import ModelRequest, TextPart, ToolCallPart
        from pydantic_ai.models import ModelRequestParameters
        from pydantic_ai.tools import ToolDefinition

        model, close = _pydantic_model(dialect, url)
        declared = [ToolDefinition(name=name, parameters_json_schema=_SCHEMA) for name in ("allowed", "refused")]
        parameters = ModelRequestParameters(function_tools=declared)
        prompt: Any = [ModelRequest.user_text_prompt("Refund A1001, please.")]
        try:
            if streamed:
                async with model_request_stream(model, prompt, model_request_parameters=parameters) as stream:
                    async for _ in stream:
                        pass
                response = stream.get()
            else:
                response = await model_request(model, prompt, model_request_parameters=parameters)
        finally:
            await close()
        return (
            "".join(part.content for part in response.parts if isinstance(part, TextPart)),
            [(part.tool_name, part.args_as_dict()) for part in response.parts if isinstance(part, ToolCallPart)],
            (response.provider_details or {}).get("finish_reason"),
            (response.usage.input_tokens, response.usage.output_tokens),
            [repr(part) for part in response.parts if not hasattr(part, "timestamp")],
        )

    return ask


def _pydantic_model(dialect: Dialect, url: str) -> tuple[Any, Callable[[], Awaitable[None]]]:
    if dialect is Dialect.ANTHROPIC:
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        own = anthropic.AsyncAnthropic(api_key="sk", base_url=url, default_headers=session_header())
        return AnthropicModel("claude-sonnet-5-5", provider=AnthropicProvider(anthropic_client=own)), own.close
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    client = openai.AsyncOpenAI(api_key="sk", base_url=url + "/v1", default_headers=session_header())
    return OpenAIChatModel("gpt-5.4", provider=OpenAIProvider(openai_client=client)), client.close


CLIENTS: dict[str, tuple[Dialect, Callable[[str], Awaitable[Any]]]] = {
    "anthropic-async": (Dialect.ANTHROPIC, anthropic_async),
    "anthropic-async-stream": (Dialect.ANTHROPIC, anthropic_async_stream),
    "anthropic-sync": (Dialect.ANTHROPIC, anthropic_sync),
    "anthropic-sync-stream": (Dialect.ANTHROPIC, anthropic_sync_stream),
    "openai-async": (Dialect.CHAT, openai_async),
    "openai-async-stream": (Dialect.CHAT, openai_async_stream),
    "openai-sync": (Dialect.CHAT, openai_sync),
    "openai-sync-stream": (Dialect.CHAT, openai_sync_stream),
    "langchain-anthropic": (Dialect.ANTHROPIC, _langchain_anthropic(streamed=False, in_thread=True)),
    "langchain-anthropic-stream": (Dialect.ANTHROPIC, _langchain_anthropic(streamed=True, in_thread=True)),
    "langchain-anthropic-async": (Dialect.ANTHROPIC, _langchain_anthropic(streamed=False, in_thread=False)),
    "langchain-anthropic-async-stream": (Dialect.ANTHROPIC, _langchain_anthropic(streamed=True, in_thread=False)),
    "langchain-openai": (Dialect.CHAT, _langchain_openai(streamed=False, in_thread=True)),
    "langchain-openai-stream": (Dialect.CHAT, _langchain_openai(streamed=True, in_thread=True)),
    "langchain-openai-async": (Dialect.CHAT, _langchain_openai(streamed=False, in_thread=False)),
    "langchain-openai-async-stream": (Dialect.CHAT, _langchain_openai(streamed=True, in_thread=False)),
    "pydantic-ai-anthropic": (Dialect.ANTHROPIC, _pydantic_ai(Dialect.ANTHROPIC, streamed=False)),
    "pydantic-ai-anthropic-stream": (Dialect.ANTHROPIC, _pydantic_ai(Dialect.ANTHROPIC, streamed=True)),
    "pydantic-ai-openai": (Dialect.CHAT, _pydantic_ai(Dialect.CHAT, streamed=False)),
    "pydantic-ai-openai-stream": (Dialect.CHAT, _pydantic_ai(Dialect.CHAT, streamed=True)),
}
ALONE = {Dialect.ANTHROPIC: "end_turn", Dialect.CHAT: "stop"}
WITH_CALLS = {Dialect.ANTHROPIC: "tool_use", Dialect.CHAT: "tool_calls"}
ALLOWED = ("allowed", {"order_id": "A1001", "amount": 12.5})
REFUSED = ("refused", {"order_id": "A1001", "amount": 900, "note": "über"})


@asynccontextmanager
async def _behind(folder: Path, policy: str) -> AsyncIterator[Desk]:
    async with desk(folder, always(TURN), policy) as gate:
        yield gate


@pytest.mark.parametrize("client", CLIENTS)
async def test_an_unmodified_client_behind_each_policy(tmp_path: Path, client: str) -> None:
    """Allow-all: equal to the direct answer, ids included. Deny-all: no call, the reply, a plain end, usage kept.

    Partial: the allowed call as it was, the reply beside it, and the stop reason of a turn with calls.
    """
    dialect, ask = CLIENTS[client]
    async with _behind(tmp_path / "allow", ALLOW_ALL) as gate:
        direct = await ask(gate.provider_url)
        gate.provider.identifiers = Identifiers()
        allowed = await ask(gate.url)
        assert allowed == direct
        assert direct[:4] == ("I will look at it — gleich.", [ALLOWED, REFUSED], WITH_CALLS[dialect], (420, 42))
        sent = {name.lower(): value for name, value in gate.provider.received[0].headers}
        passed = {name.lower(): value for name, value in gate.provider.received[1].headers}
        assert gate.provider.received[0].body == gate.provider.received[1].body
        differing = {name for name in sent.keys() | passed.keys() if sent.get(name) != passed.get(name)}
        assert differing <= {"host", "connection", "accept-encoding", "x-callgate-session"}
        assert passed.get("accept-encoding", "identity") == "identity"
    async with _behind(tmp_path / "deny", DENY_ALL) as gate:
        text, calls, stop, usage, _ = await ask(gate.url)
        assert calls == []
        assert text.startswith("I will look at it — gleich.")
        assert text.count(REFUSAL) >= 1
        assert (stop, usage) == (ALONE[dialect], direct[3])
    async with _behind(tmp_path / "partial", PARTIAL) as gate:
        text, calls, stop, usage, _ = await ask(gate.url)
        assert calls == [ALLOWED]
        assert text.startswith("I will look at it — gleich.")
        assert text.count(REFUSAL) == 1
        assert (stop, usage) == (WITH_CALLS[dialect], direct[3])


@pytest.mark.parametrize("client", ["anthropic-async-stream", "anthropic-sync", "openai-async", "openai-sync-stream"])
async def test_an_error_of_the_providers_is_the_sdks_own_error(tmp_path: Path, client: str) -> None:
    """A 400 of the provider's reaches the caller as the same exception with the same message as without the gate."""
    from proxy.demo.turns import HttpError

    _, ask = CLIENTS[client]
    error = HttpError(400, "invalid_request_error", "tools.0: something is wrong")
    async with desk(tmp_path, always(error), ALLOW_ALL) as gate:
        with pytest.raises(Exception, match="something is wrong") as direct:
            await ask(gate.provider_url)
        gate.provider.identifiers = Identifiers()
        with pytest.raises(Exception, match="something is wrong") as passed:
            await ask(gate.url)
    assert type(passed.value) is type(direct.value)
    assert str(passed.value) == str(direct.value)


@pytest.mark.parametrize("client", ["anthropic-async", "openai-async"])
async def test_the_gates_own_refusal_is_an_error_that_the_sdk_does_not_repeat(tmp_path: Path, client: str) -> None:
    """A 4xx of the gate's own is the SDK's typed exception, and is asked once: `x-should-retry: false`."""
    async with desk(tmp_path, always(TURN), ALLOW_ALL) as gate:
        if client == "anthropic-async":
            own = anthropic.AsyncAnthropic(
                api_key="sk", base_url=gate.url, default_headers={"x-callgate-session": "forged"}
            )
            async with own as sdk:
                with pytest.raises(anthropic.AuthenticationError, match="x-callgate-session"):
                    await sdk.messages.create(**_anthropic_request())
        else:
            other = openai.AsyncOpenAI(
                api_key="sk", base_url=gate.url + "/v1", default_headers={"x-callgate-session": "forged"}
            )
            async with other as sdk_:
                with pytest.raises(openai.AuthenticationError, match="x-callgate-session"):
                    await sdk_.chat.completions.create(**_openai_request())
        assert gate.provider.received == []
        assert len(gate.lines()) == 1
