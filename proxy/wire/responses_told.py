"""A whole answer of ours as a response (WIRE.md 3), and what later requests may name of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.responses_events import reply_events
from proxy.wire.responses_items import reply_id, reply_item
from proxy.wire.sse import event_frame
from proxy.wire.standing import Named
from proxy.wire.told import KeptAnswer

if TYPE_CHECKING:
    from proxy.wire.told import Told

_USAGE = {
    "input_tokens": 0,
    "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
    "output_tokens": 0,
    "output_tokens_details": {"reasoning_tokens": 0},
    "total_tokens": 0,
}


def body(told: Told) -> bytes:
    return envelope.encode(_response(told, is_done=True))


def events(told: Told) -> bytes:
    begun = _response(told, is_done=False)
    found: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {"response": begun}),
        ("response.in_progress", {"response": begun}),
        *((kind, _plain(members)) for kind, members in reply_events(0, _item_id(told), told.text)),
        ("response.completed", {"response": _response(told, is_done=True)}),
    ]
    return b"".join(
        event_frame(kind, envelope.encode({"type": kind, "sequence_number": number, **members}))
        for number, (kind, members) in enumerate(found)
    )


def kept(told: Told) -> KeptAnswer | None:
    members = envelope.members(told.request)
    if members.get("store", b"true").strip() == b"false":
        return None
    item_id = _item_id(told)
    return KeptAnswer(Named(_id(told), _conversation(members)), item_id, reply_item(item_id, told.text))


def _id(told: Told) -> str:
    return f"resp_cg{told.name}"


def _item_id(told: Told) -> str:
    return reply_id(_id(told), 0)


def _conversation(members: dict[str, bytes]) -> str:
    stated = envelope.value_of(members.get("conversation", b"null"))
    name = stated.get("id") if isinstance(stated, dict) else stated
    return name if isinstance(name, str) else ""


def _response(told: Told, *, is_done: bool) -> dict[str, Any]:
    members = envelope.members(told.request)
    conversation = _conversation(members)
    return {
        "id": _id(told),
        "object": "response",
        "created_at": told.created,
        "status": "completed" if is_done else "in_progress",
        "background": False,
        **({"conversation": {"id": conversation}} if conversation else {}),
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "metadata": {},
        "model": told.model,
        "output": [envelope.value_of(reply_item(_item_id(told), told.text))] if is_done else [],
        "parallel_tool_calls": True,
        "previous_response_id": envelope.value_of(members.get("previous_response_id", b"null")),
        "store": members.get("store", b"true").strip() != b"false",
        "temperature": None,
        "tool_choice": "auto",
        "tools": [],
        "top_p": None,
        "usage": _USAGE if is_done else None,
    }


def _plain(members: dict[str, Any]) -> dict[str, Any]:
    """The members of an event, an item that is written already read again."""
    return {name: envelope.value_of(value) if isinstance(value, bytes) else value for name, value in members.items()}
