"""State that the provider holds: a request may go on with an earlier answer by its id, and send only what is new.

What stands there is the provider's own turn, with the calls that the client never saw. A pointer stands for it among
the messages of such a request, so that the ledger finds what is owed to it as it finds any hidden turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple

from proxy.wire import envelope
from proxy.wire.transcript import Side, SideTurn

if TYPE_CHECKING:
    from proxy.wire.transcript import HiddenResult

_MEMBER = "callgate_pointer"


class Held(Enum):
    """By what a request goes on."""

    ANSWER = "answer"  # the id of an answer
    CONVERSATION = "conversation"  # that of a list to which each answer is added


class Named(NamedTuple):
    """The names by which later requests may go on with an answer; empty for none."""

    answer: str = ""
    conversation: str = ""


@dataclass(frozen=True, slots=True)
class Standing:
    """What later requests go on with: the answer that the client knows as `known` stands upstream as `last`, and is
    owed `results`."""

    known: Named
    last: Named
    results: tuple[HiddenResult, ...]
    order: tuple[str, ...]
    answered: tuple[str, ...]

    def pairs(self) -> list[tuple[Held, str, str]]:
        """Each name that the client may use, with the one that stands upstream. A conversation keeps its name, so it
        matters only while it is owed something."""
        pairs = [(Held.ANSWER, self.known.answer, self.last.answer)]
        if self.results:
            pairs.append((Held.CONVERSATION, self.known.conversation, self.last.conversation))
        return [pair for pair in pairs if pair[1] and pair[2]]


def pointer(held: Held, name: str) -> bytes:
    """The message that stands for what the provider holds."""
    return envelope.encode({_MEMBER: held.value, "id": name})


def pointed(message: bytes) -> tuple[Held, str] | None:
    """What a message points to; None for any that is no pointer."""
    if not message.startswith(b'{"' + _MEMBER.encode()):
        return None
    value: dict[str, Any] = envelope.value_of(message)
    return Held(value[_MEMBER]), str(value["id"])


def pointer_turn(held: Held, name: str) -> SideTurn:
    """The turn that a pointer stands for, where it is the first message."""
    return SideTurn(Side.ASSISTANT, 0, 0, other=[f"{_MEMBER}/{held.value}/{name}"])
