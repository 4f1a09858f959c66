"""The items of a Responses request: read into turns, and edited (WIRE.md 3.3, 8.3)."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.responses_history import answered_call, is_result, items_of, mark_of, result_items, turns_of
from proxy.wire.responses_items import is_reply
from proxy.wire.responses_reasoning import Stand, bare, marks, orphans, trailing
from proxy.wire.responses_references import came, read, shown, type_of
from proxy.wire.responses_results import contained_in, content_of, edited
from proxy.wire.responses_types import MESSAGE, REASONING, REFERENCE
from proxy.wire.seal import SEALED
from proxy.wire.standing import Held, pointed, pointer, pointer_turn
from proxy.wire.transcript import PART, Content, HiddenResult, Side, SideTurn
from proxy.wire.turn import remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence


class ResponsesTranscript:
    """Where the request goes on with what the provider holds, its first message is a pointer to that."""

    is_adjacent = False
    is_bound = False

    def __init__(self, body: bytes) -> None:
        self._members = envelope.members(body)
        self._held = _held(self._members)
        own = _input(self._members.get("input", self._members.get(PART, b"[]")))
        self.messages: Sequence[bytes] = [*([pointer(*self._held)] if self._held else []), *own]
        self._turns: list[SideTurn] | None = None
        self._orphans = _orphaned(own) if SEALED.encode() in body else frozenset()

    @property
    def is_continued(self) -> bool:
        return self._held is not None

    def reminder(self, text: str) -> bytes:
        return envelope.encode({"role": "user", "content": remarked(text)})

    def opening(self) -> SideTurn | None:
        if self._held is not None:
            return pointer_turn(*self._held)
        last = 0
        while last < len(self.messages) and not _is_said(self.messages[last]):
            last += 1
        return next((turn for turn in turns_of(self.messages[:last]) if turn.side is Side.USER), None)

    def turns(self) -> Sequence[SideTurn]:
        if self._turns is None:
            first = 0 if self._held is None else 1
            before = [] if self._held is None else [pointer_turn(*self._held)]
            self._turns = [*before, *turns_of(self.messages[first:], first)]
        return self._turns

    def newest(self) -> tuple[SideTurn | None, SideTurn | None]:
        turns = self.turns()
        said = max((place for place, turn in enumerate(turns) if turn.side is Side.ASSISTANT), default=-1)
        came = [turn for turn in turns[said + 1 :] if turn.side is Side.USER]
        # Items of one side may stand apart, around a system's: all of them came.
        return (turns[said] if said >= 0 else None), _joined(came)

    def with_notice(self, message: bytes, calls: Collection[str], notice: str) -> bytes:
        if pointed(message) is not None:
            return message
        item = envelope.value_of(message)
        if not is_result(item, frozenset()) or answered_call(item) not in calls or "output" not in item:
            return message
        output = item["output"]
        if isinstance(output, str):
            return envelope.edited(message, output=f"{notice}\n{output}")
        if type_of(item) in ("function_call_output", "custom_tool_call_output") and isinstance(output, list):
            parts = [envelope.encode({"type": "input_text", "text": notice})]
            own = envelope.elements(envelope.members(message)["output"])
            return envelope.edited(message, output=envelope.join_list([*parts, *own]))
        return message

    def contents(self, messages: Sequence[bytes]) -> list[Content]:
        return [content_of(message) for message in messages if self._is_answer(message)]

    def with_contents(self, messages: Sequence[bytes], contents: Sequence[Content | None]) -> list[bytes]:
        left = iter(contents)
        return [edited(message, next(left)) if self._is_answer(message) else message for message in messages]

    def without_results(self, messages: Sequence[bytes], dropped: Sequence[bool]) -> list[bytes]:
        left = iter(dropped)
        return [message for message in messages if not self._is_answer(message) or not next(left)]

    def bound(self, message: bytes, mark: str) -> bytes:  # noqa: ARG002 - of the protocol
        """Nothing in this dialect is bound to what stands before it but to what stands beside it."""
        return message

    def opened(self, message: bytes, mark: str) -> tuple[bytes, int]:  # noqa: ARG002 - of the protocol
        """As `bound`."""
        return message, 0

    @cached_property
    def _trailing(self) -> Collection[bytes]:
        return trailing(self.messages, self.turns())

    @cached_property
    def _marks(self) -> Mapping[bytes, frozenset[str]]:
        return marks(self.messages, self.turns())

    def _is_answer(self, message: bytes) -> bool:
        """Whether `turns` reads it as a result."""
        return pointed(message) is None and is_result(envelope.value_of(message), self._contained)

    @cached_property
    def _contained(self) -> frozenset[str]:
        return contained_in(message for message in self.messages if pointed(message) is None)

    def body(self, messages: Sequence[bytes]) -> bytes:
        members = dict(self._members)
        items = items_of(messages)
        found = pointed(items[0]) if items else None
        if found is not None:
            held, name = found
            items = items[1:]
            if held is Held.ANSWER:
                members["previous_response_id"] = envelope.encode(name)
        elif self._held is not None and self._held[0] is Held.ANSWER:
            del members["previous_response_id"]  # all that stood behind it is in the input
        if not _is_stored(members):
            items = stateless(items)
        return envelope.join({**members, "input": envelope.join_list(items)})

    def with_results(
        self, messages: Sequence[bytes], results: Sequence[HiddenResult], order: Sequence[str]
    ) -> list[bytes]:
        """All results stand first, in the order of the calls."""
        values = [(message, envelope.value_of(message)) for message in messages]
        own = {answered_call(item): message for message, item in values if is_result(item, frozenset())}
        rest = [message for message, item in values if not is_result(item, frozenset())]
        by_call: dict[str, list[bytes]] = {call: [message] for call, message in own.items()}
        by_call |= {result.call: result_items(result) for result in results}
        ordered = [item for call in order for item in by_call.pop(call, [])]
        return [*ordered, *(item for items in by_call.values() for item in items), *rest]

    def without_thinking(self, message: bytes) -> bytes:
        """A reasoning item is bound to the item behind it, and goes up with it or not at all."""
        return message

    def unsealed(self, message: bytes, mark: str) -> tuple[bytes, int]:
        if pointed(message) is not None:
            return message, 0
        if message in self._orphans or message in self._trailing:
            return b"", 1
        if self._marks.get(message, frozenset()) - {mark}:
            return bare(message)
        if SEALED.encode() not in message:
            return message, 0
        item = read(message)
        own = item.get("id") if isinstance(item, dict) else None
        if not isinstance(own, str):
            return message, 0
        if is_reply(item):  # the provider knows no such id
            return (b"", 1) if type_of(item) == REFERENCE else (envelope.edited(shown(message), id=envelope.REMOVED), 0)
        own_mark, original = mark_of(own)
        if type_of(item) not in (REASONING, REFERENCE) or not own_mark:
            return message, 0
        return (envelope.edited(came(message), id=original), 0) if own_mark == mark else (b"", 1)


def stateless(items: Sequence[bytes]) -> list[bytes]:
    """Items for a request whose answers the provider does not keep: reasoning goes up whole or not at all, and where
    it does not, the ids by which the provider would miss it go too."""
    kept: list[bytes] = []
    is_bare = False
    for raw in items:
        item = envelope.value_of(raw)
        if type_of(item) == REASONING:
            is_bare = not isinstance(item.get("encrypted_content"), str)
            kept += [] if is_bare else [raw]
        elif is_bare and "id" in item and "call_id" in item:
            kept.append(envelope.edited(raw, id=envelope.REMOVED))
        else:
            kept.append(raw)
    return kept


def _is_stored(members: Mapping[str, bytes]) -> bool:
    return members.get("store", b"true").strip() != b"false"


def _held(members: Mapping[str, bytes]) -> tuple[Held, str] | None:
    previous = envelope.value_of(members.get("previous_response_id", b"null"))
    if isinstance(previous, str) and previous:
        return Held.ANSWER, previous
    conversation = envelope.value_of(members.get("conversation", b"null"))
    name = conversation.get("id") if isinstance(conversation, dict) else conversation
    return (Held.CONVERSATION, name) if isinstance(name, str) and name else None


def _input(raw: bytes) -> list[bytes]:
    """A text alone is one message of the user's."""
    value = raw.lstrip()
    if value.startswith(b'"'):
        return [envelope.encode({"type": MESSAGE, "role": "user", "content": envelope.value_of(raw)})]
    return envelope.list_or_none(raw)


