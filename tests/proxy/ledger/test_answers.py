"""Answers of ours that a provider would have kept: what goes up where a later request names one."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.ledger.answers import own_answer
from proxy.ledger.choosing import choose
from proxy.ledger.hidden import Asker, Hidden
from proxy.ledger.keeper import Ledger, Prepared
from proxy.ledger.vault import Vault
from proxy.wire import responses_told
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.told import Told

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

NOW = datetime(2026, 11, 30, tzinfo=UTC)
ADA = Asker("ada")


@dataclass
class Desk:
    """A ledger, and what is told through it."""

    ledger: Ledger

    async def tell(self, number: int, **request: Any) -> str:
        """Answer a request ourselves; the id of the answer."""
        body = orjson.dumps(request)
        told = Told(f"reply {number}", "m", f"{number:032x}", 0, body)
        kept = responses_told.kept(told)
        assert kept is not None
        prepared = await self.ledger.prepare(OPENAI_RESPONSES, body, "t", ADA)
        mark = f"hg{number:020x}"
        await self.ledger.keep_answer(OPENAI_RESPONSES, prepared, kept, told.text, tenant="t", mark=mark)
        return kept.named.answer

    async def ask(self, asker: Asker = ADA, **request: Any) -> tuple[Prepared, dict[str, Any]]:
        prepared = await self.ledger.prepare(OPENAI_RESPONSES, orjson.dumps(request), "t", asker)
        return prepared, orjson.loads(prepared.body)


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    vault = await asyncio.to_thread(Vault, tmp_path, 60.0)
    with contextlib.closing(vault):
        yield Desk(Ledger(vault, lambda: NOW, lambda _: None))


def texts(body: dict[str, Any]) -> list[str]:
    return [one["content"] if isinstance(one["content"], str) else one["content"][0]["text"] for one in body["input"]]


async def test_the_whole_exchange_goes_up_without_a_name_that_nobody_knows(desk: Desk) -> None:
    """The first request had no answer before it: nothing is named, and the answer depends on nothing hidden."""
    own = await desk.tell(1, input="one", model="m")
    prepared, body = await desk.ask(previous_response_id=own, input="two", model="m")
    assert "previous_response_id" not in body
    assert texts(body) == ["one", "reply 1", "two"]
    assert (prepared.restored, prepared.mark, prepared.seal, prepared.used_once) == (1, "", "", ())


async def test_it_goes_up_behind_what_the_provider_keeps(desk: Desk) -> None:
    """By the provider's own name; and through several answers of ours in a row."""
    first = await desk.tell(1, previous_response_id="resp_theirs", input="one")
    second = await desk.tell(2, previous_response_id=first, input="two")
    _, body = await desk.ask(previous_response_id=second, input="three")
    assert body["previous_response_id"] == "resp_theirs"
    assert texts(body) == ["one", "reply 1", "two", "reply 2", "three"]
    _, branch = await desk.ask(previous_response_id=first, input="other")
    assert texts(branch) == ["one", "reply 1", "other"]


async def test_a_conversation_is_owed_it_once(desk: Desk) -> None:
    """A second exchange takes the first one along; the same request again adds nothing; once it went up it is used."""
    await desk.tell(1, conversation="conv_1", input="one")
    await desk.tell(1, conversation="conv_1", input="one")
    await desk.tell(2, conversation="conv_1", input="two")
    prepared, body = await desk.ask(conversation="conv_1", input="three")
    assert body["conversation"] == "conv_1"
    assert texts(body) == ["one", "reply 1", "two", "reply 2", "three"]
    await desk.ledger.used(prepared, "t")
    _, body = await desk.ask(conversation="conv_1", input="four")
    assert texts({"input": [{"content": body["input"]}]}) == ["four"]


async def test_it_is_nobody_elses(desk: Desk) -> None:
    """An id selects for the same subject only; an item of ours that is named is known."""
    own = await desk.tell(1, input="one")
    _, body = await desk.ask(Asker("eve"), previous_response_id=own, input="two")
    assert body == {"previous_response_id": own, "input": "two"}
    item = responses_told.kept(Told("reply 1", "m", f"{1:032x}", 0, b"{}"))
    assert item is not None
    named = [{"role": "user", "content": "one"}, {"type": "item_reference", "id": item.item_id}]
    _, body = await desk.ask(input=[*named, {"role": "user", "content": "two"}])
    assert texts(body) == ["one", "reply 1", "two"]


def test_what_the_model_heard_stays_heard() -> None:
    """Refusals and answered calls before the exchange are those behind it."""
    kept = responses_told.kept(Told("x", "m", "0" * 32, 0, b"{}"))
    assert kept is not None
    prepared = Prepared(b'{"input":"a"}', b"{}", answered=frozenset({"call_1"}), asker=ADA)
    prepared.refusals.update([("t", "d"), ("t", "d")])
    (entry,) = own_answer(OPENAI_RESPONSES, prepared, kept, "x", "hg1")
    assert (entry.answered, len(entry.refusals), entry.asked, entry.is_own) == (("call_1",), 2, ADA, True)


def test_a_hidden_turn_behind_it_does_not_depend_on_it() -> None:
    """Both are put back: an answer of ours is nothing that the client does not hold."""
    own = Hidden("hg1", b"r", b"b", b"v", (b"{}",), asked=ADA, is_own=True)
    hidden = Hidden("hg2", b"r", b"c", b"w", (b"{}",), asked=ADA)
    assert choose([], {0: [own], 2: [hidden]}, ADA) == ({0: own, 2: hidden}, 0)
