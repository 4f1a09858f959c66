"""Structured answers, calls written as text and claims, through the gate with the official SDKs, streamed and not."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Call, Delivery, Dialect, HttpError, Reply, Stop, Text, Thinking, Turn, Verbatim, always
from tests.e2e.client import PATHS, WAY_IDS, WAYS, request_headers
from tests.e2e.harness import desk
from tests.e2e.texts import (
    AGENT,
    CLAIMS,
    COLLEAGUE,
    HOLDS,
    NO_TEXT,
    NOT_DONE,
    SCHEMA,
    STRUCTURED,
    TOO_MUCH,
    Client,
    each,
    policy,
    turn,
)

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Asked

WAY = pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
GOOD = '{"intent": "refund", "amount": 5}'
BAD = '{"intent": "refund", "amount": 500}'
BROKEN = '{"intent": "refund"'
OPEN = '{"intent": "refund", "more": 1}'
WRITTEN = '<tool_call>{"name": "process_refund", "arguments": {"amount": 5}}</tool_call>'
CLAIM = "I have refunded the 20 dollars."
ENDS = {Dialect.ANTHROPIC: "end_turn", Dialect.CHAT: "stop"}


def _kinds(records: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    return [(each["tool"], each["ruling"], each["reason"]) for each in records if each["kind"] == "decided"]


def _remarks(records: list[dict[str, Any]]) -> list[tuple[str, str, bool]]:
    return [(each["remark"], each["tool"], each["replaced"]) for each in records if each["kind"] == "remarked"]


def _structured(dialect: Dialect, *, streamed: bool, choices: int = 1) -> bytes:
    body: dict[str, Any] = {"model": "scripted", "messages": [{"role": "user", "content": "hi"}], "stream": streamed}
    if dialect is Dialect.ANTHROPIC:
        body |= {"max_tokens": 512, "output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}}
    else:
        body["response_format"] = {"type": "json_schema", "json_schema": {"name": "intent", "schema": SCHEMA}}
        body |= {"n": choices} if choices > 1 else {}
    return orjson.dumps(body)


async def _post(gate: Any, dialect: Dialect, data: bytes) -> bytes:
    async with gate.session.post(gate.url + PATHS[dialect], data=data, headers=request_headers(dialect)) as got:
        assert got.status == 200
        body: bytes = await got.read()
        return body


@WAY
async def test_an_allowed_answer_is_a_call_and_leaves_as_it_came(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """G2, G8: the text is judged as a call of its tool, receipted, and released byte for byte."""
    data = _structured(dialect, streamed=streamed)
    async with desk(tmp_path / "a", always(turn(Thinking("hm"), Text(GOOD))), policy(STRUCTURED)) as gate:
        url = gate.provider_url + PATHS[dialect]
        async with gate.session.post(url, data=data, headers=request_headers(dialect)) as got:
            sent, kind = await got.read(), got.headers["Content-Type"]
        gate.provider.script = always(Verbatim(sent, kind), Delivery(write_bytes=5))
        assert await _post(gate, dialect, data) == sent
        records = await gate.settled()
        assert _kinds(records) == [("act", "allow", "")]
        assert [each["kind"] for each in records] == ["decided", "released"]


@WAY
@pytest.mark.parametrize("write_bytes", [1, 7, None])
async def test_nothing_of_a_refused_answer_leaks(
    tmp_path: Path, dialect: Dialect, streamed: bool, write_bytes: int | None
) -> None:
    """However the stream is split, the client reads the reply, and no part of the text."""
    secret = '{"intent": "chitchat", "amount": 98765}'
    delivery = Delivery(write_bytes=write_bytes, fragment_chars=3)
    script = always(turn(Thinking("hm"), Text(secret)), delivery)
    async with desk(tmp_path, script, policy(STRUCTURED)) as gate:
        body = await _post(gate, dialect, _structured(dialect, streamed=streamed))
        assert TOO_MUCH.encode() in body
        for part in (b"987", b"876", b"765", b"chit", b"tch", b"amo", b"oun"):
            assert part not in body
        assert _kinds(await gate.settled()) == [("act", "forbid", "too_much")]


@WAY
async def test_a_refused_answer_ends_the_turn_with_its_reply(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """In the words of the policy, with a plain end, also where the text had been cut off by the token limit."""
    answers = [Turn((Text(BAD),)), Turn((Text(BROKEN),), stop=Stop.LENGTH), Turn((Text(BROKEN),), stop=Stop.LENGTH)]
    async with desk(tmp_path, each(answers), policy(STRUCTURED)) as gate:
        client = Client(gate, dialect, streamed)
        assert await client.say("pay me") == (TOO_MUCH, ENDS[dialect])
        assert await client.say("then pay less") == (COLLEAGUE, ENDS[dialect])
        assert _kinds(await gate.settled(2)) == [
            ("act", "forbid", "too_much"),
            ("act", "forbid", "schema_invalid"),
            ("act", "escalate", "schema_invalid"),
        ]


@WAY
@pytest.mark.parametrize("first", [BROKEN, OPEN, "[1]", "Sure, I will.", '{"intent": "refund", "intent": "x"}'])
async def test_an_answer_that_does_not_fit_is_asked_for_once_more(
    tmp_path: Path, dialect: Dialect, streamed: bool, first: str
) -> None:
    """The model reads what is wrong, the client sees only the answer that fits; later the history is put back."""
    asked: list[Asked] = []
    script = each([turn(Thinking("a"), Text(first)), turn(Thinking("b"), Text(GOOD)), GOOD], asked)
    async with desk(tmp_path, script, policy(STRUCTURED)) as gate:
        client = Client(gate, dialect, streamed)
        assert await client.say("pay me") == (GOOD, ENDS[dialect])
        assert await client.say("and now?") == (GOOD, ENDS[dialect])
        assert not [one.refused for one in gate.provider.received if one.refused]
        second, third = (one.body["messages"] for one in asked[1:])
        assert "schema_invalid" in json.dumps(second[-1])
        assert "<system-reminder>" in json.dumps(second[-1])
        assert third[: len(second)] == second, "the request before, and what is new"
        assert _kinds(await gate.settled(2)) == [
            ("act", "forbid", "schema_invalid"),
            ("act", "allow", ""),
            ("act", "allow", ""),
        ]


@WAY
async def test_an_answer_that_never_fits_goes_to_a_person(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Once more, then a case: nothing of either answer reaches the client."""
    async with desk(tmp_path, each([BROKEN, OPEN]), policy(STRUCTURED)) as gate:
        assert await Client(gate, dialect, streamed).say("pay me") == (COLLEAGUE, ENDS[dialect])
        records = await gate.settled()
        assert _kinds(records) == [("act", "forbid", "schema_invalid"), ("act", "escalate", "schema_invalid")]
        assert [each["escalation"] for each in records if each.get("escalation")]


