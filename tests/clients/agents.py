"""The agents: each sends its user's messages through the gate, runs the calls it is given, and says what it showed."""

from __future__ import annotations

import asyncio
import json
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from tests.clients.running import NODE, environment, node

if TYPE_CHECKING:
    from collections.abc import Sequence

SHIPPED, REFUNDED = '{"status": "shipped"}', '{"status": "refunded"}'


@dataclass(frozen=True)
class Seen:
    """What the user read, one text a message, and the names of the tools that ran."""

    shown: list[str]
    ran: list[str]


class Agent(Protocol):
    async def __call__(self, gate: str, messages: Sequence[str], *, streamed: bool) -> Seen: ...


class Tools:
    """The tools of an agent in this process; they say what was called."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def lookup_order(self, order_id: str) -> str:
        """Look an order up."""
        del order_id
        self.ran.append("lookup_order")
        return SHIPPED

    def process_refund(self, order_id: str, amount: float) -> str:
        """Refund an order."""
        del order_id, amount
        self.ran.append("process_refund")
        return REFUNDED


async def langchain_anthropic(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from langchain_anthropic import ChatAnthropic

    model = ChatAnthropic(model="scripted", base_url=gate, api_key="sk-test", max_retries=0, stop=None, timeout=60)
    return await _langchain(model, messages, streamed=streamed)


async def langchain_openai(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="scripted", base_url=f"{gate}/v1", api_key="sk-test", max_retries=0, timeout=60)
    return await _langchain(model, messages, streamed=streamed)


async def _langchain(model: Any, messages: Sequence[str], *, streamed: bool) -> Seen:
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool

    mine = Tools()
    by_name = {each.name: each for each in (tool(mine.lookup_order), tool(mine.process_refund))}
    bound = model.bind_tools(list(by_name.values()))
    history: list[Any] = []
    shown = []
    for text in messages:
        history.append(HumanMessage(text))
        said = ""
        for _ in range(5):
            if streamed:
                answer = None
                async for chunk in bound.astream(history):
                    answer = chunk if answer is None else answer + chunk
            else:
                answer = await bound.ainvoke(history)
            assert answer is not None
            history.append(answer)
            said += answer.text
            if not answer.tool_calls:
                break
            for call in answer.tool_calls:
                result = by_name[call["name"]].invoke(call["args"])
                history.append(ToolMessage(result, tool_call_id=call["id"]))
        shown.append(said)
    return Seen(shown, mine.ran)


async def pydantic_ai_anthropic(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from anthropic import AsyncAnthropic
    from pydantic_ai.models.anthropic import AnthropicModel
    from pydantic_ai.providers.anthropic import AnthropicProvider

    async with AsyncAnthropic(api_key="sk-test", base_url=gate) as client:
        model = AnthropicModel("scripted", provider=AnthropicProvider(anthropic_client=client))
        return await _pydantic_ai(model, messages, streamed=streamed)


async def pydantic_ai_openai(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from openai import AsyncOpenAI
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    async with AsyncOpenAI(api_key="sk-test", base_url=f"{gate}/v1") as client:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))
        return await _pydantic_ai(model, messages, streamed=streamed)


async def _pydantic_ai(model: Any, messages: Sequence[str], *, streamed: bool) -> Seen:
    from pydantic_ai import Agent as Framework
    from pydantic_ai.messages import ModelResponse, TextPart

    mine = Tools()
    agent: Any = Framework(model, tools=[mine.lookup_order, mine.process_refund], retries=0)
    history: list[Any] = []
    shown = []
    for text in messages:
        # `run_stream` ends at the first text; this streams each request of a whole run.
        run = await agent.run(text, message_history=history, event_stream_handler=_drained if streamed else None)
        new, history = run.new_messages(), run.all_messages()
        parts = [part for message in new if isinstance(message, ModelResponse) for part in message.parts]
        shown.append("".join(part.content for part in parts if isinstance(part, TextPart)))
    return Seen(shown, mine.ran)


async def _drained(context: Any, events: Any) -> None:
    del context
    async for _ in events:
        pass


def vercel(dialect: str) -> Agent:
    async def run(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
        runtime = node()
        assert runtime is not None
        mode = "streamed" if streamed else "whole"
        command = [runtime, str(NODE / "agent.mjs"), dialect, gate, mode, *messages]
        done = await asyncio.to_thread(
            subprocess.run, command, capture_output=True, text=True, timeout=90, env=environment(), check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
        found = json.loads(done.stdout.splitlines()[-1])
        return Seen(found["shown"], [name for name, _ in found["ran"]])

    return run


async def openai_agents_responses(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from agents import OpenAIResponsesModel
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="sk-test", base_url=f"{gate}/v1", max_retries=0) as client:
        return await _openai_agents(OpenAIResponsesModel("scripted", client), messages, streamed=streamed)


async def openai_agents_chat(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from agents import OpenAIChatCompletionsModel
    from openai import AsyncOpenAI

    async with AsyncOpenAI(api_key="sk-test", base_url=f"{gate}/v1", max_retries=0) as client:
        return await _openai_agents(OpenAIChatCompletionsModel("scripted", client), messages, streamed=streamed)


async def _openai_agents(model: Any, messages: Sequence[str], *, streamed: bool) -> Seen:
    from agents import Agent as Framework
    from agents import ItemHelpers, MessageOutputItem, Runner, function_tool, set_tracing_disabled

    set_tracing_disabled(True)
    mine = Tools()
    tools: list[Any] = [function_tool(mine.lookup_order), function_tool(mine.process_refund)]
    agent = Framework(name="desk", instructions="Help.", model=model, tools=tools)
    history: list[Any] = []
    shown = []
    for text in messages:
        given = [*history, {"role": "user", "content": text}]
        if streamed:
            run: Any = Runner.run_streamed(agent, given, max_turns=5)
            async for _ in run.stream_events():
                pass
        else:
            run = await Runner.run(agent, given, max_turns=5)
        history = run.to_input_list()
        said = [item for item in run.new_items if isinstance(item, MessageOutputItem)]
        shown.append("".join(ItemHelpers.text_message_output(item) for item in said))
    return Seen(shown, mine.ran)


async def google_genai(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from google import genai
    from google.genai import types

    mine = Tools()
    by_name: dict[str, Any] = {"lookup_order": mine.lookup_order, "process_refund": mine.process_refund}
    options = types.HttpOptions(base_url=gate, api_version="v1beta")
    config = types.GenerateContentConfig(
        tools=list(by_name.values()), automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True)
    )
    history: list[Any] = []
    shown = []
    async with genai.Client(api_key="sk-test", http_options=options).aio as client:
        for text in messages:
            history.append(types.Content(role="user", parts=[types.Part(text=text)]))
            said = ""
            for _ in range(5):
                parts: list[Any] = []
                if streamed:
                    stream = await client.models.generate_content_stream(
                        model="scripted", contents=history, config=config
                    )
                    async for chunk in stream:
                        parts += chunk.candidates[0].content.parts or []
                else:
                    answer = await client.models.generate_content(model="scripted", contents=history, config=config)
                    parts = answer.candidates[0].content.parts
                history.append(types.Content(role="model", parts=parts))
                said += "".join(part.text or "" for part in parts)
                calls = [part.function_call for part in parts if part.function_call]
                if not calls:
                    break
                results = [(call, by_name[call.name](**call.args)) for call in calls]
                answers = [
                    types.FunctionResponse(id=call.id, name=call.name, response=json.loads(result))
                    for call, result in results
                ]
                history.append(
                    types.Content(role="user", parts=[types.Part(function_response=each) for each in answers])
                )
            shown.append(said)
    return Seen(shown, mine.ran)


async def ollama_client(gate: str, messages: Sequence[str], *, streamed: bool) -> Seen:
    from ollama import AsyncClient

    mine = Tools()
    by_name: dict[str, Any] = {"lookup_order": mine.lookup_order, "process_refund": mine.process_refund}
    client = AsyncClient(host=gate)
    history: list[Any] = []
    shown = []
    try:
        for text in messages:
            history.append({"role": "user", "content": text})
            said = ""
            for _ in range(5):
                content, calls = "", []
                asked = {"model": "scripted", "messages": history, "tools": list(by_name.values())}
                answers = [await client.chat(**asked)] if not streamed else []
                if streamed:
                    answers = [part async for part in await client.chat(**asked, stream=True)]
                for answer in answers:
                    content += answer.message.content or ""
                    calls += answer.message.tool_calls or []
                said += content
                history.append({"role": "assistant", "content": content, "tool_calls": calls})
                if not calls:
                    break
                for call in calls:
                    result = by_name[call.function.name](**call.function.arguments)
                    history.append({"role": "tool", "tool_name": call.function.name, "content": result})
            shown.append(said)
    finally:
        await client._client.aclose()
    return Seen(shown, mine.ran)


AGENTS: dict[str, Agent] = {
    "langchain-anthropic": langchain_anthropic,
    "langchain-openai": langchain_openai,
    "pydantic-ai, anthropic": pydantic_ai_anthropic,
    "pydantic-ai, openai": pydantic_ai_openai,
    "openai agents sdk, responses": openai_agents_responses,
    "openai agents sdk, chat": openai_agents_chat,
    "google-genai": google_genai,
    "ollama": ollama_client,
    "vercel ai sdk, openai responses": vercel("openai-responses"),
    "vercel ai sdk, openai responses, by reference": vercel("openai-responses-by-reference"),
    "vercel ai sdk, anthropic": vercel("anthropic-messages"),
    "vercel ai sdk, openai chat": vercel("openai-chat"),
}
