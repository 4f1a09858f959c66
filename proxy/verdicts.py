"""The judgments of one exchange, from the decision to what became of each call, and the records that tell of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from interceptors.calls import Call, Cause, MalformedToolCall
from interceptors.causes import RefusalCause
from proxy.answers import answer
from proxy.records import aborted, delivered, observed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interceptors.receipts import AbortCause, Record
    from proxy.judge import Judge, Judgment, Scene
    from proxy.wire.events import Answer, Key


class Verdicts:
    """One exchange's. `taken` are the judgments that were written down, in order."""

    def __init__(self, judge: Judge, scene: Scene) -> None:
        self._judge = judge
        self._scene = scene
        self._judgments: dict[Key, Judgment] = {}
        self._leaving: list[Key] = []
        self._outcomes: list[Record] = []
        self._recording: asyncio.Task[dict[Key, Judgment]] | None = None
        self.taken: list[Judgment] = []

    @property
    def leaving(self) -> tuple[Key, ...]:
        """The calls whose bytes were put, and not handed to the socket yet."""
        return tuple(self._leaving)

    async def decide(self, calls: Mapping[Key, Call]) -> dict[Key, Answer]:
        """Judge these calls together."""
        judgments = await self._judge.decide(calls, self._scene)
        self._judgments |= judgments
        return self._answers(judgments)

    def refuse(self, calls: Mapping[Key, Call], cause: RefusalCause) -> dict[Key, Answer]:
        """Refuse these calls for something outside them."""
        self._judgments |= self._judge.refuse(calls, cause)
        return self._answers(calls)

    def recording(self, keys: Sequence[Key]) -> asyncio.Task[dict[Key, Judgment]]:
        """Begin to write these decisions down. Whoever stops waiting for it does not take it back."""
        judged = {key: self._judgments[key] for key in keys}
        self._recording = asyncio.ensure_future(self._judge.record(judged, self._scene))
        return self._recording

    def recorded(self, judgments: Mapping[Key, Judgment]) -> dict[Key, Answer]:
        """They are written down, as they now stand."""
        self._recording = None
        self._take(judgments)
        return self._answers(judgments)

    def put(self, keys: Iterable[Key]) -> None:
        """The answers of these calls are among the bytes that leave next."""
        self._leaving.extend(keys)

    def left(self) -> None:
        """What was put was handed to the socket: that is an outcome."""
        for key in dict.fromkeys(self._leaving):
            if (judgment := self._judgments.get(key)) and judgment.receipt:
                self._outcomes.append(delivered(judgment, self._scene, self._judge.clock()))
        self._leaving.clear()

    def saw(self, tool: str) -> None:
        """The provider executed something itself."""
        self._outcomes.append(observed(tool, self._scene, self._judge.clock(), "response"))

    def next_leg(self) -> None:
        """The keys of the next leg are its own."""
        self._judgments = {}

    async def abandon(self, keys: Sequence[Key], known: Callable[[Key], Call | None], cause: AbortCause) -> None:
        """These calls will not be delivered. A record that was being written is waited for, so that none is decided
        twice; a call without a decision gets one, as malformed; what a call holds that never left comes free."""
        leaving = set(self._leaving)
        self._leaving.clear()
        recording, self._recording = self._recording, None
        if recording is not None:
            await asyncio.wait({recording})
            if not recording.cancelled() and recording.exception() is None:
                self._take(recording.result())
        undecided = [key for key in keys if key not in self._judgments]
        calls = {key: known(key) or MalformedToolCall("", Cause.CUT_OFF, "", 0) for key in undecided}
        judgments = self._judge.refuse(calls, RefusalCause.MALFORMED)
        unrecorded = {key: judgment for key in keys if (judgment := self._judgments.get(key)) and not judgment.receipt}
        self._take(await self._judge.record(judgments | unrecorded, self._scene))
        for key in keys:
            judgment = self._judgments[key]
            if judgment.receipt:
                self._outcomes.append(aborted(judgment, self._scene, self._judge.clock(), cause))
        await self._judge.free(
            [self._judgments[key].receipt for key in keys if key not in leaving and self._judgments[key].is_allowed]
        )

    def close(self) -> None:
        """What is still to be told is handed on."""
        outcomes, self._outcomes = self._outcomes, []
        self._judge.outcomes.add(outcomes)

    def _take(self, recorded: Mapping[Key, Judgment]) -> None:
        self._judgments |= recorded
        self.taken.extend(recorded.values())

    def _answers(self, keys: Iterable[Key]) -> dict[Key, Answer]:
        return {key: answer(self._judgments[key], self._scene.identity) for key in keys}
