"""The strict provider over HTTP, with the official SDKs: signatures, reports, refusals, usage."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import pytest
from anthropic import AsyncAnthropic, BadRequestError
from openai import AsyncOpenAI
from openai import BadRequestError as ChatBadRequestError

from proxy.demo.anthropic_thinking import BINDING_BETA
from proxy.demo.provider import Provider
from proxy.demo.servers import DEEPSEEK, OLDER_CLAUDE
from proxy.demo.serving import serving
from proxy.demo.turns import Call, Text, Thinking, Turn, always
from proxy.demo.watcher import unextended

TURN = Turn((Thinking("hm"), Text("one moment"), Call("f", '{"n": 120.00}')), usage=None)
DROP = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}
MODEL = "claude-sonnet-5-5"


async def message(client: AsyncAnthropic, messages: list[Any], streamed: bool, **more: Any) -> Any:
    asked = {"model": MODEL, "max_tokens": 99, "messages": messages, **more}
    if not streamed:
        return await client.beta.messages.create(**asked)
    async with client.beta.messages.stream(**asked) as stream:
        return await stream.get_final_message()


def answered(turn: Any) -> dict[str, Any]:
    calls = [block.id for block in turn.content if block.type == "tool_use"]
    results = [{"type": "tool_result", "tool_use_id": one, "content": "ok"} for one in calls]
    return {"role": "user", "content": results}


@pytest.mark.parametrize("streamed", [True, False])
async def test_a_conversation_with_thinking(streamed: bool) -> None:
    """The SDK's own turns come back as they are and are taken, ten times; edited, they are refused or dropped."""
    provider = Provider(always(TURN))
    async with serving(provider.app()) as url, AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
        messages: list[Any] = [{"role": "user", "content": "hello"}]
        usages = []
        for _ in range(10):
            turn = await message(client, messages, streamed)
            usages.append(turn.usage)
            messages += [{"role": "assistant", "content": turn.content}, answered(turn)]
        assert unextended(provider.received, lambda one: one.target) == []
        assert len({one.turn["content"][0]["signature"] for one in provider.received if one.turn}) == 10
        assert all(later.input_tokens > earlier.input_tokens for earlier, later in pairwise(usages))
        assert {usage.output_tokens for usage in usages} == {32}

        messages[2]["content"][0]["content"] = "cleared"
        with pytest.raises(
            BadRequestError, match=r"messages.3.content.0: Invalid `signature` in `thinking` block. The"
        ):
            await message(client, messages, streamed)
        with pytest.raises(BadRequestError, match="bound to a different conversation"):
            await client.messages.count_tokens(model=MODEL, messages=messages)
        turn = await message(client, messages, streamed, thinking=DROP, betas=[BINDING_BETA])
        assert [(one.type, one.path) for one in turn.input_transformations] == [
            ("thinking_dropped", f"messages.{number}.content.0") for number in range(3, 21, 2)
        ]


async def test_the_server_is_a_switch() -> None:
    """The same edited history is taken by an older model; DeepSeek shows its reasoning and wants it back."""
    provider = Provider(always(TURN), anthropic=OLDER_CLAUDE, chat=DEEPSEEK)
    async with serving(provider.app()) as url:
        async with AsyncAnthropic(base_url=url, api_key="k", max_retries=0) as client:
            turn = await message(client, [{"role": "user", "content": "hello"}], streamed=False)
            history = [{"role": "user", "content": "hallo"}, {"role": "assistant", "content": turn.content}]
            assert (await message(client, [*history, answered(turn)], streamed=False)).content
        async with AsyncOpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0) as openai:
            asked: list[Any] = [{"role": "user", "content": "hello"}]
            completion = await openai.chat.completions.create(model="m", messages=asked)
            said = completion.choices[0].message.model_dump(exclude_none=True)
            assert said["reasoning_content"] == "hm"
            result = {"role": "tool", "tool_call_id": said["tool_calls"][0]["id"], "content": "ok"}
            await openai.chat.completions.create(model="m", messages=[*asked, said, result])
            del said["reasoning_content"]
            with pytest.raises(ChatBadRequestError, match="must be passed back to the API"):
                await openai.chat.completions.create(model="m", messages=[*asked, said, result])
    assert [bool(one.refused) for one in provider.received] == [False, False, False, False, True]
