"""Figures of a stretch of time as series: how calls were answered, what money they moved, how long they were held."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Final

import msgspec

from interceptors.chain import stamp
from interceptors.kinds import MoneyState
from interceptors.money import Held
from interceptors.strict_json import StrictJsonError, parse
from policies.model import Ruling
from proxy.console.wording import money_of
from proxy.stakes import money_argument, read_stake
from proxy.store import figures

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping

    from policies.model import Argument, Policy
    from policies.values import Money

QUANTILES: Final = (0.5, 0.95)


class Span(Enum):
    """How far back, and in which steps."""

    DAY = "24h", timedelta(hours=24), timedelta(hours=1)
    WEEK = "7d", timedelta(days=7), timedelta(hours=6)
    MONTH = "30d", timedelta(days=30), timedelta(days=1)

    def __init__(self, label: str, length: timedelta, step: timedelta) -> None:
        self.label = label
        self.length = length
        self.step = step


class Fate(Enum):
    """What became of money that was asked for: a part of what was allowed is unknown, and stands there only."""

    ALLOWED = "allowed"
    REFUSED = "refused"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Series:
    """`starts` are the beginnings of the steps, and each list has a figure for each of them.

    `latencies` are the quantiles of `QUANTILES` in ms, None in a step without a call. `is_whole`: nothing was left out.
    """

    starts: tuple[datetime, ...]
    verdicts: dict[Ruling, list[int]]
    money: dict[str, dict[Fate, list[Decimal]]] = field(default_factory=dict)  # by currency
    latencies: tuple[list[int | None], ...] = ()
    reasons: list[tuple[str, int]] = field(default_factory=list)  # the most frequent first
    is_whole: bool = True

    @property
    def total(self) -> int:
        return sum(map(sum, self.verdicts.values()))


def read_series(connection: sqlite3.Connection, span: Span, now: datetime, policy: Policy) -> Series:
    """All figures of the stretch that ends now. Amounts of calls are read as the policy in force types them."""
    step = int(span.step.total_seconds())
    last = int(now.timestamp()) // step
    count = int(span.length / span.step)
    starts = tuple(datetime.fromtimestamp((last - count + 1 + n) * step, UTC) for n in range(count))
    places = {int(start.timestamp()): n for n, start in enumerate(starts)}
    since = stamp(starts[0])
    series = Series(starts, {ruling: [0] * count for ruling in Ruling})
    _verdicts(series, places, figures.verdicts(connection, since, step))
    arguments = money_arguments(policy)
    names = {tool: argument.name for tool, argument in arguments.items()}
    for bucket, ruling, tool, text, calls in figures.amounts(connection, since, step, names):
        money = _amount(text, arguments[tool])
        if money is not None and bucket in places:
            fate = Fate.ALLOWED if ruling == Ruling.ALLOW.value else Fate.REFUSED
            _row(series, money.currency, fate)[places[bucket]] += money.amount * calls
    for bucket, state, held, calls in figures.holdings(connection, since, step):
        if state == MoneyState.UNKNOWN.value and bucket in places:
            for money in held_money(held):
                place, amount = places[bucket], money.amount * calls
                _row(series, money.currency, Fate.UNKNOWN)[place] += amount
                allowed = _row(series, money.currency, Fate.ALLOWED)
                allowed[place] = max(Decimal(0), allowed[place] - amount)
    return series


def _verdicts(series: Series, places: Mapping[int, int], rows: Iterable[tuple[int, str, str, int, int]]) -> None:
    held: dict[int, Counter[int]] = defaultdict(Counter)
    reasons: Counter[str] = Counter()
    total = 0
    for bucket, ruling, reason, hold_ms, calls in rows:
        total += calls
        if bucket in places:
            place = places[bucket]
            series.verdicts[Ruling(ruling)][place] += calls
            held[place][hold_ms] += calls
            if reason:
                reasons[reason] += calls
    series.latencies = tuple([_quantile(held[place], q) for place in range(len(places))] for q in QUANTILES)
    series.reasons = reasons.most_common(10)
    series.is_whole = total < figures.DECIDED_MAX


def _quantile(counts: Counter[int], share: float) -> int | None:
    """The smallest value that at least this share of all does not exceed."""
    wanted, seen = share * counts.total(), 0
    for value in sorted(counts):
        seen += counts[value]
        if seen >= wanted:
            return value
    return None


def money_arguments(policy: Policy) -> dict[str, Argument]:
    """By tool, as the policy spells it, its money argument."""
    found = {tool.name: money_argument(tool) for tool in policy.tools.values()}
    return {name: one for name, one in found.items() if one is not None and '"' not in one.name}


def _amount(text: str | None, argument: Argument) -> Money | None:
    try:
        return None if text is None else read_stake(argument, parse(text.encode()))
    except StrictJsonError:
        return None


def held_money(held: str) -> list[Money]:
    """What a call holds, by currency: the most of what it holds under its limits, which all count the same money."""
    most: dict[str, Money] = {}
    for one in msgspec.json.decode(held, type=list[Held]):
        money = money_of(one.amount)
        if money is not None and (money.currency not in most or money.amount > most[money.currency].amount):
            most[money.currency] = money
    return list(most.values())


def _row(series: Series, currency: str, fate: Fate) -> list[Decimal]:
    rows = series.money.setdefault(currency, {each: [Decimal(0)] * len(series.starts) for each in Fate})
    return rows[fate]
