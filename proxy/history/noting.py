"""What one exchange tells the history that goes up later: the calls that are refused in it, and its tokens."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from proxy.history.matters import asked
from proxy.ledger.notes import Note
from proxy.wire.used import tokens_read

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.clock import Clock
    from proxy.history.tokens import Rates
    from proxy.judge import Judgment
    from proxy.ledger.edits import Where
    from proxy.ledger.notes import NoteVault
    from proxy.wire.framing import Framer
    from proxy.wire.sse import Frame, FramingFault


class Noting:
    """Of the answer to the request of `size` bytes at `where`, in the conversation that the request names."""

    def __init__(
        self, notes: NoteVault, rates: Rates, clock: Clock, where: Where, conversation: str, size: int
    ) -> None:
        self._notes, self._rates, self._clock = notes, rates, clock
        self._where, self._conversation, self._size = where, conversation, size
        self._noted = 0

    async def note(self, judgments: Sequence[Judgment], exchange: str) -> None:
        """Keep those that came since, durably, before what stands in their place leaves. Raises `LedgerError`."""
        new = [each for each in judgments[self._noted :] if not each.is_allowed and each.receipt]
        self._noted = len(judgments)
        if new:
            notes = [self._of(each, exchange) for each in new]
            await asyncio.to_thread(self._notes.put, self._where, notes, self._clock())

    def _of(self, judgment: Judgment, exchange: str) -> Note:
        decision, policy = judgment.decision, judgment.revision.policy
        call = asked(policy, decision.tool, decision.arguments)
        return Note(
            call.tool,
            call.things,
            call.amount,
            decision.reason,
            judgment.receipt,
            judgment.escalation or "",
            decision.reply,
            exchange,
            self._conversation,
        )

    def saw(self, frame: Frame) -> Frame:
        """The frame, or the whole body as one, which may state what the request cost."""
        if tokens := tokens_read(frame.data):
            self._rates.saw(self._where, self._size, tokens)
        return frame

    def tapped(self, framer: Framer) -> Framer:
        """The same framer, whose frames are seen here, too."""
        return _Tapped(framer, self)


class _Tapped:
    def __init__(self, inner: Framer, noting: Noting) -> None:
        self._inner, self._noting = inner, noting

    @property
    def fault(self) -> FramingFault | None:
        return self._inner.fault

    @property
    def pending(self) -> int:
        return self._inner.pending

    def feed(self, data: bytes) -> list[Frame]:
        return [self._noting.saw(frame) for frame in self._inner.feed(data)]

    def close(self) -> Frame | None:
        last = self._inner.close()
        return None if last is None else self._noting.saw(last)
