"""The contents of a Gemini request: read into turns, and edited (WIRE.md 4, 8.4).

Calls and results pair by order and name, since ids are optional and clients drop them: calls are named by what they say
(`positional`), whatever id they bear.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, Final

from interceptors import strict_json
from proxy.wire import envelope, gemini_results
from proxy.wire.ends import newest_of, opening_of
from proxy.wire.gemini_request import camel, object_of
from proxy.wire.gemini_results import RESULT, WRAPPED
from proxy.wire.gemini_types import CALL
from proxy.wire.positional import kept, named, unpaired
from proxy.wire.transcript import PART, CallSeen, Content, HiddenResult, Side, SideTurn, Turns, call_seen, result_seen
from proxy.wire.turn import remarked

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

_SIDES: Final = {"user": Side.USER, "function": Side.USER, "tool": Side.USER, "model": Side.ASSISTANT}
_ALPHABET: Final = bytes.maketrans(b"-_", b"+/")  # official clients write the bytes of an image in the other base64


class GeminiTranscript:
    is_adjacent, is_bound, is_continued = True, False, False

    def __init__(self, body: bytes) -> None:
        self._members = camel(envelope.members(body))
        contents = self._members.get("contents", self._members.get(PART, b"[]"))
        self.messages: Sequence[bytes] = [contents] if contents.startswith(b"{") else envelope.list_or_none(contents)
        self._turns: list[SideTurn] | None = None
        self._answers: dict[bytes, list[frozenset[str]]] = {}

    def reminder(self, text: str) -> bytes:
        return content("user", [envelope.encode({"text": remarked(text)})])

    def opening(self) -> SideTurn | None:
        return opening_of(self.messages, _is_said, turns_of)

    def turns(self) -> Sequence[SideTurn]:
        if self._turns is None:
            self._turns = turns_of(self.messages)
        return self._turns

    def newest(self) -> tuple[SideTurn | None, SideTurn | None]:
        return newest_of(self.messages, _is_said, turns_of)

    def with_notice(self, message: bytes, calls: Collection[str], notice: str) -> bytes:
        """Where equal messages answer different calls, each of them gets the notice that one of them should have."""
        if not self._answers:
            self._pair()
        answered = self._answers.get(message)
        if answered is None or not any(not ids.isdisjoint(calls) for ids in answered):
            return message
        parts = _parts(message)
        marked = iter(answered)
        for place, part in enumerate(parts):
            members = object_of(part)
            if RESULT in members and not next(marked).isdisjoint(calls):
                response = object_of(members[RESULT])
                own = response.get("response", b"{}")
                own = own if own.startswith(b"{") else b"{}"
                response["response"] = envelope.join({"notice": envelope.encode(notice), **envelope.members(own)})
                parts[place] = envelope.join({**members, RESULT: envelope.join(response)})
        return envelope.edited(message, parts=envelope.join_list(parts))

    def contents(self, messages: Sequence[bytes]) -> list[Content]:
        parts = [object_of(part) for message in messages for part in _parts(message)]
        return [gemini_results.content(members[RESULT]) for members in parts if _is_result(members)]

    def with_contents(self, messages: Sequence[bytes], contents: Sequence[Content | None]) -> list[bytes]:
        left = iter(contents)
        return [self._each_result(each, lambda part: gemini_results.edited(part, next(left))) for each in messages]

    def without_results(self, messages: Sequence[bytes], dropped: Sequence[bool]) -> list[bytes]:
        left = iter(dropped)
        found = [self._each_result(message, lambda part: None if next(left) else part) for message in messages]
        return [message for message in found if _parts(message)]

    @staticmethod
    def _each_result(message: bytes, change: Callable[[bytes], bytes | None]) -> bytes:
        """The message with each of its results changed, or without it."""
        parts = _parts(message)
        changed = [change(part) if _is_result(object_of(part)) else part for part in parts]
        kept = envelope.join_list([part for part in changed if part is not None])
        return message if changed == parts else envelope.edited(message, parts=kept)

    def bound(self, message: bytes, mark: str) -> bytes:  # noqa: ARG002 - of the protocol
        """As `unsealed`."""
        return message

    def opened(self, message: bytes, mark: str) -> tuple[bytes, int]:
        return self.unsealed(message, mark)

    def body(self, messages: Sequence[bytes]) -> bytes:
        return envelope.join({**self._members, "contents": envelope.join_list(list(messages))})

    def with_results(
        self, messages: Sequence[bytes], results: Sequence[HiddenResult], order: Sequence[str]
    ) -> list[bytes]:
        """All results stand in one content, in the order of their calls, before all else that it holds."""
        ours = {result.call: gemini_results.result_part(result) for result in results}
        left = [call for call in order if call not in ours]
        found = dict(ours)
        rest: list[bytes] = []
        first: int | None = None
        others: list[list[bytes]] = []
        for place, message in enumerate(messages):
            parts = _parts(message)
            own = [part for part in parts if RESULT in object_of(part)]
            first = place if own and first is None else first
            for part in own:
                name = _name(object_of(part)[RESULT])
                call = next((each for each in left if _is_of(each, name)), None)
                if call is None:
                    rest.append(part)
                else:
                    left.remove(call)
                    found[call] = part
            others.append([part for part in parts if part not in own])
        ordered = [found.pop(call) for call in order if call in found]
        answered = [*ordered, *found.values(), *rest]
        if first is None:
            return [content("user", answered), *messages]
        return [
            envelope.edited(message, parts=envelope.join_list([*(answered if place == first else ()), *parts]))
            for place, (message, parts) in enumerate(zip(messages, others, strict=True))
            if place == first or parts
        ]

    def without_thinking(self, message: bytes) -> bytes:
        """Nothing in this dialect is bound to what stands before it."""
        return message

    def unsealed(self, message: bytes, mark: str) -> tuple[bytes, int]:  # noqa: ARG002 - of the protocol
        """Nothing in this dialect is bound to what stands before it."""
        return message, 0

    def _pair(self) -> None:
        """Which calls the parts of each message answer, over all places where an equal message stands."""
        for turn in self.turns():
            ids = iter([result.call for result in turn.results])
            for message in self.messages[turn.first : turn.last + 1]:
                found = [frozenset({next(ids)}) for part in _parts(message) if RESULT in object_of(part)]
                before = self._answers.get(message)
                both = [one | other for one, other in zip(before, found, strict=True)] if before else found
                if found:
                    self._answers[message] = both


def content(role: str, parts: Iterable[bytes]) -> bytes:
    return envelope.join({"role": envelope.encode(role), "parts": envelope.join_list(list(parts))})


def turns_of(messages: Sequence[bytes], first: int = 0) -> list[SideTurn]:
    """The turns of these contents, the first of which stands at the place `first`."""
    turns = Turns()
    open_calls: list[CallSeen] = []
    for place, raw in enumerate(messages, first):
        side = _side(raw)
        is_new = not turns.found or turns.found[-1].side is not side
        turn = turns.at(side, place)
        if side is Side.ASSISTANT and is_new:
            open_calls = []
        for part in _parts(raw):
            _read_part(turn, part, open_calls)
    return turns.found


def _read_part(turn: SideTurn, raw: bytes, open_calls: list[CallSeen]) -> None:
    members = object_of(raw)
    if members.get(CALL, b"null") != b"null":
        turn.calls.append(_call(members[CALL], {call.id for call in turn.calls}))
        open_calls.append(turn.calls[-1])
    elif members.get(RESULT, b"null") != b"null":
        _read_result(turn, members[RESULT], open_calls)
    elif "text" in members:
        text = envelope.value_of(members["text"])
        if isinstance(text, str) and envelope.value_of(members.get("thought", b"false")) is not True:
            turn.texts.append(text)
    elif members:
        kept = {name: envelope.value_of(value) for name, value in members.items() if name != "thoughtSignature"}
        turn.other.append(hashlib.sha256(strict_json.canonical(kept).translate(_ALPHABET, b"=")).hexdigest())


def _call(raw: bytes, taken: Collection[str]) -> CallSeen:
    members = object_of(raw)
    arguments = members.get("args", b"null")
    seen = call_seen("", _name(raw), "" if arguments == b"null" else arguments.decode())
    digest = seen.digest if seen.arguments is not None else ""
    own = str(envelope.value_of(members.get("id", b"null")) or "")
    return CallSeen(named(seen.name, digest, taken), seen.name, seen.arguments, seen.digest, provider_id=own)


def _read_result(turn: SideTurn, raw: bytes, open_calls: list[CallSeen]) -> None:
    """The first open call of its name is the one that it answers."""
    name = _name(raw)
    call = next((one for one in open_calls if one.name == name), None)
    if call is not None:
        open_calls.remove(call)
    response = object_of(raw).get("response", b"{}")
    members = envelope.members(response) if response.startswith(b"{") else {}
    only = next(iter(members)) if len(members) == 1 else ""
    value = members[only] if only in WRAPPED else response
    said: Any = envelope.value_of(value) if value.startswith(b'"') else None
    text = said if isinstance(said, str) else value.decode()
    call_id = call.id if call is not None else unpaired(name)
    turn.results.append(result_seen(call_id, text, is_error="error" in members, stated=name))


def _is_result(members: Mapping[str, bytes]) -> bool:
    """As `_read_part` reads it."""
    return members.get(CALL, b"null") == b"null" and members.get(RESULT, b"null") != b"null"


def _is_of(call: str, name: str) -> bool:
    return kept(call) == kept(unpaired(name))


def _parts(raw: bytes) -> list[bytes]:
    return envelope.list_or_none(object_of(raw).get("parts", b"[]"))


def _name(raw: bytes) -> str:
    value = envelope.value_of(object_of(raw).get("name", b'""'))
    return value if isinstance(value, str) else ""


def _is_said(raw: bytes) -> bool:
    return _side(raw) is Side.ASSISTANT


def _side(raw: bytes) -> Side:
    role = envelope.value_of(envelope.members(raw).get("role", b'"user"'))
    if role in (None, ""):
        return Side.USER
    if not isinstance(role, str) or role not in _SIDES:
        raise envelope.EnvelopeError("a content has no role that is known")
    return _SIDES[role]
