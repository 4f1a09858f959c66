"""Policies about the text of a turn, and a client that asks for structured answers with the official SDKs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anthropic
import openai

from proxy.demo.turns import Dialect, Reply, Text, Turn
from tests.e2e.harness import session_header

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.demo.turns import Answer, Asked, Part, Script
    from tests.e2e.harness import Desk

AGENT = "tok-of-the-agent"
TOO_MUCH = "That is more than I may pay."
COLLEAGUE = "A colleague will look at it."
NO_TEXT = "I cannot do that in a text."
NOT_DONE = "I have not done that yet."
REASONS = f"""
reasons:
  too_much: {{category: policy, reply: {{en: "{TOO_MUCH}"}}}}
  schema_invalid: {{reply: {{en: "{COLLEAGUE}"}}}}
  text_call: {{reply: {{en: "{NO_TEXT}"}}}}
  false_claim: {{reply: {{en: "{NOT_DONE}"}}}}
"""
ACT = """
  act:
    effect: write
    on_refusal: {answers}
    arguments: {{intent: {{one_of: [refund, chitchat]}}, amount: {{type: number, optional: true}}}}
    rules: [{{forbid: too_much, when: "args.amount > 10"}}]
"""
TOOLS = """
  look_up: {effect: read, arguments: {}}
  process_refund: {effect: write}
"""


def policy(more: str = "", *, answers: str = "code") -> str:
    return f"language: 1\npolicy: texts\n{REASONS}{more}\ntools:{ACT.format(answers=answers)}{TOOLS}"


STRUCTURED = "structured: {intent: {as: act}}"
CLAIMS = "claims: {process_refund: ['(?i)i have (?:now )?refunded']}"
HOLDS = f"{CLAIMS}\nidentities: {{agent: {{token: {AGENT}, hold_text: true}}}}"

SCHEMA: dict[str, Any] = {
    "title": "intent",
    "type": "object",
    "properties": {"intent": {"type": "string"}, "amount": {"type": "number"}},
    "required": ["intent"],
    "additionalProperties": False,
}
TOOLS_DECLARED = ("look_up", "process_refund")


def each(answers: Sequence[Answer | str], asked: list[Asked] | None = None) -> Script:
    """A script that gives these answers, one after the other."""
    left = list(answers)

    def script(request: Asked) -> Reply:
        if asked is not None:
            asked.append(request)
        answer = left.pop(0)
        return Reply(Turn((Text(answer),)) if isinstance(answer, str) else answer)

    return script


def turn(*parts: Part) -> Turn:
    return Turn(parts)


@dataclass(slots=True)
class Client:
    """One conversation in one dialect, by its official SDK, streamed or not; it sends back what it was given."""

    gate: Desk
    dialect: Dialect
    streamed: bool
    is_structured: bool = True
    key: str = "sk-test"
    messages: list[Any] = field(default_factory=list)
    schema: dict[str, Any] = field(default_factory=lambda: SCHEMA)

    async def say(self, text: str) -> tuple[str, str]:
        """The text of the answer, and why it ended."""
        self.messages.append({"role": "user", "content": text})
        if self.dialect is Dialect.ANTHROPIC:
            return await self._anthropic()
        return await self._chat()

    async def _anthropic(self) -> tuple[str, str]:
        asked: dict[str, Any] = {"model": "claude-sonnet-5-5", "max_tokens": 512, "messages": self.messages}
        asked["tools"] = [{"name": name, "input_schema": {"type": "object"}} for name in TOOLS_DECLARED]
        if self.is_structured:
            asked["output_config"] = {"format": {"type": "json_schema", "schema": self.schema}}
        async with anthropic.AsyncAnthropic(
            api_key=self.key, base_url=self.gate.url, default_headers=session_header(), max_retries=0
        ) as client:
            if self.streamed:
                async with client.messages.stream(**asked) as stream:
                    message: Any = await stream.get_final_message()
            else:
                message = await client.messages.create(**asked)
        self.messages.append({"role": "assistant", "content": [block.model_dump() for block in message.content]})
        for block in self.messages[-1]["content"]:
            block.pop("parsed_output", None)
        return "".join(block.text for block in message.content if block.type == "text"), message.stop_reason

    async def _chat(self) -> tuple[str, str]:
        asked: dict[str, Any] = {"model": "gpt-5.4", "messages": self.messages}
        asked["tools"] = [
            {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}
            for name in TOOLS_DECLARED
        ]
        if self.is_structured:
            form = {"name": self.schema["title"], "schema": self.schema}
            asked["response_format"] = {"type": "json_schema", "json_schema": form}
        async with openai.AsyncOpenAI(
            api_key=self.key, base_url=self.gate.url + "/v1", default_headers=session_header(), max_retries=0
        ) as client:
            if self.streamed:
                text, stop, calls = "", "", {}
                async for chunk in await client.chat.completions.create(**asked, stream=True):
                    for choice in chunk.choices:
                        text += choice.delta.content or ""
                        stop = choice.finish_reason or stop
                        for call in choice.delta.tool_calls or ():
                            held = calls.setdefault(call.index, {"id": "", "name": "", "arguments": ""})
                            held["id"] = call.id or held["id"]
                            held["name"] = call.function.name or held["name"]
                            held["arguments"] += call.function.arguments or ""
                named = [
                    {"id": one["id"], "type": "function", "function": {k: one[k] for k in ("name", "arguments")}}
                    for one in calls.values()
                ]
            else:
                choice = (await client.chat.completions.create(**asked)).choices[0]
                text, stop = choice.message.content or "", choice.finish_reason
                named = [call.model_dump() for call in choice.message.tool_calls or ()]
        answered = {"role": "assistant", "content": text or None}
        self.messages.append(answered | ({"tool_calls": named} if named else {}))
        return text, stop

    def results(self, content: str = "{}") -> None:
        """Answer every call of the last turn."""
        last = self.messages[-1]
        if self.dialect is Dialect.ANTHROPIC:
            calls = [block for block in last["content"] if block["type"] == "tool_use"]
            blocks = [{"type": "tool_result", "tool_use_id": call["id"], "content": content} for call in calls]
            self.messages.append({"role": "user", "content": blocks})
            return
        calls = last["tool_calls"]
        self.messages += [{"role": "tool", "tool_call_id": call["id"], "content": content} for call in calls]
