"""A provider's turn as a message of the history: what was streamed, put together again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.events import FrameRead, Key


@dataclass(frozen=True, slots=True)
class Message:
    """`raw` is the assistant message; `texts` are its text blocks, in order, with those of ours."""

    raw: bytes
    texts: tuple[str, ...]


class TurnRecorder(Protocol):
    """Keeps the frames of one leg until it is known whether they are needed."""

    def add(self, entry: FrameRead) -> None: ...

    def message(self, replaced: Mapping[Key, str]) -> Message | None:
        """The turn, with some calls replaced by text; None where it cannot be put together exactly."""
        ...

    def output_tokens(self) -> int:
        """As the provider stated them last; 0 where it did not."""
        ...


class Continuing(Protocol):
    """What a dialect adds to a request to go on after a turn."""

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        """The request with these messages behind its own: a forced tool choice is lifted, and the client's bound on
        the output is what is left of it. None where nothing is left."""
        ...