@WAY
async def test_where_the_model_cannot_be_had_again_the_turn_ends_in_plain_words(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """The provider fails when it is asked once more: nobody is told of a colleague who knows nothing."""
    script = each([BROKEN, HttpError(500, "api_error", "down")])
    async with desk(tmp_path, script, policy(STRUCTURED)) as gate:
        text, stop = await Client(gate, dialect, streamed).say("pay me")
        assert "try again" in text
        assert stop == ENDS[dialect]
        assert _kinds(await gate.settled()) == [("act", "forbid", "schema_invalid")]


@WAY
async def test_without_a_round_to_spare_it_goes_to_a_person_at_once(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """`rounds_max: 0`: nobody is asked, and the record does not say that somebody was."""
    async with desk(tmp_path, each([BROKEN]), policy(STRUCTURED), limits={"rounds_max": 0}) as gate:
        assert await Client(gate, dialect, streamed).say("pay me") == (COLLEAGUE, ENDS[dialect])
        assert _kinds(await gate.settled()) == [("act", "escalate", "schema_invalid")]


@WAY
async def test_a_refusal_that_goes_to_the_model_goes_on_upstream(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """`on_refusal: model` holds for structured answers too."""
    async with desk(tmp_path, each([BAD, GOOD]), policy(STRUCTURED, answers="model")) as gate:
        assert await Client(gate, dialect, streamed).say("pay me") == (GOOD, ENDS[dialect])
        assert _kinds(await gate.settled()) == [("act", "forbid", "too_much"), ("act", "allow", "")]


@WAY
async def test_a_structured_answer_beside_calls_is_judged_by_itself(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """The call that is allowed runs, whatever becomes of the text."""
    answer = turn(Text(BAD), Call("look_up"))
    async with desk(tmp_path, each([answer, GOOD]), policy(STRUCTURED, answers="model")) as gate:
        client = Client(gate, dialect, streamed)
        text, stop = await client.say("pay me")
        assert (text, stop) == (TOO_MUCH, "tool_use" if dialect is Dialect.ANTHROPIC else "tool_calls")
        client.results()
        assert await client.say("and?") == (GOOD, ENDS[dialect])
        assert not [one.refused for one in gate.provider.received if one.refused]


@pytest.mark.parametrize("streamed", [True, False])
async def test_each_choice_is_judged_by_itself(tmp_path: Path, streamed: bool) -> None:
    """Several choices: what is allowed stays, what is refused is replaced, in its own place."""
    answer = Turn((Text(GOOD),), more_choices=((Text(BAD),),))
    async with desk(tmp_path, always(answer), policy(STRUCTURED)) as gate:
        body = await _post(gate, Dialect.CHAT, _structured(Dialect.CHAT, streamed=streamed, choices=2))
        said = {0: "", 1: ""}
        frames = [line[6:] for line in body.split(b"\n") if line.startswith(b"data: {")] if streamed else [body]
        for frame in map(orjson.loads, frames):
            for choice in frame["choices"]:
                said[choice["index"]] += (choice["delta" if streamed else "message"] or {}).get("content") or ""
        assert said == {0: GOOD, 1: TOO_MUCH}


@WAY
async def test_another_schema_is_text(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Only what the policy names is a call."""
    async with desk(tmp_path, each([BAD]), policy(STRUCTURED.replace("intent", "other"))) as gate:
        assert await Client(gate, dialect, streamed).say("pay me") == (BAD, ENDS[dialect])
        assert [each["kind"] for each in await gate.settled()] == []


@WAY
@pytest.mark.parametrize("more", ["", "text_calls: pass"], ids=["default", "pass"])
async def test_a_call_in_text_is_receipted(tmp_path: Path, dialect: Dialect, streamed: bool, more: str) -> None:
    """It passes at once; the record and the metric tell of it."""
    async with desk(tmp_path, each([WRITTEN]), policy(more)) as gate:
        assert await Client(gate, dialect, streamed, is_structured=False).say("x") == (WRITTEN, ENDS[dialect])
        await gate.settled()
        await gate.services.judge.outcomes.close()
        assert _remarks(await gate.records()) == [("text_call", "process_refund", False)]
        figures = gate.services.metrics.exposition().decode()
        assert 'callgate_text_remarks_total{remark="text_call",tool="process_refund"} 1.0' in figures


@WAY
async def test_a_call_in_text_is_replaced_where_it_is_forbidden(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """The client reads the policy's words; ordinary text of the next turn passes as it is."""
    async with desk(tmp_path, each([f"Well. {WRITTEN}", "Hello."]), policy("text_calls: forbid")) as gate:
        client = Client(gate, dialect, streamed, is_structured=False)
        assert await client.say("x") == (NO_TEXT, ENDS[dialect])
        assert await client.say("y") == ("Hello.", ENDS[dialect])
        await gate.settled(2)
        await gate.services.judge.outcomes.close()
        assert _remarks(await gate.records()) == [("text_call", "process_refund", True)]


@WAY
async def test_a_claim_of_what_was_not_done_is_replaced(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """With `hold_text`; and once the call was released the same words are the truth, in its turn and in later ones."""
    answers = [CLAIM, turn(Text(CLAIM), Call("process_refund")), CLAIM]
    async with desk(tmp_path, each(answers), policy(HOLDS), key="sk-real") as gate:
        client = Client(gate, dialect, streamed, is_structured=False, key=AGENT)
        assert await client.say("refund me") == (NOT_DONE, ENDS[dialect])
        assert (await client.say("please"))[0] == CLAIM
        client.results('{"status": "paid"}')
        assert await client.say("did you?") == (CLAIM, ENDS[dialect])
        await gate.settled(3)
        await gate.services.judge.outcomes.close()
        assert _remarks(await gate.records()) == [("false_claim", "process_refund", True)]


@WAY
async def test_a_claim_beside_a_refused_call_is_replaced(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """The refusal of the call is known before the text is answered."""
    rules = HOLDS.replace("hold_text: true", "hold_text: true, tools: [look_up, act]")
    answer = turn(Text(CLAIM), Call("process_refund"))
    async with desk(tmp_path, each([answer]), policy(rules), key="sk-real") as gate:
        text, stop = await Client(gate, dialect, streamed, is_structured=False, key=AGENT).say("refund me")
        assert stop == ENDS[dialect]
        assert CLAIM not in text
        assert NOT_DONE in text


@WAY
async def test_a_claim_passes_and_is_counted_where_nothing_holds_it(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """Without `hold_text` the text is not delayed."""
    async with desk(tmp_path, each([CLAIM]), policy(CLAIMS)) as gate:
        client = Client(gate, dialect, streamed, is_structured=False)
        assert await client.say("refund me") == (CLAIM, ENDS[dialect])
        await gate.settled()
        await gate.services.judge.outcomes.close()
        assert _remarks(await gate.records()) == [("false_claim", "process_refund", False)]


@pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.CHAT])
async def test_a_text_without_end_is_ended_at_the_limit(tmp_path: Path, dialect: Dialect) -> None:
    """`held_bytes_max` bounds what a held text may cost; the client is told so, and the record too."""
    script = always(Turn((Text("word " * 40_000),)), Delivery(fragment_chars=400))
    async with desk(tmp_path, script, policy("text_calls: forbid"), limits={"held_bytes_max": 65536}) as gate:
        text, stop = await Client(gate, dialect, True, is_structured=False).say("talk")
        assert "word" not in text
        assert text
        assert stop == ENDS[dialect]
        await gate.settled()
        await gate.services.judge.outcomes.close()
        assert _remarks(await gate.records()) == [("too_long", "", True)]


@WAY
async def test_a_stream_that_is_lost_in_a_structured_answer_leaves_a_record(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """Half an answer is no answer: malformed, aborted, and no byte of it at the client."""
    cut = Reply(Turn((Text(GOOD),)), Delivery(cut_after=4 if streamed else 0, fragment_chars=4))
    async with desk(tmp_path, lambda _: cut, policy(STRUCTURED)) as gate:
        data = _structured(dialect, streamed=streamed)
        async with gate.session.post(gate.url + PATHS[dialect], data=data, headers=request_headers(dialect)) as got:
            body = await got.read() if got.status != 200 or streamed else b""
        assert b"intent" not in body
        if streamed:
            assert ("act", "forbid", "malformed") in _kinds(await gate.settled())
