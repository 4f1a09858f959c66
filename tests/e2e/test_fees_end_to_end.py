"""Package travel through a running gate: a plausible wrong refund never leaves, the right one does."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

import orjson
import pytest

from proxy.demo.turns import Asked, Call, Dialect, Reply, Text, Turn, always
from tests.e2e.client import PATHS, WAY_IDS, WAYS, Heard, ask, heard, request_headers
from tests.e2e.harness import CUSTOMER, OTHER_CUSTOMER, desk

if TYPE_CHECKING:
    from tests.e2e.harness import Desk

PACK = Path(__file__).parents[2] / "policies" / "packs" / "package-travel"
POLICY = (
    (PACK / "policy.yaml")
    .read_text(encoding="utf-8")
    .replace("${BOOKINGS_URL}/bookings", "${FACTS_URL}/orders")
    .replace('    headers: {authorization: "Bearer ${BOOKINGS_TOKEN}"}\n', "")
)
TO_MODEL = POLICY.replace("  cancel_booking:\n", "  cancel_booking:\n    on_refusal: model\n")
INJECTING = POLICY.replace("forbid: wrong_refund\n", "forbid: wrong_refund\n      inject: true\n")
ASKED = "Please cancel LT20417."
QUOTATION = "14 to 7 days before departure: 60 % of the travel price"
RIGHT = 592
PLAUSIBLE = (888, 814, 1480, 592.01, 591.99)  # the fee, the interval before, all of it, a cent
way = pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)


def booking(customer: str = CUSTOMER, *, days: int | None = 10) -> dict[str, Any]:
    """A booking of 1480.00 EUR that departs in so many days, as Berlin counts them."""
    today = datetime.now(UTC).astimezone(ZoneInfo("Europe/Berlin")).date()
    found = {
        "customer": {"id": customer},
        "status": "confirmed",
        "price": {"total": 148000, "paid": 148000},
    }
    return found if days is None else found | {"departs_on": (today + timedelta(days=days)).isoformat()}


def proposing(refund: float) -> Turn:
    return Turn((Text("I will cancel it."), Call("cancel_booking", f'{{"booking_id": "LT20417", "refund": {refund}}}')))


def files(folder: Path) -> Path:
    for name in ("terms.txt", "terms.json"):
        shutil.copy(PACK / name, folder / name)
    return folder


@way
@pytest.mark.parametrize("refund", PLAUSIBLE)
async def test_a_plausible_wrong_amount_is_refused_with_the_right_one(
    tmp_path: Path, dialect: Dialect, streamed: bool, refund: float
) -> None:
    """The customer reads amount and quotation in place of the call; the receipt holds the whole evidence."""
    async with desk(files(tmp_path), always(proposing(refund)), POLICY) as gate:
        gate.facts.orders["LT20417"] = booking()
        answer = await ask(gate, dialect, ASKED, streamed=streamed, headers=gate.signed())
        records = await gate.settled()

    assert answer.calls == []
    assert "10 days before departure, you get 592.00 EUR back: of 1480.00 EUR paid, 888.00 EUR is kept" in answer.text
    assert f'"{QUOTATION}" (terms.txt:10)' in answer.text
    assert [(each["kind"], each.get("reason")) for each in records] == [
        ("decided", "wrong_refund"),
        ("substituted", None),
    ]
    [row] = [each for each in records[0]["verdicts"] if each["interceptor"] == "fee_schedule"]
    assert row["computed"]["refund"] == "592.00 EUR"
    assert (row["computed"]["quotation"], row["computed"]["interval"]) == (QUOTATION, 4)
    source = (PACK / "terms.txt").read_text(encoding="utf-8")
    assert source[row["computed"]["start"] : row["computed"]["end"]] == QUOTATION
    assert orjson.loads(records[0]["result"])["evidence"]["refund"] == "592.00 EUR"


@way
async def test_the_right_amount_is_released_as_it_came(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """Nothing is added to a call that is right."""
    async with desk(files(tmp_path), always(proposing(RIGHT)), POLICY) as gate:
        gate.facts.orders["LT20417"] = booking()
        answer = await ask(gate, dialect, ASKED, streamed=streamed, headers=gate.signed())
        records = await gate.settled()

    assert [call.arguments for call in answer.calls] == [{"booking_id": "LT20417", "refund": RIGHT}]
    assert [each["kind"] for each in records] == ["decided", "reserved", "released"]


@way
async def test_the_model_hears_the_right_amount_and_can_use_it(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """With `on_refusal: model` the structured result carries the evidence, and the call that follows it is released."""

    def script(asked: Asked) -> Reply:
        if not asked.results:
            return Reply(proposing(888))
        evidence = json.loads(asked.results[-1])["evidence"]
        assert evidence["quotation"] == QUOTATION
        return Reply(proposing(float(evidence["refund"].removesuffix(" EUR"))))

    async with desk(files(tmp_path), script, TO_MODEL) as gate:
        gate.facts.orders["LT20417"] = booking()
        answer = await ask(gate, dialect, ASKED, streamed=streamed, headers=gate.signed())

    assert [call.arguments["refund"] for call in answer.calls] == [RIGHT]


@way
async def test_with_injection_the_right_amount_leaves_and_the_models_own_goes_back_up(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """The agent runs the amount of the terms; the provider finds in the history what its model wrote, byte for byte."""

    def script(asked: Asked) -> Reply:
        return Reply(Turn((Text("It is cancelled."),)) if asked.results else proposing(888))

    async with desk(files(tmp_path), script, INJECTING) as gate:
        gate.facts.orders["LT20417"] = booking()
        first = await ask(gate, dialect, ASKED, streamed=streamed, headers=gate.signed())
        second = await _answered(gate, dialect, first, streamed=streamed)
        records = await gate.settled(2)
        sent = gate.provider.received[-1]

    [call] = first.calls
    assert call.arguments == {"booking_id": "LT20417", "refund": RIGHT}
    assert second.text == "It is cancelled."
    assert sent.refused == ""
    assert _history_arguments(dialect, orjson.loads(sent.body)) == {"booking_id": "LT20417", "refund": 888}
    decided = next(each for each in records if each["kind"] == "decided")
    [row] = [each for each in decided["verdicts"] if each["interceptor"] == "fee_schedule"]
    assert row["injected"] != decided["argument_digest"]
    assert {each["kind"] for each in records} == {"decided", "reserved", "released", "settled"}
    assert next(each for each in records if each["kind"] == "settled")["state"] == "executed"


async def _answered(gate: Desk, dialect: Dialect, first: Heard, *, streamed: bool) -> Heard:
    """The next request of an agent that ran the call."""
    [call] = first.calls
    arguments, result = orjson.dumps(call.arguments).decode(), '{"status": "cancelled"}'
    user = {"role": "user", "content": ASKED}
    body: dict[str, Any] = {"model": "scripted", "stream": streamed}
    if dialect is Dialect.ANTHROPIC:
        said = [{"type": "text", "text": first.text}] if first.text else []
        used = {"type": "tool_use", "id": call.id, "name": call.name, "input": call.arguments}
        answer = {"type": "tool_result", "tool_use_id": call.id, "content": result}
        body |= {
            "max_tokens": 1024,
            "messages": [
                user,
                {"role": "assistant", "content": [*said, used]},
                {"role": "user", "content": [answer]},
            ],
        }
        body["tools"] = [{"name": call.name, "input_schema": {"type": "object"}}]
    else:
        function = {"name": call.name, "arguments": arguments}
        made = {"id": call.id, "type": "function", "function": function}
        body["messages"] = [
            user,
            {"role": "assistant", "content": first.text, "tool_calls": [made]},
            {"role": "tool", "tool_call_id": call.id, "content": result},
        ]
    headers = request_headers(dialect, gate.signed())
    async with gate.session.post(gate.url + PATHS[dialect], data=orjson.dumps(body), headers=headers) as response:
        return heard(dialect, response.status, dict(response.headers), await response.read())


def _history_arguments(dialect: Dialect, body: Any) -> Any:
    [assistant] = [each for each in body["messages"] if each["role"] == "assistant"]
    if dialect is Dialect.CHAT:
        return orjson.loads(assistant["tool_calls"][0]["function"]["arguments"])
    return next(block["input"] for block in assistant["content"] if block["type"] == "tool_use")


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (booking(days=None), "facts_incomplete"),
        (booking(days=-1), "no_amount"),
        (booking(OTHER_CUSTOMER), "not_yours"),
        (None, "booking_not_found"),
    ],
)
@pytest.mark.parametrize("policy", [POLICY, INJECTING], ids=["refusing", "injecting"])
async def test_without_a_right_amount_nothing_leaves(
    tmp_path: Path, policy: str, record: dict[str, Any] | None, reason: str
) -> None:
    """A record that lacks, another's, or none: no amount is computed, told or put into the call."""
    async with desk(files(tmp_path), always(proposing(RIGHT)), policy) as gate:
        if record is not None:
            gate.facts.orders["LT20417"] = record
        answer = await ask(gate, Dialect.CHAT, ASKED, headers=gate.signed())
        records = await gate.settled()

    assert answer.calls == []
    assert records[0]["reason"] == reason
    assert "592" not in answer.text
    assert "evidence" not in orjson.loads(records[0]["result"])


async def test_an_edit_of_the_terms_is_seen_by_the_next_decision(tmp_path: Path) -> None:
    """A text that no longer says what the candidate does puts nothing in force; when both change, the amount does."""
    async with desk(files(tmp_path), always(proposing(518)), POLICY) as gate:
        gate.facts.orders["LT20417"] = booking()
        texts = []
        for name, changes in (("", ()), ("terms.txt", (": 60 %",)), ("terms.json", (": 60 %", '"percent": 60'))):
            path = tmp_path / name
            for change in changes:
                edited = path.read_text(encoding="utf-8").replace(change, change.replace("60", "65"))
                path.write_text(edited, encoding="utf-8")
            answer = await ask(gate, Dialect.ANTHROPIC, ASKED, headers=gate.signed())
            texts.append(answer.text if not answer.calls else answer.calls[0].arguments["refund"])
        await gate.settled(3)

    assert "you get 592.00 EUR back" in texts[0]
    assert "you get 592.00 EUR back" in texts[1], "the last good revision decides while the edit is broken"
    assert texts[2] == 518
