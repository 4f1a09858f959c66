"""The clients of `wandering` that reach a model through a cloud: Claude and Gemini on Vertex, Bedrock, Azure."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import orjson
from botocore.eventstream import EventStreamBuffer

from proxy.demo.turns import Text
from tests.e2e.mouths import (
    AnthropicOnVertex,
    Chat,
    ClaudeInvoked,
    Converse,
    GeminiOnVertex,
    Responses,
    chunks_of,
)
from tests.e2e.talkers import Habits, changed_anthropic, changed_chat, read_turn
from tests.e2e.wanderers import GeminiWanderer, ResponsesWanderer, Wanderer

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from proxy.demo.turns import Turn
    from tests.e2e.mouths import Answer, Entry

_MANGLED = Habits(drops_thinking=True, merges_text=True, reencodes=True, strips_unknown=True, reorders=True)


class _Speaker(Wanderer):
    """What is said to it is never blank: no client could send that back."""

    def sayable(self, turn: Turn) -> Turn:
        said = [Text("(blank)") if isinstance(part, Text) and not part.text.strip() else part for part in turn.parts]
        return Wanderer.sayable(self, replace(turn, parts=tuple(said)))


class ClaudeWanderer(_Speaker):
    """Claude's own history, on whichever path."""

    member = "messages"

    def read(self, data: bytes, streamed: bool) -> Answer | None:
        whole = read_turn(self.mouth.dialect, data, streamed=streamed)
        return None if whole is None else self.mouth.read(data, streamed)

    def mangled(self, entries: Sequence[Entry], dice: random.Random) -> list[Entry]:
        (message,) = entries
        return [changed_anthropic(orjson.loads(orjson.dumps(message)), _MANGLED)]

    def calls(self, entry: Entry) -> list[tuple[str, Any]]:
        made = [block for block in entry["content"] if block["type"] == "tool_use"]
        return [(one["name"], one["input"]) for one in made]

    def text(self, entry: Entry) -> str:
        return "".join(block["text"] for block in entry["content"] if block["type"] == "text")

    def answered(self, behind: Sequence[Entry]) -> int:
        content = behind[0]["content"] if behind else ""
        return 0 if isinstance(content, str) else sum(block["type"] == "tool_result" for block in content)


class VertexClaudeWanderer(ClaudeWanderer):
    mouth = AnthropicOnVertex()


class InvokeWanderer(ClaudeWanderer):
    mouth = ClaudeInvoked()

    def read(self, data: bytes, streamed: bool) -> Answer | None:
        if not streamed:
            return super().read(data, streamed)
        whole = _is_whole(data) and read_turn(self.mouth.dialect, chunks_of(data), streamed=True) is not None
        return self.mouth.read(data, streamed) if whole else None


class ConverseWanderer(_Speaker):
    mouth = Converse()
    member = "messages"

    def read(self, data: bytes, streamed: bool) -> Answer | None:
        return self.mouth.read(data, streamed) if not streamed or _is_whole(data) else None

    def mangled(self, entries: Sequence[Entry], dice: random.Random) -> list[Entry]:
        """As a client that keeps no thinking, sets texts side by side as one, and writes a call anew."""
        content: list[Any] = []
        for block in entries[0]["content"]:
            if "text" in block and content and "text" in content[-1]:
                content[-1] = {"text": f"{content[-1]['text']}\n{block['text']}"}
            elif "toolUse" in block:
                call = block["toolUse"]
                content.append({"toolUse": dict(reversed({**call, "input": _reversed(call["input"])}.items()))})
            elif "reasoningContent" not in block:
                content.append(block)
        return [{"content": content or [{"text": "(nothing)"}], "role": "assistant"}]

    def calls(self, entry: Entry) -> list[tuple[str, Any]]:
        made = [block["toolUse"] for block in entry["content"] if "toolUse" in block]
        return [(one["name"], one["input"]) for one in made]

    def text(self, entry: Entry) -> str:
        return "".join(block["text"] for block in entry["content"] if "text" in block)

    def answered(self, behind: Sequence[Entry]) -> int:
        return sum("toolResult" in block for block in behind[0]["content"]) if behind else 0


class VertexGeminiWanderer(GeminiWanderer):
    mouth = GeminiOnVertex()


class _AzureChat(Chat):
    def path(self, streamed: bool) -> str:
        if streamed:
            return "/openai/deployments/gpt-5/chat/completions?api-version=2025-04-01-preview"
        return "/openai/v1/chat/completions"


class AzureChatWanderer(ClaudeWanderer):
    mouth = _AzureChat()
    raw_arguments = True

    def mangled(self, entries: Sequence[Entry], dice: random.Random) -> list[Entry]:
        (message,) = entries
        return [changed_chat(orjson.loads(orjson.dumps(message)), _MANGLED)]

    def calls(self, entry: Entry) -> list[tuple[str, Any]]:
        made = [one["function"] for one in entry.get("tool_calls") or ()]
        return [(one["name"], orjson.loads(one["arguments"])) for one in made]

    def text(self, entry: Entry) -> str:
        return entry.get("content") or ""

    def answered(self, behind: Sequence[Entry]) -> int:
        roles = [one["role"] for one in behind]
        return next((place for place, role in enumerate(roles) if role != "tool"), len(roles))


class _AzureResponses(Responses):
    def path(self, streamed: bool) -> str:
        return "/openai/responses?api-version=2025-04-01-preview" if streamed else "/openai/v1/responses"


class AzureResponsesWanderer(ResponsesWanderer):
    mouth = _AzureResponses()


CLOUDS: dict[str, type[Wanderer]] = {
    "bedrock-converse": ConverseWanderer,
    "bedrock-invoke": InvokeWanderer,
    "anthropic-vertex": VertexClaudeWanderer,
    "gemini-vertex": VertexGeminiWanderer,
    "azure-chat": AzureChatWanderer,
    "azure-responses": AzureResponsesWanderer,
}


def _is_whole(data: bytes) -> bool:
    """Whether an event stream ends behind a message, and with no error."""
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    messages = list(buffer)
    size = sum(message.prelude.total_length for message in messages)
    return size == len(data) and all(message.headers[":message-type"] == "event" for message in messages)


def _reversed(value: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(value.items()))
