"""Whether what goes up is what the provider saw, then its turn, then more (guarantee G7), with what code may change.

A call that was refused by code stands in the history as its text, since that is what the client saw. A call whose
refusal the model heard, or is to hear beside calls that run, stands there as the model wrote it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo import meaning
from proxy.demo.turns import Dialect
from proxy.demo.watcher import extends, retries

if TYPE_CHECKING:
    from collections.abc import Collection

    from proxy.demo.provider import Received

Message = dict[str, Any]

_NOTHING = ("(nothing)", "(no text)")
"""What stands in a turn that has nothing else left: of a client, and of the gate."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy of a run says: folded names of tools, and the texts in place of refused calls."""

    allowed: frozenset[str]
    told: frozenset[str]  # to the model
    together: frozenset[str]  # `batch: all_or_nothing`
    replies: tuple[str, ...]
    repeated: str
    malformed: str = "(malformed)"


@dataclass(slots=True)
class Seen:
    """The requests of one family of conversations, each with the turn that answered it."""

    dialect: Dialect
    rules: Rules
    exact: bool
    thinking: bool
    requests: list[tuple[bytes, Message | None]] = field(default_factory=list)

    def problems(self, body: bytes) -> list[str]:
        """What is wrong with a first leg; nothing where it extends or repeats what was seen."""
        found: list[str] = []
        for was, turn in reversed(self.requests):
            wrong = self._extends(was, turn, body)
            if not wrong:
                return []
            found = found or wrong
            if retries(was, body):
                return []
        return found

    def leg_problems(self, before: Received, after: Received) -> list[str]:
        """What is wrong with a continuation."""
        if before.turn is None:
            return ["a turn that was not said is gone on with"]
        wrong = extends(before.body, None, after.body, dialect=self.dialect)
        number = len(orjson.loads(before.body)["messages"])
        return wrong or self._turn(before.turn, orjson.loads(after.body)["messages"][number])

    def add(self, one: Received) -> None:
        self.requests.append((one.body, one.turn))

    def _extends(self, was: bytes, turn: Message | None, body: bytes) -> list[str]:
        wrong = extends(was, None, body, dialect=self.dialect, exact=self.exact, thinking=self.thinking)
        if wrong or turn is None:
            return wrong
        number = len(orjson.loads(was)["messages"])
        return self._turn(turn, orjson.loads(body)["messages"][number])

    def _turn(self, said: Message, came: Message) -> list[str]:
        told = self._parts(said)
        sent = self._parts(came)
        kept = {part[1] for part in sent if part[0] == "call"}
        dropped = [part for part in told if part[0] == "call" and part[1] not in kept]
        text = "".join(part[1] for part in sent if part[0] == "text")
        wrong = [] if self._may_drop(dropped, told, text) else [f"calls are gone: {[part[2] for part in dropped]}"]
        expected = _joined([part for part in told if part not in dropped], (*self.rules.replies, *_NOTHING))
        actual = _joined(sent, (*self.rules.replies, *_NOTHING))
        count = sum(text.count(_bare(reply)) for reply in self.rules.replies)
        if count < len(dropped):
            wrong.append(f"{len(dropped)} calls are gone, and {count} texts stand for them")
        return wrong if expected == actual else [*wrong, f"the turn is another: {expected} came as {actual}"]

    def _may_drop(self, dropped: Collection[tuple[Any, ...]], told: Collection[tuple[Any, ...]], text: str) -> bool:
        if _bare(self.rules.malformed) in text:  # a call that was cut off, whatever it is
            return True
        names = [part[2] for part in told if part[0] == "call"]
        refused = [part[2] for part in dropped]
        runs = any(part[2] in self.rules.allowed and part not in dropped for part in told if part[0] == "call")
        if self.rules.together.intersection(names):
            return not runs or not refused
        if any(name in self.rules.allowed for name in refused):
            return any(name not in self.rules.allowed for name in names) and not runs
        return not runs or all(name not in self.rules.told for name in refused) or _bare(self.rules.repeated) in text

    def _parts(self, message: Message) -> list[tuple[Any, ...]]:
        if self.dialect is Dialect.CHAT:
            parts: list[tuple[Any, ...]] = [("text", _bare(message.get("content") or ""))]
            for call in message.get("tool_calls") or ():
                function = call["function"]
                parts.append(("call", call["id"], function["name"], _digest(function["arguments"])))
            return parts
        parts = []
        content = message["content"]
        for block in content if isinstance(content, list) else [{"type": "text", "text": content}]:
            if block["type"] == "text":
                parts.append(("text", _bare(block["text"])))
            elif block["type"] == "tool_use":
                parts.append(("call", block["id"], block["name"], meaning.digest(meaning.plain(block["input"])).hex()))
            elif self.thinking:
                parts.append(("thinking", block.get("signature", block.get("data"))))
        return parts


def _joined(parts: list[tuple[Any, ...]], replies: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """Texts that stand side by side are one; what stands in the place of refused calls is left out."""
    found: list[tuple[Any, ...]] = []
    for part in parts:
        if part[0] == "text" and found and found[-1][0] == "text":
            found[-1] = ("text", found[-1][1] + part[1])
        else:
            found.append(part)
    cleaned: list[tuple[Any, ...]] = []
    for part in found:
        if part[0] == "text":
            text = part[1]
            for reply in replies:
                text = text.replace(_bare(reply), "")
            if text:
                cleaned.append(("text", text))
        else:
            cleaned.append(part)
    return cleaned


def _bare(text: str) -> str:
    return "".join(text.split())


def _digest(arguments: str) -> str:
    return meaning.digest(meaning.plain(meaning.arguments(arguments))).hex()
