"""An agent loop as it is written with the official SDK of Responses, before a provider that stores its answers."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import openai
import orjson
import pytest

from proxy.demo.responses_provider import ResponsesProvider
from proxy.demo.turns import Call, Thinking, Turn
from tests.e2e.harness import desk, session_header
from tests.e2e.told import POLICY

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.e2e.harness import Desk

TOOLS = [
    {"type": "function", "name": name, "parameters": {"type": "object", "properties": {}}}
    for name in ("read_allowed", "write_allowed", "read_refused", "write_refused", "write_told")
]
HM = Thinking("hm")
ways = pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
KEPT = ("replay", "stateless", "by_id", "conversation", "by_reference")
kept = pytest.mark.parametrize("history", KEPT)


def call(name: str, n: int = 1) -> Call:
    return Call(name, f'{{"n": {n}}}')


def turn(*parts: Any, **more: Any) -> Turn:
    return Turn(tuple(parts), **more)


@dataclass
class Agent:
    """An agent loop as it is written with the SDK. `history` says who keeps it."""

    desk: Desk
    provider: ResponsesProvider
    streamed: bool
    history: str
    extra: dict[str, Any] = field(default_factory=dict)
    items: list[Any] = field(default_factory=list)
    last: str = ""
    outputs: dict[str, str] = field(default_factory=dict)

    async def say(self, words: str) -> str:
        """What the customer reads, until the model is done; every call that comes is run."""
        new: list[Any] = [{"role": "user", "content": words}]
        read = ""
        for _ in range(6):
            response = await self.ask(new)
            read += response.output_text
            new = [self._run(item) for item in response.output if item.type.endswith("_call")]
            if not new:
                return read
        raise AssertionError("the agent never came to an end")

    async def ask(self, new: list[Any]) -> Any:
        self.items += new
        asked: dict[str, Any] = {"model": "m", "tools": TOOLS, **self.extra}
        if self.history == "by_id":
            asked |= {"input": new} | ({"previous_response_id": self.last} if self.last else {})
        elif self.history == "conversation":
            asked |= {"input": new, "conversation": "conv_1"}
        else:
            asked["input"] = list(self.items)
            if self.history == "by_reference":
                asked["input"] = [referred(item) for item in self.items]
            if self.history == "stateless":
                asked |= {"store": False, "include": ["reasoning.encrypted_content"]}
        async with openai.AsyncOpenAI(
            base_url=f"{self.desk.url}/v1",
            api_key="sk-test",
            max_retries=0,
            default_headers=session_header(),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
        ) as client:
            if self.streamed:
                async with client.responses.stream(**asked) as stream:
                    response: Any = await stream.get_final_response()
            else:
                response = await client.responses.create(**asked)
        self.last = response.id
        self.items += [item.model_dump(exclude_none=True, mode="json") for item in response.output]
        for item in self.items:
            item.pop("parsed_arguments", None)
            for part in item.get("content", ()) if isinstance(item.get("content"), list) else ():
                part.pop("parsed", None)
        return response

    def _run(self, item: Any) -> dict[str, Any]:
        self.outputs[item.call_id] = item.name
        return {"type": "function_call_output", "call_id": item.call_id, "output": '{"done": true}'}

    def output(self, item: dict[str, Any], said: dict[str, str]) -> dict[str, Any]:
        """The result of a call, by what its tool says."""
        return {"type": "function_call_output", "call_id": item["call_id"], "output": said[item["name"]]}

    @property
    def ran(self) -> list[str]:
        return list(self.outputs.values())


@asynccontextmanager
async def agent(
    folder: Path, streamed: bool, history: str, *turns: Turn, policy: str = POLICY, **extra: Any
) -> AsyncIterator[Agent]:
    left = list(turns)

    def script(_: Any) -> Any:
        return left.pop(0)

    provider = ResponsesProvider(script)
    async with desk(folder, script, policy, upstream=provider.app()) as running:
        yield Agent(running, provider, streamed, history, extra)


def referred(item: dict[str, Any]) -> dict[str, Any]:
    """As clients send what the provider keeps: its own items by their ids, and no other."""
    return {"type": "item_reference", "id": item["id"]} if "id" in item else item


def results(items: list[Any]) -> list[dict[str, Any]]:
    """The gate's own results among items."""
    outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
    return [value for output in outputs if "isError" in (value := orjson.loads(output))]
