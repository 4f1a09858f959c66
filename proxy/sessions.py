"""What a conversation is called: by a header that operations name, by what known clients send, else by its opening.

The name goes to the log and the history. It may only narrow: nothing is allowed, restored or released because two
requests bear one name (DESIGN 5).
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Final

from proxy.once import OncePerHead
from proxy.wire import envelope

if TYPE_CHECKING:
    from proxy.headers import RequestHeaders
    from proxy.wire.dialect import RequestView

KNOWN_HEADERS: Final = ("x-claude-code-session-id", "session-id", "session_id", "x-session-id", "thread-id")
"""Headers in which known clients name their session (WIRE.md 10), in the order in which they count."""
_NAME_LENGTH_MAX = 200


def conversation_of(headers: RequestHeaders, view: RequestView, configured: str | None) -> str:
    """The name of the conversation, as a digest; empty where the request does not tell.

    Args:
        configured: the header of `conversation_header`, in lower case.
    """
    if in_head := _named_in_head(headers, configured):
        return in_head
    return _digest(named) if (named := _metadata(view)) else ""


def _metadata(view: RequestView) -> str:
    """What the request itself names: `metadata.session_id` or `conversation_id`, else `prompt_cache_key`."""
    named = b"session_id" in view.metadata or b"conversation_id" in view.metadata
    metadata = envelope.value_of(view.metadata) if named else None
    for key in ("session_id", "conversation_id"):
        if isinstance(metadata, dict) and isinstance(metadata.get(key), str) and metadata[key]:
            return f"metadata.{key}:{metadata[key]}"
    cache = envelope.value_of(view.cache_key) if view.cache_key else None
    return f"prompt_cache_key:{cache}" if isinstance(cache, str) and cache else ""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _of_head(headers: RequestHeaders, configured: str | None) -> str:
    for name in (configured, *KNOWN_HEADERS) if configured else KNOWN_HEADERS:
        if name in headers.by_name and 0 < len(value := headers.by_name[name][0]) <= _NAME_LENGTH_MAX:
            return _digest(f"{name}:{value}")
    return ""


_named_in_head = OncePerHead(_of_head)
