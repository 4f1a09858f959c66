"""The seals of an Anthropic message's thinking: put on, opened, or a reason to take a block out (WIRE.md 1.7)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.seal import EDITED, SEALED, opened, sealed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

SEALABLE = {"thinking": "signature", "redacted_thinking": "data"}
"""Blocks of thinking, and the member that binds each to what stands before it."""


def seal_member(block: bytes, member: str, mark: str) -> bytes:
    """A block, or the delta of one, with its signature sealed; one that has none as it is."""
    signature = envelope.value_of(envelope.members(block).get(member, b"null"))
    if not isinstance(signature, str) or not signature:
        return block
    return envelope.edited(block, **{member: sealed(mark, signature)})


def with_seals(
    message: bytes,
    blocks: Sequence[bytes],
    mark: str,
    mark_of: Callable[[Any], tuple[str, str]],
    *,
    is_left: bool,
) -> tuple[bytes, int]:
    """The message with the thinking of this mark without it, and without any other; and how many blocks that
    were. `is_left`: sealed thinking that does not fit is the provider's to drop."""
    kept: list[bytes] = []
    removed = 0
    is_changed = False
    for block in blocks:
        member = SEALABLE.get(kind_of(block))
        if member is None:
            kept.append(block)
            continue
        own, original = mark_of(envelope.value_of(envelope.members(block).get(member, b"null")))
        if own != mark and not (own and is_left):
            removed += 1
        else:
            is_changed = is_changed or bool(own)
            kept.append(envelope.edited(block, **{member: original}) if own else block)
    if not removed and not is_changed:
        return message, 0
    return with_blocks(message, kept), removed


def edits_of(signature: Any) -> tuple[str, str]:
    """The mark of the edits that a signature depends on, empty where it has none, and the provider's own."""
    if not isinstance(signature, str) or not signature.startswith(EDITED):
        return "", signature if isinstance(signature, str) else ""
    return opened(signature)


def mark_of(signature: Any) -> tuple[str, str]:
    """The mark of a signature, empty where it has none, and what it seals: the provider's own, or the seal of edits."""
    if not isinstance(signature, str) or not signature.startswith(SEALED) or signature.startswith(EDITED):
        return "", signature if isinstance(signature, str) else ""
    return opened(signature)


def with_blocks(message: bytes, blocks: list[bytes]) -> bytes:
    """The message with these blocks; a provider takes none without any."""
    blocks = blocks or [envelope.encode({"type": "text", "text": "(no text)"})]
    return envelope.edited(message, content=envelope.join_list(blocks))


def kind_of(block: bytes) -> str:
    members: Mapping[str, bytes] = envelope.members(block)
    return str(envelope.value_of(members["type"])) if "type" in members else ""
