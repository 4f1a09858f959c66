"""Answers of ours that a provider would have kept, had it made them: what goes up where a later request names one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.ledger.hidden import Hidden, Refusal, root_of
from proxy.wire.standing import Held, pointer_turn
from proxy.wire.transcript import CHAIN_START

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from proxy.ledger.keeper import Prepared
    from proxy.ledger.vault import Vault
    from proxy.wire.dialect import Dialect
    from proxy.wire.told import KeptAnswer


def own_answer(dialect: Dialect, prepared: Prepared, answer: KeptAnswer, text: str, mark: str) -> list[Hidden]:
    """Under each name of the answer the whole exchange: what would have gone up, and what was said instead.

    What the provider keeps stands before it, by its own name; without that, everything is in the request that names it.
    """
    said = dialect.continuation.said(text)
    messages = (*dialect.continuation.transcript(prepared.body).messages, said)
    heard = tuple(Refusal(tool, digest, "") for tool, digest in prepared.refusals.elements())
    return [
        Hidden(
            mark,
            root_of(turn),
            CHAIN_START,
            turn.meaning(),
            messages,
            refusals=heard,
            answered=tuple(sorted(prepared.answered)),
            asked=prepared.asker,
            once=held is Held.CONVERSATION,
            is_own=True,
        )
        for held, name in _names(answer)
        for turn in (pointer_turn(held, name),)
    ]


def keep(vault: Vault, tenant: str, subject: str, entries: list[Hidden], prepared: Prepared, now: datetime) -> None:
    """Durably, in the place of those that went into this request and count once. It blocks. Raises `LedgerError`."""
    for entry in entries:
        vault.put(tenant, subject, entry, now)
    replaced = [each for each in prepared.used_once if each.is_own and all(each.id != entry.id for entry in entries)]
    if replaced and any(entry.once for entry in entries):
        vault.forget(tenant, replaced)


def _names(answer: KeptAnswer) -> Iterator[tuple[Held, str]]:
    if answer.named.answer:
        yield Held.ANSWER, answer.named.answer
    if answer.named.conversation:
        yield Held.CONVERSATION, answer.named.conversation
