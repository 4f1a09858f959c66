"""The conversation as this request holds it: what was said, which calls stand in it, what came back.

Dialects make it from a request (`proxy/wire`), after hidden turns were put back. It is the only conversation that a
decision may read: state that widens is bound to what stands here (DESIGN 5). Every text is untrusted.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.calls import Json


class Author(Enum):
    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"  # system and developer texts, wherever they stand


@dataclass(frozen=True, slots=True)
class Said:
    """One text block. `turn` is the place of its message among the messages of the request, from 0.

    `beside_results`: the message that holds it also holds tool results, so it is not surely the user's own text.
    """

    author: Author
    text: str
    turn: int
    beside_results: bool = False


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call that stands in the history. `arguments` are None where they are not strict JSON.

    `digest` is that of the canonical arguments. `released` is the receipt under which this gate released it, empty
    where it did not (or cannot tell); `reason` is why it was refused, where its refusal was given to the model.
    """

    id: str
    tool: str
    arguments: Mapping[str, Json] | None
    digest: str
    turn: int
    released: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class PastResult:
    """What came back for a call. `value` is its content as strict JSON where it is that, else the text itself.

    `is_new`: it stands behind the last assistant message, so no model has seen it yet.
    """

    call: str  # the call's id
    value: Json
    is_error: bool
    turn: int
    is_new: bool = False


Entry: TypeAlias = "Said | PastCall | PastResult"


@dataclass(frozen=True, slots=True)
class History:
    """All entries in the order of the request. `conversation` names the conversation; it may only narrow."""

    entries: tuple[Entry, ...] = ()
    conversation: str = ""
    calls: Mapping[str, PastCall] = field(default_factory=dict)  # by id; the last one where ids recur
    cases: tuple[str, ...] = ()  # signed ones that the conversation has had
    is_read: bool = True  # else nobody has looked yet, and `entries` say nothing


EMPTY = History()
