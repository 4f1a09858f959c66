"""The text of a turn: listened to as it goes by, or held like a call until it is answered.

A dialect says where its text stands (`TextFinder`); `TextReader` wraps its reader. It gathers what is said and, where
the text is held, gives every frame that bears some a `TextKey`, and completes it with the turn: to the gate a held text
is one more call, which `proxy.verdicts` judges in its own way.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Protocol

from proxy.wire.events import (
    TEXT_KIND,
    Breach,
    CallsConfirmed,
    FrameRead,
    Key,
    Material,
    TextCompleted,
    TextKey,
    TurnEnded,
    WholeText,
    WireBroken,
    WireEvent,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Dialect, Reader
    from proxy.wire.sse import Frame

LISTENED_MAX: Final = 1_000_000
"""Characters of a turn's text that are kept where nothing holds it; the rest goes by unheard."""
_MATERIAL: Final = Material("", "", "", TEXT_KIND)


class MisplacedTextError(ValueError):
    """Text in a place where it cannot be held by itself."""


class TextFinder(Protocol):
    """Of one leg of one turn. `value` is what a frame says, parsed; each is shown to both methods, in order."""

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:
        """The text that a frame bears, by choice; an empty one where it only opens or closes a text.

        Raises `MisplacedTextError` where the text `holds` and cannot be held there.
        """
        ...

    def ends(self, value: Any) -> Mapping[int, bool]:
        """The choices that end with this frame, and whether by the token limit."""
        ...


class TextReader:
    """A reader that also hears the text. `said` is the text of each choice, of all legs, where nothing holds it."""

    def __init__(self, inner: Reader, finder: TextFinder, *, holds: bool) -> None:
        self._inner = inner
        self._finder = finder
        self._holds = holds
        self._leg = 0
        self._room = LISTENED_MAX
        self._parts: dict[int, list[str]] = {}
        self._held: dict[int, list[str]] = {}  # the text of the present leg
        self._ends: dict[int, bool] = {}

    @property
    def binds(self) -> bool:
        return self._inner.binds

    @property
    def said(self) -> tuple[str, ...]:
        return tuple("".join(parts) for parts in self._parts.values())

    def next_leg(self) -> None:
        self._inner.next_leg()

    def receive(self, frame: Frame) -> list[WireEvent]:
        return self._heard(self._inner.receive(frame))

    def end(self) -> list[WireEvent]:
        """A text whose choice did not end is cut off."""
        return [*self._inner.end(), *self._complete(is_cut=True)]

    def _heard(self, events: list[WireEvent]) -> list[WireEvent]:
        first = events[0] if events else None
        if not isinstance(first, FrameRead):
            return events
        if first.value is not None:
            try:
                found = self._finder.find(first.value, holds=self._holds)
            except MisplacedTextError:
                return [WireBroken(Breach.WRONG_PLACE)]
            for choice, text in found.items():
                self._keep(choice, text)
            if self._holds:
                if found:
                    events[0] = first._replace(keys=(*first.keys, *(TextKey(each, self._leg) for each in found)))
                self._ends.update(self._finder.ends(first.value))
        if self._held and (place := _end_of(events)) is not None:
            events[place:place] = self._complete(is_cut=False)
        return events

    def _keep(self, choice: int, text: str) -> None:
        if self._holds:
            self._held.setdefault(choice, []).append(text)
        elif text and self._room > 0:
            self._parts.setdefault(choice, []).append(text[: self._room])
            self._room -= len(text)

    def _complete(self, *, is_cut: bool) -> list[WireEvent]:
        """`is_cut` holds for the choices that did not say how they end."""
        events: list[WireEvent] = []
        keys: list[Key] = []
        for choice, parts in self._held.items():
            key = TextKey(choice, self._leg)
            whole = WholeText("".join(parts), self._ends.get(choice, is_cut))
            events.append(TextCompleted(key, whole, _MATERIAL))
            keys.append(key)
        self._held, self._ends = {}, {}
        self._leg += 1
        return [*events, CallsConfirmed(tuple(keys))] if events else []


class Hearing:
    """The readers of one exchange: one for all legs of a stream, one for each body."""

    def __init__(self, dialect: Dialect, pass_types: frozenset[str], *, streamed: bool, holds: bool) -> None:
        self._dialect = dialect
        self._pass_types = pass_types
        self._streamed = streamed
        self._holds = holds
        self._readers: list[TextReader] = []

    def reader(self) -> TextReader:
        inner = self._dialect.reader(self._streamed, self._pass_types)
        self._readers.append(TextReader(inner, self._dialect.texts(self._streamed), holds=self._holds))
        return self._readers[-1]

    @property
    def said(self) -> tuple[str, ...]:
        """What was said and not held."""
        return tuple(text for reader in self._readers for text in reader.said)


def _end_of(events: Sequence[WireEvent]) -> int | None:
    return next((place for place, event in enumerate(events) if isinstance(event, TurnEnded)), None)
