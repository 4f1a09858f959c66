"""Names for calls that bear no id, or whose id clients do not keep: made of what the call says.

The same call gets the same name where a response is read, where a client holds it in its history, and where a hidden
turn was put back; the provider and the client never see it. It tells equal calls of one turn apart by their order. What
is kept of it for later (`kept`) is the tool alone, since what a client holds may lack hidden calls, and may have the
arguments that the gate put in: those are compared by their digest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Container

_MARK: Final = "#"
_DIGEST_LENGTH: Final = 12


def named(name: str, digest: str, taken: Container[str]) -> str:
    """The name of a call among those of its turn that were named before; `digest` is that of its arguments."""
    stem = f"{_MARK}{name}.{digest[:_DIGEST_LENGTH]}"
    count = 0
    while f"{stem}.{count}" in taken:
        count += 1
    return f"{stem}.{count}"


def unpaired(name: str) -> str:
    """The name of a result that answers no call."""
    return f"{_MARK}{name}.."


def is_positional(call_id: str) -> bool:
    return call_id.startswith(_MARK)


def kept(call_id: str) -> str:
    """Under which name a released call is kept and found again: its id, where it has one."""
    return call_id.rsplit(".", 2)[0] if is_positional(call_id) else call_id
