"""What stands in the results of a Gemini content, and other texts in its place: `response` alone changes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from proxy.wire import envelope
from proxy.wire.gemini_request import object_of
from proxy.wire.transcript import Content

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.transcript import HiddenResult

RESULT: Final = "functionResponse"
WRAPPED: Final = ("error", "output", "result")
"""Members under which clients put what came of a function, where the response has no other."""
_OTHER: Final = ("parts",)  # of a response: images and files


def content(raw: bytes) -> Content:
    """Of the object under `functionResponse`."""
    members = object_of(raw)
    name, value = _said(members)
    text = envelope.value_of(value) if value.startswith(b'"') else None
    other = sum(len(members[key]) for key in _OTHER if key in members)
    return Content((text if isinstance(text, str) else value.decode(),), name == "error", other)


def result_part(result: HiddenResult) -> bytes:
    """A refusal as the result of its call, under the member by which Google names errors."""
    response = {"name": envelope.encode(result.name), "response": envelope.join({"error": result.content.encode()})}
    members = ({"id": envelope.encode(result.provider_id)} if result.provider_id else {}) | response
    return envelope.join({RESULT: envelope.join(members)})


def edited(part: bytes, new: Content | None) -> bytes:
    """A part that is a result, with these texts in it; None leaves it. A response is an object: a text that is none
    stands in one."""
    if new is None:
        return part
    members = object_of(part)
    response = object_of(members[RESULT])
    name, was = _said(response)
    if not new.keeps_other:
        response = {key: value for key, value in response.items() if key not in _OTHER}
    text = "\n".join(new.texts)
    response["response"] = _error(text) if new.is_error else _response(text, name, was)
    return envelope.join({**members, RESULT: envelope.join(response)})


def _error(text: str) -> bytes:
    data = text.strip().encode(errors="replace")
    return envelope.join({"error": data if _is_object(data) else envelope.encode(text)})


def _response(text: str, name: str, was: bytes) -> bytes:
    """In the member that wraps it; what was JSON there is JSON again, and what was a string is one."""
    data = text.strip().encode(errors="replace")
    if not name or name == "error":
        return data if _is_object(data) else envelope.join({"result": envelope.encode(text)})
    is_json = not was.startswith(b'"') and (_is_object(data) or _is_list(data))
    return envelope.join({name: data if is_json else envelope.encode(text)})


def _is_list(data: bytes) -> bool:
    try:
        return data.startswith(b"[") and isinstance(envelope.value_of(data), list)
    except envelope.EnvelopeError:
        return False


def _is_object(data: bytes) -> bool:
    try:
        envelope.members(data)
    except envelope.EnvelopeError:
        return False
    return True


def _said(members: Mapping[str, bytes]) -> tuple[str, bytes]:
    """What the function said, and the member that wraps it, empty for none."""
    response = members.get("response", b"{}")
    found = envelope.members(response) if response.startswith(b"{") else {}
    only = next(iter(found)) if len(found) == 1 else ""
    return (only, found[only]) if only in WRAPPED else ("", response)
