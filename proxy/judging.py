"""What judges the answer of one exchange: the gate and the verdicts, made where something in it has to be judged.

Most bodies hold nothing of the kind: no call, no text that is held, nothing that later requests have to name. Such a
body leaves as the gate would send it, and neither is made.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.gate import Gate
from proxy.handover import HandOver
from proxy.inline import inline_wait
from proxy.verdicts import Verdicts
from proxy.wire.events import FrameRead, TurnEnded

if TYPE_CHECKING:
    from proxy.judge import Judge, Scene
    from proxy.limits import Limits
    from proxy.onward import Onward
    from proxy.policy_source import Revision
    from proxy.spoken import Spoken
    from proxy.texts import TextRules
    from proxy.wire.dialect import Dialect, Reader
    from proxy.wire.events import WireEvent
    from proxy.wire.sse import Frame


class Judging:
    """Of one exchange; `reader` is that of its first leg. `waits`: no call of a leg leaves before all are judged.

    `has_begun` says that both were made.
    """

    def __init__(
        self,
        dialect: Dialect,
        reader: Reader,
        onward: Onward,
        revision: Revision,
        texts: TextRules,
        *,
        streamed: bool,
        waits: bool,
    ) -> None:
        self._dialect, self._onward, self._revision, self._texts = dialect, onward, revision, texts
        self._reader = reader
        self._streamed, self._waits = streamed, waits
        self.has_begun = False

    def plain(self, frame: Frame) -> bytes | None:
        """The bytes in which a body leaves in which nothing is to be judged; None for any other, whose events the gate
        gets as they were read here."""
        if self._streamed or self._texts.holds or not self._onward.leaves_nothing:
            return None
        events = self._reader.receive(frame)
        if len(events) == 2 and type(events[1]) is TurnEnded:
            read = events[0]
            if isinstance(read, FrameRead) and not read.keys:
                return self._onward.writer(streamed=False).write([read], {})
        self._reader = _ReadAlready(self._reader, events)
        return None

    def gate(self, scene: Scene, limits: Limits) -> Gate:
        onward, revision, texts = self._onward, self._revision, self._texts
        asks_again = texts.structured is not None
        gate = Gate(
            self._reader,
            onward.writer(streamed=self._streamed),
            limits.held_bytes_max,
            memory=onward.memory(revision, scene, limits, streamed=self._streamed, asks_again=asks_again),
            waits=self._waits or bool(revision.together),
            together=revision.together,
        )
        if onward.last_mark:
            gate.seal(onward.last_mark)
        return gate

    def verdicts(self, judge: Judge, scene: Scene, spoken: Spoken, limits: Limits, deadline: float) -> Verdicts:
        """`deadline` is the end of the exchange, monotonic."""
        is_free = not self._waits and not self._revision.together
        inline = inline_wait(self._dialect, judge, scene, limits, deadline, can_wait=self._streamed and is_free)
        verdicts = Verdicts(judge, scene, spoken, inline, HandOver(judge, scene, can=is_free))
        self.has_begun = True
        return verdicts


class _ReadAlready:
    """A reader whose first frame was read: what it gave is given again, in its place."""

    def __init__(self, inner: Reader, events: list[WireEvent]) -> None:
        self._inner = inner
        self._events: list[WireEvent] | None = events

    @property
    def binds(self) -> bool:
        return self._inner.binds

    def receive(self, frame: Frame) -> list[WireEvent]:
        events, self._events = self._events, None
        return self._inner.receive(frame) if events is None else events

    def next_leg(self) -> None:
        self._inner.next_leg()

    def end(self) -> list[WireEvent]:
        return self._inner.end()
