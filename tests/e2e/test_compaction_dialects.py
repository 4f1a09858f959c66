"""A closed matter through the gate in every dialect: refusals of both kinds, a payment, and what a provider counts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Text, Turn, Usage, by_text
from tests.e2e.harness import desk, session_header
from tests.e2e.mouths import MOUTHS
from tests.e2e.test_verdict_matrix import HEADERS

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Desk
    from tests.e2e.mouths import Answer, Entry, Mouth

BODIES = ("openai-chat", "gemini-vertex", "anthropic-vertex")
"""Whose answers are bodies; the others are streams."""
POLICY = """
language: 1
policy: matters
compact_above: 700
session: {customer_id: {jwt: sub}}
reasons:
  no_read: {category: policy}
  no_write: {category: policy, reply: {en: "I may not write that."}}
tools:
  read_allowed: {effect: read}
  write_allowed: {}
  write_refused: {rules: [{forbid: no_write}]}
  read_refused: {effect: read, rules: [{forbid: no_read}]}
"""
COUNTED = Usage(1200, 40)
LONG = "all of this is long " * 150


def says(*parts: Any) -> Turn:
    return Turn(parts, usage=COUNTED)


STEPS = {
    "Close it": (says(Call("write_refused")),),
    "Then pay": (
        says(Call("read_refused")),
        says(Call("read_allowed")),
        says(Call("write_allowed")),
        says(Text("It is done.")),
    ),
    "And now?": (says(Text("Nothing else.")),),
}


class _Client:
    def __init__(self, gate: Desk, mouth: Mouth, *, streamed: bool) -> None:
        self.gate, self.mouth, self.streamed = gate, mouth, streamed
        self.history: list[Entry] = []

    async def ask(self) -> Answer:
        body = orjson.dumps(self.mouth.body(self.history, self.streamed))
        url = self.gate.url + self.mouth.path(self.streamed)
        async with self.gate.session.post(url, data=body, headers=HEADERS | session_header()) as response:
            data = await response.read()
            assert response.status == 200, data
        return self.mouth.read(data, self.streamed)

    async def says(self, words: str) -> None:
        """And all that the model does about it."""
        self.history.append(self.mouth.words(words))
        answer = await self.ask()
        while answer.calls:
            self.history += [*answer.entries, *self.mouth.results(answer.calls, LONG)]
            answer = await self.ask()
        self.history += answer.entries


@pytest.mark.parametrize("name", MOUTHS)
async def test_a_closed_matter_is_summed_up(tmp_path: Path, name: str) -> None:
    """Its provider takes what stands in its place; each refusal and each write is told with its receipt; and what the
    provider counted says how many tokens there were."""
    mouth = MOUTHS[name]
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), POLICY, upstream=double.app) as gate,
    ):
        one = _Client(gate, mouth, streamed=name not in BODIES)
        for words in STEPS:
            await one.says(words)
        assert double.refused() == []
        before, last = double.bodies()[-2:]
        (member,) = {"messages", "contents", "input"} & last.keys()
        first, answer, newest = last[member]
        assert "Understood." in str(answer)
        assert newest == mouth.words("And now?")
        records = [each for each in await gate.records() if each["kind"] in ("decided", "edited")]
        receipt = {each.get("tool"): each["receipt"] for each in records}
        text = str(first)
        assert 'The customer wrote: "Close it" "Then pay"' in text
        for line in (
            f"Refused: write_refused, reason no_write, receipt {receipt['write_refused']}.",
            f"Refused: read_refused, reason no_read, receipt {receipt['read_refused']}.",
            f"Done: write_allowed, executed, receipt {receipt['write_allowed']}.",
        ):
            assert line in text
        (edit,) = [each for each in records if each.get("edit") == "compacted"]
        was = len(orjson.dumps(before))
        assert edit["tokens_before"] == pytest.approx(COUNTED.input_tokens, rel=0.1), was
        assert edit["tokens_after"] < 700
