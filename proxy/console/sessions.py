"""Who is logged in: kept in this process only, bounded, idle for a while at most, gone with the process.

A cookie holds a random name; here its digest stands for a person. A person's token is in neither.
"""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from proxy.clock import Clock
    from proxy.connected import PersonToken
    from proxy.settings import Role

IDLE_MAX = timedelta(minutes=30)
LIFE_MAX = timedelta(hours=8)
SESSIONS_MAX = 1000


@dataclass(frozen=True, slots=True)
class Session:
    """`csrf` must stand in each form that this session sends."""

    name: str
    role: Role
    csrf: str
    ends: datetime
    seen: datetime


class Sessions:
    """The sessions of this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._open: dict[bytes, Session] = {}

    def begin(self, person: PersonToken) -> str:
        """Open a session; what its cookie must hold. Of too many the one that was opened first ends."""
        now = self._clock()
        for key in [key for key, session in self._open.items() if _is_over(session, now)]:
            del self._open[key]
        while len(self._open) >= SESSIONS_MAX:
            del self._open[next(iter(self._open))]
        cookie = secrets.token_urlsafe(32)
        self._open[_digest(cookie)] = Session(person.name, person.role, secrets.token_urlsafe(32), now + LIFE_MAX, now)
        return cookie

    def find(self, cookie: str) -> Session | None:
        """The session of a cookie, which is seen by this; None where there is none, or where it is over."""
        key, now = _digest(cookie), self._clock()
        session = self._open.get(key)
        if session is None:
            return None
        if _is_over(session, now):
            del self._open[key]
            return None
        self._open[key] = replace(session, seen=now)
        return session

    def end(self, cookie: str) -> None:
        self._open.pop(_digest(cookie), None)


def _is_over(session: Session, now: datetime) -> bool:
    return now >= session.ends or now - session.seen >= IDLE_MAX


def _digest(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "surrogateescape")).digest()
