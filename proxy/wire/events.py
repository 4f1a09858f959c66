"""What a dialect's reader says of the stream, in the past tense, and what the gate answers about its calls.

A key is opaque to all but the reader that made it.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import structs

if TYPE_CHECKING:
    from interceptors.calls import Call, MalformedToolCall
    from proxy.wire.sse import Frame

Key: TypeAlias = Hashable
TEXT_KIND: Final = "content"
"""The kind of the material of a text."""


class FrameRead(NamedTuple):
    """One frame, in order. `keys` are the calls whose material it carries; with none it may pass.

    `value` is the parsed data, None where the frame has none. Exactly one for every frame of the stream, and it comes
    before the other events of that frame.
    """

    frame: Frame
    value: Any = None
    keys: tuple[Key, ...] = ()


class Material(msgspec.Struct, frozen=True):
    """A complete call as it stood on the wire, for sending it on in canonical form.

    `is_plain`: every client reads the frames as they came in the way the gate did. `extra` are further members of the
    call object that must survive (signatures, callers). `binds`: the provider takes the other calls of its turn back
    only together with it.
    """

    id: str
    name: str
    arguments: str
    kind: str
    is_plain: bool = True
    extra: Mapping[str, Any] = msgspec.field(default_factory=dict)
    binds: bool = False


class TextKey(msgspec.Struct, frozen=True, cache_hash=True):
    """The key of the text of one choice of one leg, where it is held (`proxy.wire.texts`); `leg` counts from 0."""

    choice: int
    leg: int


class WholeText(msgspec.Struct, frozen=True):
    """What one choice of a leg says, whole. `is_cut`: the token limit or the stream's end came first."""

    text: str
    is_cut: bool = False
    name: ClassVar[str] = ""  # it is judged beside calls, and names no tool


Content: TypeAlias = "Call | WholeText"
"""What waits for its answer."""


class CallCompleted(msgspec.Struct, frozen=True):
    key: Key
    call: Call
    material: Material


class TextCompleted(msgspec.Struct, frozen=True):
    """A text that is held was said to its end."""

    key: TextKey
    call: WholeText
    material: Material


class CallRepeated(msgspec.Struct, frozen=True):
    """The call `of` was sent once more under another key: one call, one verdict, one spend."""

    key: Key
    of: Key
    material: Material


class CallsConfirmed(msgspec.Struct, frozen=True):
    """Nothing that follows can make these calls malformed: judged ones may be released."""

    keys: tuple[Key, ...]


class CallCut(msgspec.Struct, frozen=True):
    """A call turned out to be cut off, complete before or not. Nothing more comes of it."""

    key: Key
    call: MalformedToolCall
    material: Material


class Observed(msgspec.Struct, frozen=True):
    """The provider ran something itself, or a type that no table knows went by: noted, not gated."""

    name: str


class TurnEnded(msgspec.Struct, frozen=True):
    """The dialect's own end of the turn was read."""


class Breach(Enum):
    """Why a stream cannot be mediated any further. The value is a text for receipts and the client's error event."""

    NOT_JSON = "an event is not strict JSON"
    NOT_AN_OBJECT = "an event is no JSON object"
    NAME_MISMATCH = "an event is named otherwise than its data says"
    FROZEN_CALL = "an event changes a call that was complete"
    WRONG_PLACE = "an event stands where the dialect has none"
    WRONG_SHAPE = "an event has another shape than the dialect gives it"
    TOO_MUCH = "an answer holds more calls, or a longer name or id, than is read"
    FRAMING = "the stream is not framed as the dialect frames it"


class WireBroken(msgspec.Struct, frozen=True):
    breach: Breach


WireEvent: TypeAlias = (
    "FrameRead | CallCompleted | TextCompleted | CallRepeated | CallsConfirmed | CallCut | Observed | TurnEnded"
    " | WireBroken"
)


class Released(msgspec.Struct, frozen=True):
    """The call runs as it was judged; `arguments`, if given, are the JSON text that was judged in place of its own.

    With `name` it is a call of another tool, that was judged in the place of a refused one: `told` is what the model is
    told of that, as JSON text.
    """

    arguments: str | None = None
    name: str = ""
    told: str = ""

    def applied(self, material: Material) -> Material:
        """The call as it leaves."""
        if self.arguments is None:
            return material
        return structs.replace(material, name=self.name or material.name, arguments=self.arguments, is_plain=False)


@dataclass(frozen=True, slots=True)
class Replaced:
    """The call does not run; `text` is what the customer reads in its place.

    `content` is its result, as JSON text, for a provider that keeps its own turn and asks for one.
    """

    text: str
    content: str = field(default="", compare=False)


class Returned(msgspec.Struct, frozen=True):
    """The call does not run, and the model hears so: `content` is the result it gets, as JSON text.

    `text` is what the customer reads where the turn cannot go on.
    """

    content: str
    text: str

    def replaced(self) -> Replaced:
        """The same where the model cannot hear it."""
        return Replaced(self.text, self.content)


class Hidden(msgspec.Struct, frozen=True):
    """The call was returned, and the client sees nothing of it. Only the gate gives this answer."""


Answer: TypeAlias = "Released | Replaced | Returned | Hidden"
RELEASED = Released()
HIDDEN = Hidden()
