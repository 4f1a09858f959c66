"""One HTML page that holds everything: tables, charts as SVG, no script, nothing from elsewhere."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from benchmarks.replays.tables import said

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from benchmarks.replays.tables import Chart, Report, Table

STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --soft: #57606a; --line: #d0d7de; --paper: #ffffff; --band: #f6f8fa; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf3; --soft: #9da7b1; --line: #3d444d; --paper: #0d1117; --band: #161b22; }
}
body { font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); margin: 2rem auto;
  max-width: 72rem; padding: 0 1rem; }
h1 { font-size: 1.6rem; } h2 { font-size: 1.3rem; margin-top: 2.5rem; } h3 { font-size: 1.05rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { border-bottom: 1px solid var(--line); padding: .3rem .7rem; text-align: left; vertical-align: top; }
th { background: var(--band); } td.figure, th.figure { text-align: right; }
p.note { color: var(--soft); font-size: .9rem; max-width: 60rem; }
svg { max-width: 100%; height: auto; } svg text { fill: var(--ink); font: 13px system-ui, sans-serif; }
svg .axis { stroke: var(--line); } svg .value { fill: var(--soft); }
"""
COLOURS = ("#0969da", "#bf8700", "#8250df", "#1a7f37", "#cf222e")
LABEL_WIDTH, BAR_WIDTH, BAR_HEIGHT, GAP, TOP, VALUE_WIDTH = 300, 560, 18, 8, 34, 120


def page(title: str, lead: str, reports: Sequence[Report]) -> str:
    """The whole page."""
    body = "".join(_report(report) for report in reports)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<style>{STYLE}</style></head><body><main><h1>{escape(title)}</h1><p>{escape(lead)}</p>{body}</main>"
        "</body></html>\n"
    )


def _report(report: Report) -> str:
    charts = "".join(_chart(chart) for chart in report.charts)
    tables = "".join(_table(table) for table in report.tables)
    return f"<section><h2>{escape(report.title)}</h2>{charts}{tables}</section>"


def _table(table: Table) -> str:
    figures = [all(not isinstance(row[place], str) for row in table.rows) for place in range(len(table.columns))]

    def cells(tag: str, row: Sequence[str]) -> Iterator[str]:
        scope = ' scope="col"' if tag == "th" else ""
        for text, figure in zip(row, figures, strict=True):
            kind = ' class="figure"' if figure else ""
            yield f"<{tag}{scope}{kind}>{escape(text)}</{tag}>"

    head = "".join(cells("th", list(table.columns)))
    rows = "".join(f"<tr>{''.join(cells('td', [said(cell) for cell in row]))}</tr>" for row in table.rows)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<div class="table" tabindex="0" role="region" aria-label="{escape(table.title)}"><table>'
        f"<caption>{escape(table.title)}</caption><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>{note}"
    )


def _chart(chart: Chart) -> str:
    most = 1.0 if chart.percent else max((sum(bar.parts) for bar in chart.bars), default=1.0) or 1.0
    height = TOP + len(chart.bars) * (BAR_HEIGHT + GAP)
    width = LABEL_WIDTH + BAR_WIDTH + VALUE_WIDTH
    drawn = "".join(_legend(chart.series))
    for number, bar in enumerate(chart.bars):
        y, x = TOP + number * (BAR_HEIGHT + GAP), float(LABEL_WIDTH)
        drawn += f'<text x="{LABEL_WIDTH - 8}" y="{y + 14}" text-anchor="end">{escape(bar.label)}</text>'
        for part, colour in zip(bar.parts, COLOURS, strict=False):
            long = BAR_WIDTH * part / most
            drawn += f'<rect x="{x:.1f}" y="{y}" width="{long:.1f}" height="{BAR_HEIGHT}" fill="{colour}"/>'
            x += long
        told = " / ".join(said(part if chart.percent else round(part)) for part in bar.parts)
        drawn += f'<text class="value" x="{x + 6:.1f}" y="{y + 14}">{told}</text>'
    axis = f'<line class="axis" x1="{LABEL_WIDTH}" y1="{TOP - 6}" x2="{LABEL_WIDTH}" y2="{height}"/>'
    note = f'<p class="note">{escape(chart.note)}</p>' if chart.note else ""
    return (
        f"<figure><figcaption><h3>{escape(chart.title)}</h3></figcaption>"
        f'<svg viewBox="0 0 {width} {height}" width="{width}" role="img" aria-label="{escape(chart.title)}">'
        f"{drawn}{axis}</svg></figure>{note}"
    )


def _legend(series: Sequence[str]) -> Iterator[str]:
    x = LABEL_WIDTH
    for name, colour in zip(series, COLOURS, strict=False):
        yield f'<rect x="{x}" y="6" width="12" height="12" fill="{colour}"/>'
        yield f'<text x="{x + 18}" y="17">{escape(name)}</text>'
        x += 40 + 8 * len(name)
