"""Two hundred streams at once: each keeps to itself, and to its verdict."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from proxy.demo.turns import Call, Delivery, Dialect, Reply, Text, Turn
from tests.e2e.client import ask
from tests.e2e.harness import desk, order

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Asked
    from tests.e2e.client import Heard
    from tests.e2e.harness import Desk

STREAMS = 200
POLICY = """
language: 1
policy: many
reasons:
  too_much: {category: policy, reply: {en: "Not {args.number} for {order.paid}."}}
facts:
  order:
    key: {pattern: '[A-Z][0-9]{4}'}
    http: "${FACTS_URL}/orders/{key}"
    timeout: 10s
    missing: {forbid: too_much}
    fields: {paid: integer}
tools:
  pay:
    effect: write
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]{4}'}
      number: integer
      mark: string
    rules:
      - forbid: too_much
        when: args.number > 10000
"""


def script(asked: Asked) -> Reply:
    """Odd numbers ask for what is refused. Everything carries the number that the user wrote."""
    number = int(asked.user_text)
    mark = f"mark-{number:04}-"
    wanted = 20_000 + number if number % 2 else number
    call = Call("pay", f'{{"order_id": "A{number:04}", "number": {wanted}, "mark": "{mark}"}}')
    return Reply(Turn((Text(f"Text of {mark}"), call)), Delivery(fragment_chars=9, pause_seconds=0.001))


async def _one(gate: Desk, number: int) -> Heard:
    dialect = Dialect.ANTHROPIC if number % 4 < 2 else Dialect.CHAT
    return await ask(gate, dialect, str(number), streamed=number % 10 != 0)


async def test_200_streams_of_which_half_is_refused_keep_to_themselves(tmp_path: Path) -> None:
    """Each has its own mark in text, arguments and reply; no other's mark is in it; each verdict is its own."""
    async with desk(tmp_path, script, POLICY) as gate:
        for number in range(STREAMS):
            gate.facts.orders[f"A{number:04}"] = order() | {"paid": 30_000 + number}
        answers = await asyncio.gather(*(_one(gate, number) for number in range(STREAMS)))
        for number, answer in enumerate(answers):
            own = f"mark-{number:04}-"
            assert answer.whole
            assert answer.text.startswith(f"Text of {own}")
            if number % 2:
                assert answer.calls == []
                assert f"Not {20_000 + number} for {30_000 + number}." in answer.text
            else:
                (call,) = answer.calls
                assert call.arguments == {"order_id": f"A{number:04}", "number": number, "mark": own}
                assert "Not" not in answer.text
            for other in range(STREAMS):
                assert other == number or f"mark-{other:04}-" not in answer.text + str(answer.calls)
        records = await gate.settled(STREAMS, within=10)
        decided = [each for each in records if each["kind"] == "decided"]
        assert len(decided) == STREAMS
        assert sum(each["ruling"] == "allow" for each in decided) == STREAMS // 2
        assert (await gate.store.read(lambda reader: reader.verify())).is_intact
        assert gate.listener._room.held == 0
