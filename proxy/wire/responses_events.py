"""The numbers of the events that leave, and whole items as events (WIRE.md 3.2).

`sequence_number` goes on without a gap where upstream's does; `output_index` is dense where upstream's is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.assembly import FREEFORM
from proxy.wire.responses_items import canonical_item, opening_item, reply_item, text_part
from proxy.wire.responses_types import ADDED, CUSTOM, DONE_ITEM, FUNCTION, MESSAGE
from proxy.wire.sse import event_frame

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from proxy.wire.events import FrameRead, Material

_SEQUENCE = "sequence_number"


class Numbering:
    """What the client has of the numbers, beside upstream's."""

    def __init__(self) -> None:
        self._shift = 0
        self._last = -1
        self._is_numbered = False
        self._is_named = True
        self._seen = False

    @property
    def is_shifted(self) -> bool:
        return self._shift != 0

    def see(self, entry: FrameRead) -> None:
        """The first event says whether the stream names and numbers its events."""
        if not self._seen:
            self._seen = True
            self._is_named = entry.frame.event is not None
            self._is_numbered = type(entry.value.get(_SEQUENCE)) is int

    def drop(self, entry: FrameRead) -> None:
        """An event does not leave."""
        self._shift -= type(entry.value.get(_SEQUENCE)) is int

    def passed(self, entry: FrameRead, changes: Mapping[str, Any]) -> bytes:
        """An event that leaves, with some members changed."""
        number = entry.value.get(_SEQUENCE)
        if type(number) is int:
            self._last = number + self._shift
            if self._shift:
                changes = {**changes, _SEQUENCE: self._last}
        if not changes:
            return entry.frame.raw
        return event_frame(entry.frame.event, envelope.edited(entry.frame.data or b"", **changes))

    def own(self, kind: str, members: Mapping[str, Any]) -> bytes:
        """An event of ours, behind the last that left."""
        head: dict[str, bytes] = {"type": envelope.encode(kind)}
        if self._is_numbered:
            self._last += 1
            self._shift += 1
            head[_SEQUENCE] = b"%d" % self._last
        rest = {name: value if isinstance(value, bytes) else envelope.encode(value) for name, value in members.items()}
        return event_frame(kind if self._is_named else None, envelope.join({**head, **rest}))

    def items(self, events: Iterable[tuple[str, dict[str, Any]]]) -> bytes:
        return b"".join(self.own(kind, members) for kind, members in events)


def reply_events(place: int, item_id: str, text: str) -> list[tuple[str, dict[str, Any]]]:
    """A message of ours."""
    at = {"item_id": item_id, "output_index": place, "content_index": 0}
    opening = {"id": item_id, "type": MESSAGE, "status": "in_progress", "role": "assistant", "content": []}
    return [
        (ADDED, {"output_index": place, "item": opening}),
        ("response.content_part.added", {**at, "part": text_part("")}),
        ("response.output_text.delta", {**at, "delta": text, "logprobs": []}),
        ("response.output_text.done", {**at, "text": text, "logprobs": []}),
        ("response.content_part.done", {**at, "part": text_part(text)}),
        (DONE_ITEM, {"output_index": place, "item": reply_item(item_id, text)}),
    ]


_SPELLED = {
    FUNCTION: ("response.function_call_arguments.delta", "response.function_call_arguments.done", "arguments"),
    CUSTOM: ("response.custom_tool_call_input.delta", "response.custom_tool_call_input.done", "input"),
}


def call_events(place: int, material: Material) -> list[tuple[str, dict[str, Any]]]:
    """A call in canonical form."""
    whole = canonical_item(material)
    events: list[tuple[str, dict[str, Any]]] = [(ADDED, {"output_index": place, "item": opening_item(material)})]
    kind = CUSTOM if material.kind == FREEFORM else material.kind
    if kind in _SPELLED:
        delta, done, member = _SPELLED[kind]
        at = {"item_id": envelope.members(whole).get("id", b"null"), "output_index": place}
        events += [(delta, {**at, "delta": material.arguments}), (done, {**at, member: material.arguments})]
    return [*events, (DONE_ITEM, {"output_index": place, "item": whole})]
