"""The judgments of one exchange, from the decision to what became of each call, and the records that tell of it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from interceptors.calls import Call, Cause, MalformedToolCall
from interceptors.causes import RefusalCause
from interceptors.receipts import AbortCause
from proxy.answers import answer
from proxy.judge import Judgment
from proxy.records import aborted, delivered, observed, replaced
from proxy.wire.events import RELEASED, Replaced, TextKey

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from interceptors.receipts import Record, Remarked
    from proxy.handover import HandOver
    from proxy.inline import InlineWait
    from proxy.judge import Judge, Scene
    from proxy.spoken import Spoken
    from proxy.wire.events import Answer, Content, Key


class Verdicts:
    """One exchange's. `taken` are the judgments that were written down, in order."""

    def __init__(self, judge: Judge, scene: Scene, spoken: Spoken, inline: InlineWait, handover: HandOver) -> None:
        self._inline = inline
        self._handover = handover
        self._judge = judge
        self._scene = scene
        self._judgments: dict[Key, Judgment] = {}
        self._leaving: list[Key] = []
        self._outcomes: list[Record] = []
        self._recording: asyncio.Task[dict[Key, Judgment]] | None = None
        self._spoken = spoken
        self.taken: list[Judgment] = []

    @property
    def remarks(self) -> list[Remarked]:
        """What was found in plain texts."""
        return self._spoken.remarks

    @property
    def leaving(self) -> tuple[Key, ...]:
        """The calls whose bytes were put, and not handed to the socket yet."""
        return tuple(self._leaving)

    async def decide(self, contents: Mapping[Key, Content], *, may_ask_again: bool = False) -> dict[Key, Answer]:
        """Judge these calls together. What becomes of a plain text is known when they are recorded."""
        calls, refused = self._spoken.calls(contents, may_ask_again=may_ask_again)
        judgments = await self._judge.decide(calls, self._scene) if calls else {}
        if refused:
            revision = self._judge.policy.last().revision
            for key, (proposal, decision) in refused.items():
                judgments[key] = Judgment(proposal, decision, revision, 0)
        changed: dict[Key, Call] = {
            key: each.proposal.call
            for key, each in judgments.items()
            if isinstance(key, TextKey) and each.as_released is not None
        }
        if changed:  # a text leaves as it was written, or not at all
            judgments |= self._judge.refuse(changed, RefusalCause.RAISED)
        self._judgments |= judgments
        return self._answers(judgments) | {key: RELEASED for key in contents if self._spoken.waits(key)}

    def refuse(
        self, keys: Sequence[Key], known: Callable[[Key], Content | None], cause: RefusalCause
    ) -> dict[Key, Answer]:
        """Refuse these calls, and texts, for something outside them."""
        plain = self._spoken.limited(keys)
        calls = {key: self._known(key, known) for key in keys if key not in plain}
        self._judgments |= self._judge.refuse(calls, cause)
        return self._answers(calls) | dict.fromkeys(plain, Replaced(""))

    def recording(self, keys: Sequence[Key]) -> asyncio.Task[dict[Key, Judgment]]:
        """Begin to write these decisions down. Whoever stops waiting for it does not take it back."""
        judged = {key: self._judgments[key] for key in keys if not self._spoken.waits(key)}
        self._recording = asyncio.create_task(self._record(judged))
        return self._recording

    def in_steps(self, keys: Sequence[Key]) -> tuple[Sequence[Key], Sequence[Key]]:
        """What is recorded first, and what is recorded then: nothing that may leave waits for people."""
        waits = [key in self._judgments and self._inline.waits(self._judgments[key]) for key in keys]
        first = waits.index(True) if True in waits else 0
        return (keys[:first], keys[first:]) if first else (keys, ())

    async def _record(self, judged: Mapping[Key, Judgment]) -> dict[Key, Judgment]:
        waiting = {
            key: each for key, each in judged.items() if self._inline.waits(each) or self._handover.may(key, each)
        }
        if not waiting:
            return await self._judge.record(judged, self._scene) if judged else {}
        # The others are recorded behind the wait: a halt may come until they leave.
        answered = await self._inline.answered(await self._judge.record(waiting, self._scene))
        offered = await self._handover.offered(answered)
        others = {key: each for key, each in judged.items() if key not in waiting} | offered
        recorded = await self._judge.record(others, self._scene) if others else {}
        for key in offered:
            if not recorded[key].is_allowed:
                self._ended(recorded.pop(key), AbortCause.NOT_HANDED_OVER)
        return answered | recorded

    def _ended(self, judgment: Judgment, cause: AbortCause) -> None:
        if judgment.receipt:
            self._outcomes.append(aborted(judgment, self._scene, self._judge.clock(), cause))

    def recorded(self, keys: Sequence[Key], judgments: Mapping[Key, Judgment]) -> dict[Key, Answer]:
        """They are written down, as they now stand."""
        self._recording = None
        self._take(judgments)
        released = self._released
        texts = {key: self._spoken.answer(key, released) for key in keys if self._spoken.waits(key)}
        return self._answers(judgments) | texts

    @property
    def _released(self) -> frozenset[str]:
        """The tools whose calls were released so far."""
        return frozenset(judgment.decision.tool for judgment in self.taken if judgment.is_allowed)

    def listened(self, texts: Iterable[str]) -> None:
        """These texts were said, and nothing held them."""
        self._spoken.listened(texts, self._released)

    def _known(self, key: Key, known: Callable[[Key], Content | None]) -> Call:
        """What was read of a call or of a structured answer; malformed where it is open."""
        return self._spoken.as_call(key, known(key)) or MalformedToolCall("", Cause.CUT_OFF, "", 0)

    def put(self, keys: Iterable[Key]) -> None:
        """The answers of these calls are among the bytes that leave next."""
        self._leaving.extend(keys)

    def left(self) -> None:
        """What was put was handed to the socket: that is an outcome."""
        if not self._leaving:
            return
        for key in dict.fromkeys(self._leaving):
            if (judgment := self._judgments.get(key)) and judgment.receipt:
                self._outcomes.append(delivered(judgment, self._scene, self._judge.clock()))
                if judgment.instead_of is not None:
                    self._outcomes.append(replaced(judgment.instead_of, judgment, self._scene, self._judge.clock()))
        self._leaving.clear()

    def saw(self, tool: str) -> None:
        """The provider executed something itself."""
        self._outcomes.append(observed(tool, self._scene, self._judge.clock(), "response"))

    def next_leg(self) -> None:
        """The keys of the next leg are its own."""
        self._judgments = {}

    async def abandon(self, keys: Sequence[Key], known: Callable[[Key], Content | None], cause: AbortCause) -> None:
        """These calls will not be delivered. A record that was being written is waited for, so that none is decided
        twice; a call without a decision gets one, as malformed; what a call holds that never left comes free."""
        leaving = set(self._leaving)
        self._leaving.clear()
        recording, self._recording = self._recording, None
        if recording is not None:
            self._inline.leave()
            await asyncio.wait({recording})
            if not recording.cancelled() and recording.exception() is None:
                self._take(recording.result())
        keys = [key for key in keys if key in self._judgments or not self._spoken.is_plain(key)]
        undecided = [key for key in keys if key not in self._judgments]
        calls = {key: self._known(key, known) for key in undecided}
        judgments = self._judge.refuse(calls, RefusalCause.MALFORMED)
        unrecorded = {key: judgment for key in keys if (judgment := self._judgments.get(key)) and not judgment.receipt}
        self._take(await self._judge.record(judgments | unrecorded, self._scene))
        for key in keys:
            self._ended(self._judgments[key], cause)
            if (refused := self._judgments[key].instead_of) is not None:
                self._ended(refused, cause)
        await self._judge.free(
            [self._judgments[key].receipt for key in keys if key not in leaving and self._judgments[key].is_allowed]
        )

    def close(self) -> None:
        """What is still to be told is handed on."""
        outcomes, self._outcomes = self._outcomes, []
        self._judge.outcomes.add([*outcomes, *self._spoken.remarks])

    def _take(self, recorded: Mapping[Key, Judgment]) -> None:
        self._judgments |= recorded
        for judgment in recorded.values():
            self.taken += [judgment] if judgment.instead_of is None else [judgment.instead_of, judgment]

    def _answers(self, keys: Iterable[Key]) -> dict[Key, Answer]:
        return {key: answer(self._judgments[key], self._scene.identity) for key in keys}
