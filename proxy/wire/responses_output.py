"""The output of a response as it may leave: of a body, and of a stream's final snapshot (WIRE.md 8.3)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from proxy.wire import envelope
from proxy.wire.assembly import FREEFORM
from proxy.wire.events import Hidden, Key, Released, Replaced, TextKey
from proxy.wire.responses_items import ITEM, call_arguments, call_id, call_name, canonical_item
from proxy.wire.responses_types import CUSTOM, MESSAGE, REASONING, Kind, kind_of
from proxy.wire.seal import sealed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged
    from proxy.wire.events import FrameRead


@dataclass(slots=True)
class Sealing:
    """The ids by which a client knows what depends on a hidden turn, by the provider's own.

    Reasoning bears the mark. Reasoning that left before may have been written for what is hidden: then the next item
    bears it, whatever it is, so that the turn is known for a merged one where the ledger is lost.
    """

    ids: dict[str, str] = field(default_factory=dict)
    _mark: str = ""
    _tells: bool = False

    def begin(self, mark: str, *, tells: bool) -> None:
        self._mark, self._tells = mark, tells

    def changes(self, entry: FrameRead) -> dict[str, Any]:
        """What of an event of an item is not as it came."""
        value = entry.value
        item = value.get("item")
        if not isinstance(item, dict):
            known = self.ids.get(str(value.get("item_id")))
            return {} if known is None else {"item_id": known}
        own = item.get("id")
        if not isinstance(own, str) or not (item.get("type") == REASONING or self._tells or own in self.ids):
            return {}
        self._tells = False
        known = self.ids.setdefault(own, sealed_id(own, self._mark))
        return {"item": envelope.edited(envelope.raw_at(entry.frame.data or b"", "item"), id=known)}


@dataclass(slots=True)
class Shown:
    """What the client has of the items of a turn: `replies` are messages in the place of calls and texts, by key."""

    replies: dict[Key, bytes] = field(default_factory=dict)
    silent: dict[str, bytes | None] = field(default_factory=dict)  # ids of messages: what stands there instead
    sealing: Sealing = field(default_factory=Sealing)
    added: list[bytes] = field(default_factory=list)  # items behind upstream's own

    def as_sealed(self, raw: bytes, item: Mapping[str, Any]) -> bytes:
        """An item under the id that the client knows."""
        known = self.sealing.ids.get(str(item.get("id")))
        return raw if known is None else envelope.edited(raw, id=known)


class Showing:
    """Says once what an answer shows that is about to end (`proxy.wire.turn.Shows`)."""

    def __init__(self) -> None:
        self._items: Sequence[bytes] = ()

    def ends(self, items: Sequence[bytes], judged: Mapping[Key, Judged], *, is_edited: bool, is_stored: bool) -> None:
        """Of an answer that holds no call, and is as it came, nothing needs to be known."""
        has_part = is_edited or any(not isinstance(key, TextKey) for key in judged)
        self._items = items if has_part and is_stored else ()

    def taken(self) -> list[tuple[str, bytes]]:
        items, self._items = self._items, ()
        found = [(envelope.value_of(item), item) for item in items]
        return [(item["id"], raw) for item, raw in found if isinstance(item.get("id"), str)]


def is_released(judged: Judged) -> bool:
    return isinstance(judged.answer, Released) and not judged.is_repeat


def is_plain(judged: Judged) -> bool:
    """The call may leave in the bytes in which it came."""
    return is_released(judged) and judged.material.is_plain


Identity: TypeAlias = "tuple[str, str]"
"""The type of a call's item, and its id."""


def identity_of(item: Mapping[str, Any]) -> Identity:
    return str(item.get("type")), call_id(item)


def by_identity(
    output: Sequence[dict[str, Any]], judged: Mapping[Key, Judged]
) -> dict[Identity, list[tuple[Key, Judged]]]:
    """The calls that a snapshot holds, as it holds them: of several with one id the newest: ids are a leg's own."""
    found: dict[Identity, list[tuple[Key, Judged]]] = {}
    for key, call in judged.items():
        if not isinstance(key, TextKey):
            found.setdefault(_stated(call), []).append((key, call))
    held = Counter(map(identity_of, output))
    return {identity: calls[-held[identity] :] for identity, calls in found.items() if held[identity]}


def _stated(call: Judged) -> Identity:
    """As its item was done, whatever it was called at first."""
    kind = CUSTOM if call.material.kind == FREEFORM else call.material.kind
    raw = call.material.extra.get(ITEM)
    return (kind, call_id(envelope.value_of(raw)) if raw is not None else call.material.id)


def rebuilt(
    raw: Sequence[bytes], output: Sequence[dict[str, Any]], judged: Mapping[Key, Judged], shown: Shown
) -> list[bytes]:
    """The items of a final snapshot, from what was judged. A call of it that nobody judged does not leave."""
    known = by_identity(output, judged)
    items: list[bytes] = []
    for own, item in zip(raw, output, strict=True):
        kind, identity = kind_of(item), str(item.get("id"))
        found = known.get(identity_of(item))
        if kind in (Kind.CALL, None) and found:
            items += _call(own, item, *found.pop(0), shown)
        elif item.get("type") == MESSAGE and identity in shown.silent:
            reply = shown.silent[identity]
            items += [] if reply is None else [reply]
        elif kind is not Kind.CALL and identity in shown.sealing.ids:
            items.append(shown.as_sealed(own, item))
        elif kind is not Kind.CALL and found is None:  # one of no table that was judged leaves as often as it was
            items.append(own)
    return [*items, *shown.added]


def _call(own: bytes, item: Mapping[str, Any], key: Key, call: Judged, shown: Shown) -> list[bytes]:
    if key in shown.replies:
        return [shown.replies[key]]
    if not is_released(call):
        return []
    stated = (call_name(item), call_arguments(own, item)[0])
    if call.material.is_plain and stated == (call.material.name, call.material.arguments):
        return [shown.as_sealed(own, item)]
    return [canonical_item(call.material)]


def is_hidden(judged: Judged) -> bool:
    return isinstance(judged.answer, Hidden) or judged.is_repeat


def reply_text(judged: Judged) -> str | None:
    """What stands in the place of a call; None where nothing does."""
    return judged.answer.text if isinstance(judged.answer, Replaced) and not judged.is_repeat else None


def sealed_id(item_id: str, mark: str) -> str:
    """An item's id that says which hidden turn it depends on."""
    return f"{item_id.partition('_')[0]}_{sealed(mark, item_id)}"
