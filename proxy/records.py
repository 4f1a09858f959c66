"""What an exchange has to tell of its calls once it is known what left the socket."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors.edits import compacted
from interceptors.receipts import (
    AbortCause,
    Aborted,
    Edit,
    Edited,
    Observed,
    Record,
    Released,
    Remarked,
    Substituted,
    Unexamined,
)
from proxy.store import new_receipt_id

if TYPE_CHECKING:
    from datetime import datetime

    from policies.model import Policy
    from proxy.clock import Clock
    from proxy.history.keeper import Upward
    from proxy.judge import Judgment, Scene
    from proxy.ledger.keeper import Prepared
    from proxy.texts import Finding


def delivered(judgment: Judgment, scene: Scene, now: datetime) -> Record:
    """The call, or what stands in its place, was handed to the socket."""
    if judgment.is_allowed:
        return Released(receipt=judgment.receipt, time=now, exchange=scene.exchange, subject=scene.subject)
    return Substituted(
        receipt=judgment.receipt,
        time=now,
        exchange=scene.exchange,
        result=judgment.decision.reply,
        subject=scene.subject,
    )


def replaced(refused: Judgment, by: Judgment, scene: Scene, now: datetime) -> Record:
    """A call of the agent's escalation tool was handed to the socket in the place of the refused one."""
    result = f"handed over as a call of {by.decision.tool}, {by.receipt}"
    return Substituted(receipt=refused.receipt, time=now, exchange=scene.exchange, result=result, subject=scene.subject)


def aborted(judgment: Judgment, scene: Scene, now: datetime, cause: AbortCause) -> Record:
    """Neither was, or not whole."""
    return Aborted(receipt=judgment.receipt, time=now, exchange=scene.exchange, cause=cause, subject=scene.subject)


def remarked(finding: Finding, tool: str, policy: Policy, scene: Scene, now: datetime) -> Remarked:
    """Something was found in a text; `tool` is spelled as the policy does."""
    return Remarked(
        receipt=new_receipt_id(now),
        time=now,
        exchange=scene.exchange,
        tenant=scene.tenant,
        dialect=scene.dialect,
        model=scene.model,
        remark=finding.remark,
        tool=tool,
        replaced=finding.replaces,
        policy=policy.name,
        revision=policy.revision,
        detail=finding.detail,
        identity=scene.identity,
        subject=scene.subject,
    )


def unexamined(method: str, path: str, upstream: str, scene: Scene, now: datetime) -> Record:
    """A route that passes without being read; `path` is as its table has it, or the configuration."""
    return Unexamined(
        receipt=new_receipt_id(now),
        time=now,
        exchange=scene.exchange,
        tenant=scene.tenant,
        method=method,
        path=path,
        upstream=upstream,
        identity=scene.identity,
        subject=scene.subject,
    )


def observed(tool: str, scene: Scene, now: datetime, where: str) -> Record:
    """A tool that the provider executes; `where` it was seen: `request`, `stripped` of it, or `response`."""
    return Observed(
        receipt=new_receipt_id(now),
        time=now,
        exchange=scene.exchange,
        tenant=scene.tenant,
        dialect=scene.dialect,
        model=scene.model,
        tool=tool,
        where=where,
        identity=scene.identity,
        subject=scene.subject,
    )


def edited(prepared: Prepared, upward: Upward, scene: Scene, clock: Clock) -> list[Record]:
    """What was done to the history of a request, or could not be done. Edits that were decided before are not told
    again."""
    taken_out = prepared.taken_out + upward.taken_out
    if not (taken_out or prepared.ambiguous or upward.fresh):
        return []
    now = clock()
    done = {Edit.THINKING_TAKEN_OUT: taken_out, Edit.NOT_PUT_BACK: prepared.ambiguous, **upward.fresh}
    records: list[Record] = []
    for edit, count in done.items():
        if not count:
            continue
        told = Edited(
            receipt=new_receipt_id(now),
            time=now,
            exchange=scene.exchange,
            tenant=scene.tenant,
            dialect=scene.dialect,
            model=scene.model,
            edit=edit,
            count=count,
            bytes_saved=upward.bytes_saved if edit in upward.fresh else 0,
            tokens_saved=upward.tokens_saved if edit in upward.fresh else 0,
            identity=scene.identity,
            subject=scene.subject,
        )
        is_compacted = edit is Edit.COMPACTED
        records.append(compacted(told, upward.tokens_before, upward.tokens_after) if is_compacted else told)
    return records
