"""A call that is passed to people becomes one of the agent's own escalation tool; its provider keeps its own call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Asked, Call, Dialect, Reply, Text, Turn
from tests.e2e.client import PATHS, request_headers
from tests.e2e.harness import CUSTOMER, DESK, desk
from tests.e2e.talkers import read_turn

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.harness import Desk

ARGUMENTS = '{"order_id": "A1001", "amount": 847}'
TURN = Turn((Text("I will refund it."), Call("process_refund", ARGUMENTS)))
MIXED = Turn((Call("ping", "{}"), Call("process_refund", ARGUMENTS), Call("note", "{}")))
REFUND = {"type": "object", "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}}}
HANDOFF = """\
  handoff:
    arguments:
      amount: {money: USD, unit: minor}
      what: string
      who: string
      escalation: string
      receipt: {type: string, optional: true}
"""
POLICY = (
    DESK.replace(
        "    escalation: {rec",
        "    escalate_with: {tool: handoff, arguments: {amount: amount, what: recommended_action, who: who,"
        " escalation: escalation, receipt: receipt}}\n    escalation: {rec",
    )
    + HANDOFF
)
ANSWERED = "ticket 17 is open"
TOOLS = ("process_refund", "handoff", "ping", "note")
WAYS = [(dialect, streamed) for dialect in (Dialect.ANTHROPIC, Dialect.CHAT) for streamed in (False, True)]
WAYS += [(dialect, False) for dialect in (Dialect.GEMINI, Dialect.OLLAMA, Dialect.RESPONSES)]
way = pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=lambda each: getattr(each, "value", str(each)))


class Agent:
    """A client that holds its own history and runs what it is given."""

    def __init__(self, gate: Desk, dialect: Dialect, *, streamed: bool, tools: tuple[str, ...] = TOOLS) -> None:
        self.gate, self.dialect, self.streamed = gate, dialect, streamed
        self.tools = tools
        self.history: list[Any] = []
        self.more: dict[str, Any] = {}
        self._say("Refund A1001.")

    def _say(self, text: str) -> None:
        said = {"parts": [{"text": text}]} if self.dialect is Dialect.GEMINI else {"content": text}
        self.history.append({"role": "user", **said})

    async def turn(self) -> tuple[str, list[tuple[str, str, Any]]]:
        """The text and the calls (id, name, arguments) of the next answer, which the history gets."""
        path, body = self._request()
        headers = request_headers(self.dialect, self.gate.signed()) if self.dialect in PATHS else self.gate.signed()
        headers = {**headers, "x-goog-api-key": "k"}
        async with self.gate.session.post(self.gate.url + path, json=body, headers=headers) as got:
            data = await got.read()
            assert got.status == 200, data
        if self.dialect in (Dialect.ANTHROPIC, Dialect.CHAT):
            message = read_turn(self.dialect, data, streamed=self.streamed)
            assert message is not None, data
            self.history.append(message)
            return self._read(message)
        answer = orjson.loads(data)
        if self.dialect is Dialect.GEMINI:
            self.history.append(answer["candidates"][0]["content"])
            return self._read(self.history[-1])
        if self.dialect is Dialect.OLLAMA:
            self.history.append(answer["message"])
            return self._read(answer["message"])
        self.history += answer["output"]
        self.last = answer["id"]
        return self._read(answer)

    def _request(self) -> tuple[str, dict[str, Any]]:
        names = self.tools
        match self.dialect:
            case Dialect.ANTHROPIC:
                body = {"max_tokens": 1000, "tools": [{"name": name, "input_schema": REFUND} for name in names]}
                return PATHS[self.dialect], {"model": "m", "stream": self.streamed, "messages": self.history, **body}
            case Dialect.GEMINI:
                declared = [{"name": name, "parametersJsonSchema": {"type": "object"}} for name in names]
                body = {"contents": self.history, "tools": [{"functionDeclarations": declared}]}
                return "/v1beta/models/m:generateContent", body
            case Dialect.RESPONSES:
                listed = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in names]
                return "/v1/responses", {"model": "m", "input": self.history, "tools": listed, **self.more}
            case _:
                listed = [{"type": "function", "function": {"name": n, "parameters": REFUND}} for n in names]
                path = "/api/chat" if self.dialect is Dialect.OLLAMA else PATHS[self.dialect]
                return path, {"model": "m", "stream": self.streamed, "messages": self.history, "tools": listed}

    def _read(self, said: Any) -> tuple[str, list[tuple[str, str, Any]]]:
        match self.dialect:
            case Dialect.ANTHROPIC:
                blocks = said["content"]
                calls = [(each["id"], each["name"], each["input"]) for each in blocks if each["type"] == "tool_use"]
                return "".join(each["text"] for each in blocks if each["type"] == "text"), calls
            case Dialect.GEMINI:
                found = [each["functionCall"] for each in said["parts"] if "functionCall" in each]
                calls = [("", each["name"], each["args"]) for each in found]
                return "".join(each.get("text", "") for each in said["parts"]), calls
            case Dialect.RESPONSES:
                items = [each for each in said["output"] if each["type"] == "function_call"]
                calls = [(each["call_id"], each["name"], orjson.loads(each["arguments"])) for each in items]
                texts = [
                    part["text"] for each in said["output"] if each["type"] == "message" for part in each["content"]
                ]
                return "".join(texts), calls
            case Dialect.OLLAMA:
                found = [each["function"] for each in said.get("tool_calls") or ()]
                return said["content"], [("", each["name"], each["arguments"]) for each in found]
            case _:
                listed = said.get("tool_calls") or ()
                calls = [
                    (each["id"], each["function"]["name"], orjson.loads(each["function"]["arguments"]))
                    for each in listed
                ]
                return said.get("content") or "", calls

    def give(self, calls: list[tuple[str, str, Any]]) -> None:
        """What the agent's tools answer."""
        results = [(*call, ANSWERED if call[1] == "handoff" else f"{call[1]} is done") for call in calls]
        match self.dialect:
            case Dialect.ANTHROPIC:
                blocks = [{"type": "tool_result", "tool_use_id": i, "content": said} for i, _, _, said in results]
                self.history.append({"role": "user", "content": blocks})
            case Dialect.GEMINI:
                parts = [{"functionResponse": {"name": n, "response": {"output": said}}} for _, n, _, said in results]
                self.history.append({"role": "user", "parts": parts})
            case Dialect.RESPONSES:
                made = [{"type": "function_call_output", "call_id": i, "output": said} for i, _, _, said in results]
                self.history += made
            case Dialect.OLLAMA:
                self.history += [{"role": "tool", "tool_name": n, "content": said} for _, n, _, said in results]
            case _:
                self.history += [{"role": "tool", "tool_call_id": i, "content": said} for i, _, _, said in results]


