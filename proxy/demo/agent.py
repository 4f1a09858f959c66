"""A small support agent, as anyone would write it, on two official SDKs. It knows of no gate: it has a base URL.

It executes each call that the model's response holds, and shows the customer each text.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol

from yarl import URL

from proxy.demo.documents import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    import aiohttp
    from anthropic import AsyncAnthropic
    from openai import AsyncOpenAI

ROUNDS_MAX = 6
TOKENS_MAX = 1024
INSTRUCTIONS = (
    "You are the support desk of an online shop. Look orders up and pay refunds with your tools. Amounts are in US "
    "dollars. Call process_refund as soon as you know the order, the amount and the reason. Answer in two sentences."
)
REASONS = ("damaged", "wrong_item", "not_as_described")
_ORDER_ID = {"type": "string", "description": "A letter and four digits, such as A1001."}
TOOLS: Mapping[str, tuple[str, dict[str, Any]]] = {
    "lookup_order": (
        "Show an order: what was bought, what was paid, when it was delivered.",
        {"type": "object", "properties": {"order_id": _ORDER_ID}, "required": ["order_id"]},
    ),
    "process_refund": (
        "Pay money back for an order.",
        {
            "type": "object",
            "properties": {
                "order_id": _ORDER_ID,
                "amount": {"type": "number", "description": "US dollars."},
                "reason": {"type": "string", "enum": list(REASONS)},
            },
            "required": ["order_id", "amount", "reason"],
        },
    ),
}


class Agent(Protocol):
    async def ask(self, *texts: str) -> tuple[str, ...]:
        """Everything that the customer reads in answer to the texts of one conversation, in order."""
        ...


@dataclass(frozen=True, slots=True)
class OrderTools:
    """The tools as the agent runs them: requests to the order back end, answers as JSON text."""

    session: aiohttp.ClientSession
    url: str
    token: str

    async def run(self, name: str, arguments: Mapping[str, Any]) -> str:
        match name:
            case "lookup_order":
                return await self._ask("GET", f"/orders/{arguments.get('order_id', '')}", None)
            case "process_refund":
                cents = int(Decimal(str(arguments.get("amount", 0))) * 100)
                return await self._ask("POST", "/refunds", {**arguments, "amount": cents})
            case _:
                return '{"error": "unknown_tool"}'

    async def _ask(self, method: str, path: str, body: Mapping[str, Any] | None) -> str:
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self.session.request(method, URL(self.url + path), json=body, headers=headers) as response:
            return await response.text()


@dataclass(frozen=True, slots=True)
class AnthropicAgent:
    client: AsyncAnthropic
    model: str
    tools: OrderTools
    streamed: bool

    async def ask(self, *texts: str) -> tuple[str, ...]:
        messages: list[Any] = []
        return tuple([heard for text in texts for heard in await self._answer(messages, text)])

    async def _answer(self, messages: list[Any], text: str) -> list[str]:
        messages.append({"role": "user", "content": text})
        heard: list[str] = []
        for _ in range(ROUNDS_MAX):
            message = await self._message(messages)
            heard += [block.text for block in message.content if block.type == "text"]
            calls = [block for block in message.content if block.type == "tool_use"]
            if not calls:
                messages.append({"role": "assistant", "content": message.content})
                break
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": call.id,
                    "content": await self.tools.run(call.name, call.input),
                }
                for call in calls
            ]
            messages += [{"role": "assistant", "content": message.content}, {"role": "user", "content": results}]
        return heard

    async def _message(self, messages: list[Any]) -> Any:
        asked: dict[str, Any] = {
            "model": self.model,
            "max_tokens": TOKENS_MAX,
            "system": INSTRUCTIONS,
            "messages": messages,
            "tools": [
                {"name": name, "description": description, "input_schema": schema}
                for name, (description, schema) in TOOLS.items()
            ],
        }
        if not self.streamed:
            return await self.client.messages.create(**asked)
        async with self.client.messages.stream(**asked) as stream:
            return await stream.get_final_message()


@dataclass(frozen=True, slots=True)
class OpenAIAgent:
    client: AsyncOpenAI
    model: str
    tools: OrderTools
    streamed: bool

    async def ask(self, *texts: str) -> tuple[str, ...]:
        messages: list[Any] = [{"role": "system", "content": INSTRUCTIONS}]
        return tuple([heard for text in texts for heard in await self._answer(messages, text)])

    async def _answer(self, messages: list[Any], text: str) -> list[str]:
        messages.append({"role": "user", "content": text})
        heard: list[str] = []
        for _ in range(ROUNDS_MAX):
            message = await self._message(messages)
            heard += [message.content] if message.content else []
            calls = message.tool_calls or []
            messages.append(message.model_dump(exclude_none=True))
            if not calls:
                break
            for call in calls:
                result = await self.tools.run(call.function.name, read(call.function.arguments.encode()))
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
        return heard

    async def _message(self, messages: list[Any]) -> Any:
        asked: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "tools": [
                {"type": "function", "function": {"name": name, "description": description, "parameters": schema}}
                for name, (description, schema) in TOOLS.items()
            ],
        }
        if not self.streamed:
            completion: Any = await self.client.chat.completions.create(**asked)
        else:
            async with self.client.chat.completions.stream(**asked) as stream:
                completion = await stream.get_final_completion()
        return completion.choices[0].message
