"""Marks on thinking that depends on hidden turns: the client gets it sealed, and gives it back sealed.

A provider binds thinking to everything before it. What the client holds lacks the hidden turns, so such thinking may
only go up again where they were put back. The seal names the hidden turn that it depends on; where that one is not in
its place, the block is taken out, which a provider accepts for the end of a conversation (WIRE.md 1.7).
"""

from __future__ import annotations

SEALED = "cg1."
"""How every sealed signature begins. No provider's own does: theirs are base64, which has no dot."""


EDITED = SEALED + "e"
"""How the seal of thinking begins that depends on edits of the history: the gate's own, which the client has not seen.
Ids of ledger entries begin with another letter. Where thinking depends on both, this seal is the inner one."""


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
