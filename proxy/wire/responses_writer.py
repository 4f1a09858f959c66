"""What may leave of a Responses stream (WIRE.md 8.3).

A refused call becomes a message in its place, so the other indexes stand; a hidden one leaves nothing, and the items
behind it move up. The final snapshot is rebuilt from what was judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.events import FrameRead, Key, Released, TextKey
from proxy.wire.responses_calls import ItemKey, LooseKey
from proxy.wire.responses_events import Numbering, call_events, reply_events
from proxy.wire.responses_items import reply_id, reply_item
from proxy.wire.responses_output import (
    Showing,
    Shown,
    is_hidden,
    is_plain,
    is_released,
    rebuilt,
    reply_text,
)
from proxy.wire.responses_progress import Progress
from proxy.wire.responses_reader import DONE
from proxy.wire.responses_types import ADDED, COMPLETED, DONE_ITEM, INCOMPLETE, STARTS, TERMINAL, WHOLE
from proxy.wire.sse import event_frame

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged

COMMENT = b": keep-alive\n\n"
EVENT_EVERY = 4


class ResponsesStreamWriter:
    def __init__(self) -> None:
        self._numbers = Numbering()
        self._progress = Progress()
        self._shown = Shown()
        self._unseen: set[int] = set()  # places of items that the client has nothing of
        self._done: set[Key] = set()  # calls and texts that have left, or what stands for them
        self._is_edited = False
        self._mark = ""
        self._keepalives = 0
        self._showing = Showing()

    def seal(self, mark: str) -> None:
        self._mark = mark
        self._shown.sealing.begin(mark, tells=self._progress.has_reasoned)

    def shown(self) -> list[tuple[str, bytes]]:
        return self._showing.taken()

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return self._behind(text) + self.write(end, judged) + self.finish()

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        return b"".join([self._write(entry, judged) for entry in entries])

    def _write(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        value = entry.value
        if value is None:
            self._progress.done_sent |= entry.frame.data == DONE
            return entry.frame.raw
        self._numbers.see(entry)
        kind = value.get("type")
        if kind in TERMINAL:
            return self._terminal(entry, judged)
        for key in entry.keys:
            if isinstance(key, TextKey):
                if not isinstance(judged[key].answer, Released):
                    return self._silent(entry, key, judged[key])
            elif isinstance(key, ItemKey):
                return self._call(entry, key, judged[key])
            elif not is_released(judged[key]):
                self._numbers.drop(entry)
                return self._loose(judged[key])
        if kind in STARTS:
            if self._progress.ended:
                self._progress = Progress()
            self._progress.begin(entry)
        return self._passed(entry)

    def _place(self, place: int) -> int:
        """The place of an item as the client counts."""
        return place - sum(unseen < place for unseen in self._unseen) if self._unseen else place

    def _passed(self, entry: FrameRead) -> bytes:
        """An event that leaves as it came, but for its numbers."""
        value = entry.value
        place = value.get("output_index")
        if type(place) is not int:
            return self._numbers.passed(entry, {})
        changes: dict[str, Any] = {}
        own = self._place(place)
        if own != place:
            changes["output_index"] = own
        if self._mark:
            changes |= self._shown.sealing.changes(entry)
            self._is_edited |= "item" in changes
        self._progress.see(own, entry, changes.get("item"))
        return self._numbers.passed(entry, changes)

    def _call(self, entry: FrameRead, key: ItemKey, judged: Judged) -> bytes:
        if is_plain(judged):
            self._done.add(key)
            return self._passed(entry)
        self._is_edited = True
        self._numbers.drop(entry)
        if key in self._done:
            return b""
        self._done.add(key)
        if is_hidden(judged):
            self._unseen.add(key.place)
            return b""
        place = self._place(key.place)
        text = reply_text(judged)
        if text is not None:
            return self._reply(place, key, text)
        events = call_events(place, judged.material)
        self._progress.whole(place, events[-1][1]["item"])
        return self._numbers.items(events)

    def _reply(self, place: int, key: Key, text: str) -> bytes:
        item_id = reply_id(self._progress.response_id, key.place if isinstance(key, ItemKey) else key, self._mark)
        self._shown.replies[key] = item = reply_item(item_id, text)
        self._progress.whole(place, item)
        return self._numbers.items(reply_events(place, item_id, text))

    def _loose(self, judged: Judged) -> bytes:
        """A refused event of no table: its reply stands behind the other items."""
        self._is_edited = True
        text = reply_text(judged)
        return b"" if text is None else self._behind(text)

    def _behind(self, text: str) -> bytes:
        """A message of ours behind all items."""
        place = self._progress.count
        item_id = reply_id(self._progress.response_id, f"behind/{len(self._shown.added)}", self._mark)
        item = reply_item(item_id, text)
        self._shown.added.append(item)
        self._progress.whole(place, item)
        self._is_edited = True
        return self._numbers.items(reply_events(place, item_id, text))

    def _silent(self, entry: FrameRead, key: TextKey, judged: Judged) -> bytes:
        """Of a text that does not leave its reply, once, in the place of its first message."""
        self._is_edited = True
        self._numbers.drop(entry)
        value = entry.value
        item = value.get("item")
        if value.get("type") != ADDED or not isinstance(item, dict):
            return b""
        text = reply_text(judged)
        if key in self._done or text is None:
            self._done.add(key)
            self._unseen.add(value["output_index"])
            self._shown.silent[str(item.get("id"))] = None
            return b""
        self._done.add(key)
        out = self._reply(self._place(value["output_index"]), key, text)
        self._shown.silent[str(item.get("id"))] = self._shown.replies[key]
        return out

    def _terminal(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> bytes:
        """The end; before it the calls that only it holds."""
        late = [self._late(key, judged[key]) for key in entry.keys if isinstance(key, LooseKey)]
        self._progress.ended = True
        self._shows(judged, is_stored=entry.value["response"].get("store") is not False)
        if not judged and not self._is_edited:
            return self._numbers.passed(entry, {})
        snapshot = self._snapshot(entry, judged)
        changes: dict[str, Any] = {}
        if self._is_replied and entry.value["type"] == INCOMPLETE:
            snapshot |= WHOLE
            changes["type"] = COMPLETED
            name = None if entry.frame.event is None else COMPLETED
            entry = entry._replace(frame=entry.frame._replace(event=name))
        if snapshot:
            changes["response"] = envelope.edited(envelope.raw_at(entry.frame.data or b"", "response"), **snapshot)
        return b"".join(late) + self._numbers.passed(entry, changes)

    @property
    def _is_replied(self) -> bool:
        """Whether a reply of ours stands in the place of the text: it is whole, whatever that was."""
        return any(reply is not None for reply in self._shown.silent.values())

    def _snapshot(self, entry: FrameRead, judged: Mapping[Key, Judged]) -> dict[str, Any]:
        """What changes of the final snapshot. One without items stays so."""
        output = entry.value["response"].get("output") or []
        own = envelope.elements(envelope.raw_at(entry.frame.data or b"", "response", "output")) if output else []
        items = rebuilt(own, output, judged, self._shown) if output else own
        return {} if items == own else {"output": envelope.join_list(items)}

    def _shows(self, judged: Mapping[Key, Judged], *, is_stored: bool) -> None:
        is_edited = self._is_edited or bool(self._mark)
        self._showing.ends(self._progress.items(), judged, is_edited=is_edited, is_stored=is_stored)

    def _late(self, key: LooseKey, judged: Judged) -> bytes:
        if is_hidden(judged):
            return b""
        place = self._progress.count
        text = reply_text(judged)
        if text is not None:
            return self._reply(place, key, text)
        events = call_events(place, judged.material)
        self._progress.whole(place, events[-1][1]["item"])
        return self._numbers.items(events)

    def keepalive(self) -> bytes:
        """A comment, and every fourth time an event: some clients wait for events and count no comments."""
        self._keepalives += 1
        if self._keepalives % EVENT_EVERY or not self._progress.response_id:
            return COMMENT
        return self._numbers.own("keepalive", {})

    def finish(self) -> bytes:
        if self._progress.ended:
            return b""
        out = [
            self._numbers.own(DONE_ITEM, {"output_index": place, "item": item})
            for place, item in self._progress.close()
        ]
        out.append(self._numbers.own("response.completed", {"response": self._progress.completed()}))
        self._shows({}, is_stored=True)
        return b"".join(out)

    def broken(self, message: str) -> bytes:
        return event_frame("error", server_error(message))


def server_error(message: str) -> bytes:
    """The body of an error in mid-turn. The SDKs raise for the member `error`; the other members are the event's."""
    error = {"message": message, "type": "server_error", "param": None, "code": "upstream_failed"}
    flat = {"type": "error", "code": error["code"], "message": message, "param": None}
    return envelope.encode({**flat, "error": error})
