"""What a turn must remember so that it can go on upstream, and so that its hidden part can be put back later.

Sans-IO. It knows the legs of one turn: what the provider said in each, and what was given back to it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from interceptors.calls import ToolCall
from proxy.held import hidden_result, value_of
from proxy.wire.events import TEXT_KIND, CallCompleted, FrameRead, Released, Replaced
from proxy.wire.standing import Standing
from proxy.wire.transcript import call_seen

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import Answer, Key, Material, WireEvent
    from proxy.wire.sse import Frame
    from proxy.wire.standing import Named
    from proxy.wire.transcript import HiddenResult
    from proxy.wire.turn import Continuation


def _unseen(entry: FrameRead, hidden: Collection[Key]) -> FrameRead:
    """The frame with the keys of what the client does not see of it."""
    return entry._replace(keys=tuple(key for key in entry.keys if key in hidden))


def _has_finished(value: object) -> bool:
    """Whether a frame says why a choice ended, or that all did, beside what else it says."""
    if not isinstance(value, dict):
        return False
    choices = [*(value.get("choices") or ()), *(value.get("candidates") or ())]
    reasons = [
        choice.get("finish_reason") or choice.get("finishReason") for choice in choices if isinstance(choice, dict)
    ]
    return any(reasons) or value.get("done") is True


_REFUSED = '{"isError":true}'


@dataclass(frozen=True, slots=True)
class Remembered:
    """A turn with a hidden part: what the client holds of it, what stands in its place, what answers its calls."""

    visible: bytes  # its meaning, as `SideTurn.meaning` names it
    messages: tuple[bytes, ...]
    results: tuple[HiddenResult, ...] = ()
    order: tuple[str, ...] = ()
    answered: tuple[str, ...] = ()  # ids of the calls that these results, and those of earlier legs, answer
    standing: Standing | None = None  # where the provider keeps the turn


class TurnMemory:
    """One turn. Past `bytes_max` it forgets: then nothing can be hidden any more, and refusals are answered by code."""

    def __init__(self, continuation: Continuation, *, streamed: bool, rounds_max: int, bytes_max: int) -> None:
        self._continuation = continuation
        self._streamed = streamed
        self._rounds_left = rounds_max
        self._bytes_left = bytes_max
        self._recorder = continuation.recorder(streamed)
        self._splice = continuation.splice(streamed)
        self._joined: list[FrameRead] = []  # the present leg, as it stands in the turn
        self._ids: list[str] = []  # of the present leg's calls
        self._whole: dict[Key, Material] = {}  # of them, those that are not malformed
        self._said: list[bytes] = []  # finished legs and what answered them, in order
        self._shown: list[bytes] = []  # of the same legs, what the client saw
        self._answered: list[str] = []
        self._tokens = 0
        self._last: Named | None = None
        self._known: Named | None = None  # the first answer's, where the provider keeps it
        self._pending: Sequence[HiddenResult] = ()  # what the present leg went up with
        self.leg = 0

    @property
    def is_whole(self) -> bool:
        return self._bytes_left >= 0

    def keep(self, events: Sequence[WireEvent], came: Frame) -> None:
        """What was read of one frame of the present leg."""
        for event in events:
            if isinstance(event, FrameRead):
                value = event.value if event.frame is came else value_of(came)
                self.add(event, came, value)
            elif isinstance(event, CallCompleted):
                self.complete(event.key, event.material)
                if isinstance(event.call, ToolCall):
                    self._whole[event.key] = event.material

    def add(self, entry: FrameRead, frame: Frame, value: object) -> None:
        """A frame of the present leg: `entry` as it stands in the turn, `frame` and `value` as they came."""
        self._bytes_left -= len(frame.raw)
        if self._bytes_left >= 0:
            self._joined.append(entry)
            is_as_it_came = entry.frame is frame and entry.value is value
            self._recorder.add(entry if is_as_it_came else entry._replace(frame=frame, value=value))

    def complete(self, key: Key, material: Material) -> None:
        """A call of the present leg."""
        self._ids.append(material.id)
        self._recorder.complete(key, material)

    def join(self, frame: Frame) -> Frame | None:
        """A frame as it stands in the turn; None for one that has no place there."""
        return self._splice.join(frame) if self.leg else frame

    def is_end(self, entry: FrameRead, hidden: Collection[Key]) -> bool:
        """Whether this frame is kept back when the turn goes on with `hidden` unseen."""
        return self._splice.ends(_unseen(entry, hidden))

    def may_hide(self, replaced: Mapping[Key, str]) -> bool:
        """Whether the provider's turn can be put together, and so put back later; `replaced` are calls of it in whose
        place the client reads a text, malformed ones among them."""
        return self.is_whole and self._recorder.message(replaced) is not None

    def may_go_on(self) -> bool:
        return self._rounds_left > 0 and self.may_hide({})

    def go_on(
        self, hidden: Collection[Key], results: Sequence[HiddenResult], kept_back: Sequence[FrameRead]
    ) -> tuple[tuple[bytes, ...], int]:
        """End the present leg, all of whose calls are answered by `results`. What stands behind the request for the
        next leg, and the output tokens used so far."""
        said = self._recorder.message({})
        assert said is not None, "asked by may_go_on"
        shown = self._recorder.message({}, hidden)
        self._said += [said, *self._continuation.results(results)]
        self._answered += [result.call for result in results if result.kind != TEXT_KIND]
        self._shown += [shown] if shown is not None else []
        self._tokens += self._recorder.output_tokens()
        self._last = self._named()
        self._pending = results
        self._splice.next_leg(*([_unseen(entry, hidden) for entry in part] for part in (self._joined, kept_back)))
        self._recorder = self._continuation.recorder(self._streamed, self._splice.blocks_before)
        self._joined, self._ids, self._whole = [], [], {}
        self._rounds_left -= 1
        self.leg += 1
        return tuple(self._said), self._tokens

    def ended(
        self,
        answers: Mapping[Key, Answer],
        hidden: Collection[Key],
        results: Sequence[HiddenResult],
        owed: Sequence[HiddenResult] = (),
    ) -> Remembered | None:
        """The turn ended with this leg; None where nothing in it is hidden.

        `answers` are those of its calls: texts that the client reads in their place, and arguments with which calls
        left in place of the model's own. `hidden` are those that the model hears of next time. `owed` answers those
        that code replaced, for a provider that keeps the turn.
        """
        if not (answers or hidden or results or owed or self.leg):
            return None
        replaced = {key: answer.text for key, answer in answers.items() if isinstance(answer, Replaced)}
        released = {key: answer for key, answer in answers.items() if isinstance(answer, Released)}
        injected = {key: answer for key, answer in released.items() if answer.arguments is not None}
        is_changed = self.is_whole and (self.leg or hidden or injected or replaced)
        shown = self._recorder.message(replaced, hidden, injected) if is_changed else None
        visible = [*self._shown, *([shown] if shown is not None else [])]
        results = [*results, *self._handed_over(injected, visible)]
        standing = self._standing(self._named(), [*results, *owed]) if self.leg or results or owed else None
        bound = self._bound(answers)
        if not (self.leg or hidden or injected or bound) or not self.is_whole:
            return Remembered(b"", (), standing=standing) if standing is not None else None
        said = self._recorder.message({key: text for key, text in replaced.items() if key not in bound})
        if said is None and bound:
            return None
        results = [*results, *bound.values()]
        messages = [*self._said, *([said] if said is not None else [])]
        return replace(self._remembered(messages, visible, results), standing=standing)

    def _handed_over(self, injected: Mapping[Key, Released], visible: Sequence[bytes]) -> list[HiddenResult]:
        """The results of calls that left as calls of the agent's escalation tool: each stands in the place of what that
        tool answers, and tells it."""
        handed = {key: answer for key, answer in injected.items() if answer.name and key in self._whole}
        calls = self._continuation.visible(visible).calls if handed and visible else ()
        results = []
        for key, answer in handed.items():
            left = call_seen("", answer.name, answer.arguments or "")
            own = [call.id for call in calls if (call.name, call.digest) == (left.name, left.digest)]
            if own:
                results.append(replace(hidden_result(self._whole[key], answer.told), answer_of=own[-1]))
        return results

    def _bound(self, answers: Mapping[Key, Answer]) -> dict[Key, HiddenResult]:
        """The results of calls in whose place the client reads a text, where those that run beside them go up again
        only with them: then the provider gets its own turn back."""
        whole = [(key, answer) for key, answer in answers.items() if key in self._whole]
        replaced = {key: answer for key, answer in whole if isinstance(answer, Replaced)}
        runs = any(isinstance(answer, Released) for _, answer in whole)
        if not runs or not any(self._whole[key].binds for key in replaced):
            return {}
        return {key: hidden_result(self._whole[key], answer.content or _REFUSED) for key, answer in replaced.items()}

    @property
    def has_ended(self) -> bool:
        """Whether the end of the present leg was read: then the turn ends as the provider says."""
        return any(self._splice.ends(entry) or _has_finished(entry.value) for entry in self._joined)

    def failed(self, text: str, unsent: int = 0) -> Remembered:
        """The next leg could not be had, or not to its end: the client read what it said until then, but for its newest
        `unsent` frames, then `text`. Its thinking is not kept: a block that is cut off is none."""
        begun = self._continuation.recorder(self._streamed, self._splice.blocks_before)
        for entry in self._recorder.entries[: len(self._recorder.entries) - unsent]:
            begun.add(entry)
        unseen = {key for entry in begun.entries for key in entry.keys}
        message = begun.message({}, unseen) if begun.entries else None
        texts = self._continuation.visible([message] if message is not None else []).texts
        said = self._continuation.said("\n\n".join([*texts, text]))
        kept = self._remembered([*self._said, said], [*self._shown, said], ())
        return replace(kept, standing=self._standing(self._last, self._pending))

    def _named(self) -> Named | None:
        """The present leg's answer; the first one's is what the client knows the turn by."""
        named = self._continuation.named(self._recorder.entries)
        self._known = self._known or named
        return named

    def _standing(self, last: Named | None, owed: Sequence[HiddenResult]) -> Standing | None:
        if last is None or self._known is None or not any(last):
            return None
        ids = tuple(result.call for result in owed)
        order = tuple(self._ids) if self._ids else ids
        return Standing(self._known, last, tuple(owed), order, (*self._answered, *ids))

    def _remembered(
        self, messages: Sequence[bytes], shown: Sequence[bytes], results: Sequence[HiddenResult]
    ) -> Remembered:
        visible = self._continuation.visible(shown).meaning()
        order = tuple(self._ids) if results else ()
        answered = (*self._answered, *(result.call for result in results))
        return Remembered(visible, tuple(messages), tuple(results), order, answered)
