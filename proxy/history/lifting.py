"""A request on its way up, as far as it is known, and what becomes of it with the edits that hold for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from proxy.history.pairs import repairs
from proxy.history.tokens import BYTES_A_TOKEN
from proxy.history.view import edited
from proxy.wire.stem import NO_STEMS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from interceptors.edits import Edit
    from policies.model import Policy
    from proxy.history.noting import Noting
    from proxy.history.view import Edited, View
    from proxy.ledger.edits import Decision, PairEdit, Where
    from proxy.ledger.hidden import Asker
    from proxy.wire.dialect import Dialect
    from proxy.wire.stem import Stems


class Subject(msgspec.Struct, frozen=True):
    """Whose request it is, and the calls in it whose results are the gate's own."""

    tenant: str
    asker: Asker
    answered: frozenset[str] = frozenset()
    client_body: bytes = b""  # as the client sent it: the places that it knows
    is_sealed: bool = True  # whether its thinking may depend on edits


class Coming(msgspec.Struct, frozen=True):
    """A request of whose history nothing was read yet. `stems` are those of its body; `generation` is that of the
    vault."""

    dialect: Dialect
    body: bytes
    policy: Policy
    subject: Subject
    stems: Stems
    now: datetime
    generation: int


class Upward(msgspec.Struct, frozen=True):
    """A request as it goes up. `mark` names its edits, for the thinking of the answer. `fresh` counts what was decided
    for the first time; `bytes_saved` is what the body is shorter than it came; `taken_out` are thinking blocks.
    `tokens_before` is how many it would have, estimated, were nothing summed up now; 0 where nothing is. `noting` hears
    of the answer.
    """

    body: bytes
    mark: str = ""
    where: Where | None = None
    decision: Decision | None = None
    fresh: Mapping[Edit, int] = msgspec.field(default_factory=dict)
    bytes_saved: int = 0
    taken_out: int = 0
    tokens_before: int = 0
    tokens_after: int = 0
    noting: Noting | None = None

    @property
    def tokens_saved(self) -> int:
        return self.bytes_saved // BYTES_A_TOKEN


@dataclass(frozen=True, slots=True)
class Request:
    """`before` is what was decided at places ahead of the newest turn; `mends` are repairs of pairs that no decision
    holds. `where` is None where nothing is decided of it. `stems` are those of its body, where it goes up as it came
    but for its edits."""

    dialect: Dialect
    body: bytes
    policy: Policy
    subject: Subject
    view: View
    before: Mapping[int, Decision]
    mends: Sequence[PairEdit]
    pairs: Mapping[int, PairEdit]
    where: Where | None
    now: datetime
    generation: int  # of the vault, before anything was read of it
    stems: Stems = NO_STEMS

    @property
    def is_held_whole(self) -> bool:
        """Whether its newest turn is a user's text, and its policy would sum up what the provider keeps before that."""
        turns = self.view.turns
        is_wanted = self.policy.history.compact_above is not None and self.view.transcript.is_continued
        return is_wanted and bool(turns) and not turns[-1].results

    def with_edits(self, newest: Decision | None) -> tuple[Edited, bytes]:
        """The history with what was decided before and of the newest turn, and the body with it."""
        decisions = dict(self.before)
        if newest is not None and self.view.newest is not None:
            decisions[self.view.newest] = newest
        said = self.dialect.continuation.said
        found = edited(self.view, decisions, repairs([*self.mends, *self.pairs.values()]), said)
        return found, self.view.transcript.body(found.messages) if found.is_changed else self.body
