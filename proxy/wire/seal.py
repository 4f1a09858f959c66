"""Marks on thinking that depends on hidden turns: the client gets it sealed, and gives it back sealed.

A provider binds thinking to everything before it. What the client holds lacks the hidden turns, so such thinking may
only go up again where they were put back. The seal names the hidden turn that it depends on; where that one is not in
its place, the block is taken out, which a provider accepts for the end of a conversation (WIRE.md 1.7).
"""

from __future__ import annotations

from typing import Final, NamedTuple

import re2

from proxy.wire.members import SHORT_BYTES

SEALED = "cg1."
"""How every sealed signature begins. No provider's own does: theirs are base64, which has no dot."""
_SEALED_BYTES: Final = SEALED.encode()
_SEALED: Final = re2.compile(re2.escape(_SEALED_BYTES))
_ENCODING: Final = b'"redactedContent"'  # the member of the one dialect that encodes what it seals
_ENCODED: Final = b"Y2cxLm"  # and how it begins then


LENIENT: Final = b"prefix_mismatch_behavior"
"""In a request whose newest message decides what becomes of its older thinking: it is read as a whole."""
EDITED = SEALED + "e"
"""How the seal of thinking begins that depends on edits of the history: the gate's own, which the client has not seen.
Ids of ledger entries begin with another letter. Where thinking depends on both, this seal is the inner one."""


class Seals(NamedTuple):
    """Which of the marks of sealed thinking stand in some bytes. Those of a whole are those of its parts, where none
    stands across two of them."""

    plain: bool = False
    encoding: bool = False
    encoded: bool = False

    @property
    def may_be_sealed(self) -> bool:
        return self.plain or (self.encoding and self.encoded)

    def beside(self, other: Seals) -> Seals:
        """Those of both."""
        return Seals(self.plain or other.plain, self.encoding or other.encoding, self.encoded or other.encoded)


def seals_in(body: bytes) -> Seals:
    """Of a request; of megabytes, in about a millisecond."""
    return Seals(_is_plain(body), body.rfind(_ENCODING) >= 0, body.rfind(_ENCODED) >= 0)


def may_be_sealed(body: bytes) -> bool:
    """Whether a request may hold sealed thinking; of megabytes, in less than a millisecond."""
    return _is_plain(body) or (body.rfind(_ENCODING) >= 0 and body.rfind(_ENCODED) >= 0)


def _is_plain(body: bytes) -> bool:
    """This engine finds a short word several times as fast as `in` does, and `rfind` a longer one; to be started it
    takes longer than to look through a short body."""
    return body.rfind(_SEALED_BYTES) >= 0 if len(body) <= SHORT_BYTES else _SEALED.search(body) is not None


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
