"""Every bound of the edge in one table: its name with the unit last, its default, and what happens at it (G12).

`docs/limits.md` is made from `LIMITS`; a limit that is not here does not exist.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import TypeAlias

_MIB = 1024 * 1024


@dataclass(frozen=True, slots=True)
class LimitInfo:
    """One row: `outcome` is what happens when the limit is reached."""

    name: str
    default: int
    minimum: int
    maximum: int
    outcome: str


Row: TypeAlias = "tuple[int, int, int, str]"


def _limit(default: int, minimum: int, maximum: int, outcome: str) -> int:
    row: Row = (default, minimum, maximum, outcome)
    value: int = field(default=default, metadata={"row": row})
    return value


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one process. Each is an integer; `LIMITS` says what each is for."""

    hold_ms_max: int = _limit(
        10_000, 100, 120_000, "a call without a verdict this long after its completion is refused (transient)"
    )
    inline_wait_ms_max: int = _limit(
        55_000,
        0,
        300_000,
        "a streamed answer waits no longer for people (`on_approval: inline`), and is then pending",
    )
    held_bytes_max: int = _limit(
        8 * _MIB, 64 * 1024, 256 * _MIB, "a turn that holds more is ended by code; its held calls are refused"
    )
    exchange_ms_max: int = _limit(
        540_000,
        1_000,
        3_600_000,
        "an exchange that lasts longer, or whose provider is silent as long, is ended by code",
    )
    rounds_max: int = _limit(2, 0, 8, "refusals go back to the model this often in one turn; then code answers them")
    keepalive_ms: int = _limit(
        15_000, 1_000, 60_000, "while something is held the client hears from the gate at least this often"
    )
    bytes_in_flight_max: int = _limit(
        512 * _MIB,
        16 * _MIB,
        1 << 40,
        "above it a new request, or a whole answer as it arrives, is answered with the dialect's overload error, and a "
        "stream that holds calls is ended by code",
    )
    request_bytes_max: int = _limit(64 * _MIB, 1024, 1 << 31, "a larger request body, as it arrives, is answered 413")
    request_decoded_bytes_max: int = _limit(
        64 * _MIB, 1024, 1 << 31, "a larger request body, without its content encoding, is answered 413"
    )
    response_bytes_max: int = _limit(
        64 * _MIB, 1024, 1 << 31, "a larger response that is not streamed is refused, answered 502"
    )
    header_bytes_max: int = _limit(
        64 * 1024, 8190, 1 << 20, "a longer header field or request line is answered 400, from a provider 502"
    )
    headers_max: int = _limit(256, 32, 4096, "more header fields are answered 400, from a provider 502")
    connect_ms_max: int = _limit(10_000, 100, 120_000, "a provider that takes longer to connect to is answered 504")
    decide_per_minute_max: int = _limit(
        60, 1, 1_000_000, "more calls of one operator through `POST /decide`, evenly spread, are answered 429"
    )
    webhook_ms_max: int = _limit(
        10_000, 100, 120_000, "a receiver of webhooks that takes longer to answer has not answered"
    )
    webhook_attempts_max: int = _limit(
        10, 1, 100, "a webhook that was sent as often without success is given up, and the case says so"
    )
    drain_ms_max: int = _limit(
        30_000, 0, 3_600_000, "at the end of the process, open exchanges get this long before they are aborted"
    )
    fact_bytes_max: int = _limit(1 * _MIB, 1024, 64 * _MIB, "a larger answer of a facts source counts as unreadable")
    facts_concurrent_max: int = _limit(
        64, 1, 4096, "reads of facts beyond it wait for their turn, within their own time-out"
    )
    fact_failures_max: int = _limit(
        5, 1, 1000, "after as many failures in a row a facts source is not asked for `fact_cool_down_ms`"
    )
    fact_cool_down_ms: int = _limit(
        5_000, 100, 600_000, "how long a facts source that keeps failing is left alone before one read tries it"
    )


LIMITS: tuple[LimitInfo, ...] = tuple(LimitInfo(f.name, *f.metadata["row"]) for f in fields(Limits))
"""Every limit in the order of the documentation."""

LIMITS_LATER: frozenset[str] = frozenset()
"""Names that the design knows and this version does not enforce."""
