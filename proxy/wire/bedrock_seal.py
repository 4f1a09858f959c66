"""Seals on the reasoning of a Converse turn: a signature is text, redacted reasoning is bytes, and base64 in JSON.

What is sealed must be base64 again where its provider's own is, since clients decode it and put parts of it together.
"""

from __future__ import annotations

from base64 import b64decode, b64encode
from binascii import Error
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.seal import EDITED, SEALED, opened, sealed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REASONING: Final = "reasoningContent"
_TEXT: Final = "reasoningText"
_REDACTED: Final = "redactedContent"
_SIGNATURE: Final = "signature"


def seal_block(reasoning: bytes, mark: str) -> bytes:
    """The `reasoningContent` of a whole block with its signature sealed; one that has none as it is."""
    members = envelope.members(reasoning)
    if _TEXT in members:
        return envelope.edited(reasoning, **{_TEXT: _seal_member(members[_TEXT], _SIGNATURE, mark)})
    return _seal_member(reasoning, _REDACTED, mark)


def seal_delta(reasoning: bytes, mark: str) -> bytes | None:
    """The same of a delta; None where there is nothing to seal in it."""
    changed = _seal_member(_seal_member(reasoning, _SIGNATURE, mark), _REDACTED, mark)
    return None if changed == reasoning else changed


def mark_of(reasoning: Mapping[str, Any]) -> str:
    """The mark of the hidden turn that a block depends on, which a client holds; empty where it has none."""
    return _opened(reasoning, of_edits=False)[0]


def unsealed(reasoning: bytes, *, of_edits: bool = False) -> bytes:
    """The block without its seal: as its provider wrote it, or with the seal of edits inside."""
    value = envelope.value_of(reasoning)
    original = _opened(value, of_edits=of_edits)[1]
    if _TEXT in value:
        text = envelope.raw_at(reasoning, _TEXT)
        return envelope.edited(reasoning, **{_TEXT: envelope.edited(text, **{_SIGNATURE: original})})
    return envelope.edited(reasoning, **{_REDACTED: original})


def with_seals(blocks: Sequence[bytes], mark: str, *, of_edits: bool) -> tuple[list[bytes] | None, int]:
    """The blocks with the reasoning of this mark opened, and without any other; None for no change. And how many
    blocks were taken out."""
    kept: list[bytes] = []
    removed = 0
    is_changed = False
    for block in blocks:
        reasoning = envelope.members(block).get(REASONING)
        value = envelope.value_of(reasoning) if reasoning is not None else None
        if reasoning is None or not isinstance(value, dict):
            kept.append(block)
            continue
        own = _opened(value, of_edits=of_edits)[0]
        if own != mark:
            removed += 1
        else:
            is_changed = is_changed or bool(own)
            kept.append(envelope.join({REASONING: unsealed(reasoning, of_edits=of_edits)}) if own else block)
    return (kept, removed) if removed or is_changed else (None, 0)


def _opened(reasoning: Mapping[str, Any], *, of_edits: bool) -> tuple[str, str]:
    """The mark, and what it seals: the provider's own signature or bytes, or the seal of edits."""
    text = reasoning.get(_TEXT)
    if isinstance(text, dict):
        stated = text.get(_SIGNATURE)
        signature = stated if isinstance(stated, str) else ""
        is_sealed = signature.startswith(SEALED) and signature.startswith(EDITED) == of_edits
        return opened(signature) if is_sealed else ("", signature)
    stated = reasoning.get(_REDACTED)
    try:
        data = b64decode(stated, validate=True) if isinstance(stated, str) else b""
    except Error:
        data = b""
    if not data.startswith(SEALED.encode()) or data.startswith(EDITED.encode()) != of_edits:
        return "", str(stated)
    mark, _, own = data.removeprefix(SEALED.encode()).partition(b".")
    return mark.decode("ascii", "replace"), b64encode(own).decode()


def _seal_member(raw: bytes, member: str, mark: str) -> bytes:
    stated = envelope.value_of(envelope.members(raw).get(member, b"null"))
    if not isinstance(stated, str) or not stated:
        return raw
    if member == _SIGNATURE:
        return envelope.edited(raw, **{member: sealed(mark, stated)})
    try:
        own = b64decode(stated, validate=True)
    except Error:
        return raw
    return envelope.edited(raw, **{member: b64encode(f"{SEALED}{mark}.".encode() + own).decode()})
