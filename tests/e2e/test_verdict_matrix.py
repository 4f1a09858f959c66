"""The verdict matrix: one call has one verdict, in every dialect, streamed and not, answered by code and by the model.

What is decided stands in `fixtures/verdicts.json`, once for all dialects; what the client reads and what goes up next
is each dialect's own, and said here in words that belong to none.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Text, Thinking, Turn, by_text
from proxy.wire.registry import DIALECTS
from tests.e2e.harness import desk, session_header
from tests.e2e.mouths import MOUTHS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.e2e.harness import Desk
    from tests.e2e.mouths import Answer, Entry, Mouth

GOLDEN = Path(__file__).parents[2] / "fixtures" / "verdicts.json"
MARK = "Zq-secret"
HEADERS = {"authorization": "Bearer sk-test", "x-api-key": "sk-test", "x-goog-api-key": "sk-test"} | {
    "content-type": "application/json",
    "anthropic-version": "2023-06-01",
}
REPLIES = {
    "no_write": "I may not write that.",
    "ask_a_person": "A colleague must decide.",
    "missing_parameter": "I need the order.",
    "unknown_tool": "I have no such tool.",
    "malformed": "That was garbled.",
}
POLICY = f"""
language: 1
policy: matrix
session: {{customer_id: {{jwt: sub}}}}
reasons:
  no_write: {{category: policy, reply: {{en: "{REPLIES["no_write"]}"}}}}
  ask_a_person: {{category: escalated, reply: {{en: "{REPLIES["ask_a_person"]}"}}}}
  missing_parameter: {{reply: {{en: "{REPLIES["missing_parameter"]}"}}}}
  unknown_tool: {{reply: {{en: "{REPLIES["unknown_tool"]}"}}}}
  malformed: {{reply: {{en: "{REPLIES["malformed"]}"}}}}
defaults: {{on_refusal: %s}}
tools:
  write_allowed: {{effect: write}}
  write_refused:
    effect: write
    rules:
      - forbid: no_write
        when: args.n > 1
      - forbid: no_write
  write_escalated: {{effect: write, rules: [{{escalate: ask_a_person}}]}}
  write_unclear: {{effect: write, arguments: {{order: {{type: string}}}}}}
