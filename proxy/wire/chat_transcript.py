"""The messages of a Chat request: read into turns, and edited (WIRE.md 2, 8.2)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from proxy.wire import envelope
from proxy.wire.chat_calls import FUNCTION, LEGACY
from proxy.wire.ends import newest_of, opening_of
from proxy.wire.transcript import CallSeen, Content, HiddenResult, Side, SideTurn, Turns, call_seen, result_seen
from proxy.wire.turn import remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SIDES = {
    "system": Side.SYSTEM,
    "developer": Side.SYSTEM,
    "user": Side.USER,
    "tool": Side.USER,
    "function": Side.USER,
    "assistant": Side.ASSISTANT,
}
_RESULT_ROLES = ("tool", "function")


class ChatTranscript:
    is_adjacent = True
    is_bound = False
    is_continued = False

    def __init__(self, body: bytes) -> None:
        self._members = envelope.members(body)
        self.messages: Sequence[bytes] = envelope.elements(self._members.get("messages", b"[]"))
        self._turns: list[SideTurn] | None = None

    def reminder(self, text: str) -> bytes:
        return envelope.encode({"role": "user", "content": remarked(text)})

    def opening(self) -> SideTurn | None:
        return opening_of(self.messages, _is_said, turns_of)

    def turns(self) -> Sequence[SideTurn]:
        if self._turns is None:
            self._turns = turns_of(self.messages, 0)
        return self._turns

    def newest(self) -> tuple[SideTurn | None, SideTurn | None]:
        return newest_of(self.messages, _is_said, turns_of)

    def with_notice(self, message: bytes, calls: Collection[str], notice: str) -> bytes:
        if _role(message) not in _RESULT_ROLES or _call_of(message) not in calls:
            return message
        content = _text(envelope.value_of(envelope.members(message).get("content", b"null")))
        return envelope.edited(message, content=f"{notice}\n{content}")

    def contents(self, messages: Sequence[bytes]) -> list[Content]:
        return [_content(message) for message in messages if _role(message) in _RESULT_ROLES]

    def with_contents(self, messages: Sequence[bytes], contents: Sequence[Content | None]) -> list[bytes]:
        """The dialect has no mark for a result that is an error: its text says so."""
        left = iter(contents)
        news = [next(left) if _role(message) in _RESULT_ROLES else None for message in messages]
        return [message if new is None else _edited(message, new) for message, new in zip(messages, news, strict=True)]

    def without_results(self, messages: Sequence[bytes], dropped: Sequence[bool]) -> list[bytes]:
        left = iter(dropped)
        return [message for message in messages if _role(message) not in _RESULT_ROLES or not next(left)]

    def bound(self, message: bytes, mark: str) -> bytes:  # noqa: ARG002 - of the protocol
        """Nothing in this dialect is bound to what stands before it."""
        return message

    def opened(self, message: bytes, mark: str) -> tuple[bytes, int]:  # noqa: ARG002 - of the protocol
        """Nothing in this dialect is bound to what stands before it."""
        return message, 0

    def body(self, messages: Sequence[bytes]) -> bytes:
        return envelope.join({**self._members, "messages": envelope.join_list(list(messages))})

    def with_results(
        self, messages: Sequence[bytes], results: Sequence[HiddenResult], order: Sequence[str]
    ) -> list[bytes]:
        """All results stand first, in the order of the calls."""
        own = [message for message in messages if _role(message) in _RESULT_ROLES]
        rest = [message for message in messages if _role(message) not in _RESULT_ROLES]
        by_call = {_call_of(message): message for message in own}
        by_call |= {result.call: result_message(result) for result in results}
        ordered = [by_call.pop(call) for call in order if call in by_call]
        return [*ordered, *by_call.values(), *rest]

    def without_thinking(self, message: bytes) -> bytes:
        """Nothing in this dialect is bound to what stands before it."""
        return message

    def unsealed(self, message: bytes, mark: str) -> tuple[bytes, int]:  # noqa: ARG002 - of the protocol
        """Nothing in this dialect is bound to what stands before it."""
        return message, 0


def _content(message: bytes) -> Content:
    value = envelope.value_of(envelope.members(message).get("content", b"null"))
    if isinstance(value, list):
        return Content(tuple(_text([part]) for part in value))
    return Content((value,) if isinstance(value, str) else ())


def _edited(message: bytes, new: Content) -> bytes:
    if not envelope.members(message).get("content", b"null").startswith(b"["):
        return envelope.edited(message, content="\n".join(new.texts))
    return envelope.edited(message, content=[{"type": "text", "text": text} for text in new.texts])


def result_message(result: HiddenResult) -> bytes:
    """A refusal as the result of its call."""
    if result.kind == LEGACY:
        return envelope.encode({"role": "function", "name": result.name, "content": result.content})
    return envelope.encode({"role": "tool", "tool_call_id": result.call, "content": result.content})


def turns_of(messages: Sequence[bytes], first: int = 0) -> list[SideTurn]:
    """The turns of these messages, the first of which stands at the place `first`."""
    turns = Turns()
    for place, raw in enumerate(messages, first):
        message = envelope.value_of(raw)
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in _SIDES:
            raise envelope.EnvelopeError(f"messages.{place} has no role that is known")
        turn = turns.at(_SIDES[role], place)
        if role in _RESULT_ROLES:
            call = str(message.get("tool_call_id") or message.get("name") or "")
            turn.results.append(result_seen(call, _text(message.get("content")), is_error=False))
            continue
        _read_content(turn, message.get("content"))
        calls, function = message.get("tool_calls") or [], message.get(LEGACY) or {}
        if not isinstance(calls, list) or not isinstance(function, dict):
            raise envelope.EnvelopeError(f"messages.{place} has calls of another shape")
        for position, call_object in enumerate(calls):
            _read_call(turn, raw, ("tool_calls", position), call_object)
        if function:
            seen = call_seen("", str(function.get("name", "")), _arguments(raw, (LEGACY,), function))
            turn.calls.append(replace(seen, kind=LEGACY))
    return turns.found


def _read_call(turn: SideTurn, raw: bytes, path: tuple[str | int, ...], call: Any) -> None:
    if not isinstance(call, dict):
        raise envelope.EnvelopeError("a tool call is no object")
    kind = str(call.get("type") or FUNCTION)
    found = call.get(kind)
    body: dict[str, Any] = found if isinstance(found, dict) else {}
    name, call_id = str(body.get("name", "")), str(call.get("id", ""))
    if kind == FUNCTION:
        turn.calls.append(call_seen(call_id, name, _arguments(raw, (*path, kind), body)))
        return
    text = _text(body.get("input"))
    digest = strict_json.digest({"input": text})
    turn.calls.append(CallSeen(call_id, name, {"input": text}, digest))


def _arguments(raw: bytes, path: tuple[str | int, ...], function: dict[str, Any]) -> str:
    """As text; some clients hold them parsed."""
    arguments = function.get("arguments")
    if isinstance(arguments, dict):
        return envelope.raw_at(raw, *path, "arguments").decode()
    return _text(arguments)


def _read_content(turn: SideTurn, content: Any) -> None:
    if isinstance(content, str):
        turn.texts.append(content)
        return
    for part in content if isinstance(content, list) else ():
        if isinstance(part, dict) and part.get("type") in ("text", "refusal"):
            turn.texts.append(str(part.get("text") or part.get("refusal") or ""))
        elif isinstance(part, dict):
            turn.other.append(hashlib.sha256(strict_json.canonical(part)).hexdigest())


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return ""


def _is_said(raw: bytes) -> bool:
    return _role(raw) == "assistant"


def _role(raw: bytes) -> str:
    role = envelope.value_of(envelope.members(raw).get("role", b"null"))
    return role if isinstance(role, str) else ""


def _call_of(raw: bytes) -> str:
    members = envelope.members(raw)
    name = members.get("tool_call_id") or members.get("name") or b'""'
    return str(envelope.value_of(name))
