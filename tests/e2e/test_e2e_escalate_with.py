"""A call that is passed to people becomes one of the agent's own escalation tool; its provider keeps its own call."""

from __future__ import annotations

import asyncio
import copy
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from botocore.eventstream import EventStreamBuffer

from proxy.demo.responses_provider import ResponsesProvider
from proxy.demo.turns import Asked, Call, Dialect, Reply, Text, Turn
from tests.e2e.client import PATHS, events, request_headers
from tests.e2e.harness import CUSTOMER, DESK, desk
from tests.e2e.talkers import read_turn

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
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
WAYS = [(dialect, streamed) for dialect in Dialect for streamed in (False, True)]
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
        said: dict[str, Any] = {"content": text}
        if self.dialect is Dialect.GEMINI:
            said = {"parts": [{"text": text}]}
        elif self.dialect is Dialect.BEDROCK:
            said = {"content": [{"text": text}]}
        self.history.append({"role": "user", **said})

    async def turn(self) -> tuple[str, list[tuple[str, str, Any]]]:
        """The text and the calls (id, name, arguments) of the next answer, which the history gets."""
        path, body = self._request()
        headers = request_headers(self.dialect, self.gate.signed()) if self.dialect in PATHS else self.gate.signed()
        headers = {**headers, "x-goog-api-key": "k"}
        if self.dialect is Dialect.BEDROCK:
            headers = {**self.gate.signed(), "authorization": "Bearer bedrock-api-key-sk"}
        async with self.gate.session.post(self.gate.url + path, json=body, headers=headers) as got:
            data = await got.read()
            assert got.status == 200, data
        if self.dialect in (Dialect.ANTHROPIC, Dialect.CHAT):
            said = read_turn(self.dialect, data, streamed=self.streamed)
        elif self.dialect is Dialect.GEMINI:
            chunks = events(data) if self.streamed else [orjson.loads(data)]
            said = {"role": "model", "parts": [part for each in chunks for part in _parts(each)]}
        elif self.dialect is Dialect.BEDROCK:
            said = _streamed(data) if self.streamed else orjson.loads(data)["output"]["message"]
        elif self.dialect is Dialect.OLLAMA:
            lines = [orjson.loads(line)["message"] for line in data.split(b"\n") if line]
            calls = [call for line in lines for call in line.get("tool_calls") or ()]
            said = {"role": "assistant", "content": "".join(line["content"] for line in lines)}
            said |= {"tool_calls": calls} if calls else {}
        else:
            said = events(data)[-1]["response"] if self.streamed else orjson.loads(data)
            self.last = said["id"]
        assert said is not None, data
        self.history += said["output"] if self.dialect is Dialect.RESPONSES else [said]
        return self._read(copy.deepcopy(said))

    def _request(self) -> tuple[str, dict[str, Any]]:
        names = self.tools
        match self.dialect:
            case Dialect.ANTHROPIC:
                body = {"max_tokens": 1000, "tools": [{"name": name, "input_schema": REFUND} for name in names]}
                return PATHS[self.dialect], {"model": "m", "stream": self.streamed, "messages": self.history, **body}
            case Dialect.BEDROCK:
                specs = [{"toolSpec": {"name": name, "inputSchema": {"json": REFUND}}} for name in names]
                verb = "converse-stream" if self.streamed else "converse"
                return f"/model/m/{verb}", {"messages": self.history, "toolConfig": {"tools": specs}}
            case Dialect.GEMINI:
                declared = [{"name": name, "parametersJsonSchema": {"type": "object"}} for name in names]
                body = {"contents": self.history, "tools": [{"functionDeclarations": declared}]}
                verb = "streamGenerateContent?alt=sse" if self.streamed else "generateContent"
                return f"/v1beta/models/m:{verb}", body
            case Dialect.RESPONSES:
                listed = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in names]
                body = {"model": "m", "stream": self.streamed, "input": self.history, "tools": listed}
                return "/v1/responses", body | self.more
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
            case Dialect.BEDROCK:
                found = [each["toolUse"] for each in said["content"] if "toolUse" in each]
                calls = [(each["toolUseId"], each["name"], each["input"]) for each in found]
                return "".join(each.get("text", "") for each in said["content"]), calls
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
            case Dialect.BEDROCK:
                made = [{"toolUseId": i, "content": [{"text": said}]} for i, _, _, said in results]
                self.history.append({"role": "user", "content": [{"toolResult": each} for each in made]})
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


