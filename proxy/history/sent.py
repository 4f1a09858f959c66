"""What went up lately as it came, under a policy that edits nothing: a policy edit must not change it when it comes
again.

Nothing is kept of such requests but this, in memory: a client that tries once more does so soon. A longer history needs
none of it, since it shows itself which results the model has read.
"""

from __future__ import annotations

import threading
from collections import OrderedDict

REQUESTS_MAX = 4096
_PART = 4096  # bytes


class Sent:
    """The times of such requests, in seconds, for any thread."""

    def __init__(self, requests_max: int = REQUESTS_MAX) -> None:
        self._times: OrderedDict[int, float] = OrderedDict()
        self._requests_max = requests_max
        self._lock = threading.Lock()

    def add(self, tenant: str, body: bytes, at: float) -> None:
        """It goes up now."""
        name = _name(tenant, body)
        with self._lock:
            self._times.setdefault(name, at)
            while len(self._times) > self._requests_max:
                self._times.popitem(last=False)

    def at(self, tenant: str, body: bytes) -> float | None:
        """When it first went up; None where that is not known."""
        with self._lock:
            return self._times.get(_name(tenant, body))


def _name(tenant: str, body: bytes) -> int:
    """Of its length, its beginning, its end and some of its bytes: to read all of a long history would cost more than
    it is worth, and what is taken for another goes up as it came."""
    step = max(1, len(body) // _PART)
    return hash((tenant, len(body), body[:_PART], body[-_PART:], body[::step]))
