"""Items that a Responses request names by the ids under which the provider keeps them.

A reference whose item the gate has shown is *known*: it stands among the messages with that item beside it, so that it
is read as the item would be. It goes up as it came, or as what stands for it. What the gate has not shown stays as it
is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.responses_types import MESSAGE, REFERENCE
from proxy.wire.seal import SEALED
from proxy.wire.turn import OWN_TURN, KnownItem

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_ITEM, _CAME = "callgate_item", "callgate_came"
KNOWN: Final = b'{"' + _ITEM.encode() + b'":'
"""How a known reference begins. Only the gate writes it: `refuse_own` keeps it out of what clients send."""
_MARKS: Final = (REFERENCE.encode(), SEALED.encode(), b'{"id"')
"""One of them stands in each request with a reference that a client writes: a reference may leave its type out."""
_REFERENCE_BYTES_MAX: Final = 512
_MEMBERS: Final = {"id", "type"}


def refuse_own(body: bytes) -> None:
    """No string of JSON holds these bytes, and no member that begins otherwise is read as one.

    Raises `EnvelopeError`.
    """
    if KNOWN in body:
        raise envelope.EnvelopeError(f"an item of the input begins with the member {_ITEM!r}, which is the gate's own")


def read(raw: bytes) -> Any:
    """What an item says; a known reference what the item says that it names."""
    return envelope.value_of(shown(raw))


def shown(raw: bytes) -> bytes:
    """The item that a known reference names; any other item as it is."""
    return envelope.members(raw)[_ITEM] if raw.startswith(KNOWN) else raw


def came(raw: bytes) -> bytes:
    """A known reference as the client wrote it; any other item as it is."""
    return envelope.members(raw)[_CAME] if raw.startswith(KNOWN) else raw


def own_turn(raw: bytes) -> str:
    """The hidden turn that a known reference's item is a visible part of; empty for none."""
    return str(envelope.value_of(envelope.members(raw)[OWN_TURN])) if raw.startswith(KNOWN) else ""


def type_of(item: Mapping[str, Any]) -> str:
    """The type of an item; one that states none is a reference where it is but an id, else a message."""
    kind = item.get("type")
    if kind is None:
        return REFERENCE if "id" in item and item.keys() <= _MEMBERS else MESSAGE
    return kind if isinstance(kind, str) else ""


class ResponsesReferences:
    """See `proxy.wire.turn.References`."""

    def named(self, body: bytes) -> list[str]:
        return [name for raw in _items(body) if (name := _referred(raw))]

    def known(self, body: bytes, items: Mapping[str, KnownItem]) -> bytes:
        found = [_known(raw, items) for raw in _items(body)]
        return _edited(body, found) if found else body

    def collapsed(self, body: bytes) -> bytes:
        return _edited(body, [came(raw) for raw in _items(body)]) if KNOWN in body else body


def _known(raw: bytes, items: Mapping[str, KnownItem]) -> bytes:
    found = items.get(_referred(raw))
    if found is None:
        return raw
    return envelope.join({_ITEM: found.item, OWN_TURN: envelope.encode(found.turn), _CAME: raw})


def _items(body: bytes) -> Sequence[bytes]:
    if KNOWN not in body and not any(mark in body for mark in _MARKS):
        return ()
    given = envelope.members(body).get("input", b"null").lstrip()
    return envelope.elements(given) if given.startswith(b"[") else ()


def _referred(raw: bytes) -> str:
    """The id of a reference; empty for any other item."""
    if raw.startswith(KNOWN) or len(raw) > _REFERENCE_BYTES_MAX or b'"id"' not in raw:
        return ""
    members = envelope.members(raw)
    kind = envelope.value_of(members.get("type", b"null"))
    if kind != REFERENCE and (kind is not None or not members.keys() <= _MEMBERS):
        return ""
    name = envelope.value_of(members.get("id", b"null"))
    return name if isinstance(name, str) else ""


def _edited(body: bytes, items: list[bytes]) -> bytes:
    return envelope.edited(body, input=envelope.join_list(items))
