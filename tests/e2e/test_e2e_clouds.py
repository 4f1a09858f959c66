"""The official clients of Vertex, Bedrock and Azure behind the gate: an agent's loop with calls that run and calls that
are refused, to the model and to the customer, before providers that take no history but a true one."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import anthropic
import pytest

from proxy.demo.turns import Text, Thinking, Turn, by_text
from tests.e2e.clouds import CLIENTS
from tests.e2e.harness import desk
from tests.e2e.tls import secured
from tests.e2e.told import NO_READ, NO_WRITE, POLICY, call, turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.clouds import Ask
    from tests.e2e.mouths import Called, Mouth

HM = Thinking("hm")
STEPS: dict[str, tuple[Turn, ...]] = {
    "run it": (turn(HM, Text("I look."), call("read_allowed")), turn(HM, Text("It is there."))),
    "ask": (turn(HM, call("read_refused", 2)), turn(HM, Text("I may not."))),
    "both": (turn(HM, call("write_allowed", 3), call("read_refused", 4)), turn(Text("One of two."))),
    "pay": (turn(HM, call("write_refused", 5)),),
    "bye": (
        turn(
            Text("Bye."),
        ),
    ),
}
READS = {
    "run it": "I look.It is there.",
    "ask": "I may not.",
    "both": "One of two.",
    "pay": NO_WRITE,
    "bye": "Bye.",
}
RAN = [("read_allowed", {"n": 1}), ("write_allowed", {"n": 3})]


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("name", CLIENTS)
async def test_a_talk_of_an_official_client(
    tmp_path: Path, name: str, streamed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What may run runs, the customer reads what is said, the provider hears of a refusal where the model should, and
    refuses no request."""
    client = CLIENTS[name]
    async with (
        client.mouth.double(by_text(STEPS)) as double,
        desk(tmp_path / "desk", by_text(STEPS), POLICY, upstream=double.app) as gate,
        secured(gate.url, tmp_path) as secure,
    ):

        def run() -> tuple[dict[str, str], list[Called]]:
            with client.opened(secure, gate.url, monkeypatch) as ask:
                return talk(ask, client.mouth, streamed)

        reads, ran = await asyncio.to_thread(run)
        assert double.refused() == []
        assert {words: text.replace("\n\n", "") for words, text in reads.items()} == READS
        assert [(one.name, one.arguments) for one in ran] == RAN
        told = str(double.bodies()[-1])
        assert told.count(NO_READ) == 2
        history = {name: value for name, value in double.bodies()[-1].items() if name not in ("tools", "toolConfig")}
        assert "write_refused" not in str(history)
        records = await gate.settled(len(double.bodies()) - 1)
        assert sorted(each["tool"] for each in records if each["kind"] == "decided") == sorted(
            ["read_allowed", "read_refused", "read_refused", "write_allowed", "write_refused"]
        )


def talk(ask: Ask, mouth: Mouth, streamed: bool) -> tuple[dict[str, str], list[Called]]:
    """An agent's loop: what the model said goes back as the client gave it."""
    history: list[object] = []
    reads: dict[str, str] = {}
    ran: list[Called] = []
    for words in STEPS:
        history.append(mouth.words(words))
        reads[words] = ""
        while True:
            said = ask(history, streamed)
            history += said.entries
            reads[words] += said.text
            if not said.calls:
                break
            ran += said.calls
            history += mouth.results(said.calls, "done")
    return reads, ran


async def test_tokens_are_counted_on_vertex(tmp_path: Path) -> None:
    """`count-tokens` stands where a model would, and is no create call: its answer passes, with a record."""
    async with desk(tmp_path, by_text(STEPS), POLICY) as gate:

        def count() -> int:
            with anthropic.AnthropicVertex(
                region="global", project_id="p", access_token="a-key", base_url=f"{gate.url}/v1", max_retries=0
            ) as client:
                messages: Any = [{"role": "user", "content": "hi"}]
                return client.messages.count_tokens(model="claude-sonnet-5-5", messages=messages).input_tokens

        assert await asyncio.to_thread(count) == 42
        assert [each["kind"] for each in await gate.records()] == ["unexamined"]
