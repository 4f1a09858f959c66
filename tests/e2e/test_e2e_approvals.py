"""An 847-dollar refund end to end in each way that an approved call can go on, with the official SDKs as agents."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import orjson
import pytest
from aiohttp import web

from proxy.admin.access import TOKEN_FILE
from proxy.courier import case_body
from proxy.delivery import HALT_SECONDS, Delivery
from proxy.demo.turns import Call, Dialect, Text, Turn, always
from proxy.inline import LOOK_SECONDS
from proxy.ledger.materials import HISTORY_BYTES_MAX
from proxy.webhooks import webhook_key
from tests.e2e.harness import DESK, desk
from tests.e2e.receivers import KEY, receiving, webhooks

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.e2e.harness import Desk

ARGUMENTS = '{"order_id": "A1001", "amount": 847}'
TURN = Turn((Text("I will refund it."), Call("process_refund", ARGUMENTS)))
HELD = """\
    limits: [{forbid: not_yours, once_per: [args.order_id, args.amount]}]
    result: {fields: {status: string}}
"""
SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}, "amount": {"type": "number"}}}
CLIENTS = [Dialect.ANTHROPIC, Dialect.CHAT]


def policy(on_approval: str, more: str = "") -> str:
    return DESK.replace("    escalation: {rec", f"    on_approval: {on_approval}\n{HELD}    escalation: {{rec") + more


async def ask(
    gate: Desk, dialect: Dialect = Dialect.ANTHROPIC, *, streamed: bool = True
) -> tuple[str, list[dict[str, Any]]]:
    """What the agent reads: the text, and the arguments of the calls that it is to run."""
    if dialect is Dialect.ANTHROPIC:
        client = anthropic.AsyncAnthropic(
            base_url=gate.url, api_key="k", max_retries=0, default_headers=gate.signed(), timeout=60
        )
        request: Any = {
            "model": "m",
            "max_tokens": 1000,
            "messages": [{"role": "user", "content": "Refund A1001."}],
            "tools": [{"name": "process_refund", "input_schema": SCHEMA}],
        }
        async with client:
            if streamed:
                async with client.messages.stream(**request) as stream:
                    message = await stream.get_final_message()
            else:
                message = await client.messages.create(**request)
        texts = [block.text for block in message.content if block.type == "text"]
        return "".join(texts), [block.input for block in message.content if block.type == "tool_use"]
    other = openai.AsyncOpenAI(
        base_url=f"{gate.url}/v1", api_key="k", max_retries=0, default_headers=gate.signed(), timeout=60
    )
    wanted: Any = {
        "model": "m",
        "messages": [{"role": "user", "content": "Refund A1001."}],
        "tools": [{"type": "function", "function": {"name": "process_refund", "parameters": SCHEMA}}],
    }
    async with other:
        if streamed:
            async with other.chat.completions.stream(**wanted) as chunks:
                completion = await chunks.get_final_completion()
        else:
            completion = await other.chat.completions.create(**wanted)
    said = completion.choices[0].message
    return said.content or "", [orjson.loads(call.function.arguments) for call in said.tool_calls or ()]


async def answer(gate: Desk, verb: str = "approve", *, within: float = 10.0) -> str:
    """The owner answers the open case, as soon as there is one; its id."""
    token = await asyncio.to_thread((gate.state / TOKEN_FILE).read_text)
    headers = {"authorization": f"Bearer {token.strip()}"}
    deadline = time.monotonic() + within
    while True:
        async with gate.session.get(f"{gate.admin}/escalations?status=open", headers=headers) as response:
            cases = (await response.json())["escalations"]
        if cases:
            break
        assert time.monotonic() < deadline, "no case"
        await asyncio.sleep(0.02)
    url = f"{gate.admin}/escalations/{cases[0]['id']}/{verb}"
    async with gate.session.post(url, json={"reason": "I looked at it"}, headers=headers) as response:
        assert response.status == 200, await response.text()
    found: str = cases[0]["id"]
    return found


async def until(condition: Callable[[], Any], *, within: float = 10.0) -> Any:
    deadline = time.monotonic() + within
    while not (found := await condition()):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)
    return found


async def note_of(gate: Desk, case: str) -> str:
    found = await gate.store.read(lambda reader: reader.escalation(case))
    assert found is not None
    return found.note


async def states(gate: Desk) -> list[str]:
    return [one.state.value for one in await gate.store.read(lambda reader: reader.reservations())]


@pytest.mark.parametrize("dialect", CLIENTS, ids=lambda each: each.value)
async def test_next_time(tmp_path: Path, dialect: Dialect) -> None:
    """Refused with words, approved after a restart, proposed again: it runs, once."""
    text = policy("next_time")
    async with desk(tmp_path, always(TURN), text) as gate:
        said, calls = await ask(gate, dialect)
        assert ("needs a colleague" in said, calls) == (True, [])
    async with desk(tmp_path, always(TURN), text) as gate:
        await answer(gate)
    async with desk(tmp_path, always(TURN), text) as gate:
        assert (await ask(gate, dialect))[1] == [{"order_id": "A1001", "amount": 847}]
        assert (await ask(gate, dialect))[1] == []
        assert await states(gate) == ["held"]


@pytest.mark.parametrize("dialect", CLIENTS, ids=lambda each: each.value)
async def test_inline(tmp_path: Path, dialect: Dialect) -> None:
    """The streamed answer is held, text before the call is not; approved meanwhile, the call leaves in it."""
    async with desk(tmp_path, always(TURN), policy("inline"), limits={"keepalive_ms": 1000}) as gate:
        asking = asyncio.ensure_future(ask(gate, dialect))
        await asyncio.sleep(1.5)
        assert not asking.done()
        case = await answer(gate)
        said, calls = await asking
        records = await gate.settled(1)

    assert (said, calls) == ("I will refund it.", [{"order_id": "A1001", "amount": 847}])
    kinds = [each["kind"] for each in records if each["kind"] != "reserved"]
    assert sorted(kinds) == ["aborted", "answered", "decided", "decided", "released"]
    assert next(each["cause"] for each in records if each["kind"] == "aborted").startswith("people answered")
    assert case in str(records)


async def test_inline_refused(tmp_path: Path) -> None:
    """A refusal ends the wait at once, in the words of a refusal."""
    async with desk(tmp_path, always(TURN), policy("inline")) as gate:
        asking = asyncio.ensure_future(ask(gate))
        began = time.monotonic()
        await answer(gate, "reject")
        said, calls = await asking
    assert (calls, "do not allow me" in said) == ([], True)
    assert time.monotonic() - began < 5


async def test_inline_without_an_answer_is_pending(tmp_path: Path) -> None:
    """At `inline_wait_ms_max` the agent hears that nobody answered and under which name it waits; approved later, the
    call runs when it is made again (PEERS 58)."""
    async with desk(tmp_path, always(TURN), policy("inline"), limits={"inline_wait_ms_max": 300}) as gate:
        said, calls = await ask(gate)
        case = await answer(gate)
        assert (f"({case})" in said, calls) == (True, [])
        assert (await ask(gate))[1] == [{"order_id": "A1001", "amount": 847}]
    assert LOOK_SECONDS < 1


async def test_a_body_does_not_wait(tmp_path: Path) -> None:
    """A client of JSON would hear nothing meanwhile, so it is answered at once."""
    async with desk(tmp_path, always(TURN), policy("inline")) as gate:
        began = time.monotonic()
        said, calls = await ask(gate, streamed=False)
        assert ("needs a colleague" in said, calls) == (True, [])
        assert time.monotonic() - began < 5


async def test_a_halt_while_it_waits(tmp_path: Path) -> None:
    """Thrown in the wait, nothing leaves after it, approved or not; the wait ends at once."""
    async with desk(tmp_path, always(TURN), policy("inline")) as gate:
        asking = asyncio.ensure_future(ask(gate))
        await until(lambda: gate.store.read(lambda reader: reader.escalations()))
        await gate.store.halt(by="anna", reason="odd", at=gate.services.judge.clock())
        assert (await asking)[1] == []
        records = await gate.settled(1)
    assert [each["reason"] for each in records if each["kind"] == "decided"] == ["over_limit", "halted"]


async def test_a_client_that_leaves_while_it_waits(tmp_path: Path) -> None:
    """Nobody waits for an answer any more: the exchange ends in a receipt at once, and the case stays open."""
    async with desk(tmp_path, always(TURN), policy("inline")) as gate:
        asking = asyncio.ensure_future(ask(gate))
        await until(lambda: gate.store.read(lambda reader: reader.escalations()))
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
        records = await gate.settled(1)
        [case] = await gate.store.read(lambda reader: reader.escalations())
    assert [each["kind"] for each in records] == ["decided", "aborted"]
    assert case.status.value == "open"


@pytest.mark.parametrize("dialect", CLIENTS, ids=lambda each: each.value)
async def test_deliver(tmp_path: Path, dialect: Dialect) -> None:
    """Refused with words; approved after a restart, the back end gets the call, signed, with a key; its result settles
    the reservation, and the same call made again is not done twice."""
    async with receiving() as back_end:
        extra = webhooks(deliveries=back_end)
        async with desk(tmp_path, always(TURN), policy("deliver"), extra=extra) as gate:
            said, calls = await ask(gate, dialect)
            assert ("needs a colleague" in said, calls) == (True, [])
        async with desk(tmp_path, always(TURN), policy("deliver"), extra=extra) as gate:
            case = await answer(gate)
            [body] = await back_end.wait()
            await until(lambda: _is(gate, ["executed"]))
            await until(lambda: _note(gate, case, "delivered: executed"))
            assert (await ask(gate, dialect))[1] == []
            records = await gate.settled(1)
            assert (await gate.store.read(lambda reader: reader.verify())).findings == ()

    data = body["data"]
    assert (body["type"], data["tool"], data["arguments"]) == (
        "call.approved",
        "process_refund",
        {"order_id": "A1001", "amount": 847},
    )
    assert data["claims"]["sub"] == "cus_ada"
    sent = back_end.got[0][0]
    assert sent["idempotency-key"] == sent["webhook-id"] == data["idempotencyKey"]
    assert [each["receipt"] for each in records if each["kind"] == "released"] == [data["receipt"]]


async def _is(gate: Desk, wanted: list[str]) -> bool:
    return await states(gate) == wanted


async def test_a_delivery_is_tried_again_under_one_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A back end that fails, and then answers, gets the same message again: one decision, one reservation."""
    monkeypatch.setattr("proxy.courier.BACKOFF_SECONDS", 0.05)
    monkeypatch.setattr("proxy.courier.EVERY_SECONDS", 0.05)

    async def answers(count: int) -> web.Response:
        return web.json_response({"status": "ok"}, status=503 if count < 3 else 200)

    async with receiving() as back_end:
        back_end.answers = answers
        async with desk(tmp_path, always(TURN), policy("deliver"), extra=webhooks(deliveries=back_end)) as gate:
            await ask(gate)
            await answer(gate)
            await back_end.wait(3)
            await until(lambda: _is(gate, ["executed"]))
    assert len({sent["webhook-id"] for sent, _ in back_end.got}) == 1
    assert len({body["data"]["receipt"] for _, body in back_end.got}) == 1


