"""`callgate demo`: the support agent behind the gate, shown as a table and checked."""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from proxy.demo.turns import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.demo.gate_process import GateFolder
    from proxy.demo.stage import Model, Performance

WIDTH = 100  # where there is no terminal, and at most this on a wide one
WIDTH_MAX = 140
OK, FAILED, USAGE = 0, 1, 2
_LIVE = (
    (Dialect.ANTHROPIC, "ANTHROPIC", "https://api.anthropic.com", "claude-sonnet-5-5"),
    (Dialect.CHAT, "OPENAI", "https://api.openai.com", "gpt-5.4"),
)


def main(live: bool, folder: Path | None = None) -> int:
    """Run the demo; `folder` (else a fresh temporary one, which is kept) holds the gate's state for a look afterwards.

    Returns 0 where everything was as it should be, 1 where it was not, 2 where `live` has no key to work with or the
    SDKs are not installed.
    """
    console = _console()
    try:
        from proxy.demo import stage  # noqa: PLC0415 - the SDKs are an extra that only the demo needs
        from proxy.demo.gate_process import GateFailedError, GateFolder  # noqa: PLC0415 - as above
    except ModuleNotFoundError as error:
        console.print(f"the demo needs {error.name!r}: pip install 'callgate\\[demo]'", style="red")
        return USAGE
    models = _live_models(os.environ) if live else {}
    if live and not models:
        console.print("--live needs a provider's key: set ANTHROPIC_API_KEY, OPENAI_API_KEY or both", style="red")
        return USAGE
    place = GateFolder(folder or Path(tempfile.mkdtemp(prefix="callgate-demo-")))
    console.print(_opening(live))
    try:
        performance = asyncio.run(stage.perform(place, os.environ, models))
    except GateFailedError as error:
        console.print(Text(str(error), "red"))
        return FAILED
    return _show(console, performance, place, live=live)


def _console() -> Console:
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="replace")
    console = Console(highlight=False, soft_wrap=False)
    console.width = min(console.width, WIDTH_MAX) if console.is_terminal else WIDTH
    return console


def _live_models(environment: Mapping[str, str]) -> dict[Dialect, Model]:
    """The real models whose provider's key is in the environment; `*_MODEL` there names another than the usual one."""
    from proxy.demo.stage import Model  # noqa: PLC0415 - imports the SDKs

    return {
        dialect: Model(url, environment[f"{prefix}_API_KEY"], environment.get(f"{prefix}_MODEL") or name)
        for dialect, prefix, url, name in _LIVE
        if environment.get(f"{prefix}_API_KEY")
    }


def _opening(live: bool) -> Text:
    model = "a real model" if live else "a scripted model that does what the customer wants"
    return Text.assemble(
        ("Callgate", "bold"),
        f": the model proposes, code decides.\nA support agent with {model}, an order back end, and the gate between "
        "them, with the policy of the refund-desk pack.\n",
    )


def _show(console: Console, performance: Performance, folder: GateFolder, *, live: bool) -> int:
    from proxy.demo.checks import problems  # noqa: PLC0415 - imports the SDKs
    from proxy.demo.table import drawn  # noqa: PLC0415 - as above

    found = [problem for played, receipts in performance.played for problem in problems(played, receipts, live=live)]
    lanes = list(dict.fromkeys(played.lane for played, _ in performance.played))
    shown = [row for row in performance.played if row[0].lane == lanes[0] or live]
    console.print(drawn(shown, console.width))
    console.print(_summary(performance, [lane.title for lane in lanes]))
    for problem in found:
        console.print(Text(f"not as it should be: {problem}", "bold red"))
    if not found:
        console.print(Text("Every verdict, every word and every payment is as it should be.", "bold green"))
    for line in _next(folder):
        console.print(line, soft_wrap=True)  # commands stay on one line, to be copied
    return FAILED if found else OK


def _summary(performance: Performance, lanes: Sequence[str]) -> Text:
    paid = sum(refund.amount for played, _ in performance.played for refund in played.refunds)
    refused = sum(receipt.ruling != "allow" for _, receipts in performance.played for receipt in receipts)
    allowed = sum(receipt.ruling == "allow" for _, receipts in performance.played for receipt in receipts)
    return Text(
        f"{len(performance.played)} conversations, each with its own customer: {'; '.join(lanes)}.\n"
        f"{allowed} calls ran and {refused} did not. The back end paid ${paid / 100:,.2f}.\n{performance.chain}"
    )


def _next(folder: GateFolder) -> list[Text]:
    called = sys.argv[0] if Path(sys.argv[0]).name == "callgate" else "callgate"
    state = f"--state {folder.state}"
    rows = (
        ("every decision", f"{called} receipts list {state}"),
        ("that none was altered", f"{called} receipts verify {state}"),
        ("what waits for a person", f"{called} escalations list {state}"),
        ("the rules in sentences", f"{called} explain process_refund --policy {folder.policy}"),
        ("the policy itself", str(folder.policy)),
        ("in front of your own agent", "README.md, docs/"),
    )
    heading = Text("\nWhere to look next", "bold")
    return [heading, *(Text.assemble("  ", (f"{what:<29}", "dim"), how) for what, how in rows)]
