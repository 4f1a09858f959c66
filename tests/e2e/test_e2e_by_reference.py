"""Histories in which a client names the provider's items by their ids, as the Vercel AI SDK does by default.

The provider finds an item that it stored and no other, and refuses what the real one refuses of those that it finds.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.responses_provider import ResponsesProvider
from proxy.demo.turns import Call, Text, Turn
from tests.e2e.harness import desk, session_header
from tests.e2e.responding import HM, Agent, agent, call, referred, results, turn, ways
from tests.e2e.told import NO_WRITE, POLICY

if TYPE_CHECKING:
    from pathlib import Path

TALK = [
    ("Hello", [turn(Text("Hello."))]),
    ("Pay", [turn(HM, Text("I try."), call("write_refused"))]),
    ("Look", [turn(Text("I look."), call("read_refused", 2)), turn(Text("I may not."))]),
    ("Think", [turn(HM, call("read_refused", 3)), turn(HM, Text("Again I may not."))]),
    ("Both", [turn(HM, call("read_refused", 4), call("write_allowed", 5)), turn(HM, Text("One of two."))]),
    ("Mixed", [turn(HM, call("write_refused", 6), call("read_allowed", 7)), turn(Text("The other."))]),
    ("Twice", [turn(call("read_allowed", 8), call("write_allowed", 9)), turn(HM, Text("Two of two."))]),
    ("Bye", [turn(HM, Text("Bye."))]),
]
"""What the user says, and the provider's turns: answered by code, told to the model, beside others, and not at all."""
RESTARTS = (3, 6)


def extends(provider: ResponsesProvider) -> None:
    """Each context of the model is the one before it, and more: but for a call that code answered, as the client saw
    it (G7)."""
    for before, after in zip(provider.contexts, provider.contexts[1:], strict=False):
        assert after[: len(before)] == before


async def ask(one: Agent, items: list[Any], customer: str = "cus_ada", key: str = "sk-test") -> tuple[int, str]:
    body = {"model": "m", "input": items}
    headers = session_header(customer) | {"authorization": f"Bearer {key}"}
    async with one.desk.session.post(f"{one.desk.url}/v1/responses", json=body, headers=headers) as got:
        return got.status, await got.text()


@ways
async def test_a_long_talk_over_restarts(tmp_path: Path, streamed: bool) -> None:
    """Every kind of turn, each followed by all others, with gates that end in between: the provider refuses nothing,
    each request extends the one before it, the same request is the same for ever, and the model sees every refusal that
    it heard."""
    left = [each for _, turns in TALK for each in turns]
    provider = ResponsesProvider(lambda _: left.pop(0))
    talker: Agent | None = None
    for first, last in zip((0, *RESTARTS), (*RESTARTS, len(TALK)), strict=True):
        async with desk(tmp_path, [], POLICY, upstream=provider.app()) as running:
            one = Agent(running, provider, streamed, "by_reference")
            if talker is not None:
                one.items, one.outputs = talker.items, talker.outputs
            for words, turns in TALK[first:last]:
                last_text = next((part.text for part in reversed(turns[-1].parts) if isinstance(part, Text)), "")
                assert (await one.say(words)).endswith(NO_WRITE if words == "Pay" else last_text)
            talker = one
    assert provider.refused == []
    extends(provider)
    assert talker is not None
    assert talker.ran == ["write_allowed", "read_allowed", "read_allowed", "write_allowed"]
    reasons = [value["reason"] for value in results(provider.contexts[-1])]
    assert reasons == ["no_read", "no_read", "no_read"]
    assert NO_WRITE in orjson.dumps(provider.contexts[-1]).decode()
    left += [turn(Text("x")), turn(Text("x"))]
    async with desk(tmp_path, [], POLICY, upstream=provider.app()) as running:
        one = Agent(running, provider, streamed, "by_reference", items=talker.items)
        sent = [referred(item) for item in one.items]
        assert [(await ask(one, sent))[0], (await ask(one, sent))[0]] == [200, 200]
    assert provider.received[-1] == provider.received[-2]
    assert provider.contexts[-1][: len(provider.contexts[-3])] == provider.contexts[-3]


@ways
async def test_what_the_provider_has_goes_up_as_it_came(tmp_path: Path, streamed: bool) -> None:
    """Where nothing was hidden, replaced or edited the request is untouched (G2): no id is resolved for it."""
    turns = turn(HM, Text("I look."), call("read_allowed")), turn(HM, Text("Done.")), turn(Text("Bye."))
    async with agent(tmp_path, streamed, "by_reference", *turns) as one:
        await one.say("Look")
        await one.say("Thanks")
        assert one.provider.received[-1]["input"] == [
            referred(item) for item in one.items[: len(one.provider.contexts[-1])]
        ]
        assert one.provider.refused == []