async def test_a_delivery_that_is_given_up_is_unknown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sent and never answered is not free money: the case says so, and the cap counts it."""
    monkeypatch.setattr("proxy.courier.BACKOFF_SECONDS", 0.05)
    monkeypatch.setattr("proxy.courier.EVERY_SECONDS", 0.05)

    async def answers(_: int) -> web.Response:
        return web.json_response({}, status=500)

    async with receiving() as back_end:
        back_end.answers = answers
        limits = {"webhook_attempts_max": 3}
        extra = webhooks(deliveries=back_end)
        async with desk(tmp_path, always(TURN), policy("deliver"), extra=extra, limits=limits) as gate:
            await ask(gate)
            case = await answer(gate)
            await until(lambda: _is(gate, ["unknown"]))
            await until(lambda: _note(gate, case, "the outcome is unknown"))
            await asyncio.sleep(0.3)
    assert len(back_end.got) == 3


async def test_a_delivery_whose_facts_changed_is_not_made(tmp_path: Path) -> None:
    """Decided anew when its turn comes: the order is too old by now, and nothing is sent."""
    async with (
        receiving() as back_end,
        desk(tmp_path, always(TURN), policy("deliver"), extra=webhooks(deliveries=back_end)) as gate,
    ):
        await ask(gate)
        gate.facts.orders["A1001"] = gate.facts.orders["A1002"]
        case = await answer(gate)
        note = await until(lambda: _note(gate, case, "not delivered"))
        assert "outside_window" in note
        assert await states(gate) == []
    assert back_end.got == []


async def _note(gate: Desk, case: str, wanted: str) -> str:
    note = await note_of(gate, case)
    return note if wanted in note else ""


async def test_a_halt_stops_what_is_queued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Approved while the halt is in force, nothing leaves and nothing is held; behind the halt it is decided anew."""
    monkeypatch.setattr("proxy.delivery.HALT_SECONDS", 0.1)
    monkeypatch.setattr("proxy.courier.EVERY_SECONDS", 0.05)
    async with (
        receiving() as back_end,
        desk(tmp_path, always(TURN), policy("deliver"), extra=webhooks(deliveries=back_end)) as gate,
    ):
        await ask(gate)
        await gate.store.halt(by="anna", reason="odd", at=gate.services.judge.clock())
        await answer(gate)
        await asyncio.sleep(0.5)
        assert (back_end.got, await states(gate)) == ([], [])
        await gate.store.resume(by="anna", at=gate.services.judge.clock())
        await back_end.wait()
        await until(lambda: _is(gate, ["executed"]))
    assert HALT_SECONDS > 0


