"""The log: one JSON object a line, one line an exchange, and only the fields of the table below.

No argument, header or body value and no secret has a field to stand in. What libraries log is reduced to who and what
kind, since their messages quote what they could not read.
"""

from __future__ import annotations

import asyncio
import logging
from enum import Enum
from typing import TYPE_CHECKING, Protocol

import orjson

from proxy.clock import Clock, utc_now
from proxy.exchange_line import TENANT_LENGTH_MAX, bounded, encoded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from proxy.exchange_line import ExchangeLine

FIELDS: Mapping[str, str] = {
    "event": "what happened; one of `Event`",
    "level": "`info`, `warning` or `error`",
    "time": "when it happened, UTC",
    "exchange": "the id of the exchange, as in its receipts",
    "listener": "`agent` or `admin`",
    "dialect": "the dialect of the route",
    "route": "the route as the gate names it, never the path as it came",
    "method": "the request's method",
    "status": "the status that the client got; 0 where it got none",
    "streamed": "whether the response was streamed",
    "model": "the model that the request names",
    "tenant": f"the first {TENANT_LENGTH_MAX} characters of the tenant",
    "identity": "the identity, where the policy has some",
    "upstream": "the name of the upstream",
    "receipts": "the ids of the receipts of the exchange",
    "verdicts": "`tool:ruling:reason` of each decided call",
    "hold_ms": "the longest time that a completed call was held",
    "duration_ms": "from the request's head to the response's end",
    "bytes_up": "of the request's body as sent up",
    "bytes_down": "of the response's body as sent down",
    "conversation": "a digest of the name that the client or its header gives the conversation",
    "restored": "how many hidden turns were put back into the request",
    "taken_out": "how many thinking blocks were taken out of the request, since what they depend on is gone",
    "ambiguous": "how many turns got nothing put back, since they fit hidden turns of several conversations",
    "outcome": "how the exchange ended",
    "error": "why it did not end well: a fixed text, no value",
    "policy": "the name of the policy",
    "revision": "the revision of the policy in force",
    "owner": "who signs changes of the policy, as it says itself",
    "address": "where a listener stands",
    "by": "the person who did it",
    "receipt": "the receipt of what was done",
    "writer": "the chain of this process",
    "seq": "the number of the chain's last record",
    "hash": "the hash of the chain's last record: keep it elsewhere, and a cut tail shows",
    "logger": "the library that logged",
    "kind": "the type of the exception that a library logged",
}
"""Every field that a line can hold. Lines hold no others."""


class Event(Enum):
    STARTED = "started"
    STOPPED = "stopped"
    DRAINING = "draining"
    EXCHANGE = "exchange"
    POLICY_CHANGED = "policy_changed"
    POLICY_BROKEN = "policy_broken"
    HALTED = "halted"
    RESUMED = "resumed"
    ERASED = "erased"
    RESOLVED = "resolved"
    APPROVED = "approved"
    REJECTED = "rejected"
    CLOSED = "closed"
    LOGGED_IN = "logged_in"
    LOGIN_FAILED = "login_failed"
    DELIVERED = "delivered"
    DELIVERY_FAILED = "delivery_failed"
    CHAIN_HEAD = "chain_head"
    STORE_FAILED = "store_failed"
    LEDGER_FAILED = "ledger_failed"
    RETAINED = "retained"
    LIBRARY = "library"

    @property
    def level(self) -> str:
        if self in (Event.POLICY_BROKEN, Event.STORE_FAILED, Event.LEDGER_FAILED, Event.DELIVERY_FAILED):
            return "error"
        return "warning" if self in (Event.HALTED, Event.LOGIN_FAILED, Event.LIBRARY) else "info"


class Sink(Protocol):
    """Where lines go: a binary stream."""

    def write(self, data: bytes, /) -> object: ...
    def flush(self) -> None: ...


class Logs:
    """Writes lines to one stream. A stream that fails is counted by `broken` and never raises.

    The lines of exchanges may wait for `linger_seconds`, to be written together: under load a line alone costs as much
    as ten. No other line overtakes them, and none waits with them.
    """

    def __init__(
        self,
        sink: Sink,
        *,
        clock: Clock = utc_now,
        broken: Callable[[], None] = lambda: None,
        linger_seconds: float = 0.0,
    ) -> None:
        self._sink = sink
        self._broken = broken
        self._clock = clock
        self._linger_seconds = linger_seconds
        self._waiting: list[tuple[datetime, ExchangeLine]] = []

    def exchange(self, line: ExchangeLine) -> None:
        """The one line of an exchange."""
        self._waiting.append((self._clock(), line))
        if not self._linger_seconds:
            self.flush()
        elif len(self._waiting) == 1:
            asyncio.get_running_loop().call_later(self._linger_seconds, self.flush)

    def event(self, event: Event, **values: object) -> None:
        """Any other line. `ValueError` for a field that is not in `FIELDS`: there is no place for it."""
        unknown = values.keys() - FIELDS.keys()
        if unknown:
            raise ValueError(f"{sorted(unknown)} are no fields of the log")
        self.flush()
        line = _head(self._clock(), event) | {name: bounded(value) for name, value in values.items()}
        self._write(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE))

    def flush(self) -> None:
        """Write what waits."""
        waiting, self._waiting = self._waiting, []
        if waiting:
            self._write(*[encoded(_moment(time), line) for time, line in waiting])

    def _write(self, *lines: bytes) -> None:
        try:
            self._sink.write(b"".join(lines))
            self._sink.flush()
        except OSError:
            for _ in lines:
                self._broken()


def _moment(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


def _head(time: datetime, event: Event) -> dict[str, object]:
    return {"time": _moment(time), "level": event.level, "event": event.value}


class LibraryHandler(logging.Handler):
    """Turns what a library logs into a line that names the library and the kind of its exception, and nothing else."""

    def __init__(self, logs: Logs) -> None:
        super().__init__(logging.WARNING)
        self._logs = logs

    def emit(self, record: logging.LogRecord) -> None:
        kind = record.exc_info[0].__name__ if record.exc_info and record.exc_info[0] is not None else ""
        self._logs.event(Event.LIBRARY, logger=record.name, kind=kind)


def capture_libraries(logs: Logs) -> LibraryHandler:
    """Makes `logs` the only place where libraries log. Their messages may quote a header, so none is kept.

    It takes over the root logger of the process: for `serve` alone. The handler is given back to be removed.
    """
    handler = LibraryHandler(logs)
    root = logging.getLogger()
    for other in list(root.handlers):
        root.removeHandler(other)
    root.addHandler(handler)
    root.setLevel(logging.WARNING)
    logging.raiseExceptions = False  # it would print the record that could not be written, values and all
    return handler
