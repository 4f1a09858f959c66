"""What a client has heard of a Responses stream so far, for a turn that upstream does not end."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.responses_items import text_part
from proxy.wire.responses_types import ADDED, DONE_ITEM, MESSAGE, REASONING, TEXT_DELTA

if TYPE_CHECKING:
    from proxy.wire.events import FrameRead


@dataclass(slots=True)
class _Opened:
    item: bytes
    is_message: bool
    texts: list[str] = field(default_factory=list)


class Progress:
    """Places are those that the client knows."""

    def __init__(self) -> None:
        self.response_id = ""
        self.ended = False
        self.done_sent = False
        self._response = b"{}"
        self._open: dict[int, _Opened] = {}
        self._done: dict[int, bytes] = {}

    @property
    def count(self) -> int:
        """How many places there are."""
        return max((*self._open, *self._done), default=-1) + 1

    @property
    def has_reasoned(self) -> bool:
        """Whether reasoning was shown."""
        return any(envelope.value_of(item).get("type") == REASONING for item in self._done.values())

    def begin(self, entry: FrameRead) -> None:
        """A snapshot at the start."""
        response = entry.value.get("response")
        if isinstance(response, dict) and not self.response_id:
            self.response_id = str(response.get("id", ""))
            self._response = envelope.raw_at(entry.frame.data or b"", "response")

    def see(self, place: int, entry: FrameRead, item: bytes | None) -> None:
        """An event of an item that left; `item` in place of its own, where it was changed."""
        value = entry.value
        kind = value.get("type")
        if kind == TEXT_DELTA:
            if place in self._open and isinstance(value.get("delta"), str):
                self._open[place].texts.append(value["delta"])
        elif kind == ADDED:
            raw = item or envelope.raw_at(entry.frame.data or b"", "item")
            self._open[place] = _Opened(raw, value["item"].get("type") == MESSAGE)
        elif kind == DONE_ITEM:
            self.whole(place, item or envelope.raw_at(entry.frame.data or b"", "item"))

    def whole(self, place: int, item: bytes) -> None:
        self._open.pop(place, None)
        self._done[place] = item

    def close(self) -> list[tuple[int, bytes]]:
        """What is open, ended with what was said of it."""
        closed = []
        for place, opened in sorted(self._open.items()):
            changes: dict[str, Any] = {"status": "completed"} if b'"status"' in opened.item else {}
            if opened.is_message:
                changes["content"] = [text_part("".join(opened.texts))]
            closed.append((place, envelope.edited(opened.item, **changes) if changes else opened.item))
        for place, item in closed:
            self.whole(place, item)
        return closed

    def items(self) -> list[bytes]:
        """Those that are whole, as the client has them."""
        return [item for _, item in sorted(self._done.items())]

    def completed(self) -> bytes:
        """The final snapshot."""
        items = self.items()
        head = {} if self.response_id else {"id": "resp_0", "object": "response"}
        changes: dict[str, Any] = {**head, "status": "completed", "output": envelope.join_list(items)}
        return envelope.edited(self._response, **changes)
