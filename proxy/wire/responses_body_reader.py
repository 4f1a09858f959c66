"""A Responses body to wire events: its calls are complete together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from interceptors import strict_json
from proxy.wire import assembly, envelope
from proxy.wire.assembly import State
from proxy.wire.events import Breach, FrameRead, Key, TurnEnded, WireBroken, WireEvent
from proxy.wire.members import is_misspelled
from proxy.wire.responses_calls import ItemKey, WrongPlaceError, WrongShapeError
from proxy.wire.responses_seen import Output
from proxy.wire.responses_types import NAMES, Kind

if TYPE_CHECKING:
    from proxy.wire.sse import Frame


class ResponsesBodyReader(Output):
    def receive(self, frame: Frame) -> list[WireEvent]:
        data = frame.data or b""
        try:
            value = strict_json.parse_envelope(data)
            if not isinstance(value, dict):
                return [WireBroken(Breach.NOT_AN_OBJECT)]
            return self._read(frame, data, value)
        except strict_json.StrictJsonError:
            return [WireBroken(Breach.NOT_JSON)]
        except assembly.TooMuchError:
            return [WireBroken(Breach.TOO_MUCH)]
        except (assembly.StepError, WrongShapeError, WrongPlaceError):
            return [WireBroken(Breach.WRONG_SHAPE)]

    def _read(self, frame: Frame, data: bytes, value: dict[str, Any]) -> list[WireEvent]:
        output = value.get("output")
        if is_misspelled(value, NAMES) or not isinstance(output, list | None) or "choices" in value:
            raise WrongShapeError
        keys: list[Key] = []
        events: list[WireEvent] = []
        raw = envelope.elements(envelope.raw_at(data, "output")) if output else []
        for place, item in enumerate(output or ()):
            _, found = self.classified(item)
            if found not in (Kind.CALL, None):
                events += self.noted(item, found)
                continue
            keys.append(ItemKey(place))
            events += self.calls.whole(ItemKey(place), raw[place], item)
        if value.get("status") in ("completed", None):
            events += self.calls.confirm_all()
        events += self.calls.cut_all(State.COMPLETE)
        return [FrameRead(frame, value, tuple(keys)), *events, TurnEnded()]

    def next_leg(self) -> None:
        """Another body is another reader's."""

    def end(self) -> list[WireEvent]:
        return []
