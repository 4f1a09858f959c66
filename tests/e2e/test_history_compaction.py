"""Matters that are closed become summaries once a request is too long; what is open stays, byte for byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from proxy.demo.turns import Call, Dialect, Text, Thinking
from tests.e2e.client import WAYS as EVERY_WAY
from tests.e2e.told import NO_WRITE, Told, told, turn
from tests.e2e.upkeep import document, results

if TYPE_CHECKING:
    from pathlib import Path

Way = tuple[Dialect, bool]
WAYS = (EVERY_WAY[0], EVERY_WAY[3])  # streamed and not, one of each dialect
ways = pytest.mark.parametrize("way", WAYS, ids=["anthropic-stream", "chat-body"])
POLICY = f"""
language: 1
policy: told
compact_above: 600
session: {{customer_id: {{jwt: sub}}}}
constants: {{top: 100.00 USD}}
reasons:
  no_write: {{category: policy, reply: {{en: "{NO_WRITE}"}}}}
  over_limit: {{category: escalated, reply: {{en: "A colleague will look at it."}}}}
tools:
  look: {{effect: read}}
  close_topic: {{effect: read, closes_topic: true}}
  pay:
    arguments: {{order_id: {{pattern: '[A-Z][0-9]'}}, amount: {{money: USD, unit: major}}}}
    limits:
      - {{forbid: no_write, once_per: [args.order_id], within: 24h}}
    rules:
      - {{escalate: over_limit, when: args.amount > constants.top}}
    not_executed_when: result.status == "rejected"
    result: {{fields: {{status: string}}}}
  write_refused: {{rules: [{{forbid: no_write}}]}}
"""
LONG = "all of this is long " * 120
LOOK = turn(Thinking("Let me see."), Call("look", '{"order_id": "A1"}'))
SAID = turn(Thinking("Well."), Text("It is so."))
DONE = document(status="done")


def pay(order: str = "A1", amount: str = "40.00") -> Any:
    return turn(Thinking("So be it."), Call("pay", f'{{"order_id": "{order}", "amount": "{amount}"}}'))


async def settles(one: Told, words: str = "Pay back A1", result: str = DONE) -> None:
    """The user asks, the model looks, pays, and says so."""
    one.talk.messages.append({"role": "user", "content": words})
    await one.ask()
    results(one, document(text=LONG))
    await one.ask()
    results(one, result)
    await one.ask()


def summary(one: Told, place: int = 0, number: int = -1) -> str:
    """The text of a message that went up."""
    content = one.messages(number)[place]["content"]
    text = content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
    assert text.startswith("<system-reminder>\n"), text
    return text.removeprefix("<system-reminder>\n").removesuffix("\n</system-reminder>")


@ways
async def test_a_settled_matter_becomes_a_summary(tmp_path: Path, way: Way) -> None:
    """End to end: shorter, taken by the strict provider, and the same when it is repeated. What was thought behind it
    goes out with it; what is open stays, but for that."""
    async with told(tmp_path, way, LOOK, pay(), SAID, SAID, SAID, policy=POLICY) as one:
        one.talk.messages.clear()
        await settles(one)
        one.talk.say("And now B2")
        await one.ask(take=False)
        await one.ask()
        assert one.sent[-1] == one.sent[-2]
        records = await one.desk.records()
        paid = next(each for each in records if each["kind"] == "decided" and each["tool"] == "pay")
        assert summary(one).split("\n")[1:] == [
            'The customer wrote: "Pay back A1"',
            f"Done: pay (order_id A1), 40.00 USD, executed, receipt {paid['receipt']}.",
        ]
        assert [each["role"] for each in one.messages()] == ["user", "assistant", "user"]
        (edit,) = [each for each in records if each["kind"] == "edited"]
        assert (edit["edit"], edit["count"]) == ("compacted", 1)
        assert edit["tokens_before"] > 600 > edit["tokens_after"] > 0
        one.talk.say("Thanks")
        await one.ask()
        assert one.messages()[:3] == one.messages(-2)
        assert b"thinking" not in one.sent[-2]
        assert (b'"thinking"' in one.sent[-1]) is (way[0] is Dialect.ANTHROPIC)
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


async def test_thinking_that_stands_behind_a_summary_goes_out(tmp_path: Path) -> None:
    """It was made behind other bytes, which the provider would refuse; what is thought from then on stays."""
    opened = turn(Thinking("Which one?"), Text("Which one?"))
    async with told(tmp_path, WAYS[0], LOOK, pay(), SAID, opened, LOOK, SAID, SAID, policy=POLICY) as one:
        one.desk.policy.write_text(POLICY.replace("compact_above: 600", "compact_above: 1200"))
        one.talk.messages.clear()
        await settles(one)
        one.talk.say("And now the other")
        await one.ask()
        assert "Pay back A1" in str(one.messages()[0])
        one.talk.say("B2")
        one.desk.policy.write_text(POLICY)
        await one.ask()
        assert "receipt rc_" in summary(one)
        results(one, document(text="short"))
        await one.ask()
        assert [each.refused for each in one.desk.provider.received if each.refused] == []
        taken = [each for each in await one.desk.records() if each.get("edit") == "thinking_taken_out"]
        assert {each["count"] for each in taken} == {1}


async def test_what_was_refused_and_what_waits_is_told(tmp_path: Path) -> None:
    """By code, to the model, and to people."""
    told_no = turn(Call("write_told", "{}"))
    replies = (turn(Call("write_refused", "{}")), pay(amount="900.00"), told_no, LOOK, pay(), SAID, SAID)
    policy = POLICY + "  write_told: {on_refusal: model, rules: [{forbid: no_write}]}\n"
    async with told(tmp_path, WAYS[0], *replies, policy=policy) as one:
        one.talk.messages.clear()
        one.talk.say("Close my account")
        await one.ask()
        one.talk.say("Then pay 900 for A1")
        await one.ask()
        await settles(one, "Or what you can")
        one.talk.say("And now B2")
        await one.ask()
        records = [each for each in await one.desk.records() if each["kind"] == "decided"]
        receipt = {(each["tool"], each["ruling"]): each["receipt"] for each in records}
        case = next(each["escalation"] for each in records if each["ruling"] == "escalate")
        assert summary(one).split("\n")[1:] == [
            'The customer wrote: "Close my account" "Then pay 900 for A1" "Or what you can"',
            f"Refused: write_refused, reason no_write, receipt {receipt['write_refused', 'forbid']}.",
            (
                f"Open: pay (order_id A1), 900.00 USD, reason over_limit, receipt {receipt['pay', 'escalate']};"
                f" case {case} was open when this was written."
            ),
            f"Refused: write_told, reason no_write, receipt {receipt['write_told', 'forbid']}.",
            f"Done: pay (order_id A1), 40.00 USD, executed, receipt {receipt['pay', 'allow']}.",
        ]
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


async def test_a_tool_may_say_that_a_matter_is_closed(tmp_path: Path) -> None:
    """One that `closes_topic`, where nothing was written."""
    close = turn(Call("close_topic", "{}"))
    async with told(tmp_path, WAYS[1], LOOK, close, SAID, SAID, policy=POLICY) as one:
        one.talk.messages.clear()
        await settles(one, "Where is A1?")
        one.talk.say("And now B2")
        await one.ask()
        assert summary(one).split("\n")[1:] == ['The customer wrote: "Where is A1?"']
        assert [each.refused for each in one.desk.provider.received if each.refused] == []


async def test_decisions_read_what_was_summed_up(tmp_path: Path) -> None:
    """A value that the customer named in a closed matter still grounds an argument, and money that was paid in it is
    still paid: the history that decides is the client's own."""
    policy = POLICY.replace("order_id: {pattern: '[A-Z][0-9]'}", "order_id: {pattern: '[A-Z][0-9]{4}', from: user}")
    paid = (pay("A1001"), pay("C3003", "1.00"), pay("D4004", "1.00"), pay("A1001"))
    replies = (LOOK, paid[0], SAID, paid[1], SAID, *paid[2:], SAID)
    async with told(tmp_path, WAYS[1], *replies, policy=policy) as one:
        one.talk.messages.clear()
        await settles(one, "Pay back A1001. My orders are: " + "Z9009, " * 40 + "C3003.")
        one.talk.say("And the last of my orders")
        await one.ask()
        assert "C3003" not in summary(one)
        results(one, DONE)
        await one.ask()
        for words in ("And another", "And the first one again"):
            one.talk.say(words)
            await one.ask()
        decided = [each for each in await one.desk.records() if each["kind"] == "decided" and each["tool"] == "pay"]
        assert [each["ruling"] for each in decided] == ["allow", "allow", "clarify", "forbid"]
        assert decided[-1]["reason"] == "no_write"
        assert len(one.messages()) < len(one.talk.messages)


