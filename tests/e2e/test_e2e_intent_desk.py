"""The pack `intent-desk` through the gate: the README's schema, the official SDKs, a source of facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from proxy.demo.turns import Dialect
from tests.e2e.client import WAY_IDS, WAYS
from tests.e2e.harness import desk
from tests.e2e.texts import Client, each

PACK = Path(__file__).parents[2] / "policies" / "packs" / "intent-desk"
POLICY = (
    (PACK / "policy.yaml")
    .read_text(encoding="utf-8")
    .replace("${ORDERS_URL}", "${FACTS_URL}")
    .replace('    headers: {authorization: "Bearer ${ORDERS_TOKEN}"}\n', "")
)
SCHEMA = orjson.loads((PACK / "README.md").read_text(encoding="utf-8").split("```json\n")[1].split("```")[0])
ENDS = {Dialect.ANTHROPIC: "end_turn", Dialect.CHAT: "stop"}
WAY = pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)


def answer(intent: str, **more: Any) -> str:
    empty: dict[str, Any] = {"order_ids": [], "problems": [], "interests": [], "products": [], "topic": "none"}
    return orjson.dumps({"intent": intent, "confidence": 0.95, **empty, **more}).decode()


PASSES = [
    (answer("refund", order_ids=["A1001"], problems=["damaged"]), ["/orders/A1001"]),
    (answer("order-status", order_ids=["A1001"]), ["/orders/A1001"]),
    (answer("recommend", interests=["green tea"]), []),
    (answer("upsell", products=["tea-pot"]), []),
    (answer("chitchat"), []),
]
STAYS = [
    (
        answer("refund", order_ids=["B2001"], problems=["damaged"]),
        "I can only help with orders of your own account.",
        1,
    ),
    (
        answer("refund", order_ids=["A1002"], problems=["damaged"]),
        "Which order is it? Please write the order number",
        0,
    ),
    (answer("refund", problems=["damaged"]), "Which order is it? I need the order number", 0),
    (answer("refund", order_ids=["A1001"]), "What is wrong with it", 1),
    (answer("chitchat", confidence=0.7), "I am not sure that I understand you.", 0),
    (answer("escalate", topic="complaint"), "I have passed this to a colleague", 0),
]


@WAY
@pytest.mark.parametrize(("said", "asked"), PASSES, ids=[orjson.loads(one[0])["intent"] for one in PASSES])
async def test_an_intent_with_what_it_needs_leaves_as_it_came(
    tmp_path: Path, dialect: Dialect, streamed: bool, said: str, asked: list[str]
) -> None:
    """Each intent but the one for people; only what the decision needs is read."""
    async with desk(tmp_path, each([said]), POLICY) as gate:
        client = Client(gate, dialect, streamed, schema=SCHEMA)
        assert await client.say("It is about A1001.") == (said, ENDS[dialect])
        assert gate.facts.asked == asked


@WAY
@pytest.mark.parametrize(("said", "reply", "reads"), STAYS)
async def test_an_intent_that_may_not_be_acted_on_stays(
    tmp_path: Path, dialect: Dialect, streamed: bool, said: str, reply: str, reads: int
) -> None:
    """The customer reads the policy's words; the source of facts sees nothing where an earlier gate caught it."""
    async with desk(tmp_path, each([said]), POLICY) as gate:
        text, stop = await Client(gate, dialect, streamed, schema=SCHEMA).say("It is about A1001 and B2001.")
        assert text.startswith(reply)
        assert stop == ENDS[dialect]
        assert len(gate.facts.asked) == reads
