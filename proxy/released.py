"""Which released call a call of a client's history is: by its id, or by what it says where clients keep no id."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.wire.positional import is_positional, kept

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime

    from proxy.store import ReleasedCall, Store
    from proxy.wire.transcript import CallSeen


async def released(store: Store, tenant: str, subject: str, ids: Sequence[str]) -> dict[str, tuple[ReleasedCall, ...]]:
    """By the id that a request gives to it, the calls that were released under it. Raises `StoreError`.

    Where that is none of the provider's, equal calls of other customers share it: only those for the same subject
    count.
    """
    found = await store.released_calls(tenant, [kept(each) for each in ids]) if ids else {}
    return {
        each: tuple(row for row in found.get(kept(each), ()) if row.subject == subject or not is_positional(each))
        for each in ids
    }


def never_released(store: Store, tenant: str, ids: Sequence[str]) -> bool:
    """Whether surely no call was released under any of these: said without asking, and False where it is not known."""
    return store.knows_none(tenant, [kept(each) for each in ids])


def matching(
    rows: Sequence[ReleasedCall], call: CallSeen | None, but: Collection[str] = (), by: datetime | None = None
) -> ReleasedCall | None:
    """The newest released call of this id with the arguments that the client holds; ids recur, arguments tell.

    Where the call is not there, its id alone has to tell, which one that is made of a name cannot. `but` are receipts
    of equal calls that other results of the same turn answer; no call counts that was decided after `by`.
    """
    if call is None and any(is_positional(row.call_id) for row in rows):
        return None
    fitting = [row for row in rows if (call is None or row.argument_digest == call.digest) and row.receipt not in but]
    return next((row for row in reversed(fitting) if by is None or row.time <= by), None)