def _parts(answer: Any) -> list[Any]:
    found: list[Any] = (answer["candidates"][0].get("content") or {}).get("parts") or []
    return found


def _streamed(data: bytes) -> Any:
    """A Converse stream as AWS's own parser reads it, as a message."""
    buffer = EventStreamBuffer()
    buffer.add_data(data)
    blocks: dict[int, Any] = {}
    for event in buffer:
        said = orjson.loads(event.payload)
        place = said.get("contentBlockIndex")
        if event.headers[":event-type"] == "contentBlockStart":
            blocks[place] = {"toolUse": {**said["start"]["toolUse"], "input": ""}}
        elif event.headers[":event-type"] == "contentBlockDelta":
            if "toolUse" in said["delta"]:
                blocks[place]["toolUse"]["input"] += said["delta"]["toolUse"]["input"]
            else:
                block = blocks.setdefault(place, {"text": ""})
                block["text"] += said["delta"]["text"]
    for block in blocks.values():
        if "toolUse" in block:
            block["toolUse"]["input"] = orjson.loads(block["toolUse"]["input"] or "{}")
    return {"role": "assistant", "content": list(blocks.values())}


class Upstream:
    """The strict provider of a dialect: the model proposes `turn`, and then says that it is done."""

    def __init__(self, dialect: Dialect, turn: Turn = TURN) -> None:
        self.dialect = dialect
        self._left = [turn]
        self._stores = ResponsesProvider(lambda _: self._next())
        self.app = self._stores.app() if dialect is Dialect.RESPONSES else None
        self.gate: Desk | None = None

    def __call__(self, _: Asked) -> Reply:
        return Reply(self._next())

    def _next(self) -> Turn:
        return self._left.pop() if self._left else Turn((Text("A colleague looks at it."),))

    @property
    def sent(self) -> list[Any]:
        """The histories of the requests."""
        assert self.gate is not None
        if self.dialect is Dialect.RESPONSES:
            assert self._stores.refused == []
            return [each["input"] for each in self._stores.received]
        assert [one.refused for one in self.gate.provider.received if one.refused] == []
        member = "contents" if self.dialect is Dialect.GEMINI else "messages"
        return [orjson.loads(one.body)[member] for one in self.gate.provider.received]

    def results(self, number: int) -> list[tuple[str, Any]]:
        """Of what call the request has results, and what they say."""
        found: list[tuple[str, Any]] = []
        for each in self.sent[number]:
            if self.dialect is Dialect.GEMINI:
                parts = [part["functionResponse"] for part in each["parts"] if "functionResponse" in part]
                found += [(part["name"], part["response"]) for part in parts]
            elif each.get("role") == "tool":
                found.append((each.get("tool_call_id") or each["tool_name"], each["content"]))
            elif each.get("type") == "function_call_output":
                found.append((each["call_id"], each["output"]))
            elif self.dialect is Dialect.BEDROCK:
                given = [block["toolResult"] for block in each["content"] if "toolResult" in block]
                found += [(one["toolUseId"], one["content"][0].get("json") or one["content"]) for one in given]
            elif isinstance(each.get("content"), list):
                blocks = [block for block in each["content"] if block["type"] == "tool_result"]
                found += [(block["tool_use_id"], block["content"]) for block in blocks]
        return [(call, _value(said)) for call, said in found]


def _value(said: Any) -> Any:
    if isinstance(said, dict) and len(said) == 1:
        [said] = said.values()  # as Gemini wraps it
    if isinstance(said, list):
        said = said[0]["text"]
    try:
        return orjson.loads(said) if isinstance(said, str) else said
    except orjson.JSONDecodeError:
        return said


@asynccontextmanager
async def running(folder: Path, upstream: Upstream, policy: str = POLICY) -> AsyncIterator[Desk]:
    async with desk(folder, upstream, policy, upstream=upstream.app) as gate:
        upstream.gate = gate
        yield gate