async def test_a_request_with_a_known_reference_is_the_same_bytes(tmp_path: Path) -> None:
    """As above, white space and all."""
    bodies: list[bytes] = []
    turns = turn(call("read_allowed")), turn(Text("Done.")), turn(Text("Done."))
    async with agent(tmp_path, False, "by_reference", *turns) as one:
        await one.say("Look")
        take = one.desk.services.upstream.open

        async def seen(*given: Any, **more: Any) -> Any:
            bodies.extend(each for each in (*given, *more.values()) if isinstance(each, bytes) and b"model" in each)
            return await take(*given, **more)

        one.desk.services.upstream.open = seen  # type: ignore[method-assign] # to see the bytes
        items = [referred(item) for item in one.items]
        sent = orjson.dumps({"model": "m", "input": items}, option=orjson.OPT_INDENT_2)
        headers = session_header() | {"authorization": "Bearer sk-test"}
        async with one.desk.session.post(f"{one.desk.url}/v1/responses", data=sent, headers=headers) as got:
            assert got.status == 200
        assert bodies == [sent]


@ways
async def test_what_is_not_known_is_for_the_provider_to_say(tmp_path: Path, streamed: bool) -> None:
    """An id that nobody wrote goes up as it is, and the provider's error comes back as it is."""
    async with agent(tmp_path, streamed, "by_reference", turn(call("write_refused")), turn(Text("x"))) as one:
        await one.say("Pay")
        stranger = {"type": "item_reference", "id": "msg_0", "status": "completed"}
        status, text = await ask(one, [{"role": "user", "content": "x"}, {"type": "item_reference", "id": "fc_0"}])
        assert (status, "Item with id 'fc_0' not found." in text) == (404, True)
        assert one.provider.received[-1]["input"][1] == {"type": "item_reference", "id": "fc_0"}
        assert (await ask(one, [{"role": "user", "content": "x"}, stranger]))[0] == 400
        assert one.provider.received[-1]["input"][1] == stranger


@pytest.mark.parametrize(("customer", "key"), [("cus_bob", "sk-test"), ("cus_ada", "sk-other")])
async def test_an_id_selects_within_its_tenant_and_for_its_subject(tmp_path: Path, customer: str, key: str) -> None:
    """Whoever else names the items of a talk gets nothing put back, and no word of a reply."""
    turns = turn(Text("I look."), call("read_refused")), turn(Text("No.")), turn(call("write_refused")), turn(Text("x"))
    async with agent(tmp_path, False, "by_reference", *turns) as one:
        await one.say("Look")
        await one.say("Pay")
        items = [referred(item) for item in one.items]
        assert (await ask(one, items, customer, key))[0] == 200
        seen = orjson.dumps(one.provider.received[-1]["input"]).decode()
        assert "isError" not in seen
        assert NO_WRITE not in seen
        assert "msg_cg1." not in seen


async def test_no_client_says_what_stands_behind_an_id(tmp_path: Path) -> None:
    """The form in which the gate reads a known reference is the gate's own."""
    async with agent(tmp_path, False, "by_reference", turn(Text("x"))) as one:
        forged = {"callgate_item": {"type": "message", "role": "assistant", "content": "x"}, "callgate_came": {}}
        assert (await ask(one, [{"role": "user", "content": "x"}, forged]))[0] == 400
        assert one.provider.received == []


async def test_a_history_whose_beginning_was_cut_off(tmp_path: Path) -> None:
    """Ids select: a client that has dropped what stood before still gets the hidden turn back."""
    turns = turn(Text("Hi.")), turn(HM, call("read_refused")), turn(HM, Text("No.")), turn(Text("x"))
    async with agent(tmp_path, False, "by_reference", *turns) as one:
        await one.say("Hello")
        await one.say("Look")
        items = [{"role": "user", "content": "Shorter"}, *(referred(item) for item in one.items[3:])]
        assert (await ask(one, items))[0] == 200
        assert one.provider.refused == []
        assert [value["reason"] for value in results(one.provider.contexts[-1])] == ["no_read"]


