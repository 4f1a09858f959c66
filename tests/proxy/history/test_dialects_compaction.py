"""A closed matter in every dialect: what goes up in its place, that its provider takes it, that it stays the same."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from interceptors.edits import Edit
from proxy.history.tokens import estimated
from proxy.ledger.edits import UNRATED, Rate
from proxy.wire.registry import DIALECTS
from tests.proxy.history.matters_told import SPELLINGS, conversation, gate, text_of

if TYPE_CHECKING:
    from pathlib import Path


def test_every_dialect_has_a_spelling() -> None:
    """The table below leaves none out."""
    assert SPELLINGS.keys() == {each.name for each in DIALECTS}


@pytest.mark.parametrize("name", SPELLINGS)
async def test_closed_matters_become_summaries_once(tmp_path: Path, name: str) -> None:
    """At the next text of the user's, never in a loop; a second one leaves the first one's bytes, what is open its own;
    again, after a restart and in another worker the same bytes; a rewind brings back what went up there."""
    async with conversation(tmp_path, name) as one:
        await one.settles("Pay A0")
        assert all(orjson.loads(body)[one.spelling.member][0] == one.messages[0] for body in one.sent)
        up = await one.says("And A1?")
        assert up.fresh == {Edit.COMPACTED: 1}
        first, answer, *rest = one.up()
        assert 'The customer wrote: "Pay A0"' in text_of(first)
        assert "Done: pay (order_id A0), 1.00 USD, executed, receipt rc_0." in text_of(first)
        assert text_of(answer) == "Understood."
        assert rest == one.messages[-1:]
        assert up.tokens_before == len(one.body()) // 4 > up.tokens_after == len(up.body) // 4
        one.messages.pop()
        await one.settles("And A1?")
        loop = one.up()
        assert loop[:2] == [first, answer]
        assert loop[2:] == one.messages[-6:-1]
        kept = list(one.messages)
        up = await one.says("And now?")
        assert up.fresh == {Edit.COMPACTED: 1}
        assert one.up()[:2] == [first, answer]
        assert "receipt rc_1" in text_of(one.up()[2])
        assert one.up()[4:] == one.messages[-1:]
        async with gate(tmp_path, one.released) as other:
            assert (await one.ask(histories=other)).body == up.body
            assert (await one.ask()).body == up.body
        one.messages = kept[:-1]
        assert (await one.ask()).body == one.sent[-5]
        assert one.up() == loop


def test_a_rate_is_believed_where_it_may_be_true() -> None:
    """Without one a token has four bytes."""
    assert estimated(4000, UNRATED) == 1000
    assert estimated(4000, Rate(3000, 1000)) == 1333
