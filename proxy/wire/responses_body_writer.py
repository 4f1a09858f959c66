"""What may leave of a Responses body (WIRE.md 8.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.events import Released, TextKey
from proxy.wire.responses_calls import ItemKey
from proxy.wire.responses_items import canonical_item, reply_id, reply_item
from proxy.wire.responses_output import Showing, is_plain, is_released, reply_text, sealed_id
from proxy.wire.responses_types import MESSAGE, REASONING, WHOLE
from proxy.wire.responses_writer import server_error

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged
    from proxy.wire.events import FrameRead, Key


class ResponsesBodyWriter:
    def __init__(self) -> None:
        self._mark = ""
        self._showing = Showing()

    def seal(self, mark: str) -> None:
        self._mark = mark

    def shown(self) -> list[tuple[str, bytes]]:
        return self._showing.taken()

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = entries
        return self._body(entry, judged, ())

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        (entry,) = end
        return self._body(entry, judged, (text,))

    def _body(self, entry: FrameRead, judged: Mapping[Key, Judged], appended: Sequence[str]) -> bytes:
        if not isinstance(entry.value, dict) or not isinstance(entry.value.get("output"), list):
            return entry.frame.raw
        data = entry.frame.data or b""
        response = str(entry.value.get("id", ""))
        own = envelope.elements(envelope.raw_at(data, "output"))
        texts = next((judged[key] for key in entry.keys if isinstance(key, TextKey)), None)
        is_silent = texts is not None and not isinstance(texts.answer, Released)
        reply = reply_text(texts) if texts is not None else None
        is_replied = reply is not None and entry.value.get("status") == "incomplete"
        items: list[bytes] = []
        for place, (raw, item) in enumerate(zip(own, entry.value["output"], strict=True)):
            if ItemKey(place) in entry.keys:
                items += _call(raw, reply_id(response, place, self._mark), judged[ItemKey(place)])
            elif is_silent and item.get("type") == MESSAGE:
                items += [] if reply is None else [reply_item(reply_id(response, "text", self._mark), reply)]
                reply = None
            elif self._mark and item.get("type") == REASONING and isinstance(item.get("id"), str):
                items.append(envelope.edited(raw, id=sealed_id(item["id"], self._mark)))
            else:
                items.append(raw)
        items += [
            reply_item(reply_id(response, f"behind/{place}", self._mark), text) for place, text in enumerate(appended)
        ]
        is_stored = entry.value.get("store") is not False
        is_edited = items != own or bool(self._mark)  # what was hidden of the legs before is not in this one
        self._showing.ends(items, judged, is_edited=is_edited, is_stored=is_stored)
        if items == own:
            return entry.frame.raw
        changes: dict[str, Any] = {"output": envelope.join_list(items), **(WHOLE if is_replied else {})}
        return envelope.edited(data, **changes)

    def keepalive(self) -> bytes:
        return b""

    def finish(self) -> bytes:
        return b""

    def broken(self, message: str) -> bytes:
        return server_error(message)


def _call(raw: bytes, item_id: str, judged: Judged) -> list[bytes]:
    text = reply_text(judged)
    if text is not None:
        return [reply_item(item_id, text)]
    if not is_released(judged):
        return []
    return [raw] if is_plain(judged) else [canonical_item(judged.material)]
