"""The policy, end to end: what a client hears, what the source of facts is asked, what the receipts say."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from proxy.demo.turns import Call, Dialect, Text, Turn, always
from tests.e2e.client import WAY_IDS, WAYS, ask
from tests.e2e.harness import CUSTOMER, DESK, OTHER_CUSTOMER, SESSION_KEY, desk, hmac_header, session_header

if TYPE_CHECKING:
    from pathlib import Path

STOP_ALONE = {Dialect.ANTHROPIC: "end_turn", Dialect.CHAT: "stop"}
STOP_CALLS = {Dialect.ANTHROPIC: "tool_use", Dialect.CHAT: "tool_calls"}


def refund(order_id: str = "A1001", amount: str = "120.00") -> Call:
    return Call("process_refund", f'{{"order_id": "{order_id}", "amount": {amount}}}')


def lookup(order_id: str = "A1001") -> Call:
    return Call("lookup_order", f'{{"order_id": "{order_id}"}}')


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_call_within_the_rules_goes_out_as_it_came(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """The call reaches the client with its arguments, its stop reason, and one receipt that says released."""
    async with desk(tmp_path, always(Turn((Text("Let me see."), refund())))) as gate:
        answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
        assert [(call.name, call.arguments) for call in answer.calls] == [
            ("process_refund", {"order_id": "A1001", "amount": 120.0})
        ]
        assert (answer.text, answer.stop, answer.whole) == ("Let me see.", STOP_CALLS[dialect], True)
        records = await gate.settled()
        assert [record["kind"] for record in records] == ["decided", "released"]
        assert gate.facts.asked == ["/orders/A1001"]


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_over_the_limit_and_outside_the_window_is_forbidden(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """A forbid wins over an escalate, whatever their order in the policy: no case is opened for what no one may pay."""
    async with desk(tmp_path, always(Turn((refund("A1002", "847"),)))) as gate:
        answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
        assert answer.calls == []
        assert answer.text == "Delivered 47 days ago; the window is 14 days."
        assert (answer.stop, answer.whole) == (STOP_ALONE[dialect], True)
        decided = (await gate.settled())[0]
        assert (decided["ruling"], decided["reason"]) == ("forbid", "outside_window")
        assert await gate.store.read(lambda reader: reader.escalations()) == ()


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_over_the_limit_alone_is_escalated_with_a_case(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """The customer reads who decides now; a person finds the case with its summary; nothing is released."""
    async with desk(tmp_path, always(Turn((refund(amount="847"),)))) as gate:
        answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
        assert answer.calls == []
        assert "847.00" in answer.text
        assert "colleague" in answer.text
        (case,) = await gate.store.read(lambda reader: reader.escalations())
        assert "A1001" in case.summary["recommended_action"]
        records = await gate.settled()
        assert [record["kind"] for record in records] == ["decided", "substituted"]
        assert records[0]["escalation"] == case.id


REFUSED_UNREAD = {
    "a pattern that does not match": Call("process_refund", '{"order_id": "../../etc", "amount": 1}'),
    "an argument of another type": Call("process_refund", '{"order_id": 1001, "amount": 1}'),
    "a negative amount": Call("process_refund", '{"order_id": "A1001", "amount": -1}'),
    "an argument missing": Call("process_refund", '{"amount": 1}'),
    "an argument too many": Call("process_refund", '{"order_id": "A1001", "amount": 1, "force": true}'),
    "a key twice": Call("process_refund", '{"order_id": "A1001", "amount": 1, "amount": 2}'),
    "no tool of the policy": Call("drop_tables", '{"order_id": "A1001"}'),
    "a name spelled otherwise": Call("ProcessRefund", '{"order_id": "A1001", "amount": 1}'),
}


@pytest.mark.parametrize("call", REFUSED_UNREAD.values(), ids=REFUSED_UNREAD.keys())
async def test_what_shape_refuses_reaches_no_source_of_facts(tmp_path: Path, call: Call) -> None:
    """No argument of a call that shape refuses is sent anywhere."""
    async with desk(tmp_path, always(Turn((call,)))) as gate:
        answer = await ask(gate, Dialect.CHAT, headers=gate.signed())
        assert answer.calls == []
        assert answer.text
        assert gate.facts.asked == []
        assert [record["kind"] for record in await gate.settled()] == ["decided", "substituted"]


IDENTITIES = (
    "identities:\n"
    "  reader: {token: 'sk-reader-0123456789', tools: [lookup_order]}\n"
    "  payer: {token: 'sk-payer-0123456789', tools: [lookup_order, process_refund]}\n"
)


async def test_what_capability_refuses_reaches_no_source_of_facts(tmp_path: Path) -> None:
    """An agent that may only read gets no refund and causes no read for it; the one that may gets both."""
    policy = DESK + IDENTITIES
    async with desk(tmp_path, always(Turn((refund(),))), policy, key="sk-of-the-provider") as gate:
        asked = session_header() | {"authorization": "Bearer sk-reader-0123456789"}
        answer = await ask(gate, Dialect.CHAT, headers=asked)
        assert answer.calls == []
        assert gate.facts.asked == []
        assert (await gate.settled())[0]["reason"] == "not_permitted"
        answer = await ask(gate, Dialect.CHAT, headers=asked | {"authorization": "Bearer sk-payer-0123456789"})
        assert [call.name for call in answer.calls] == ["process_refund"]
        assert gate.facts.asked == ["/orders/A1001"]
        assert {each.header("authorization") for each in gate.provider.received} == {"Bearer sk-of-the-provider"}
        answer = await ask(gate, Dialect.CHAT, headers=asked | {"authorization": "Bearer sk-nobody"})
        assert answer.status == 401
        assert len(gate.provider.received) == 2


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_calls_that_are_decided_together_share_one_read(tmp_path: Path, dialect: Dialect, streamed: bool) -> None:
    """One (fact, key) is read once for the calls that complete together, and anew in the next turn.

    In a stream of Anthropic's each call completes by itself and is a decision of its own.
    """
    turn = Turn((lookup(), refund(), lookup("A1002")))
    alone = dialect is Dialect.ANTHROPIC and streamed
    async with desk(tmp_path, always(turn)) as gate:
        for turns in (1, 2):
            answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
            assert [call.name for call in answer.calls] == ["lookup_order", "process_refund", "lookup_order"]
            assert sorted(gate.facts.asked) == sorted(
                (["/orders/A1001"] * (2 if alone else 1) + ["/orders/A1002"]) * turns
            )


@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_another_customers_order_is_nobody_elses_business(
    tmp_path: Path, dialect: Dialect, streamed: bool
) -> None:
    """Knowing an order's number does not make it yours: neither read nor refund, and the owner gets both."""
    async with desk(tmp_path, always(Turn((lookup("B2001"), refund("B2001"))))) as gate:
        answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed(CUSTOMER))
        assert answer.calls == []
        assert "your own orders" in answer.text
        answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed(OTHER_CUSTOMER))
        assert [call.name for call in answer.calls] == ["lookup_order", "process_refund"]


