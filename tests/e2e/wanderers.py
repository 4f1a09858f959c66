"""The clients of `wandering`: what a dialect's history is, how clients mangle it, and what the provider saw of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import orjson

from proxy.demo.responses_provider import ResponsesProvider
from proxy.demo.turns import Call
from tests.e2e.client import events
from tests.e2e.mouths import Answer, Double, Gemini, Ollama, Responses, asked_of_items

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence

    from proxy.demo.turns import HttpError, Script, Turn
    from tests.e2e.mouths import Entry, Mouth


@dataclass(slots=True)
class Wanderer:
    """`double` is the strict provider that it talks to."""

    double: Double | None = None
    mouth: ClassVar[Mouth]
    member: ClassVar[str]
    raw_arguments: ClassVar[bool] = False  # what is no JSON can be said
    loses: ClassVar[bool] = True

    def contexts(self) -> list[list[Entry]]:
        """What the model saw of each request that was answered."""
        assert self.double is not None
        return [body[self.member] for body in self.double.bodies()]

    def answers(self, said: Sequence[Turn | None]) -> list[Turn | None]:
        """The turns that belong to the contexts."""
        return list(said)

    def refused(self) -> list[str]:
        assert self.double is not None
        return self.double.refused()

    def sayable(self, turn: Turn) -> Turn:
        if self.raw_arguments:
            return turn
        broken = [replace(part, arguments="[]") if _is_broken(part) else part for part in turn.parts]
        return replace(turn, parts=tuple(broken))

    def body(self, history: list[Entry], new: int, answer: Answer | None, streamed: bool) -> Entry:
        return self.mouth.body(history, streamed)

    def read(self, data: bytes, streamed: bool) -> Answer | None:
        """None where the answer was cut off."""
        raise NotImplementedError

    def rewound(self, last: str) -> Answer:
        return Answer("", (), "", (), last)

    def mangled(self, entries: Sequence[Entry], dice: random.Random) -> list[Entry]:
        raise NotImplementedError

    def turns(self, body: Any) -> int:
        """How many turns of the model a request holds."""
        return sum(map(self.is_said, body[self.member]))

    def is_said(self, entry: Entry) -> bool:
        return entry.get("role") in ("assistant", "model")

    def calls(self, entry: Entry) -> list[tuple[str, Any]]:
        raise NotImplementedError

    def text(self, entry: Entry) -> str:
        raise NotImplementedError

    def answered(self, behind: Sequence[Entry]) -> int:
        """How many results stand first."""
        raise NotImplementedError


class GeminiWanderer(Wanderer):
    mouth = Gemini()
    member = "contents"

    def read(self, data: bytes, streamed: bool) -> Answer | None:
        chunks = events(data) if streamed else [orjson.loads(data)]
        ends = [one for chunk in chunks for one in chunk.get("candidates", ()) if one.get("finishReason")]
        return None if not ends or "error" in chunks[-1] else self.mouth.read(data, streamed)

    def mangled(self, entries: Sequence[Entry], dice: random.Random) -> list[Entry]:
        (content,) = entries
        parts: list[Any] = []
        for part in content["parts"]:
            if part.get("thought") or part.get("text") == "":
                continue
            if parts and set(part) == set(parts[-1]) == {"text"}:
                parts[-1] = {"text": parts[-1]["text"] + part["text"]}
            elif "functionCall" in part:
                call = part["functionCall"]
                parts.append({**part, "functionCall": {**call, "args": _reversed(call.get("args") or {})}})
            else:
                parts.append(part)
        return [{"role": "model", "parts": parts or content["parts"]}]

    def calls(self, entry: Entry) -> list[tuple[str, Any]]:
        made = [part["functionCall"] for part in entry["parts"] if "functionCall" in part]
        return [(one["name"], one.get("args") or {}) for one in made]

    def text(self, entry: Entry) -> str:
        return "".join(part["text"] for part in entry["parts"] if "text" in part and not part.get("thought"))

    def answered(self, behind: Sequence[Entry]) -> int:
        return sum("functionResponse" in part for part in behind[0]["parts"]) if behind else 0


class OllamaWanderer(Wanderer):
    mouth = Ollama()
    member = "messages"

    def read(self, data: bytes, streamed: bool) -> Answer | None:
        last = orjson.loads(data.rstrip(b"\n").rpartition(b"\n")[2])
        return self.mouth.read(data, streamed) if last.get("done") else None

    def mangled(self, entries: Sequence[Entry], dice: random.Random) -> list[Entry]:
        (message,) = entries
        if "tool_calls" not in message:
            return [message]
        functions = [one["function"] for one in message["tool_calls"]]
        calls = [
            {"type": "function", "function": {**one, "arguments": _reversed(one["arguments"])}} for one in functions
        ]
        return [_reversed({**message, "tool_calls": calls})]

    def calls(self, entry: Entry) -> list[tuple[str, Any]]:
        made = [one["function"] for one in entry.get("tool_calls") or ()]
        return [(one["name"], one["arguments"]) for one in made]

    def text(self, entry: Entry) -> str:
        return entry.get("content") or ""

    def answered(self, behind: Sequence[Entry]) -> int:
        roles = [one["role"] for one in behind]
        return next((place for place, role in enumerate(roles) if role != "tool"), len(roles))


@dataclass(slots=True)
class ResponsesWanderer(Wanderer):
    """The client keeps the history, and the provider stores it too."""

    mouth = Responses()
    member = "input"
    raw_arguments = True
    provider: ResponsesProvider = field(init=False)

    def made(self, script: Script) -> Double:
        def answered(context: list[Entry]) -> Turn | HttpError:
            answer: Any = script(asked_of_items(context)).answer
            return answer

        self.provider = ResponsesProvider(answered)
        return Double(self.provider.app(), lambda: list(self.provider.received), lambda: self.provider.refused)

    def contexts(self) -> list[list[Entry]]:
        return self.provider.contexts

    def answers(self, said: Sequence[Turn | None]) -> list[Turn | None]:
        return [turn for turn in said if turn is not None]

    def read(self, data: bytes, streamed: bool) -> Answer | None:
        if not streamed:
            return self.mouth.read(data, streamed)
        last = events(data)[-1]
        return (
            self.mouth.read(data, streamed) if last["type"] in ("response.completed", "response.incomplete") else None
        )

    def mangled(self, entries: Sequence[Entry], dice: random.Random) -> list[Entry]:
        """As a client that keeps nothing of the provider's own: no ids, no reasoning, arguments written anew."""
        kept = []
        for item in entries:
            if item["type"] == "reasoning":
                continue
            own = {key: value for key, value in item.items() if key not in ("id", "status")}
            if item["type"] == "function_call":
                arguments = _reversed(orjson.loads(own["arguments"]))
                own["arguments"] = orjson.dumps(arguments, option=orjson.OPT_INDENT_2).decode()
            kept.append(_reversed(own))
        return kept

    def turns(self, body: Any) -> int:
        items = [self.is_said(item) for item in body["input"]]
        return sum(is_said and not before for before, is_said in zip([False, *items], items, strict=False))

    def is_said(self, entry: Entry) -> bool:
        return entry.get("role") == "assistant" or entry.get("type") in ("function_call", "reasoning")

    def calls(self, entry: Entry) -> list[tuple[str, Any]]:
        if entry.get("type") != "function_call":
            return []
        try:
            return [(entry["name"], orjson.loads(entry["arguments"]))]
        except ValueError:  # what the provider holds is as the model wrote it
            return [(entry["name"], entry["arguments"])]

    def text(self, entry: Entry) -> str:
        parts = entry["content"] if entry.get("role") == "assistant" else ()
        return "".join(part["text"] for part in parts)

    def answered(self, behind: Sequence[Entry]) -> int:
        kinds = [one.get("type") for one in behind]
        return next((place for place, kind in enumerate(kinds) if kind != "function_call_output"), len(kinds))


class StatelessWanderer(ResponsesWanderer):
    """`store: false`, with reasoning that the client carries."""

    def body(self, history: list[Entry], new: int, answer: Answer | None, streamed: bool) -> Entry:
        more = {"store": False, "include": ["reasoning.encrypted_content"]}
        return self.mouth.body(history, streamed) | more


class ByIdWanderer(ResponsesWanderer):
    """The provider keeps the history: what is hidden there is owed an output, which the ledger alone knows."""

    loses = False

    def body(self, history: list[Entry], new: int, answer: Answer | None, streamed: bool) -> Entry:
        previous = {} if answer is None else {"previous_response_id": answer.id}
        return self.mouth.body(history[new:], streamed) | previous


WANDERERS = {
    "gemini": GeminiWanderer,
    "ollama": OllamaWanderer,
    "responses-replay": ResponsesWanderer,
    "responses-stateless": StatelessWanderer,
    "responses-by-id": ByIdWanderer,
}


def _is_broken(part: Any) -> bool:
    return isinstance(part, Call) and part.name == "read_broken"


def _reversed(value: dict[str, Any]) -> dict[str, Any]:
    return dict(reversed(value.items()))