async def _settled(gate: Desk) -> list[dict[str, Any]]:
    """The records, once what came back is among them: it is settled behind the request."""
    for _ in range(100):
        records = await gate.settled(2)
        if any(each["kind"] == "settled" for each in records):
            return records
        await asyncio.sleep(0.05)
    raise AssertionError("nothing was settled")


async def _cases(gate: Desk) -> list[Any]:
    return list(await gate.store.read(lambda reader: reader.escalations()))


@way
async def test_the_agent_gets_its_escalation_tool_and_the_model_keeps_its_call(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """One call leaves, of the escalation tool, with the case's summary as typed arguments; what goes up is the model's
    own call with the refusal as its result, and what the tool answered in it; again and again the same bytes."""
    upstream = Upstream(dialect)
    async with running(tmp_path, upstream) as gate:
        agent = Agent(gate, dialect, streamed=streamed)
        text, calls = await agent.turn()
        [case] = await _cases(gate)
        [(_, name, given)] = calls
        arguments = dict(given)
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
        records = await _settled(gate)
        assert len(await _cases(gate)) == 1

    sent = upstream.sent
    held = orjson.dumps(sent[1])
    assert held.count(b"handoff") == 1, "it is named in the result alone"
    assert b"process_refund" in held
    assert sent[2][: len(sent[1])] == sent[1]
    [(_, result)] = upstream.results(1)
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
    async with running(tmp_path, Upstream(dialect), closed) as gate:
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
    async with running(tmp_path, Upstream(dialect)) as gate:
        text, calls = await Agent(gate, dialect, streamed=streamed, tools=("process_refund",)).turn()
        records = await gate.settled(1)
    assert ("needs a colleague" in text, calls) == (True, [])
    assert [each["kind"] for each in records] == ["decided", "substituted"]


@way
async def test_beside_calls_that_run(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Its neighbours leave as they came, in their order; each call of the model's gets its own result."""
    upstream = Upstream(dialect, MIXED)
    async with running(tmp_path, upstream) as gate:
        agent = Agent(gate, dialect, streamed=streamed)
        _, calls = await agent.turn()
        assert [name for _, name, _ in calls] == ["ping", "handoff", "note"]
        agent.give(calls)
        await agent.turn()
    results = upstream.results(1)
    assert len({call for call, _ in results}) == 3
    assert [isinstance(value, dict) and value["reason"] for _, value in results] == [False, "over_limit", False]
    assert results[1][1]["handedOver"]["answer"] == ANSWERED


@pytest.mark.parametrize("streamed", [False, True])
async def test_where_the_provider_keeps_its_turn(tmp_path: Path, streamed: bool) -> None:
    """The client goes on by the answer's id, with the result alone: the stored call gets the refusal as its output."""
    upstream = Upstream(Dialect.RESPONSES)
    async with running(tmp_path, upstream) as gate:
        agent = Agent(gate, Dialect.RESPONSES, streamed=streamed)
        _, calls = await agent.turn()
        agent.history, agent.more = [], {"previous_response_id": agent.last}
        agent.give(calls)
        assert await agent.turn() == ("A colleague looks at it.", [])
    [(_, result)] = upstream.results(1)
    assert (result["reason"], result["handedOver"]["answer"]) == ("over_limit", ANSWERED)


async def test_one_refusal_refuses_all_hands_nothing_over(tmp_path: Path) -> None:
    """Where calls leave together or not at all, the reply stands."""
    async with running(tmp_path, Upstream(Dialect.ANTHROPIC), POLICY + "    batch: all_or_nothing\n") as gate:
        text, calls = await Agent(gate, Dialect.ANTHROPIC, streamed=True).turn()
    assert ("needs a colleague" in text, calls) == (True, [])


async def test_halted_meanwhile_nothing_is_handed_over(tmp_path: Path) -> None:
    """The escalation tool is a write: under a halt the model's call is refused before, and no case is open."""
    async with running(tmp_path, Upstream(Dialect.CHAT)) as gate:
        await gate.store.halt(by="anna", reason="odd", at=gate.services.judge.clock())
        assert (await Agent(gate, Dialect.CHAT, streamed=False).turn())[1] == []
        assert await _cases(gate) == []
