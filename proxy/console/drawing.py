"""The geometry of charts: numbers to places on a canvas of fixed size. Templates draw; nothing here is markup."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

WIDTH: Final = 640
HEIGHT: Final = 220
LEFT: Final = 52
RIGHT: Final = 8
TOP: Final = 10
BOTTOM: Final = 24
_STEPS: Final = (1, 2, 5, 10, 20, 25)
_LABELS_MAX: Final = 6

Number: TypeAlias = "int | Decimal"


@dataclass(frozen=True, slots=True)
class Bar:
    x: float
    y: float
    width: float
    height: float
    tone: str
    title: str


@dataclass(frozen=True, slots=True)
class Tick:
    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Chart:
    """`lines` are (tone, points of a polyline), broken where there is no figure."""

    title: str
    key: tuple[tuple[str, str], ...]  # tone and name
    table: tuple[tuple[str, str], ...]  # name and total: what a screen reader is told
    bars: tuple[Bar, ...] = ()
    lines: tuple[tuple[str, str], ...] = ()
    dots: tuple[tuple[str, float, float], ...] = ()
    across: tuple[Tick, ...] = ()
    up: tuple[Tick, ...] = ()

    @property
    def is_empty(self) -> bool:
        return not self.bars and not self.lines and not self.dots


@dataclass(frozen=True, slots=True)
class Stack:
    """One colour of the bars: a figure for each step."""

    tone: str
    name: str
    figures: Sequence[Number]


def stacked(title: str, starts: Sequence[datetime], stacks: Sequence[Stack], unit: str = "") -> Chart:
    """Bars that stand on each other; a step whose figures are all 0 has none."""
    tallest = max((sum(column) for column in zip(*(stack.figures for stack in stacks), strict=True)), default=0)
    top, up = _scale(tallest)
    width = (WIDTH - LEFT - RIGHT) / max(1, len(starts))
    bars = []
    for n, start in enumerate(starts):
        floor = Decimal(0)
        for stack in stacks:
            figure = Decimal(stack.figures[n])
            if figure:
                height = float(figure / top) * (HEIGHT - TOP - BOTTOM)
                y = _y(float((floor + figure) / top))
                words = f"{start:%d %b %H:%M}, {stack.name}: {figure:,}{unit}"
                bars.append(Bar(LEFT + n * width + 1, y, max(1.0, width - 2), height, stack.tone, words))
                floor += figure
    return Chart(
        title=title,
        key=tuple((stack.tone, stack.name) for stack in stacks),
        table=tuple((stack.name, f"{sum(stack.figures):,}{unit}") for stack in stacks),
        bars=tuple(bars),
        across=_across(starts),
        up=up,
    )


def lined(
    title: str, starts: Sequence[datetime], lines: Sequence[tuple[str, str, Sequence[int | None]]], unit: str
) -> Chart:
    """Lines of (tone, name, figures)."""
    top, up = _scale(max((figure or 0 for _, _, figures in lines for figure in figures), default=0))
    width = (WIDTH - LEFT - RIGHT) / max(1, len(starts))
    drawn, dots = [], []
    for tone, _, figures in lines:
        points: list[tuple[float, float]] = []
        for n, figure in enumerate([*figures, None]):
            if figure is not None:
                points.append((LEFT + (n + 0.5) * width, _y(figure / float(top))))
            elif points:
                if len(points) > 1:
                    drawn.append((tone, " ".join(f"{x:.1f},{y:.1f}" for x, y in points)))
                else:
                    dots.append((tone, *points[0]))
                points = []
    last = [(name, next((one for one in reversed(figures) if one is not None), None)) for _, name, figures in lines]
    return Chart(
        title=title,
        key=tuple((tone, name) for tone, name, _ in lines),
        table=tuple((name, "none" if figure is None else f"{figure:,}{unit} at last") for name, figure in last),
        lines=tuple(drawn),
        dots=tuple(dots),
        across=_across(starts),
        up=up,
    )


def _scale(most: Number) -> tuple[Decimal, tuple[Tick, ...]]:
    """The top of the axis, which is round and above all, and its marks."""
    least = Decimal(most) if most > 0 else Decimal(4)
    power = Decimal(10) ** (least.adjusted() - 1)
    step = max(Decimal(1), next(power * each for each in _STEPS if power * each * 4 >= least))
    return step * 4, tuple(Tick(_y(n / 4), f"{(step * n).normalize():,f}") for n in range(5))


def _across(starts: Sequence[datetime]) -> tuple[Tick, ...]:
    width = (WIDTH - LEFT - RIGHT) / max(1, len(starts))
    every = max(1, len(starts) // _LABELS_MAX)
    within_a_day = len(starts) > 1 and (starts[-1] - starts[0]).total_seconds() <= 86_400
    form = "%H:%M" if within_a_day else "%d %b"
    marked = [(n, start) for n, start in enumerate(starts) if n % every == every // 2]
    return tuple(Tick(LEFT + (n + 0.5) * width, start.strftime(form)) for n, start in marked)


def _y(share: float) -> float:
    return round(HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM), 2)
