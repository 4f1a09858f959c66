"""How a turn of several legs ends where a later one fails: with the words of its first refusal (DESIGN 5).

What the client has is kept: behind it come the words, then the end of the leg before, which was kept back for this.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.gate_commands import Abandon, Command, Finish, Remember, Write
from proxy.wire.events import FrameRead

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.turn_memory import TurnMemory
    from proxy.wire.dialect import Judged, Writer
    from proxy.wire.events import Key, WireEvent


class WayBack:
    """One turn's. A body's leg has a writer and answers of its own: those of the leg before are kept with its end."""

    def __init__(self) -> None:
        self._text = ""  # of the first refusal of the turn that the model was to hear
        self._end: Sequence[FrameRead] = ()
        self._writer: Writer | None = None
        self._judged: Mapping[Key, Judged] = {}

    def keep(self, text: str, end: Sequence[FrameRead], writer: Writer, judged: Mapping[Key, Judged]) -> None:
        """The turn goes on behind a leg: its end is kept back, and its first refusal says `text`."""
        self._text = self._text or text
        self._end, self._writer, self._judged = end, writer, judged

    def leaves(self, writer: Writer, judged: Mapping[Key, Judged]) -> None:
        """The next leg has a writer and answers of its own; `judged` is about to be emptied."""
        self._writer, self._judged = writer, dict(judged)

    def taken(self, memory: TurnMemory, unsent: int, keys: tuple[Key, ...]) -> list[Command]:
        """End the turn. `unsent` are the newest frames of the leg, which do not leave, with the calls `keys`."""
        assert self._writer is not None, "there is a leg before"
        turn = memory.failed(self._text, unsent)
        data = self._writer.append(self._text, self._end, self._judged)
        return [*([Abandon(keys)] if keys else []), Remember(turn), Write(data), Finish()]


def tells_error(events: Sequence[WireEvent]) -> bool:
    """Whether a frame says that the provider failed: its error in place of an answer, whatever its dialect."""
    values = [event.value for event in events if isinstance(event, FrameRead) and not event.keys]
    told = [value for value in values if isinstance(value, dict)]
    return any(value.get("type") == "error" or value.get("error") for value in told)
