"""Frames of a Responses answer to wire events (WIRE.md 3.2).

A call is complete at its `output_item.done`, and certain there where its status says so; otherwise once another item or
the end follows. An item that only the final snapshot holds is judged with it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from proxy.wire import assembly, envelope
from proxy.wire.assembly import State
from proxy.wire.events import Breach, FrameRead, Key, TurnEnded, WireBroken, WireEvent
from proxy.wire.members import is_misspelled
from proxy.wire.responses_calls import ItemKey, WrongPlaceError, WrongShapeError
from proxy.wire.responses_seen import Output
from proxy.wire.responses_types import (
    ADDED,
    CALL_DELTAS,
    CALL_WHOLES,
    COMMAND_ADDED,
    CONTENT,
    CONTENT_MEMBERS,
    DONE_ITEM,
    FREE,
    ITEMS_MAX,
    NAMES,
    STARTS,
    TERMINAL,
    Kind,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.sse import Frame

DONE = b"[DONE]"


@dataclass(slots=True)
class _Item:
    type: str
    kind: Kind | None
    key: Key | None
    id: object
    is_done: bool = False


class ResponsesStreamReader(Output):
    def __init__(self, pass_types: frozenset[str]) -> None:
        super().__init__(pass_types)
        self._items: dict[int, _Item] = {}
        self._answer = 0
        self._ended = False
        self._broken = False

    def receive(self, frame: Frame) -> list[WireEvent]:
        if self._broken:
            return []
        if frame.data is None or frame.data == DONE:
            return [FrameRead(frame)]
        try:
            return self._read(frame, frame.data)
        except strict_json.StrictJsonError:
            return self._break(Breach.NOT_JSON)
        except assembly.StepError:
            return self._break(Breach.FROZEN_CALL)
        except assembly.TooMuchError:
            return self._break(Breach.TOO_MUCH)
        except WrongPlaceError:
            return self._break(Breach.WRONG_PLACE)
        except WrongShapeError:
            return self._break(Breach.WRONG_SHAPE)

    def next_leg(self) -> None:
        self.calls.next_leg()
        self._ended = False

    def end(self) -> list[WireEvent]:
        return self.calls.cut_all(State.OPEN, State.COMPLETE)

    def _break(self, breach: Breach) -> list[WireEvent]:
        self._broken = True
        return [WireBroken(breach)]

    def _read(self, frame: Frame, data: bytes) -> list[WireEvent]:
        value = strict_json.parse_envelope(data)
        if not isinstance(value, dict):
            return self._break(Breach.NOT_AN_OBJECT)
        kind = value.get("type")
        if frame.event not in (None, kind):
            return self._break(Breach.NAME_MISMATCH)
        if is_misspelled(value, NAMES) or not isinstance(kind, str | None):
            raise WrongShapeError
        if self._ended and kind not in FREE:
            self._begin_anew(kind)
        if kind in (ADDED, DONE_ITEM):
            return self._item(frame, data, value)
        if kind in STARTS or kind in TERMINAL:
            return self._snapshot(frame, data, value)
        if kind in CALL_DELTAS or kind in CALL_WHOLES or kind in CONTENT or kind == COMMAND_ADDED:
            return self._content(frame, str(kind), value)
        if kind in FREE:
            return [FrameRead(frame, value)]
        return self._unknown(frame, value)

    def _begin_anew(self, kind: object) -> None:
        """Behind the end some clients read on: only another whole answer may stand there."""
        if kind != "response.created":
            raise WrongPlaceError
        self._items.clear()
        self._answer += 1
        self.next_leg()

    def _item(self, frame: Frame, data: bytes, value: dict[str, Any]) -> list[WireEvent]:
        place, item = value.get("output_index"), value.get("item")
        if type(place) is not int or not 0 <= place < ITEMS_MAX:
            raise WrongShapeError
        kind, found = self.classified(item)
        assert isinstance(item, dict)
        if value["type"] == ADDED:
            if place in self._items:
                raise WrongPlaceError
            return self._begin(frame, data, value, kind, found)
        known = self._items.get(place)
        if known is None:  # clients that wait for whole items read it all the same
            events = self._begin(frame, data, value, kind, found)
            known = self._items[place]
            if known.key is not None:
                self.calls.not_plain(known.key)
            return [*events, *self._finish(known, data, value)]
        if known.is_done or (known.type, known.kind) != (kind, found):
            if Kind.CALL in (known.kind, found) or known.key is not None:
                raise assembly.StepError
            raise WrongPlaceError
        read = FrameRead(frame, value, () if known.key is None else (known.key,))
        return [read, *self._finish(known, data, value)]

    def _begin(
        self, frame: Frame, data: bytes, value: dict[str, Any], kind: str, found: Kind | None
    ) -> list[WireEvent]:
        place, item = value["output_index"], value["item"]
        key = ItemKey(place, self._answer) if found in (Kind.CALL, None) else None
        self._items[place] = _Item(kind, found, key, item.get("id"))
        confirmed = self.calls.confirm_all()
        if key is None:
            return [FrameRead(frame, value), *confirmed]
        self.calls.start(key, envelope.raw_at(data, "item"), item)
        return [FrameRead(frame, value, (key,)), *confirmed]

    def _finish(self, known: _Item, data: bytes, value: dict[str, Any]) -> list[WireEvent]:
        known.is_done = True
        if known.key is None:
            return self.noted(value["item"], known.kind)
        return self.calls.complete(known.key, envelope.raw_at(data, "item"), value["item"])

    def _content(self, frame: Frame, event: str, value: dict[str, Any]) -> list[WireEvent]:
        place, own = value.get("output_index"), value.get("item_id")
        if type(place) is not int or place not in self._items:
            raise WrongPlaceError
        item = self._items[place]
        if own is not None and own != item.id and any(own == each.id for each in self._items.values()):
            raise WrongPlaceError  # some clients find the item by its id
        if item.key is None:
            is_calls = event in CALL_DELTAS or event in CALL_WHOLES
            if is_calls and (CALL_DELTAS.get(event) or CALL_WHOLES[event][0]) != item.type:
                raise WrongPlaceError
            return [FrameRead(frame, value)]
        if item.is_done:
            raise assembly.StepError
        if own is not None and own != item.id:
            self.calls.not_plain(item.key)
        self.calls.fragment(item.key, event, value)
        return [FrameRead(frame, value, (item.key,))]

    def _unknown(self, frame: Frame, value: dict[str, Any]) -> list[WireEvent]:
        """An event of no table: free where it bears no content, else a call of an unknown tool of its name."""
        kind = value.get("type")
        if not isinstance(kind, str):
            if any(member in value for member in CONTENT_MEMBERS) and not _is_talk(value):
                raise WrongShapeError
            return [FrameRead(frame, value)]
        if not any(member in value for member in CONTENT_MEMBERS):
            return [FrameRead(frame, value)]
        if kind in self.pass_types:
            return [FrameRead(frame, value), *self.calls.observe(kind, once=True)]
        item = self._items.get(value["output_index"]) if type(value.get("output_index")) is int else None
        if item is not None and item.key is not None:
            if item.is_done:
                raise assembly.StepError
            return [FrameRead(frame, value, (item.key,))]
        key = self.loose_key()
        return [FrameRead(frame, value, (key,)), *self.calls.unknown(key, frame.data or b"", kind)]

    def _snapshot(self, frame: Frame, data: bytes, value: dict[str, Any]) -> list[WireEvent]:
        response = value.get("response")
        if not isinstance(response, dict) or is_misspelled(response, NAMES):
            raise WrongShapeError
        output = response.get("output") or []
        if not isinstance(output, list):
            raise WrongShapeError
        is_end = value["type"] in TERMINAL
        keys: list[Key] = []
        events: list[WireEvent] = []
        for place, item in enumerate(output):
            kind, found = self.classified(item)
            if found not in (Kind.CALL, None) or (is_end and self.calls.knows(item)):
                continue
            if not is_end:
                raise WrongPlaceError
            raw = envelope.raw_at(data, "response", "output", place)
            events += self._late(kind, raw, item, keys)
        read = FrameRead(frame, value, tuple(keys))
        if not is_end:
            return [read]
        self._ended = True
        is_whole = value["type"] == "response.completed"
        confirmed = self.calls.confirm_all() if is_whole else []
        return [read, *events, *confirmed, *self.calls.cut_all(State.OPEN, State.COMPLETE), TurnEnded()]

    def _late(self, kind: str, raw: bytes, item: dict[str, Any], keys: list[Key]) -> list[WireEvent]:
        """A call that the snapshot completes: one that is still open, or one that no event told of."""
        for known in self._items.values():
            is_it = known.key is not None and not known.is_done and known.type == kind
            if is_it and known.key is not None and known.id == item.get("id"):
                known.is_done = True
                self.calls.not_plain(known.key)
                return self.calls.complete(known.key, raw, item)
        key = self.loose_key()
        keys.append(key)
        self.calls.start(key, raw, item)
        self.calls.not_plain(key)
        return self.calls.complete(key, raw, item)


def _is_talk(value: Mapping[str, Any]) -> bool:
    """Whether an event is a chunk of Chat without a call, which some servers send here: no client acts on it."""
    choices = value.get("choices")
    if not isinstance(choices, list) or any(member in value for member in CONTENT_MEMBERS if member != "choices"):
        return False
    parts = [choice.get("delta") for choice in choices if isinstance(choice, dict)]
    texts = ("role", "content", "reasoning_content")
    return all(isinstance(part, dict) and not any(part[name] for name in part if name not in texts) for part in parts)
