"""What an evaluation shows: tables and bar charts, on the terminal and as HTML."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from rich.table import Table as RichTable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

Cell: TypeAlias = "str | int | float"


@dataclass(frozen=True, slots=True)
class Table:
    """`columns` name what stands in the rows; a figure stands right. `note` says how to read it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a chart. `parts` are the lengths of its pieces, in the order of the chart's `series`."""

    label: str
    parts: Sequence[float]


@dataclass(frozen=True, slots=True)
class Chart:
    """Horizontal bars. With `percent` the axis ends at 100."""

    title: str
    series: Sequence[str]
    bars: Sequence[Bar]
    percent: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class Report:
    """What a family found."""

    title: str
    tables: Sequence[Table]
    charts: Sequence[Chart] = ()


def said(cell: Cell) -> str:
    """A share as `12.3 %`; a count as it is."""
    return f"{100 * cell:.1f} %" if isinstance(cell, float) else str(cell)


def show(report: Report, console: Console) -> None:
    console.rule(report.title)
    for table in report.tables:
        drawn = RichTable(title=table.title, caption=table.note or None, title_justify="left", caption_justify="left")
        for place, column in enumerate(table.columns):
            drawn.add_column(column, justify="right" if _is_figure(table, place) else "left")
        for row in table.rows:
            drawn.add_row(*(said(cell) for cell in row))
        console.print(drawn)


def _is_figure(table: Table, place: int) -> bool:
    return bool(table.rows) and all(not isinstance(row[place], str) for row in table.rows)


def share(part: int, whole: int) -> float | str:
    """A part of a whole, a dash where there is no whole."""
    return part / whole if whole else "-"


def markdown(table: Table) -> str:
    """The table as it stands in docs/evidence.md."""
    lines = [f"| {' | '.join(table.columns)} |"]
    lines.append(
        "|" + "|".join("---:" if _is_figure(table, place) else "---" for place in range(len(table.columns))) + "|"
    )
    lines += [f"| {' | '.join(said(cell) for cell in row)} |" for row in table.rows]
    return "\n".join(lines)