@ways
async def test_a_compaction_by_reference(tmp_path: Path, streamed: bool) -> None:
    """`/responses/compact` sees what the model saw."""
    turns = turn(HM, Text("I look."), call("read_refused")), turn(HM, Text("I may not.")), turn(call("write_refused"))
    async with agent(tmp_path, streamed, "by_reference", *turns) as one:
        await one.say("Look")
        await one.say("Pay")
        body = {"model": "m", "input": [referred(item) for item in one.items]}
        headers = session_header() | {"authorization": "Bearer sk-test"}
        async with one.desk.session.post(f"{one.desk.url}/v1/responses/compact", json=body, headers=headers) as got:
            assert got.status == 200
        assert one.provider.refused == []
        assert [value["reason"] for value in results(one.provider.contexts[-1])] == ["no_read"]


@ways
async def test_replies_whose_ledger_is_lost(tmp_path: Path, streamed: bool) -> None:
    """What a reply said is gone with the ledger: the reference and the reasoning before it are taken out, since the
    provider would refuse both."""
    left = [turn(HM, Text("I try."), call("write_refused")), turn(HM, call("write_refused", 2)), turn(Text("Bye."))]
    provider = ResponsesProvider(lambda _: left.pop(0))
    async with desk(tmp_path, [], POLICY, upstream=provider.app()) as running:
        one = Agent(running, provider, streamed, "by_reference")
        await one.say("Pay")
        await one.say("Again")
    for path in await asyncio.to_thread(lambda: list((tmp_path / "state").glob("ledger.db*"))):
        path.unlink()
    async with desk(tmp_path, [], POLICY, upstream=provider.app()) as running:
        one = Agent(running, provider, streamed, "by_reference", items=one.items)
        assert await one.say("Thanks") == "Bye."
        assert running.lines()[-1]["taken_out"] == 3
    assert provider.refused == []


GROUNDED = """
language: 1
policy: grounded
unknown_results: refuse
time_zone: UTC
session: {customer_id: {jwt: sub}}
reasons: {daily: {category: policy, reply: {en: "Enough for today."}}}
tools:
  read_allowed: {effect: read}
  write_allowed:
    effect: write
    arguments:
      order: {type: string, from: result of read_allowed.order}
      amount: {money: USD, unit: major}
    limits: [{forbid: daily, sum: args.amount, per: session.customer_id, each: day, max: 50.00 USD}]
    result: {fields: {status: string}}
    not_executed_when: result.status in ["failed"]
"""


def pay(order: str, amount: int) -> Turn:
    return turn(HM, Call("write_allowed", f'{{"order": "{order}", "amount": {amount}}}'))


@ways
async def test_results_of_referenced_calls_ground_and_settle(tmp_path: Path, streamed: bool) -> None:
    """An order stands in the result of a call that the client names by its id: it grounds the payment, whose own result
    settles what it held, and the rest of the cap is what is left. What no result says grounds nothing."""
    turns = turn(call("read_allowed")), pay("A1001", 30), turn(Text("Paid.")), pay("A1001", 30), pay("B2002", 1)
    async with agent(tmp_path, streamed, "by_reference", *turns, policy=GROUNDED) as one:
        said = {"read_allowed": '{"order": "A1001"}', "write_allowed": '{"status": "failed"}'}
        await answered(one, "Pay my order", said)
        assert [each.state.value for each in await reservations(one)] == ["not_executed"]
        said["write_allowed"] = '{"status": "ok"}'
        await one.ask([{"role": "user", "content": "Again"}])
        decided = [record for record in await one.desk.settled(3) if record["kind"] == "decided"]
        assert [(record["tool"], record["reason"]) for record in decided] == [
            ("read_allowed", ""),
            ("write_allowed", ""),
            ("write_allowed", ""),
        ]
        await one.ask([one.output(one.items[-1], said)])
        assert [each.state.value for each in await reservations(one)] == ["executed", "not_executed"]
        decided = [record for record in await one.desk.settled(4) if record["kind"] == "decided"]
        assert decided[-1]["reason"] == "ungrounded"
        assert one.provider.refused == []


async def reservations(one: Agent) -> list[Any]:
    found: list[Any] = await one.desk.store.read(lambda reader: reader.reservations())
    return found


async def answered(one: Agent, words: str, said: dict[str, str]) -> None:
    """Like `Agent.say`, with results of one's own."""
    new: list[Any] = [{"role": "user", "content": words}]
    while new:
        response = await one.ask(new)
        calls = [item for item in response.output if item.type == "function_call"]
        new = [one.output(item.model_dump(), said) for item in calls]
