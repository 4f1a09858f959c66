"""Who asks for a person keeps no gate busy by what they write, and goes on with nobody else's conversation."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import aiohttp
import orjson
import pytest

from interceptors.person_wanted import person_wanted
from interceptors.phrases import Phrases
from policies import load_policy_text
from proxy.demo.responses_provider import ResponsesProvider
from proxy.demo.turns import by_text
from tests.e2e.harness import desk
from tests.e2e.test_handoff import ASKS, KEYS, POLICY, REPLY, SAID, STEPS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from policies.handoff import Handoff

HOSTILE = {
    "commas": ("a,", ""),
    "words": ("a ", ""),
    "requests, and a negation behind all of them": ("gib mir mensch ", "nicht"),
    "requests of Dutch, and one": ("wil mens ", "niet"),
    "requests, each negated by what is far away": ("gib mir mensch " * 33 + "nicht ", ""),
    "clauses behind one that is open": ("a, " * 100 + "not a, not, " + "if human, " * 50, ""),
    "words that carry": ("want to talk to really ", "human? no"),
    "persons that nobody asks for": ("if i want human ", ""),
    "persons that are taken back": ("a human? no. ", ""),
    "letters that are many": ("\ufdfa", ""),
}


def handoff() -> Handoff:
    found = load_policy_text("language: 1\npolicy: p\nhandoff: {}\n").people.handoff
    assert found is not None
    return found


@contextmanager
def counted(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """How often a phrase was looked for at a place."""
    looked = [0]

    def counting(plain: Any) -> Any:
        def look(self: Phrases, *args: Any) -> Any:
            looked[0] += 1
            return plain(self, *args)

        return look

    with monkeypatch.context() as patch:
        for name in ("at", "all_at"):
            patch.setattr(Phrases, name, counting(getattr(Phrases, name)))
        yield looked


@pytest.mark.parametrize("words", HOSTILE)
def test_looking_for_a_person_costs_what_the_text_is_long(monkeypatch: pytest.MonkeyPatch, words: str) -> None:
    """Text without a full stop held the loop for five seconds: each request was compared with everything
    before and behind it."""
    part, end = HOSTILE[words]
    looked = []
    for length in (1_250, 5_000):
        with counted(monkeypatch) as count:
            person_wanted((part * length)[: length - len(end)] + end, handoff())
        looked.append(count[0])
    assert looked[1] <= 5 * looked[0] + 1_000
    assert looked[1] <= 150 * 5_000


async def test_who_cannot_be_told_apart_goes_on_with_their_own_words(tmp_path: Path) -> None:
    """Two customers whom nothing names ask alike, and what their applications say beside it differs: what goes up for
    the one holds nothing of the other's."""
    double = ResponsesProvider(lambda _: SAID)
    async with desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app()) as gate, aiohttp.ClientSession() as client:

        async def post(**body: Any) -> Any:
            async with client.post(f"{gate.url}/v1/responses", json={"model": "m", **body}, headers=KEYS) as got:
                assert got.status == 200, await got.read()
                return await got.json()

        names = {}
        for who in ("Ada", "Bob"):
            said = [{"role": "developer", "content": f"This is {who}."}, {"role": "user", "content": ASKS}]
            first, again = await post(input=said), await post(input=said)
            assert first["output"][0]["content"][0]["text"] == REPLY
            assert first == again, "a request that comes again is answered as it was"
            names[who] = first["id"]
        for who, other in (("Ada", "Bob"), ("Bob", "Ada")):
            await post(input="Thanks", previous_response_id=names[who])
            sent = orjson.dumps(double.contexts[-1]).decode()
            assert f"This is {who}." in sent
            assert f"This is {other}." not in sent
