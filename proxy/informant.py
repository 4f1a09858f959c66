"""Fetches what decisions wait for: facts, what was used so far, the conversation; and decides with it.

Each fact is read once for all calls that are decided together, and what was used is one snapshot.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec import structs

from interceptors.decisions import Needs
from interceptors.history import EMPTY

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from interceptors.calls import Proposal
    from interceptors.context import Context, FactKey, FactResult
    from interceptors.decisions import Decision
    from interceptors.history import History
    from interceptors.usage import Usage, UsageKey, Usages
    from proxy.facts_reader import FactsReader
    from proxy.policy_source import Revision
    from proxy.store import Store
    from proxy.wire.events import Key


@dataclass(frozen=True, slots=True)
class Basis:
    """What a decision was made on, to make it anew where more was used meanwhile."""

    context: Context
    facts: Mapping[FactKey, FactResult]
    usages: Usages


@dataclass(frozen=True, slots=True)
class Informant:
    """Of one exchange. `read_history` reads the conversation, where nothing has yet."""

    facts: FactsReader
    store: Store
    revision: Revision
    read_history: Callable[[], Awaitable[History]] | None

    async def inform(
        self, answers: dict[Key, Decision | Needs], proposals: Mapping[Key, Proposal], context: Context
    ) -> Basis:
        """Make a decision of each answer that still needs something. Raises `StoreError`."""
        facts: dict[FactKey, FactResult] = {}
        usages: dict[UsageKey, Usage] = {}
        while waiting := {key: answer for key, answer in answers.items() if isinstance(answer, Needs)}:
            unread, unasked = _unread(waiting.values(), facts), _unasked(waiting.values(), usages)
            unheard = not context.history.is_read and any(needs.history for needs in waiting.values())
            assert unread or unasked or unheard, "the pipeline asked again for what it was given"
            if unheard:
                history = EMPTY if self.read_history is None else await self.read_history()
                context = structs.replace(context, history=history)
            if unread:
                facts |= await self.facts.read(unread, self.revision.facts)
            if unasked:
                usages |= await self.store.usages(unasked)
            decide = self.revision.pipeline.decide
            answers |= {key: decide(proposals[key], context, facts, usages) for key in waiting}
        return Basis(context, facts, usages)


def _unread(waiting: Iterable[Needs], facts: Mapping[FactKey, FactResult]) -> list[FactKey]:
    return [key for key in dict.fromkeys(key for needs in waiting for key in needs.facts) if key not in facts]


def _unasked(waiting: Iterable[Needs], usages: Usages) -> list[UsageKey]:
    return [key for key in dict.fromkeys(key for needs in waiting for key in needs.usages) if key not in usages]
