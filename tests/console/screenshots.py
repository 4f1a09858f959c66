"""Takes the pictures of docs/console.md: `make screenshots`. It needs Chromium; the desk and its day are made up."""

from __future__ import annotations

import asyncio
import random
import tempfile
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

import click
from msgspec import structs

from interceptors.kinds import MoneyState
from interceptors.receipts import Substituted
from policies.model import Ruling
from proxy.clock import utc_now
from proxy.store import Entry
from tests.console.browsers import CHROMIUM, NARROW, WIDE, chromium, sit
from tests.console.shop import propose, shop
from tests.proxy.store.samples import decided, released

if TYPE_CHECKING:
    from tests.e2e.harness import Desk

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
ASKED = ("A1001 847.00 damaged", "A1002 120.00 damaged", "A1003 640.50 wrong_item", "A1004 560.00 not_as_described")
_REASONS = (("over_limit", Ruling.ESCALATE, 4), ("outside_window", Ruling.FORBID, 6), ("not_yours", Ruling.FORBID, 2))
_MORE = (("over_day", Ruling.ESCALATE, 2), ("ungrounded", Ruling.CLARIFY, 3), ("", Ruling.ALLOW, 60))
# Name, page, size, colour scheme.
SHOTS = (
    ("console-queue", "/console/", WIDE, "light"),
    ("console-case", "/console/cases/{case}", WIDE, "light"),
    ("console-case-narrow", "/console/cases/{case}", NARROW, "dark"),
    ("console-charts", "/console/charts", WIDE, "light"),
    ("console-receipts", "/console/receipts", WIDE, "dark"),
    ("console-policy", "/console/policy", WIDE, "light"),
)


async def _a_day(desk: Desk) -> None:
    """Some hundred decisions of the last day, busier at noon."""
    dice, now = random.Random(7), utc_now()
    choices = [(reason, ruling) for reason, ruling, weight in _REASONS + _MORE for _ in range(weight)]
    entries = []
    for minutes in range(25, 23 * 60):
        if dice.random() > 0.45 * (1 - abs(minutes - 690) / 780):
            continue
        reason, ruling = dice.choice(choices)
        record = decided(time=now - timedelta(minutes=minutes), ruling=ruling)
        amount = Decimal(dice.randrange(900, 50_000 if ruling is Ruling.ALLOW else 110_000)) / 100
        hold = {"hold": int(dice.lognormvariate(1.2, 0.7))}
        arguments = {"order_id": "A1090", "amount": amount}
        entries.append(Entry(structs.replace(record, reason=reason, arguments=arguments, latencies=hold)))
        if ruling is Ruling.ALLOW:
            entries.append(Entry(released(record.receipt, time=record.time)))
        else:
            left = Substituted(receipt=record.receipt, time=record.time, exchange="ex_1", result="{}")
            entries.append(Entry(left))
    await desk.store.commit(sorted(entries, key=lambda entry: entry.record.time))


async def take(folder: Path) -> list[Path]:
    """Write the pictures into `folder`."""
    made = []
    with tempfile.TemporaryDirectory() as state:
        async with shop(Path(state) / "gate") as desk, chromium() as browser:
            await _a_day(desk)
            text = await asyncio.to_thread(desk.policy.read_text)
            await asyncio.to_thread(desk.policy.write_text, text.replace("daily: 1000.00", "daily: 1500.00"))
            for text in ASKED:
                await propose(desk, text)
            await propose(desk, "A1005 45.00 damaged")
            await asyncio.sleep(0.5)  # what left the socket is written behind
            held = await desk.store.read(lambda reader: reader.reservations())
            await desk.store.resolve(held[-1].id, MoneyState.EXECUTED, by="kim", reason="seen", at=utc_now())
            await desk.store.expire(at=utc_now() + timedelta(hours=1))
            case = (await desk.store.read(lambda reader: reader.escalations()))[-1].id
            for name, path, size, scheme in SHOTS:
                seat = await sit(browser, desk, "kim", viewport=size, color_scheme=scheme)
                assert await seat.go(path.format(case=case)) == 200
                made.append(folder / f"{name}.png")
                await seat.page.screenshot(path=made[-1])
                await seat.context.close()
    return made


def main() -> None:
    if CHROMIUM is None:
        raise SystemExit("there is no chromium here: apt-get install chromium")
    IMAGES.mkdir(exist_ok=True)
    for path in asyncio.run(take(IMAGES)):
        click.echo(f"{path.name}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
