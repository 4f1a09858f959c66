"""A call on its way through the gate, or a text that is held like one: its stage, what is known of it, its answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

from interceptors.calls import MalformedToolCall
from proxy.wire import envelope
from proxy.wire.events import Returned, WholeText
from proxy.wire.transcript import HiddenResult

if TYPE_CHECKING:
    from proxy.wire.events import Answer, Content, Key, Material
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
    def may_run(self) -> bool:
        """Whether it was read in one way only and to its end."""
        return not isinstance(self.call, MalformedToolCall | None)

    @property
    def returned(self) -> Returned:
        """Its answer, where the model is to hear of it."""
        assert isinstance(self.answer, Returned)
        return self.answer

    def result(self) -> HiddenResult:
        """What the model gets for a call whose refusal it is to hear."""
        assert self.material is not None
        toolset = self.material.extra.get("toolset_name")
        return HiddenResult(
            self.material.id,
            self.material.name,
            self.material.kind,
            self.returned.content,
            toolset if isinstance(toolset, str) else "",
        )


def value_of(frame: Frame) -> object:
    """What a frame says, as JSON; None where it says nothing, or is none."""
    try:
        return envelope.value_of(frame.data) if frame.data is not None else None
    except envelope.EnvelopeError:
        return None
