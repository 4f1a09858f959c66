"""The messages of an Ollama chat: read into turns, and edited. Results pair by order and name (WIRE.md 6)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.ends import newest_of, opening_of
from proxy.wire.events import TEXT_KIND
from proxy.wire.ollama_types import CALLS, FUNCTION
from proxy.wire.positional import kept, named, unpaired
from proxy.wire.transcript import CallSeen, Content, HiddenResult, Side, SideTurn, Turns, call_seen, result_seen
from proxy.wire.turn import remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_SIDES: Final = {"system": Side.SYSTEM, "user": Side.USER, "tool": Side.USER, "assistant": Side.ASSISTANT}
_RESULT: Final = "tool"


class OllamaTranscript:
    is_adjacent = True
    is_bound = False
    is_continued = False

    def __init__(self, body: bytes) -> None:
        self._members = envelope.members(body)
        self.messages: Sequence[bytes] = envelope.list_or_none(self._members.get("messages", b"[]"))
        self._turns: list[SideTurn] | None = None
        self._answers: dict[bytes, set[str]] = {}

    def reminder(self, text: str) -> bytes:
        return envelope.encode({"role": "user", "content": remarked(text)})

    def opening(self) -> SideTurn | None:
        return opening_of(self.messages, _is_said, turns_of)

    def turns(self) -> Sequence[SideTurn]:
        if self._turns is None:
            self._turns = turns_of(self.messages)
        return self._turns

    def newest(self) -> tuple[SideTurn | None, SideTurn | None]:
        return newest_of(self.messages, _is_said, turns_of)

    def with_notice(self, message: bytes, calls: Collection[str], notice: str) -> bytes:
        """Equal messages that answer different calls get the notice that one of them should have."""
        if _role(message) != _RESULT:
            return message
        if not self._answers:
            for turn in self.turns():
                results = iter(turn.results)
                for raw in self.messages[turn.first : turn.last + 1]:
                    if _role(raw) == _RESULT:
                        self._answers.setdefault(raw, set()).add(next(results).call)
        if self._answers.get(message, set()).isdisjoint(calls):
            return message
        content = envelope.value_of(envelope.members(message).get(TEXT_KIND, b'""'))
        return envelope.edited(message, content=f"{notice}\n{content}")

    def contents(self, messages: Sequence[bytes]) -> list[Content]:
        return [Content((_text(message),)) for message in messages if _role(message) == _RESULT]

    def with_contents(self, messages: Sequence[bytes], contents: Sequence[Content | None]) -> list[bytes]:
        left = iter(contents)
        news = [next(left) if _role(message) == _RESULT else None for message in messages]
        return [
            message if new is None else envelope.edited(message, content="\n".join(new.texts))
            for message, new in zip(messages, news, strict=True)
        ]

    def without_results(self, messages: Sequence[bytes], dropped: Sequence[bool]) -> list[bytes]:
        left = iter(dropped)
        return [message for message in messages if _role(message) != _RESULT or not next(left)]

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
        found = {result.call: result_message(result) for result in results}
        left = [call for call in order if call not in found]
        rest: list[bytes] = []
        for message in messages:
            name = _name(message) if _role(message) == _RESULT else None
            call = None if name is None else next((each for each in left if _is_of(each, name)), None)
            if call is None:
                rest.append(message)
            else:
                left.remove(call)
                found[call] = message
        ordered = [found.pop(call) for call in order if call in found]
        return [*ordered, *found.values(), *rest]

    def without_thinking(self, message: bytes) -> bytes:
        """Nothing in this dialect is bound to what stands before it."""
        return message

    def unsealed(self, message: bytes, mark: str) -> tuple[bytes, int]:  # noqa: ARG002 - of the protocol
        """Nothing in this dialect is bound to what stands before it."""
        return message, 0


def result_message(result: HiddenResult) -> bytes:
    """A refusal as the result of its call."""
    return envelope.encode({"role": _RESULT, "tool_name": result.name, TEXT_KIND: result.content})


def turns_of(messages: Sequence[bytes], first: int = 0) -> list[SideTurn]:
    """The turns of these messages, the first of which stands at the place `first`."""
    turns = Turns()
    open_calls: list[CallSeen] = []
    for place, raw in enumerate(messages, first):
        message = envelope.value_of(raw)
        role = message.get("role") if isinstance(message, dict) else None
        if not isinstance(role, str) or role not in _SIDES:
            raise envelope.EnvelopeError(f"messages.{place} has no role that is known")
        is_new = not turns.found or turns.found[-1].side is not _SIDES[role]
        turn = turns.at(_SIDES[role], place)
        if role == _RESULT:
            _read_result(turn, message, open_calls)
            continue
        if role == "assistant" and is_new:
            open_calls = []
        if isinstance(text := message.get(TEXT_KIND), str):
            turn.texts.append(text)
        for image in message.get("images") or ():
            turn.other.append(hashlib.sha256(str(image).encode()).hexdigest())
        for number, entry in enumerate(message.get(CALLS) or ()):
            call = _call(raw, number, entry, {call.id for call in turn.calls})
            turn.calls.append(call)
            open_calls.append(call)
    return turns.found


def _call(raw: bytes, number: int, entry: Any, taken: Collection[str]) -> CallSeen:
    function = entry.get(FUNCTION) if isinstance(entry, dict) else None
    if not isinstance(function, dict):
        raise envelope.EnvelopeError("a tool call has no function")
    text = ""
    if function.get("arguments") is not None:
        text = envelope.raw_at(raw, CALLS, number, FUNCTION, "arguments").decode()
    seen = call_seen("", str(function.get("name", "")), text)
    digest = seen.digest if seen.arguments is not None else ""
    return CallSeen(named(seen.name, digest, taken), seen.name, seen.arguments, seen.digest)


def _read_result(turn: SideTurn, message: dict[str, Any], open_calls: list[CallSeen]) -> None:
    """The first open call of its name is the one that it answers; without a name, the first open call."""
    name = message.get("tool_name") or message.get("name") or ""
    call = next((one for one in open_calls if name in ("", one.name)), None)
    if call is not None:
        open_calls.remove(call)
    text = message.get(TEXT_KIND)
    said = call.id if call is not None else unpaired(str(name))
    content = text if isinstance(text, str) else ""
    turn.results.append(result_seen(said, content, is_error=False, stated=str(name)))


def _is_of(call: str, name: str) -> bool:
    return name == "" or kept(call) == kept(unpaired(name))


def _text(raw: bytes) -> str:
    text = envelope.value_of(envelope.members(raw).get(TEXT_KIND, b'""'))
    return text if isinstance(text, str) else ""


def _name(raw: bytes) -> str:
    members = envelope.members(raw)
    name = envelope.value_of(members.get("tool_name") or members.get("name") or b'""')
    return name if isinstance(name, str) else ""


def _is_said(raw: bytes) -> bool:
    return _role(raw) == "assistant"


def _role(raw: bytes) -> str:
    role = envelope.value_of(envelope.members(raw).get("role", b"null"))
    return role if isinstance(role, str) else ""
