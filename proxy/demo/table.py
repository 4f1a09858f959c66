"""The demo's table, for people: a case begins a section, each call has its row. Narrow screens get a list instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich import box
from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from proxy.demo.agent import TOOLS
from proxy.demo.lanes import AGENT, GATE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import RenderableType

    from proxy.demo.evidence import Receipt
    from proxy.demo.lanes import Played

TABLE_WIDTH_MIN = 96
_STYLES = {"allow": "bold green", "forbid": "bold red", "escalate": "bold yellow", "clarify": "bold cyan"}
_HEADINGS = ("The customer says", "Proposed call", "Verdict and rule", "The customer reads", "Back end")
_WIDTHS = (None, 14, 17, None, 12)  # a reason stays on one line
_RATIOS = (24, None, None, 26, None)


def drawn(rows: Sequence[tuple[Played, Sequence[Receipt]]], width: int) -> RenderableType:
    """The cases with their receipts, in `width` columns."""
    return _table(rows) if width >= TABLE_WIDTH_MIN else _list(rows)


def _table(rows: Sequence[tuple[Played, Sequence[Receipt]]]) -> Table:
    table = Table(box=box.HORIZONTALS, expand=True, padding=(0, 1, 0, 0), header_style="bold")
    for heading, ratio, width in zip(_HEADINGS, _RATIOS, _WIDTHS, strict=True):
        table.add_column(heading, ratio=ratio, width=width, overflow="fold")
    for played, receipts in rows:
        said, back_end = _said(played, len(receipts)), Text("\n".join(_back_end(played)))
        if not receipts:
            table.add_row(said[0][0], Text("no call", "dim"), "", said[0][1], back_end)
        for number, receipt in enumerate(receipts):
            says, reads = said[number] if number < len(said) else ("", "")
            call, verdict = Text(_call(receipt, "\n  ")), _verdict(receipt, "\n")
            table.add_row(says, call, verdict, reads, "" if number else back_end)
        table.add_section()
    return table


def _list(rows: Sequence[tuple[Played, Sequence[Receipt]]]) -> Group:
    lines: list[RenderableType] = []
    for played, receipts in rows:
        lines.append(_says(played))
        lines += [
            Padding(Text.assemble(_call(receipt, " "), ": ", _verdict(receipt, " ")), (0, 0, 0, 2))
            for receipt in receipts
        ]
        if played.case.answers:
            lines.append(Padding(Text(f"Then: {played.case.answers}"), (0, 0, 0, 2)))
        lines.append(Padding(Text(f'"{played.reads}"'), (0, 0, 0, 2)))
        lines.append(Padding(Text(f"back end: {', '.join(_back_end(played))}", "dim"), (0, 0, 1, 2)))
    return Group(*lines)


def _said(played: Played, rows: int) -> list[tuple[Text, Text]]:
    """What the customer says and reads; an answer has its own row, where there is one."""
    if not played.case.answers:
        return [(_says(played), Text(played.reads))]
    if rows == 1 or not played.heard:
        return [(Text.assemble(_says(played), "\nThen: ", played.case.answers), Text(played.reads))]
    *asked, done = played.heard
    return [(_says(played), Text(" ".join(asked))), (Text(f"Then: {played.case.answers}"), Text(done))]


def _says(played: Played) -> Text:
    return Text.assemble((played.case.title, "bold"), "\n", played.case.says)


def _call(receipt: Receipt, separator: str) -> str:
    """The tool and its arguments, in the order in which the agent declares them; a receipt sorts them by name."""
    declared = list(TOOLS[receipt.tool][1]["properties"]) if receipt.tool in TOOLS else []
    names = sorted(receipt.arguments, key=lambda name: declared.index(name) if name in declared else len(declared))
    return separator.join([receipt.tool, *(_value(receipt.arguments[name]) for name in names)])


def _value(value: object) -> str:
    return "(not kept)" if isinstance(value, dict) and "redacted" in value else str(value)


def _verdict(receipt: Receipt, separator: str) -> Text:
    ruling = (receipt.ruling, _STYLES.get(receipt.ruling, ""))
    if not receipt.reason:
        return Text.assemble(ruling, separator, ("no rule fired", "dim"))
    rule = receipt.rule.removeprefix(f"{receipt.tool}.")
    return Text.assemble(ruling, separator, receipt.reason, separator, (rule, "dim"))


def _back_end(played: Played) -> list[str]:
    lines = [f"paid ${refund.amount / 100:.2f}" for refund in played.refunds]
    for caller, words in ((AGENT, "agent read"), (GATE, "gate read")):
        asked = [one.path for one in played.requests if one.caller == caller and one.method == "GET"]
        lines += [f"{words} {path.rpartition('/')[2]}" for path in dict.fromkeys(asked)]
    return lines or ["heard nothing"]
