"""Signatures as opaque texts that only this double can make and read: of thinking blocks, and of Gemini's calls."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.demo import meaning

if TYPE_CHECKING:
    from proxy.demo.turns import Document

_KEY = b"the double's own key; it guards nothing"
_MAGIC = b"\x12"
_DIGEST_BYTES = 16
_MARK_BYTES = 8
_HEAD_BYTES = 3 + 2 * _DIGEST_BYTES


@dataclass(frozen=True, slots=True)
class Binding:
    """What a thinking block was made behind.

    `prefix` stands for system, tools and the messages before it, thinking aside; `before` are the marks of the
    thinking blocks that the model saw before it, oldest first; `own` stands for its own text. It is number `ordinal`
    of the `count` thinking blocks of its turn.
    """

    prefix: bytes
    own: bytes
    ordinal: int
    count: int
    before: tuple[bytes, ...]


def sealed(binding: Binding) -> str:
    """The signature."""
    head = _MAGIC + bytes((binding.ordinal, binding.count)) + binding.prefix + binding.own
    data = head + b"".join(binding.before)
    return base64.b64encode(data + _mac(data)).decode()


def opened(signature: object) -> Binding | None:
    """What the signature says, or None if this double did not make it."""
    try:
        raw = base64.b64decode(signature.encode(), validate=True) if isinstance(signature, str) else b""
    except (binascii.Error, UnicodeEncodeError):
        return None
    data, mac = raw[:-_DIGEST_BYTES], raw[-_DIGEST_BYTES:]
    if len(data) < _HEAD_BYTES or not hmac.compare_digest(mac, _mac(data)):
        return None
    marks = data[_HEAD_BYTES:]
    return Binding(
        prefix=data[3 : 3 + _DIGEST_BYTES],
        own=data[3 + _DIGEST_BYTES : _HEAD_BYTES],
        ordinal=data[1],
        count=data[2],
        before=tuple(marks[start : start + _MARK_BYTES] for start in range(0, len(marks), _MARK_BYTES)),
    )


def shortened(digest: bytes) -> bytes:
    """A digest as long as a binding keeps it."""
    return digest[:_DIGEST_BYTES]


def own(block: Document) -> bytes:
    """What stands for the text of a thinking block. A redacted one has none beside its data."""
    return shortened(meaning.digest([block.get("type"), block.get("thinking")]))


def mark(block: Document) -> bytes:
    """What stands for a thinking block in those after it."""
    signature = block.get("data" if block.get("type") == "redacted_thinking" else "signature")
    return meaning.digest([block.get("type"), block.get("thinking"), signature])[:_MARK_BYTES]


def call_signature(name: str, arguments: str) -> str:
    """Gemini's signature of a call; white space and key order of its arguments make no difference."""
    value = meaning.digest([name, meaning.plain(meaning.arguments(arguments))])
    return base64.b64encode(_MAGIC + _mac(value)).decode()


def _mac(data: bytes) -> bytes:
    return hmac.new(_KEY, data, hashlib.sha256).digest()[:_DIGEST_BYTES]
