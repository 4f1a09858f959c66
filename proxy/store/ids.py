"""Names that are unique without asking anyone: 26 characters of Crockford's base 32, the first 10 its time."""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_RANDOM_BITS = 80


def new_receipt_id(now: datetime) -> str:
    """`rc_...`; ids of later milliseconds sort behind."""
    return f"rc_{_timed(now)}"


def new_escalation_id(now: datetime) -> str:
    """`esc_...`; ids of later milliseconds sort behind."""
    return f"esc_{_timed(now)}"


def new_writer_id() -> str:
    """`w_...`, wholly random: one for each process that writes."""
    return f"w_{_crockford(secrets.randbits(130))}"


def _timed(now: datetime) -> str:
    milliseconds = int(now.timestamp() * 1000)
    return _crockford(milliseconds << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS))


def _crockford(number: int) -> str:
    return "".join(_ALPHABET[number >> shift & 31] for shift in range(125, -1, -5))