"""
_ARGUMENTS = f'{{"n": 12.50, "note": "{MARK} über", "lines": [{{"id": 7}}]}}'
ALLOWED = Call("write_allowed", _ARGUMENTS)
REFUSED: dict[str, tuple[Call, str]] = {
    "a rule forbids": (Call("write_refused", _ARGUMENTS), "no_write"),
    "a person decides": (Call("write_escalated", _ARGUMENTS), "ask_a_person"),
    "something is missing": (Call("write_unclear", "{}"), "missing_parameter"),
    "nobody knows the tool": (Call("write_anything", _ARGUMENTS), "unknown_tool"),
    "it is no object": (Call("write_allowed", "[]"), "malformed"),
}
HM = Thinking("hm")
STEPS: dict[str, tuple[Turn, ...]] = {
    "it is allowed": (Turn((HM, Text("I try."), ALLOWED)), Turn((Text("Done."),))),
    **{
        words: (Turn((HM, Text("I try."), call)), Turn((HM, Text("I cannot.")))) for words, (call, _) in REFUSED.items()
    },
    "one of two": (Turn((HM, REFUSED["a rule forbids"][0], ALLOWED)), Turn((Text("Half done."),))),
}
_OF_AN_EXCHANGE = frozenset(
    {
        *("receipt", "time", "exchange", "tenant", "subject", "latencies", "revision"),
        *("call_id", "dialect", "model", "escalation", "result"),
    }
)


def test_every_dialect_has_a_client() -> None:
    """A dialect that is in the registry and not in the matrix would be one whose verdicts nobody compares."""
    assert set(MOUTHS) == {dialect.name for dialect in DIALECTS}


@pytest.mark.parametrize("on_refusal", ["code", "model"])
@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("name", MOUTHS)
async def test_one_call_has_one_verdict(tmp_path: Path, name: str, streamed: bool, on_refusal: str) -> None:
    """The decisions are those of the golden file to the last rule, and no argument is in the record.

    Allowed: the call reaches the client as the model wrote it. Refused by code: the reply stands in its place and the
    turn ends. Refused to the model: the client reads what the model makes of it. What goes up next holds what was
    said, the results, and, where the model heard of it, the refusal.
    """
    mouth = MOUTHS[name]
    async with (
        mouth.double(by_text(STEPS)) as double,
        desk(tmp_path, by_text(STEPS), POLICY % on_refusal, upstream=double.app) as gate,
    ):
        one = _Talk(gate, mouth, streamed)
        for words in STEPS:
            await one.say(words)
            _check_read(one, words, on_refusal)
            first = len(double.bodies())
            await one.go_on()
            is_bound = mouth.binds and words == "one of two"
            _check_sent(double.bodies()[first], words, "model" if is_bound else on_refusal)
        assert double.refused() == []
        records = await _settled(gate)
        assert MARK not in orjson.dumps(records).decode()
        golden = orjson.loads(GOLDEN.read_bytes())
        assert decisions(records) == golden[on_refusal]


async def _settled(gate: Desk) -> list[dict[str, Any]]:
    """The records, once the results of the calls that ran are among them, which nobody waits for."""
    async with asyncio.timeout(3):
        while True:
            records = await gate.settled(len(STEPS) * 2)
            kinds = [record["kind"] for record in records]
            if kinds.count("settled") == kinds.count("released"):
                return records
            await asyncio.sleep(0.01)


class _Talk:
    def __init__(self, gate: Desk, mouth: Mouth, streamed: bool) -> None:
        self.gate, self.mouth, self.streamed = gate, mouth, streamed
        self.history: list[Entry] = []
        self.answer: Answer | None = None

    async def say(self, words: str) -> None:
        """A new conversation."""
        self.history = [self.mouth.words(words)]
        await self._ask()

    async def go_on(self) -> None:
        """Results for the calls that came, or another word."""
        assert self.answer is not None
        calls = self.answer.calls
        self.history += self.mouth.results(calls, "it is done") if calls else [self.mouth.words("Thanks")]
        await self._ask()

    async def _ask(self) -> None:
        body = orjson.dumps(self.mouth.body(self.history, self.streamed))
        url = self.gate.url + self.mouth.path(self.streamed)
        async with self.gate.session.post(url, data=body, headers=HEADERS | session_header()) as got:
            data = await got.read()
            assert got.status == 200, data
        self.answer = self.mouth.read(data, self.streamed)
        self.history += self.answer.entries


def _check_read(one: _Talk, words: str, on_refusal: str) -> None:
    answer, stops = one.answer, one.mouth.stops
    assert answer is not None
    text = answer.text.replace("\n\n", "")
    if words == "it is allowed":
        assert (text, answer.stop) == ("I try.", stops[1])
    elif words == "one of two":
        assert (text, answer.stop) == (REPLIES["no_write"] if on_refusal == "code" else "", stops[1])
    else:
        reason = REFUSED[words][1]
        said = "I cannot." if _is_told(reason, on_refusal) else REPLIES[reason]
        assert (text, answer.stop, answer.calls) == (f"I try.{said}", stops[0], ())
        return
    assert [(call.name, call.arguments) for call in answer.calls] == [("write_allowed", orjson.loads(_ARGUMENTS))]


def _check_sent(body: Any, words: str, on_refusal: str) -> None:
    """What the provider gets with the next request of that conversation."""
    found = [(value["reason"], value["isError"]) for value in refusals(body)]
    text = orjson.dumps(body).decode()
    if words in ("it is allowed", "one of two"):
        assert text.count("it is done") == 1
    reason = "" if words == "it is allowed" else REFUSED.get(words, (None, "no_write"))[1]
    is_told = _is_told(reason, on_refusal)
    assert found == ([(reason, True)] if is_told else [])
    assert any(REPLIES.get(reason, "?") in said for said in strings(body)) == (reason != "" and not is_told)
    refused = "write_allowed" if not reason else REFUSED.get(words, REFUSED["a rule forbids"])[0].name
    history = orjson.dumps({key: value for key, value in body.items() if key not in ("tools", "toolConfig")}).decode()
    assert (f'"name":"{refused}"' in history) == (is_told or not reason)


def _is_told(reason: str, on_refusal: str) -> bool:
    """A malformed call cannot stand in a history, so that code answers it whatever the policy says."""
    return on_refusal == "model" and reason not in ("", "malformed")


def decisions(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What is the same in every dialect: each decision, with the kinds of the records about it."""
    found = []
    for record in records:
        if record["kind"] == "decided":
            told = orjson.loads(record["result"] or "{}")
            kept = {key: value for key, value in record.items() if key not in _OF_AN_EXCHANGE}
            kept["result"] = {key: value for key, value in told.items() if key not in ("receipt", "escalation")}
            kept["is_escalated"] = bool(record["escalation"])
            kept["kinds"] = sorted(each["kind"] for each in records if each["receipt"] == record["receipt"])
            found.append(kept)
    return found


def refusals(value: Any) -> Iterator[dict[str, Any]]:
    """The gate's own results wherever a request holds them."""
    if isinstance(value, dict):
        if "isError" in value:
            yield value
        for each in value.values():
            yield from refusals(each)
    elif isinstance(value, list):
        for each in value:
            yield from refusals(each)
    elif isinstance(value, str) and value.startswith('{"') and "isError" in value:
        yield orjson.loads(value)


def strings(value: Any) -> Iterator[str]:
    """Every text of a request, but for what stands in the gate's own results."""
    if isinstance(value, str) and "isError" not in value:
        yield value
    if isinstance(value, dict) and "isError" in value:
        return
    for each in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from strings(each)
