"""A call on its way through the gate, or a text that is held like one: its stage, what is known of it, its answer."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from interceptors.calls import Cause, MalformedToolCall
from proxy.wire import envelope
from proxy.wire.dialect import Judged
from proxy.wire.events import Material, Released, Replaced, Returned, WholeText
from proxy.wire.transcript import HiddenResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from proxy.wire.events import Answer, Content, FrameRead, Key
    from proxy.wire.sse import Frame


class Stage(Enum):
    OPEN = auto()
    JUDGING = auto()
    JUDGED = auto()
    RECORDING = auto()
    WAITING = auto()  # recorded; how it leaves is known when the leg has ended
    RESOLVED = auto()


@dataclass(slots=True)
class Held:
    stage: Stage = Stage.OPEN
    confirmed: bool = False
    call: Content | None = None
    material: Material | None = None
    answer: Answer | None = None
    repeats: Key | None = None

    @property
    def is_text(self) -> bool:
        return isinstance(self.call, WholeText)

    @property
    def is_whole(self) -> bool:
        """Whether it was said to its end, well or not."""
        is_cut = isinstance(self.call, MalformedToolCall) and self.call.cause is Cause.CUT_OFF
        return self.call is not None and not is_cut

    @property
    def may_run(self) -> bool:
        """Whether it was read in one way only and to its end."""
        return not isinstance(self.call, MalformedToolCall | None)

    @property
    def has_left(self) -> bool:
        """Whether the call itself went to the client, or is about to."""
        return self.stage is Stage.RESOLVED and isinstance(self.answer, Released) and not self.is_text

    @property
    def returned(self) -> Returned:
        """Its answer, where the model is to hear of it."""
        assert isinstance(self.answer, Returned)
        return self.answer

    def resolved(self, answer: Answer) -> Judged:
        """It leaves with this answer."""
        self.answer, self.stage = answer, Stage.RESOLVED
        material = self.material or Material("", "", "", "")
        return Judged(answer.applied(material) if isinstance(answer, Released) else material, answer)

    def result(self) -> HiddenResult:
        """What the model gets for a call whose refusal it is to hear."""
        assert self.material is not None
        return hidden_result(self.material, self.returned.content)


def hidden_result(material: Material, content: str) -> HiddenResult:
    """A result of the gate's own for this call; `content` is JSON text."""
    named = (material.extra.get(member) for member in ("toolset_name", "id"))
    toolset, provider_id = (name if isinstance(name, str) else "" for name in named)
    return HiddenResult(material.id, material.name, material.kind, content, toolset, provider_id)


def owed_results(keys: Iterable[Key], calls: Mapping[Key, Held]) -> list[HiddenResult]:
    """What a provider that keeps its own turn is owed for calls that code answered; one that was cut off is none."""
    return [
        hidden_result(held.material, held.answer.content)
        for held in (calls[key] for key in keys)
        if isinstance(held.answer, Replaced) and held.material is not None and held.is_whole and not held.is_text
    ]


class Frames:
    """Frames that wait, in order."""

    def __init__(self) -> None:
        self.all: deque[FrameRead] = deque()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self.all)

    @property
    def first(self) -> FrameRead:
        return self.all[0]

    def put(self, entry: FrameRead) -> None:
        self.all.append(entry)
        self.bytes += len(entry.frame.raw)

    def take(self) -> FrameRead:
        entry = self.all.popleft()
        self.bytes -= len(entry.frame.raw)
        return entry

    def clear(self) -> None:
        self.all.clear()
        self.bytes = 0


def before_a_wait(ready: Sequence[Key], leg: Mapping[Key, Held]) -> list[Key]:
    """Without what would wait behind a refusal for the leg's end: a halt may come until it leaves."""
    heard = [isinstance(held.answer, Returned) for held in leg.values()]
    behind = list(leg)[heard.index(True) :] if any(heard) else []
    return [key for key in ready if key not in behind or not isinstance(leg[key].answer, Released)]


def value_of(frame: Frame) -> object:
    """What a frame says, as JSON; None where it says nothing, or is none."""
    try:
        return envelope.value_of(frame.data) if frame.data is not None else None
    except envelope.EnvelopeError:
        return None


def is_signed_for_all(calls: Iterable[Held]) -> bool:
    """Whether the call that was signed for all of its leg is one that no history can hold (WIRE.md 4): the others
    could not go back up beside it.
    """
    return any(
        held.material is not None and held.material.binds and isinstance(held.call, MalformedToolCall) for held in calls
    )
