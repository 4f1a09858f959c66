"""What is known of the calls of a history beside its messages: their receipts, and what was refused in it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from proxy.history.compacting import Accounts, Open, Overlong, beginning, clients_calls, said_in
from proxy.history.tokens import estimated
from proxy.released import released
from proxy.store.escalations import status_of

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Mapping

    from proxy.history.lifting import Request
    from proxy.ledger.edits import Decision
    from proxy.ledger.notes import NoteVault
    from proxy.store import Store


class Receipts:
    """One for the process."""

    def __init__(self, store: Store, notes: NoteVault) -> None:
        self._store = store
        self.notes = notes

    def overlong(self, request: Request, own: Decision, before: Mapping[int, Decision]) -> Overlong | None:
        """The request, where it has more tokens than its policy wants and anything of it might be summed up. `own` is
        decided of its newest turn, `before` of earlier ones, so far. It blocks.

        Raises `LedgerError`.
        """
        limit, view, subject = request.policy.history.compact_above, request.view, request.subject
        newest = view.newest
        first = None if newest is None else beginning(view, newest, request.before.values())
        if limit is None or newest is None or first is None or estimated(len(request.body), own.rate) <= limit:
            return None
        tokens = estimated(len(replace(request, before={**request.before, **before}).with_edits(own)[1]), own.rate)
        said = said_in(request.dialect, view, first, newest) if tokens > limit else None
        if said is None:
            return None
        places = {view.places[number]: number for number in range(first, newest) if number in request.before}
        found = self.notes.find(subject.tenant, subject.asker.subject, places)
        name = subject.asker.conversation
        notes = {
            places[place]: [note for note in noted if name == note.conversation or "" in (name, note.conversation)]
            for place, noted in found.items()
        }
        clients = clients_calls(request.dialect, subject.client_body, request.body)
        return Overlong(request, Open(view, first, said, notes, clients), own, before, tokens)

    async def accounts(self, tenant: str, subject: str, of: Open) -> Accounts:
        """Raises `StoreError`."""
        cases = of.cases

        def statuses(connection: sqlite3.Connection) -> dict[str, str]:
            found = {case: status_of(connection, case) for case in cases}
            return {case: status.value for case, status in found.items() if status is not None}

        rows = await released(self._store, tenant, subject, of.calls)
        return Accounts(rows, await self._store.look(statuses) if cases else {})
