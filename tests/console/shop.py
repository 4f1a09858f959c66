"""A refund desk whose console is looked at: the pack's policy, four persons, and an agent that does as it is told.

The agent's text is the call: `A1001 847.00 damaged`.
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

import policies
from proxy.demo.turns import Call, Dialect, Reply, Text, Turn
from tests.e2e.client import Heard, ask
from tests.e2e.harness import CUSTOMER, Desk, desk, order

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from proxy.demo.turns import Asked

TOKENS = {
    "ben": "viewer-token-of-ben",
    "ana": "reviewer-token-of-ana",
    "eva": "reviewer-token-of-eva",
    "kim": "owner-token-of-kim",
}
ROLES = {"ben": "viewer", "ana": "reviewer", "eva": "reviewer", "kim": "owner"}
PERSONS = "".join(f"    {name}: {{role: {ROLES[name]}, token: {TOKENS[name]}}}\n" for name in TOKENS)
ADMIN = f"admin:\n  listen: 127.0.0.1:0\n  persons:\n{PERSONS}"
PACK = Path(policies.__file__).parent / "packs" / "refund-desk" / "policy.yaml"


def pack_policy() -> str:
    """The pack, with the source of facts of these tests."""
    lines = PACK.read_text(encoding="utf-8").replace("${ORDERS_URL}", "${FACTS_URL}").split("\n")
    return "\n".join(line for line in lines if "${ORDERS_TOKEN}" not in line)


def script(asked: Asked) -> Reply:
    """What the user wrote is what the model calls."""
    words = asked.user_text.split(" ")
    if asked.results:
        return Reply(Turn((Text("Done: " + asked.results[-1][:80]),)))
    order_id, reason = (orjson.dumps(word).decode() for word in (words[0], " ".join(words[2:])))
    arguments = f'{{"order_id": {order_id}, "amount": {words[1]}, "reason": {reason}}}'
    return Reply(Turn((Text("Let me see."), Call("process_refund", arguments))))


def orders() -> dict[str, dict[str, Any]]:
    found = {f"A{number}": order(paid=90_000) for number in range(1001, 1100)}
    return {name: one | {"refund_eligible": True} for name, one in found.items()}


@asynccontextmanager
async def shop(folder: Path, *, policy: str | None = None, **options: Any) -> AsyncIterator[Desk]:
    """The desk while the block lasts."""
    async with desk(folder, script, policy or pack_policy(), extra=ADMIN, **options) as made:
        made.facts.orders = orders()
        yield made


async def propose(made: Desk, text: str, *, customer: str = CUSTOMER, dialect: Dialect = Dialect.ANTHROPIC) -> Heard:
    """The agent is told `A1001 847.00 damaged` and proposes it."""
    return await ask(made, dialect, text, headers=made.signed(customer), tools=("process_refund",))
