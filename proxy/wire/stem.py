"""The stem of a request: what stands in it before its newest turn, and what the next request will begin with.

Whether a request is JSON that can be read in one way, and what it asks for, can be told of the request without the
messages of its stem, once the stem is known: at the comma behind a message every reader stands in the same list,
whatever came before (RFC 8259).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from proxy.wire.tail import ASSISTANT, PLAIN, backwards

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.seal import Seals

_MESSAGES: Final = "messages"
_BACK_MAX: Final = 64  # messages in which the newest turn of the assistant's is looked for, from the end
_COMMA: Final = ord(",")
_BRACKET: Final = ord("[")
LONG_BYTES: Final = 32 * 1024
"""Below, a request is read faster than its stem is found."""


class Stem(msgspec.Struct, frozen=True):
    """The first `size` bytes of a request, up to the comma behind one of its messages, whose list begins at `opens`.
    That message is not the assistant's; the next one is. `name` is that of its bytes; `seals` are what marks of sealed
    thinking stand in it."""

    name: bytes
    opens: int
    size: int
    seals: Seals

    def rest(self, body: bytes) -> bytes | None:
        """A request that begins so, without the messages of the stem; None where something else stands behind them
        than the assistant's words. It can be read in one way just where the whole one can, and but for its messages it
        says the same."""
        if not body.startswith(ASSISTANT, self.size + 1):
            return None
        return body[: self.opens + 1] + body[self.size + 1 :]


class Stems(msgspec.Struct, frozen=True):
    """Of one request: the longest that is `known`, and the one that ends before its `newest` turn of the assistant's.
    Between two messages, and between two members of the request, stands no more than a comma."""

    known: Stem | None = None
    newest: Stem | None = None

    def whole(self, body: bytes, messages: bytes) -> bytes:
        """The list of all messages of a request with this body, of which `messages` are those behind a known stem."""
        known = self.known
        return messages if known is None else body[known.opens : known.size + len(messages)]


NO_STEMS: Final = Stems()


def opens_at(raw: Mapping[str, bytes], body: bytes) -> int | None:
    """Where the list of messages begins in a request, whose members are `raw`; None for a short one, where it has no
    such list, and where more stands between its members than must."""
    if len(body) < LONG_BYTES:
        return None
    place, found = 1, None
    for key, value in raw.items():
        place += len(key.encode()) + 3
        if key == _MESSAGES and value.startswith(b"["):
            found = place
        place += len(value) + 1
    return found if place == len(body) else None


def newest_said(messages: bytes) -> int | None:
    """What stands before the newest turn of the assistant's in a list of messages: the place of the comma, or 0 where
    the list begins with that turn. None where there is none within reach, or more stands between the messages behind
    it than must. Raises `envelope.EnvelopeError`."""
    place, ends, found = len(messages) - 1, None, []
    for _, message in zip(range(_BACK_MAX), backwards(messages), strict=False):
        if message.startswith(ASSISTANT):
            ends = place - len(message) - 1
        elif ends is not None:
            if not message.startswith(PLAIN):
                return None  # who knows whose it is: it may be one turn with what follows
            break
        found.append(message)
        place -= len(message) + 1
    if ends is None or messages[ends] not in (_COMMA, _BRACKET):
        return None
    behind = b",".join(reversed(found)) + b"]"
    return ends if messages.endswith(behind) and len(messages) == ends + 1 + len(behind) else None
