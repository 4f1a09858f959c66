"""Holds a streamed response while people answer what was passed to them (`on_approval: inline`), within one bound.

The case is open and recorded before anything waits. What people answered is decided anew, on fresh facts, and recorded
again before a byte leaves; where they did not, the refusal that is recorded already says how the call goes on.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from msgspec import structs

from interceptors.receipts import AbortCause
from policies.approvals import OnApproval
from policies.model import Ruling
from proxy.records import aborted
from proxy.store import EscalationStatus, StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.judge import Judge, Judgment, Scene
    from proxy.limits import Limits
    from proxy.wire.dialect import Dialect
    from proxy.wire.events import Key

LOOK_SECONDS: Final = 0.25
"""How often the store is asked for an answer, which any process may have taken."""
_SPARE_SECONDS: Final = 2.0
"""Before the end of the exchange: what is answered then can still be decided and recorded."""
PENDING: Final = " Nobody has answered yet: the case is {case}."
RESUME: Final = "Once it is approved, make the same call again, unchanged, and it runs."


class InlineWait:
    """Of one exchange. Nothing waits where its dialect cannot say meanwhile that it is still there."""

    def __init__(self, judge: Judge, scene: Scene, seconds: float, deadline: float) -> None:
        self._judge = judge
        self._scene = scene
        self._seconds = seconds
        self._deadline = deadline - _SPARE_SECONDS
        self._left: asyncio.Event | None = None  # made by who waits for it: few exchanges do
        self._is_left = False

    def leave(self) -> None:
        """Nobody is there any more to wait for an answer."""
        self._is_left = True
        if self._left is not None:
            self._left.set()

    def waits(self, judgment: Judgment) -> bool:
        """Whether the response is held for this refusal."""
        if judgment.decision.ruling is not Ruling.ESCALATE or judgment.decision.asks is None or self._seconds <= 0:
            return False
        tool = judgment.revision.policy.tool(judgment.decision.tool)
        return tool is not None and tool.passed_on.on_approval is OnApproval.INLINE

    async def answered(self, recorded: Mapping[Key, Judgment]) -> dict[Key, Judgment]:
        """What holds of these refusals, which are recorded and wait for people."""
        waiting = {key: each for key, each in recorded.items() if self.waits(each) and each.escalation is not None}
        closed = await self._until_closed({each.escalation or "" for each in waiting.values()})
        if self._is_left:
            return dict(recorded)
        again = {key: each.proposal.call for key, each in waiting.items() if each.escalation in closed}
        pending = {key: _pending(each) for key, each in waiting.items() if key not in again}
        if not again:
            return {**recorded, **pending}
        scene = structs.replace(self._scene, heard={})  # what is decided again is not proposed again
        anew = await self._judge.record(await self._judge.decide(again, scene), scene)
        now = self._judge.clock()
        self._judge.outcomes.add([aborted(waiting[key], scene, now, AbortCause.ANSWERED) for key in again])
        return {**recorded, **pending, **anew}

    async def _until_closed(self, cases: set[str]) -> set[str]:
        """Those that people closed. It ends early where all are, where nobody waits, and at a halt."""
        ends = min(time.monotonic() + self._seconds, self._deadline)
        closed: set[str] = set()
        left = self._left = asyncio.Event()
        while cases - closed and time.monotonic() < ends and not self._is_left:
            with suppress(StoreError, TimeoutError):
                if self._judge.store.is_halted():
                    return cases
                for case in sorted(cases - closed):
                    if await self._judge.store.case_status(case) is not EscalationStatus.OPEN:
                        closed.add(case)
            if cases - closed:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await left.wait()
        return closed


def inline_wait(
    dialect: Dialect, judge: Judge, scene: Scene, limits: Limits, deadline: float, *, can_wait: bool
) -> InlineWait:
    """`deadline` is the end of the exchange, monotonic. `can_wait`: it is a stream whose calls leave each by itself; a
    dialect without keep-alives never waits."""
    seconds = limits.inline_wait_ms_max / 1000 if can_wait and dialect.writer(True).keepalive() else 0.0
    return InlineWait(judge, scene, seconds, deadline)


def _pending(judgment: Judgment) -> Judgment:
    """The same refusal, which says that it is not answered, under which name, and how the call goes on."""
    decision = judgment.decision
    told = PENDING.format(case=judgment.escalation)
    said = structs.replace(
        decision, message=decision.message + told, next=RESUME, reply=f"{decision.reply} ({judgment.escalation})"
    )
    return structs.replace(judgment, decision=said)
