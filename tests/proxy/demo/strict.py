"""Conversations with the strict provider without a wire between: requests as documents, turns as assistant messages."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import orjson

from proxy.demo.admission import Admitted, admitted_anthropic
from proxy.demo.anthropic_thinking import BINDING_BETA
from proxy.demo.documents import read
from proxy.demo.identifiers import Identifiers
from proxy.demo.saying import said_anthropic
from proxy.demo.servers import CLAUDE, AnthropicServer
from proxy.demo.turns import Call, HttpError, Text, Thinking, Turn

BETA = BINDING_BETA
TOOLS = [
    {"name": "f", "description": "does f", "input_schema": {"type": "object", "properties": {"n": {"type": "number"}}}},
    {"name": "late", "input_schema": {"type": "object"}, "defer_loading": True},
]
SYSTEM = "You are a support desk."


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def text(words: str = "hi") -> dict[str, Any]:
    return {"type": "text", "text": words}


def use(identifier: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": "f", "input": {}, **more}


def result(identifier: str, **more: Any) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identifier, "content": "ok", **more}


def server_use(identifier: str = "srvtoolu_1", name: str = "web_fetch") -> dict[str, Any]:
    return {"type": "server_tool_use", "id": identifier, "name": name, "input": {}}


@dataclass
class Desk:
    """One conversation. `body` is the request that the next `ask` sends; each turn is put at its end."""

    server: AnthropicServer = CLAUDE
    betas: str = ""
    identifiers: Identifiers = field(default_factory=Identifiers)
    body: dict[str, Any] = field(
        default_factory=lambda: (
            {"model": "m", "max_tokens": 9, "system": SYSTEM, "tools": copy.deepcopy(TOOLS)}
            | {"messages": [user(text("hello"))]}
        )
    )

    @property
    def messages(self) -> list[Any]:
        return self.body["messages"]

    def check(self) -> Admitted | HttpError:
        """What the provider says to the request as it stands, read from bytes as it would."""
        return admitted_anthropic(read(orjson.dumps(self.body)), self.betas, self.server)

    def refusal(self) -> str:
        checked = self.check()
        return checked.message if isinstance(checked, HttpError) else ""

    def ask(self, turn: Turn) -> dict[str, Any]:
        checked = self.check()
        assert isinstance(checked, Admitted), checked
        message = said_anthropic(turn, checked, 100, self.identifiers).message
        self.messages.append(message)
        return message

    def answer(self, *more: Any) -> None:
        """The results of the last turn's calls, then `more`."""
        calls = [block["id"] for block in self.messages[-1]["content"] if block["type"] == "tool_use"]
        self.messages.append(user(*(result(one) for one in calls), *more))


def three_loops(server: AnthropicServer = CLAUDE, betas: str = "") -> Desk:
    """A desk whose messages 1, 3 and 5 each start with a thinking block; 1 and 3 hold a call; message 6 is a text."""
    desk = Desk(server, betas)
    for number in range(2):
        desk.ask(Turn((Thinking(f"thought {number}"), Text("looking"), Call("f", '{"n": 120.00, "a": {"b": 1}}'))))
        desk.answer(text("and be quick"))
    desk.ask(Turn((Thinking("thought 2"), Text("done"))))
    desk.messages.append(user(text("thanks")))
    return desk
