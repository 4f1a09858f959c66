"""Where the application signs the case of a conversation: the cases that this conversation has had before.

They may only narrow, so that a name that two conversations share costs a question, never an allowance (DESIGN 5).
"""

from __future__ import annotations

import asyncio
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from interceptors.readings import read_field
from policies.matrix import CaseOfSession
from proxy.ledger.hidden import root_of
from proxy.store.conversation_cases import note, seen

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json
    from policies.model import Policy
    from proxy.clock import Clock
    from proxy.ledger.keeper import Prepared
    from proxy.store import Store
    from proxy.wire.dialect import Dialect

_AGAIN_AFTER: Final = timedelta(hours=1)
"""A case that goes on is noted anew after so long: the row must outlive the conversation, and need not be written by
each request."""


class SignedCases:
    """One for the process."""

    def __init__(self, store: Store, clock: Clock) -> None:
        self._store = store
        self._clock = clock

    async def before(
        self, dialect: Dialect, prepared: Prepared, policy: Policy, who: tuple[str, str], claims: Mapping[str, Json]
    ) -> tuple[str, ...]:
        """All cases of this conversation, this request's among them; none where the policy's are not signed, or where
        nothing says whose conversation it is. `who` are the tenant and the conversation's name.

        Raises `StoreError`.
        """
        word = _signed(policy, claims)
        tenant, conversation = who
        if word is None or not (conversation or prepared.asker.subject):
            return ()
        if not conversation:
            conversation = (await asyncio.to_thread(_opening, dialect, prepared.client_body)).hex()
        name = self._store.name(f"case\0{policy.name}\0{tenant}\0{prepared.asker.subject}\0{conversation}")
        now = self._clock()
        found = await self._store.look(lambda connection: seen(connection, name, now))
        if word not in found or found[word] < now - _AGAIN_AFTER:
            await self._store.write(lambda transaction: note(transaction.connection, name, word, now))
        return tuple({**found, word: now})


def _signed(policy: Policy, claims: Mapping[str, Json]) -> str | None:
    """The case that the session states, if it is one that the policy knows."""
    cases = policy.cases
    if cases is None or not isinstance(cases.source, CaseOfSession):
        return None
    claim = policy.session[cases.source.field]
    word = read_field(claims, claim.at, claim.type)
    known = {cell.partition("/")[0] for cell in cases.cells} | set(cases.owner_keeps)
    return word if isinstance(word, str) and word in known else None


def _opening(dialect: Dialect, body: bytes) -> bytes:
    return root_of(dialect.continuation.transcript(body).opening())
