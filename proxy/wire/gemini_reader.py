"""Reads Gemini responses. A chunk of a stream and a whole body have the same shape: one reader serves both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from interceptors import strict_json
from proxy.wire import assembly
from proxy.wire.events import Breach, FrameRead, TurnEnded, WireBroken, WireEvent
from proxy.wire.gemini_calls import GeminiCalls
from proxy.wire.gemini_types import WrongShapeError

if TYPE_CHECKING:
    from proxy.wire.sse import Frame


class GeminiReader:
    """A stream ends where its bytes end: no chunk says that nothing follows it, and usage may follow the reason."""

    def __init__(self, streamed: bool, pass_types: frozenset[str]) -> None:
        self._streamed = streamed
        self._calls = GeminiCalls(pass_types)
        self._broken = False
        self._has_reason = False

    @property
    def binds(self) -> bool:
        """Without the call that bears the signature the provider takes none of those beside it back."""
        return self._calls.binds

    def receive(self, frame: Frame) -> list[WireEvent]:
        if self._broken:
            return []
        if frame.data is None:
            return [FrameRead(frame)]
        if frame.event not in (None, "message"):
            return self._break(Breach.NAME_MISMATCH)  # clients that dispatch on names would not see it
        try:
            value = strict_json.parse_envelope(frame.data)
            if not isinstance(value, dict):
                return self._break(Breach.NOT_AN_OBJECT)
            keys, events, has_reason = self._calls.chunk(frame.data, value)
        except strict_json.StrictJsonError:
            return self._break(Breach.NOT_JSON)
        except assembly.StepError:
            return self._break(Breach.FROZEN_CALL)
        except assembly.TooMuchError:
            return self._break(Breach.TOO_MUCH)
        except WrongShapeError:
            return self._break(Breach.WRONG_SHAPE)
        self._has_reason |= has_reason
        end = [] if self._streamed else [*self._calls.cut_all(), TurnEnded()]
        return [FrameRead(frame, value, keys), *events, *end]

    def next_leg(self) -> None:
        self._has_reason = False
        self._calls.next_leg()

    def end(self) -> list[WireEvent]:
        if not self._streamed or self._broken:
            return []
        return [*self._calls.cut_all(), *([TurnEnded()] if self._has_reason else [])]

    def _break(self, breach: Breach) -> list[WireEvent]:
        self._broken = True
        return [WireBroken(breach)]
