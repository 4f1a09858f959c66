"""Names that are unique without asking anyone: 26 characters of Crockford's base 32, the first 10 its time."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from proxy.store.randomness import random_block

if TYPE_CHECKING:
    from datetime import datetime

_ALPHABET = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TIME_LENGTH, _RANDOM_LENGTH = 10, 16
_RANDOM = bytes(_ALPHABET[byte % 32] for byte in range(256))
"""A random byte to a character: each of the 32 stands for eight bytes, so each is as likely."""


def new_receipt_id(now: datetime) -> str:
    """`rc_...`; ids of later milliseconds sort behind."""
    return f"rc_{_timed(now)}"


def new_exchange_id(now: datetime) -> str:
    """`ex_...`; ids of later milliseconds sort behind."""
    return f"ex_{_timed(now)}"


def new_escalation_id(now: datetime) -> str:
    """`esc_...`; ids of later milliseconds sort behind."""
    return f"esc_{_timed(now)}"


def new_reservation_id(now: datetime) -> str:
    """`rs_...`; ids of later milliseconds sort behind."""
    return f"rs_{_timed(now)}"


def new_grant_id(now: datetime) -> str:
    """`gr_...`; ids of later milliseconds sort behind."""
    return f"gr_{_timed(now)}"


def new_message_id(now: datetime) -> str:
    """`msg_...`; ids of later milliseconds sort behind."""
    return f"msg_{_timed(now)}"


def new_writer_id() -> str:
    """`w_...`, wholly random: one for each process that writes."""
    return f"w_{_random(_TIME_LENGTH + _RANDOM_LENGTH)}"


def _timed(now: datetime) -> str:
    milliseconds = int(now.timestamp() * 1000)
    return _spelled(milliseconds >> 10, _TIME_LENGTH - 2) + _LAST_TWO[milliseconds & 1023] + _random(_RANDOM_LENGTH)


def _spell(number: int, length: int) -> str:
    return "".join(chr(_ALPHABET[number >> 5 * place & 31]) for place in reversed(range(length)))


_spelled = lru_cache(maxsize=2)(_spell)  # a second's ids have all but the last two characters of their time in common
_LAST_TWO = tuple(_spell(number, 2) for number in range(1024))


def _random(length: int) -> str:
    return random_block()[:length].translate(_RANDOM).decode()
