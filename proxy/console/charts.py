"""The page of charts: verdicts, money, latency and reasons over a day, a week or a month."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from policies.model import Ruling
from proxy.admin.answers import RefusedError
from proxy.console.doorkeeper import Doorkeeper, Visit, only
from proxy.console.drawing import HEIGHT, LEFT, RIGHT, WIDTH, Stack, lined, stacked
from proxy.console.series import Fate, Series, Span, read_series

if TYPE_CHECKING:
    from datetime import datetime

    from aiohttp import web

    from proxy.console.drawing import Chart

KEPT: Final = timedelta(seconds=30)
"""How long what was read is shown again: it reads many rows."""
_TONES: Final = {Fate.ALLOWED: "allow", Fate.REFUSED: "forbid", Fate.UNKNOWN: "escalate"}


class Charts:
    """What was read for each span stays a moment."""

    def __init__(self, keeper: Doorkeeper) -> None:
        self._keeper = keeper
        self._read: dict[Span, tuple[datetime, str, Series]] = {}

    async def show(self, visit: Visit) -> web.StreamResponse:
        only(visit.request.query, "span")
        label = visit.request.query.get("span", Span.DAY.label)
        span = next((each for each in Span if each.label == label), None)
        if span is None:
            raise RefusedError(400, "invalid", f"'span' is one of {', '.join(each.label for each in Span)}")
        series = await self._series(span)
        values = {
            "charts": _charts(series),
            "series": series,
            "most": max((count for _, count in series.reasons), default=1),
            "span": span.label,
            "spans": [each.label for each in Span],
            "canvas": {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": WIDTH - RIGHT},
        }
        return await self._keeper.page(visit, "charts.html", values)

    async def _series(self, span: Span) -> Series:
        with_ = self._keeper.collaborators
        now, policy = with_.clock(), (await with_.policy.current()).revision.policy
        kept = self._read.get(span)
        if kept is not None and kept[1] == policy.revision and now - kept[0] < KEPT:
            return kept[2]
        series = await with_.store.read(
            lambda reader: reader.ask(lambda connection: read_series(connection, span, now, policy))
        )
        self._read[span] = (now, policy.revision, series)
        return series


def _charts(series: Series) -> list[Chart]:
    answers = [Stack(ruling.value, ruling.value, series.verdicts[ruling]) for ruling in Ruling]
    found = [stacked("Answers", series.starts, answers)]
    for currency, rows in sorted(series.money.items()):
        stacks = [Stack(_TONES[fate], fate.value, rows[fate]) for fate in Fate]
        found.append(stacked(f"Money in {currency}", series.starts, stacks, f" {currency}"))
    usual, slow = series.latencies
    lines = [("line", "half of all calls", usual), ("line-second", "95 of 100 calls", slow)]
    found.append(lined("Time to a verdict, ms", series.starts, lines, " ms"))
    return found