async def test_who_asks_for_nobody_gets_nothing_of_anybody(tmp_path: Path) -> None:
    """Without the signed header no rule about the customer can hold: the call does not go out, the text does."""
    async with desk(tmp_path, always(Turn((Text("Hello."), refund())))) as gate:
        answer = await ask(gate, Dialect.ANTHROPIC)
        assert answer.calls == []
        assert answer.text.startswith("Hello.")
        assert (await gate.settled())[0]["ruling"] != "allow"


@pytest.mark.parametrize("forged", ["", "x.y.z", "unsigned", "other key", "expired", "twice"])
async def test_a_session_that_is_not_ours_is_refused_before_the_provider_hears_of_it(
    tmp_path: Path, forged: str
) -> None:
    """A header that does not prove a subject is a 401 in the dialect's shape, with a receipt, and nothing goes up."""
    import jwt

    made = {
        "unsigned": jwt.encode({"sub": CUSTOMER}, None, algorithm="none"),
        "other key": jwt.encode({"sub": CUSTOMER}, "k" * 40, algorithm="HS256"),
        "expired": jwt.encode({"sub": CUSTOMER, "exp": 1}, SESSION_KEY, algorithm="HS256"),
    }.get(forged, forged)
    async with desk(tmp_path, always(Turn((refund(),)))) as gate:
        headers: object = {"x-callgate-session": made}
        if forged == "twice":
            good = session_header()["x-callgate-session"]
            headers = [("x-callgate-session", good), ("x-callgate-session", good), ("authorization", "Bearer sk")]
        body = orjson.dumps({"model": "m", "messages": [{"role": "user", "content": "x"}]})
        own = headers if isinstance(headers, list) else [("authorization", "Bearer sk"), *headers.items()]  # type: ignore[attr-defined] # a mapping then
        from multidict import CIMultiDict

        async with gate.session.post(gate.url + "/v1/chat/completions", data=body, headers=CIMultiDict(own)) as got:
            document = orjson.loads(await got.read())
            assert got.status in (400, 401)
            assert got.headers["x-should-retry"] == "false"
        assert set(document["error"]) >= {"message", "type"}
        assert gate.provider.received == []
        assert [record["kind"] for record in await gate.records()] == ["refused"]


async def test_a_subject_signed_by_hmac_is_as_good(tmp_path: Path) -> None:
    """The application that has no JWT signs `v1.PAYLOAD.MAC`: the same policy decides by it; a wrong key is a 401."""
    policy = DESK.replace("{jwt: sub}", "{hmac: customer}")
    async with desk(tmp_path, always(Turn((refund(),))), policy, session="hmac: {key: '${SESSION_KEY}'}") as gate:
        answer = await ask(gate, Dialect.CHAT, headers=hmac_header({"customer": CUSTOMER}))
        assert [call.name for call in answer.calls] == ["process_refund"]
        answer = await ask(gate, Dialect.CHAT, headers=hmac_header({"customer": OTHER_CUSTOMER}))
        assert answer.calls == []
        answer = await ask(gate, Dialect.CHAT, headers=hmac_header({"customer": CUSTOMER}, "k" * 40))
        assert answer.status == 401
        assert len(gate.provider.received) == 2


async def test_the_session_header_never_reaches_the_provider(tmp_path: Path) -> None:
    """What the application signed, and every other `x-callgate-*` header, ends at the gate."""
    async with desk(tmp_path, always(Turn((Text("Hi."),)))) as gate:
        await ask(gate, Dialect.CHAT, headers=gate.signed() | {"x-callgate-note": "1", "x-mine": "2"})
        names = {name.lower() for name, _ in gate.provider.received[0].headers}
        assert not {name for name in names if name.startswith("x-callgate")}
        assert "x-mine" in names