def _is_said(message: bytes) -> bool:
    """Whether an item is the model's or the provider's."""
    item = read(message)
    if not isinstance(item, dict):
        raise envelope.EnvelopeError("an item of the input is no object")
    if type_of(item) == MESSAGE:
        return item.get("role") == "assistant"
    return not is_result(item, frozenset()) and type_of(item) != "additional_tools"


def _orphaned(items: Sequence[bytes]) -> frozenset[bytes]:
    """Reasoning that stood before calls of which the client has nothing: the provider would miss them."""
    return frozenset(items[place] for place in orphans([_stand(raw) for raw in items]))


def _stand(raw: bytes) -> Stand:
    item: Any = read(raw)
    if not _is_said(raw):
        return Stand.OTHER
    if is_reply(item):
        return Stand.REPLY
    is_reasoning = type_of(item) == REASONING or (type_of(item) == REFERENCE and str(item.get("id")).startswith("rs_"))
    return Stand.REASONING if is_reasoning else Stand.OWN


def _joined(turns: Sequence[SideTurn]) -> SideTurn | None:
    if not turns:
        return None
    whole = SideTurn(Side.USER, turns[0].first, turns[-1].last)
    for turn in turns:
        whole.texts += turn.texts
        whole.results += turn.results
        whole.other += turn.other
    return whole
