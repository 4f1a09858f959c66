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
from tests.e2e.talkers import NOTHING

if TYPE_CHECKING:
    from collections.abc import Collection

    from proxy.demo.provider import Received

Message = dict[str, Any]
Part = tuple[Any, ...]
"""Of a turn: a text, a thinking block, or a call with its id, its tool's name and the digest of its arguments."""

_NOTHING = (NOTHING, "(no text)")
"""What stands in a turn that has nothing else left: of a client, and of the gate."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What the policy of a run says: folded names of tools, and the texts in place of refused calls."""

    allowed: frozenset[str]
    told: frozenset[str]  # to the model
    together: frozenset[str]  # `batch: all_or_nothing`
    replies: tuple[str, ...]
    repeated: str

    def may_drop(self, dropped: Collection[Part], told: Collection[Part], text: str, cut: Collection[str] = ()) -> bool:
        """Whether these calls of a turn may be gone from it. `told` are all parts that were said, `text` is what came
        up in it. A call that was `cut` off can be told to no model, whatever its reason."""
        calls = [part for part in told if part[0] == "call"]
        allowed = [part for part in calls if part[2] in self.allowed and part[1] not in cut]
        runs = any(part not in dropped for part in allowed)
        if self.together.intersection(part[2] for part in calls):
            return not runs or not dropped
        if any(part in dropped for part in allowed):
            return len(allowed) < len(calls) and not runs
        heard = any(part[2] in self.told and part[1] not in cut for part in dropped)
        return not runs or not heard or _bare(self.repeated) in text


@dataclass(slots=True)
class Seen:
    """The requests of one family of conversations, each with the turn that answered it. `cut` are the ids of calls that
    the token limit cut off."""

    dialect: Dialect
    rules: Rules
    exact: bool
    thinking: bool
    requests: list[tuple[bytes, Message | None]] = field(default_factory=list)
    cut: set[str] = field(default_factory=set)

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
        self._note_cut(before)
        wrong = extends(before.body, None, after.body, dialect=self.dialect)
        number = len(orjson.loads(before.body)["messages"])
        return wrong or self._turn(before.turn, orjson.loads(after.body)["messages"][number])

    def add(self, one: Received) -> None:
        self._note_cut(one)
        self.requests.append((one.body, one.turn))

    def _note_cut(self, one: Received) -> None:
        if one.is_cut and one.turn is not None:
            self.cut |= {part[1] for part in self._parts(one.turn)[-1:] if part[0] == "call"}

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
        wrong = (
            []
            if self.rules.may_drop(dropped, told, text, self.cut)
            else [f"calls are gone: {[part[2] for part in dropped]}"]
        )
        expected = _joined([part for part in told if part not in dropped], (*self.rules.replies, *_NOTHING))
        actual = _joined(sent, (*self.rules.replies, *_NOTHING))
        count = sum(text.count(_bare(reply)) for reply in self.rules.replies)
        if count < len(dropped):
            wrong.append(f"{len(dropped)} calls are gone, and {count} texts stand for them")
        return wrong if expected == actual else [*wrong, f"the turn is another: {expected} came as {actual}"]

    def _parts(self, message: Message) -> list[Part]:
        if self.dialect is Dialect.CHAT:
            parts: list[Part] = [("text", _bare(message.get("content") or ""))]
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


def _joined(parts: list[Part], replies: tuple[str, ...]) -> list[Part]:
    """Texts that stand side by side are one; what stands in the place of refused calls is left out."""
    found: list[Part] = []
    for part in parts:
        if part[0] == "text" and found and found[-1][0] == "text":
            found[-1] = ("text", found[-1][1] + part[1])
        else:
            found.append(part)
    cleaned: list[Part] = []
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
