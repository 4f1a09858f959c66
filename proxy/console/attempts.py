"""How often somebody may fail to log in: by address and in all, within a minute. It forgets what is older."""

from __future__ import annotations

from collections import deque
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proxy.clock import Clock

WINDOW = timedelta(minutes=1)
FAILURES_MAX = 5
"""Of one address."""
FAILURES_MAX_OF_ALL = 60
"""Of all addresses: it bounds what is kept, too."""


class Attempts:
    """Failures to log in. While there are too many, nobody of that address is looked at: the right token neither."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._failed: deque[tuple[datetime, str]] = deque(maxlen=FAILURES_MAX_OF_ALL)

    def wait_seconds(self, address: str) -> int:
        """How long this address must wait; 0 where it may try."""
        now = self._clock()
        while self._failed and now - self._failed[0][0] >= WINDOW:
            self._failed.popleft()
        own = [at for at, of in self._failed if of == address]
        if len(self._failed) >= FAILURES_MAX_OF_ALL:
            return _until(self._failed[0][0], now)
        return _until(own[-FAILURES_MAX], now) if len(own) >= FAILURES_MAX else 0

    def failed(self, address: str) -> None:
        self._failed.append((self._clock(), address))


def _until(at: datetime, now: datetime) -> int:
    return max(1, int((at + WINDOW - now).total_seconds() + 0.999))
