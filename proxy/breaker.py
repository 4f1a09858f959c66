"""A circuit breaker: a source that keeps failing is left alone for a while, then one read tries it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class _State(Enum):
    CLOSED = "closed"
    OPEN = "open"
    TRIAL = "trial"


@dataclass(slots=True)
class Breaker:
    """Told the time in seconds of any monotonic clock.

    Every `enter` that returns True is followed by one of `succeeded`, `failed` and `abandoned`.
    """

    failures_max: int
    cool_down_seconds: float
    _state: _State = _State.CLOSED
    _failures: int = 0
    _opened_at: float = 0.0

    def enter(self, now: float) -> bool:
        """Whether the source may be asked. After the cool-down exactly one may, until it has an answer."""
        if self._state is _State.OPEN and now - self._opened_at >= self.cool_down_seconds:
            self._state = _State.TRIAL
            return True
        return self._state is _State.CLOSED

    def succeeded(self) -> None:
        """The source answered; what it said is not this object's matter."""
        self._state = _State.CLOSED
        self._failures = 0

    def failed(self, now: float) -> None:
        """The source did not answer, or said that it cannot."""
        self._failures += 1
        if self._state is _State.TRIAL or self._failures >= self.failures_max:
            self._state = _State.OPEN
            self._opened_at = now

    def abandoned(self) -> None:
        """Nobody waited for the answer, so it says nothing; a trial is open to the next one."""
        if self._state is _State.TRIAL:
            self._state = _State.OPEN
