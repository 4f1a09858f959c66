"""Clients of Responses as they are: the SDK without its async half, and the Agents SDK, which runs the calls itself."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import agents
import openai
import pytest

from proxy.demo.turns import Call, Text
from tests.e2e.harness import session_header
from tests.e2e.responding import HM, agent, call, turn, ways
from tests.e2e.told import NO_WRITE

if TYPE_CHECKING:
    from pathlib import Path


@ways
async def test_the_sdk_without_its_async_half(tmp_path: Path, streamed: bool) -> None:
    """The helper and plain iteration read the same turn, whose refused call is a message."""
    turns = turn(HM, Text("I try."), call("write_refused"), call("read_allowed", 2)), turn(Text("Done."))
    async with agent(tmp_path, streamed, "by_id", *turns) as one:

        def ask() -> Any:
            with openai.OpenAI(
                base_url=f"{one.desk.url}/v1",
                api_key="sk-test",
                max_retries=0,
                default_headers=session_header(),
                http_client=openai.DefaultHttpxClient(trust_env=False),
            ) as client:
                if not streamed:
                    return client.responses.create(model="m", input="x").output
                items: list[Any] = []
                with client.responses.create(model="m", input="x", stream=True) as events:
                    for event in events:
                        if event.type == "response.output_item.done":
                            items.append(event.item)
                        elif event.type == "response.completed":
                            assert [item.type for item in event.response.output] == [item.type for item in items]
                return items

        output = await asyncio.to_thread(ask)
        assert [item.type for item in output] == ["reasoning", "message", "message", "function_call"]
        assert output[2].content[0].text == NO_WRITE
        assert output[3].name == "read_allowed"


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("by_id", [True, False], ids=["by_id", "replay"])
async def test_the_agents_sdk(tmp_path: Path, streamed: bool, by_id: bool) -> None:
    """It runs what it is given, in parallel, and nothing that was refused, to the model or by code; its next request is
    one that the provider takes."""
    turns = (
        turn(HM, call("read_allowed"), call("read_allowed", 2), call("read_refused")),
        turn(HM, call("read_refused", 3)),
        turn(HM, Text("Two of three.")),
        turn(HM, Call("write_refused", '{"n": 4}')),
        turn(HM, Text("Bye.")),
    )
    ran: list[int] = []

    @agents.function_tool
    def read_allowed(n: int) -> str:
        """Read it."""
        ran.append(n)
        return "it is there"

    @agents.function_tool
    def read_refused(n: int) -> str:
        """Read the other."""
        raise AssertionError(f"ran a refused call: {n}")

    @agents.function_tool
    def write_refused(n: int) -> str:
        """Write it."""
        raise AssertionError(f"ran a refused call: {n}")

    agents.set_tracing_disabled(disabled=True)
    async with agent(tmp_path, streamed, "by_id", *turns) as one:
        client = openai.AsyncOpenAI(
            base_url=f"{one.desk.url}/v1",
            api_key="sk-test",
            max_retries=0,
            default_headers=session_header(),
            http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
        )
        async with client:
            model = agents.OpenAIResponsesModel("m", client)
            tools: list[Any] = [read_allowed, read_refused, write_refused]
            desk = agents.Agent(name="desk", instructions="Be brief.", tools=tools, model=model)
            heard: list[Any] = []
            last: str | None = None
            said: list[str] = []
            for words in ("Look", "Pay", "Thanks"):
                new: list[Any] = [*heard, {"role": "user", "content": words}]
                options: dict[str, Any] = {"previous_response_id": last, "auto_previous_response_id": by_id}
                if streamed:
                    result: Any = agents.Runner.run_streamed(desk, new, **options)
                    async for _ in result.stream_events():
                        pass
                else:
                    result = await agents.Runner.run(desk, new, **options)
                said.append(result.final_output)
                if by_id:
                    last = result.last_response_id
                else:
                    heard = result.to_input_list()
        assert said == ["Two of three.", NO_WRITE, "Bye."]
        assert sorted(ran) == [1, 2]
        assert one.provider.refused == []
