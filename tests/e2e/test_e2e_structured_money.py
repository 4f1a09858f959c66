"""What an answer that is judged as a call holds: nothing of it ever comes back, so that it ends as unknown."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from interceptors.kinds import MoneyState
from tests.e2e.client import WAY_IDS, WAYS
from tests.e2e.harness import desk
from tests.e2e.texts import STRUCTURED, TOO_MUCH, Client, each, policy

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Dialect

ANSWER = '{"intent": "refund", "amount": 5}'
LIMIT = 'limits: [{forbid: too_much, sum: args.amount, max: 9}]\n    rules: [{forbid: too_much, when: "args.amount'


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_what_an_answer_holds_ends_as_unknown_and_counts(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """G10: the conversation goes on and nothing settles it; when its time is over it is unknown, and still counts."""
    text = policy(STRUCTURED).replace('rules: [{forbid: too_much, when: "args.amount', LIMIT)
    async with desk(tmp_path / "a", each([ANSWER, '{"intent": "chitchat", "amount": 1}', ANSWER]), text) as gate:
        client = Client(gate, dialect, streamed=streamed)
        assert (await client.say("five, please"))[0] == ANSWER
        await client.say("thanks")
        await gate.settled()

        await gate.store.expire(at=datetime.now(UTC) + timedelta(minutes=16))

        held = await gate.store.read(lambda reader: reader.reservations())
        assert [one.state for one in held] == [MoneyState.UNKNOWN] * 2
        assert (await client.say("and five more"))[0] == TOO_MUCH
