"""What the connections of a server share."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from proxy.http1.heads import HeadLimits
    from proxy.http1.requests import Reply, Request
    from proxy.http1.serving import ServerConnection


class MalformedBodyError(ValueError):
    """A body whose framing is broken."""


class Hub:
    """`date` gives the field of that name, with its line's end."""

    def __init__(
        self,
        handle: Callable[[Request], Awaitable[Reply | None]],
        limits: HeadLimits,
        date: Callable[[], str],
        *,
        keepalive_seconds: float,
    ) -> None:
        self.handle, self.limits, self.date = handle, limits, date
        self.keepalive_seconds = keepalive_seconds
        self.connections: set[ServerConnection] = set()
        self.is_closing = False