def _script(turn: Turn = TURN) -> Any:
    heard: list[Asked] = []

    def script(asked: Asked) -> Reply:
        heard.append(asked)
        return Reply(Turn((Text("A colleague looks at it."),)) if asked.results else turn)

    script.heard = heard  # type: ignore[attr-defined] # kept for the test
    return script


async def _cases(gate: Desk) -> list[Any]:
    return list(await gate.store.read(lambda reader: reader.escalations()))


@way
async def test_the_agent_gets_its_escalation_tool_and_the_model_keeps_its_call(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """One call leaves, of the escalation tool, with the case's summary as typed arguments; what goes up is the model's
    own call with the refusal as its result, and what the tool answered in it; again and again the same bytes."""
    script = _script()
    async with desk(tmp_path, script, POLICY) as gate:
        agent = Agent(gate, dialect, streamed=streamed)
        text, calls = await agent.turn()
        [case] = await _cases(gate)
        [(_, name, arguments)] = calls
        receipt = arguments.pop("receipt")
        assert (text, name) == ("I will refund it.", "handoff")
        assert arguments == {
            "amount": 84700,
            "what": "Approve the refund of 847.00 USD for order A1001.",
            "who": f"customer_id: {CUSTOMER}",
            "escalation": case.id,
        }
        agent.give(calls)
        assert await agent.turn() == ("A colleague looks at it.", [])
        agent._say("And now?")
        await agent.turn()
        records = await gate.settled(2)
        sent = [orjson.loads(one.body) for one in gate.provider.received]
        assert [one.refused for one in gate.provider.received] == ["", "", ""]
        assert len(await _cases(gate)) == 1

    member = {Dialect.GEMINI: "contents", Dialect.RESPONSES: "input"}.get(dialect, "messages")
    held = orjson.dumps(sent[1][member])
    assert b"handoff" not in held.replace(b'"to":"handoff"', b"").replace(b'\\"to\\":\\"handoff\\"', b"")
    assert b"847" in held
    assert sent[2][member][: len(sent[1][member])] == sent[1][member]
    [told] = script.heard[1].results
    result = orjson.loads(told)
    assert (result["isError"], result["reason"], result["escalation"]) == (True, "over_limit", case.id)
    assert result["handedOver"] == {"to": "handoff", "answer": ANSWERED}
    assert result["receipt"] == receipt
    decided = [each for each in records if each["kind"] == "decided"]
    assert [(each["tool"], each["proposer"]) for each in decided] == [("process_refund", "model"), ("handoff", "gate")]
    kinds = {(each["kind"], each["receipt"]) for each in records}
    assert {("substituted", decided[0]["receipt"]), ("released", decided[1]["receipt"])} <= kinds
    assert ("settled", decided[1]["receipt"]) in kinds


@way
async def test_where_the_escalation_tool_may_not_be_called_the_reply_stands(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """It is judged like any other: refused, even where it would be passed to people itself, both have a receipt, and
    one case is open."""
    closed = POLICY + "    rules: [{escalate: over_limit}]\n"
    async with desk(tmp_path, _script(), closed) as gate:
        text, calls = await Agent(gate, dialect, streamed=streamed).turn()
        records = await gate.settled(1)
        cases = await _cases(gate)

    assert ("needs a colleague" in text, calls) == (True, [])
    assert [case.tool for case in cases] == ["process_refund"]
    found = [(each["kind"], each.get("tool"), each.get("ruling")) for each in records]
    assert found[:2] == [("decided", "process_refund", "escalate"), ("decided", "handoff", "forbid")]
    assert sorted(each["kind"] for each in records[2:]) == ["aborted", "substituted"]


@way
async def test_a_tool_that_the_agent_does_not_declare_is_not_called(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """The agent could not run it: the reply stands, and nothing but the refusal is recorded."""
    async with desk(tmp_path, _script(), POLICY) as gate:
        text, calls = await Agent(gate, dialect, streamed=streamed, tools=("process_refund",)).turn()
        records = await gate.settled(1)
    assert ("needs a colleague" in text, calls) == (True, [])
    assert [each["kind"] for each in records] == ["decided", "substituted"]


@way
async def test_beside_calls_that_run(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Its neighbours leave as they came, in their order; each call of the model's gets its own result."""
    script = _script(MIXED)
    async with desk(tmp_path, script, POLICY) as gate:
        agent = Agent(gate, dialect, streamed=streamed)
        _, calls = await agent.turn()
        assert [name for _, name, _ in calls] == ["ping", "handoff", "note"]
        agent.give(calls)
        await agent.turn()
        assert [one.refused for one in gate.provider.received] == ["", ""]
    texts = script.heard[1].results
    assert len(texts) == 3
    assert sum("over_limit" in text and ANSWERED in text for text in texts) == 1
    assert sum("ping is done" in text for text in texts) == sum("note is done" in text for text in texts) == 1


async def test_where_the_provider_keeps_its_turn(tmp_path: Path) -> None:
    """The client goes on by the answer's id, with the result alone: the stored call gets the refusal as its output."""
    script = _script()
    async with desk(tmp_path, script, POLICY) as gate:
        agent = Agent(gate, Dialect.RESPONSES, streamed=False)
        _, calls = await agent.turn()
        agent.history, agent.more = [], {"previous_response_id": agent.last}
        agent.give(calls)
        await agent.turn()
        assert [one.refused for one in gate.provider.received] == ["", ""]
        [output] = orjson.loads(gate.provider.received[-1].body)["input"]
    assert orjson.loads(output["output"])["handedOver"]["answer"] == ANSWERED


async def test_one_refusal_refuses_all_hands_nothing_over(tmp_path: Path) -> None:
    """Where calls leave together or not at all, the reply stands."""
    async with desk(tmp_path, _script(), POLICY + "    batch: all_or_nothing\n") as gate:
        text, calls = await Agent(gate, Dialect.ANTHROPIC, streamed=True).turn()
    assert ("needs a colleague" in text, calls) == (True, [])


async def test_halted_meanwhile_nothing_is_handed_over(tmp_path: Path) -> None:
    """The escalation tool is a write: under a halt the model's call is refused before, and no case is open."""
    async with desk(tmp_path, _script(), POLICY) as gate:
        await gate.store.halt(by="anna", reason="odd", at=gate.services.judge.clock())
        assert (await Agent(gate, Dialect.CHAT, streamed=False).turn())[1] == []
        assert await _cases(gate) == []
