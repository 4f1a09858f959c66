"""What a dialect adds so that a turn can go on upstream, or be put back later (DESIGN 5): see `Continuation`."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material, Released
    from proxy.wire.sse import Frame
    from proxy.wire.standing import Named
    from proxy.wire.transcript import HiddenResult, SideTurn, Transcript


NOTHING: Mapping[Key, Released] = MappingProxyType({})


def remarked(content: str) -> str:
    """What the model is told of a text of its own, as a text of the user's side. The tag is one of those that mark
    what no user wrote (`interceptors.user_text`)."""
    return f"<system-reminder>\n{content}\n</system-reminder>"


class TurnRecorder(Protocol):
    """Keeps the frames of one leg, as they came, until it is known whether they are needed."""

    @property
    def entries(self) -> Sequence[FrameRead]: ...

    def add(self, entry: FrameRead) -> None: ...

    def complete(self, key: Key, material: Material) -> None:
        """A call of the leg, whole."""
        ...

    def message(
        self, replaced: Mapping[Key, str], hidden: Collection[Key] = (), injected: Mapping[Key, Released] = NOTHING
    ) -> bytes | None:
        """The turn as an assistant message, with some calls replaced by text, others left out or as they left
        where that is not as they came.

        None where it cannot be put together exactly, or where nothing is left of it.
        """
        ...

    def output_tokens(self) -> int:
        """As the provider stated them last; 0 where it did not."""
        ...


class Splice(Protocol):
    """Makes the frames of later legs go on where the last one ended: one start, one end, one id, summed usage."""

    @property
    def blocks_before(self) -> int:
        """How many blocks stand before those of the present leg where a turn is one body."""
        ...

    def ends(self, entry: FrameRead) -> bool:
        """Whether this frame belongs to the end of a leg, which is kept back when the turn goes on."""
        ...

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:
        """The leg of these frames ended and the turn goes on; some of them, its end, were kept back. The keys of the
        frames are those of what the client does not see."""
        ...

    def join(self, frame: Frame) -> Frame | None:
        """A frame of a later leg as it stands in the turn; None for one that has no place there."""
        ...


OWN_TURN = "callgate_turn"
"""The member beside a known item, in a request as the gate reads it, that names the hidden turn which it is part of."""


class KnownItem(NamedTuple):
    """What stands behind the id of an item: the item as the client saw it, and the id of the hidden turn that it is a
    visible part of, empty for none."""

    item: bytes
    turn: str = ""


class References(Protocol):
    """How requests name single items that the provider keeps."""

    def named(self, body: bytes) -> Sequence[str]:
        """The ids that a request names."""
        ...

    def known(self, body: bytes, items: Mapping[str, KnownItem]) -> bytes:
        """The request in which these items stand beside the ids that name them: for reading, not to go up."""
        ...

    def collapsed(self, body: bytes) -> bytes:
        """The request as it goes up: where only the id stood before, only it stands."""
        ...


@runtime_checkable
class Shows(Protocol):
    """A writer of a dialect that has `References`."""

    def shown(self) -> Sequence[tuple[str, bytes]]:
        """The items of an answer that is about to end as the client has them, each with its id; given once. None of
        them where the gate has no part in the answer, or the provider does not keep it."""
        ...


class Continuation(Protocol):
    """One for the dialect."""

    @property
    def references(self) -> References | None:
        """None where a provider of this dialect keeps no items."""
        ...

    def transcript(self, body: bytes) -> Transcript: ...

    def recorder(self, streamed: bool, blocks_before: int = 0) -> TurnRecorder:
        """`blocks_before`: as the splice says, for a body whose calls have their keys by place."""
        ...

    def splice(self, streamed: bool) -> Splice: ...

    def results(self, results: Sequence[HiddenResult]) -> list[bytes]:
        """The messages that answer the calls of a turn."""
        ...

    def named(self, entries: Sequence[FrameRead]) -> Named | None:
        """By what later requests may go on with the answer of these frames; None where a provider of this dialect keeps
        no answers."""
        ...

    def said(self, text: str) -> bytes:
        """An assistant message of ours."""
        ...

    def visible(self, messages: Sequence[bytes]) -> SideTurn:
        """These assistant messages as the one turn that a client holds of them."""
        ...

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        """The request with these messages behind its own: a forced tool choice is lifted, and the client's bound on
        the output is what is left of it. None where nothing is left."""
        ...
