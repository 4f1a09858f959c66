"""How values read on a page: short, exact, and unable to move what stands around them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Final

from policies.values import Money, parse_money

if TYPE_CHECKING:
    from decimal import Decimal

_SHOWN_MAX: Final = 400


def shown(text: object) -> str:
    """What a model, a customer or a person wrote, as one line: no control, no direction mark, not endless.

    It is not markup yet: the templates escape it.
    """
    line = "".join(each if each.isprintable() else " " for each in str(text))
    return line if len(line) <= _SHOWN_MAX else line[: _SHOWN_MAX - 1] + "…"


def spelled(text: str) -> str:
    """Lines of a file or of JSON, where what cannot be seen is spelled out: `\\u202e`."""
    return "".join(each if each.isprintable() or each == "\n" else f"\\u{ord(each):04x}" for each in text)


def words_of(code: object) -> str:
    """`over_limit` as `over limit`."""
    return shown(code).replace("_", " ")


def moment(stamp: str | datetime) -> str:
    """A time as `30 Nov 2026, 14:41:07` UTC."""
    return _time(stamp).strftime("%d %b %Y, %H:%M:%S")


def clock_time(stamp: str | datetime) -> str:
    """A time as `14:41:07` UTC."""
    return _time(stamp).strftime("%H:%M:%S")


def age(stamp: str | datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits twice: `45 s`, `90 min`, `30 h`, `12 days`."""
    seconds = max(0, int((now - _time(stamp)).total_seconds()))
    for unit, length in (("days", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * length:
            return f"{seconds // length} {unit}"
    return f"{seconds} s"


def short(identifier: object) -> str:
    """The end of an id or the beginning of a digest: enough to tell it from its neighbours."""
    text = shown(identifier)
    _, bar, rest = text.partition("_")
    if bar and len(rest) == 26:
        return f"…{rest[-6:]}"
    return text if len(text) <= 12 else f"{text[:12]}…"


def plain_value(text: str) -> str:
    """A value of a fact in brief: of a timestamp the minute, on its own clock."""
    try:
        found = datetime.fromisoformat(text) if "T" in text else None
    except ValueError:
        found = None
    return text if found is None else found.strftime("%d %b %Y, %H:%M")


def grouped(number: Decimal | int) -> str:
    """`1,847.00`."""
    return f"{number:,}"


def money_of(text: str) -> Money | None:
    """The money that a text such as `847.00 USD` states; None for any other."""
    try:
        return parse_money(text)
    except ValueError:
        return None


def money_text(money: Money) -> str:
    return f"{grouped(money.amount)} {money.currency}"


def _time(stamp: str | datetime) -> datetime:
    return stamp if isinstance(stamp, datetime) else datetime.fromisoformat(stamp)