async def test_a_halt_between_reserving_and_sending(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Decided and reserved, then halted: nothing leaves, what it held is free, and the approval is there still."""
    monkeypatch.setattr("proxy.delivery.HALT_SECONDS", 0.1)
    monkeypatch.setattr("proxy.courier.EVERY_SECONDS", 0.05)
    decide = Delivery._decide
    async with (
        receiving() as back_end,
        desk(tmp_path, always(TURN), policy("deliver"), extra=webhooks(deliveries=back_end)) as gate,
    ):

        async def halted(self: Delivery, material: Any) -> Any:
            judgment = await decide(self, material)
            monkeypatch.setattr(Delivery, "_decide", decide)
            await gate.store.halt(by="anna", reason="odd", at=gate.services.judge.clock())
            return judgment

        monkeypatch.setattr(Delivery, "_decide", halted)
        await ask(gate)
        case = await answer(gate)
        await until(lambda: _is(gate, ["not_executed"]))
        assert back_end.got == []
        assert (await gate.store.case_status(case)).value == "approved"
        await gate.store.resume(by="anna", at=gate.services.judge.clock())
        await back_end.wait()
        await until(lambda: _is(gate, ["executed", "not_executed"]))


async def test_a_new_case_is_told(tmp_path: Path) -> None:
    """Once, signed, as one line that a chat shows and as an object for machines."""
    async with (
        receiving() as chat,
        desk(tmp_path, always(TURN), policy("next_time"), extra=webhooks(escalations=chat)) as gate,
    ):
        await ask(gate)
        [body] = await chat.wait()
        await ask(gate)
        await asyncio.sleep(1.2)
        [case] = await gate.store.read(lambda reader: reader.escalations())
    assert len(chat.got) == 1
    assert body["data"]["id"] == case.id
    assert (
        body["text"]
        == f"process\u200b_refund: over\u200b_limit | amount: 847.00 USD | recommended action: Approve the refund of"
        f" 847.00 USD for order A1001. ({case.id})"
    )
    assert case_body(case)


@pytest.mark.parametrize("secret", ["whsec_" + "QUJD" * 8, KEY])
def test_a_key_is_that_of_the_standard_or_a_text(secret: str) -> None:
    """`whsec_` and base64, as the standard writes it, else the text; a short one is refused."""
    assert webhook_key(secret) == (b"ABC" * 8 if secret.startswith("whsec_") else KEY.encode())
    with pytest.raises(ValueError, match="shorter than"):
        webhook_key(secret[:14])
    assert HISTORY_BYTES_MAX > 0
