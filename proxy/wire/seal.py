"""Marks on thinking that depends on hidden turns: the client gets it sealed, and gives it back sealed.

A provider binds thinking to everything before it. What the client holds lacks the hidden turns, so such thinking may
only go up again where they were put back. The seal names the hidden turn that it depends on; where that one is not in
its place, the block is taken out, which a provider accepts for the end of a conversation (WIRE.md 1.7).
"""

from __future__ import annotations

from typing import Final

import re2

from proxy.wire.members import SHORT_BYTES

SEALED = "cg1."
"""How every sealed signature begins. No provider's own does: theirs are base64, which has no dot."""
_SEALED_BYTES: Final = SEALED.encode()
_SEALED: Final = re2.compile(re2.escape(_SEALED_BYTES))
_ENCODING: Final = b'"redactedContent"'  # the member of the one dialect that encodes what it seals
_ENCODED: Final = b"Y2cxLm"  # and how it begins then


EDITED = SEALED + "e"
"""How the seal of thinking begins that depends on edits of the history: the gate's own, which the client has not seen.
Ids of ledger entries begin with another letter. Where thinking depends on both, this seal is the inner one."""


def may_be_sealed(body: bytes) -> bool:
    """Whether a request may hold sealed thinking; of megabytes, in less than a millisecond.

    This engine finds a short word several times as fast as `in` does, and `rfind` a longer one; to be started it takes
    longer than to look through a short body.
    """
    is_sealed = body.rfind(_SEALED_BYTES) >= 0 if len(body) <= SHORT_BYTES else _SEALED.search(body) is not None
    return is_sealed or (body.rfind(_ENCODING) >= 0 and body.rfind(_ENCODED) >= 0)


def edit_mark(state: str) -> str:
    """The mark of an edited history. `state` is the digest of all edits, in hex; empty for none."""
    return f"e{state}" if state else ""


def both_marks(hidden: str, edited: str) -> str:
    """The mark under which thinking leaves that depends on a hidden turn and on edits; either may be empty."""
    return f"{hidden}.{SEALED}{edited}" if hidden and edited else hidden or edited


def sealed(mark: str, signature: str) -> str:
    """`mark` is the id of a ledger entry: letters, digits and `_`."""
    return f"{SEALED}{mark}.{signature}"


def opened(text: str) -> tuple[str, str]:
    """The mark and the original signature."""
    mark, _, signature = text.removeprefix(SEALED).partition(".")
    return mark, signature