async def test_a_key_that_the_gate_put_in_hides_no_receipt(tmp_path: Path) -> None:
    """The history that goes up has the model's own arguments, and the receipt is of those that left."""
    policy = POLICY.replace(
        "amount: {money: USD, unit: major}}", "amount: {money: USD, unit: major}, key: {type: string, optional: true}}"
    )
    policy = policy.replace("    not_executed_when", "    inject: key\n    not_executed_when")
    async with told(tmp_path, WAYS[1], LOOK, pay(), SAID, policy=policy) as one:
        one.talk.messages.clear()
        await settles(one)
        assert "key" in str(one.talk.messages[3])
        one.talk.say("And now B2")
        await one.ask()
        assert "Done: pay (order_id A1), 40.00 USD, executed, receipt rc_" in summary(one)


async def test_a_customer_who_asked_for_a_person_is_not_summed_up(tmp_path: Path) -> None:
    """No model answered that, so that nothing but the turn itself tells that somebody will call."""
    policy = POLICY.replace("reasons:", 'handoff: {}\nreasons:\n  handoff: {reply: {en: "A colleague calls you."}}', 1)
    async with told(tmp_path, WAYS[1], LOOK, pay(), SAID, LOOK, pay("B2"), SAID, policy=policy) as one:
        one.talk.messages.clear()
        await settles(one)
        one.talk.say("I want to talk to a human")
        await one.ask()
        asked = one.talk.messages[-2:]
        assert asked[1]["content"] == "A colleague calls you."
        await settles(one, "Meanwhile pay back B2")
        one.talk.say("And now?")
        await one.ask()
        assert "Pay back A1" in summary(one)
        assert [(each["role"], each["content"]) for each in one.messages()[2:4]] == [
            (each["role"], each["content"]) for each in asked
        ]
        assert "Meanwhile" in summary(one, 4)
