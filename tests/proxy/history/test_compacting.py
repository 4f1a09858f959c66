"""When matters are summed up, and when they stay: what is lost, erased, too short, or counted otherwise."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from interceptors.edits import Edit
from policies import load_policy_text
from proxy.demo.chat_history import chat_refusal
from proxy.history.keeper import Subject
from proxy.history.server_held import ServerHeldError
from proxy.ledger.edits import Rate
from proxy.ledger.notes import Note
from proxy.store import StoreError
from proxy.wire.sse import Frame
from tests.proxy.history.matters_told import ASKER, POLICY, Conversation, conversation, gate, text_of

if TYPE_CHECKING:
    from pathlib import Path

    from policies.model import Policy

NAME = "openai-chat"


def policy(tokens: int, more: str = "") -> Policy:
    return replace(POLICY, history=load_policy_text(f"language: 1\npolicy: p\ncompact_above: {tokens}\n{more}").history)


async def test_a_request_that_is_short_stays(tmp_path: Path) -> None:
    """As many tokens as the policy names are not too many."""
    async with conversation(tmp_path, NAME, policy(10_000)) as one:
        await one.settles("Pay A0")
        up = await one.says("And A1?")
        assert up.body == one.body()
        assert not up.fresh


async def test_what_is_open_stays(tmp_path: Path) -> None:
    """However long it is; and what is closed before it goes."""
    async with conversation(tmp_path, NAME) as one:
        await one.looks("Where is A0?")
        one.messages.append(one.spelling.says("In Berlin."))
        up = await one.says("Really?")
        assert up.body == one.body()
        one.messages.append(one.spelling.says("Yes."))
        await one.settles("Then pay A0")
        await one.looks("And where is A1?")
        one.messages.append(one.spelling.says("In Rome."))
        count = 4
        await one.says("Really?")
        assert [text_of(each)[:17] for each in one.up()[:1]] == ["<system-reminder>"]
        assert '"Where is A0?" "Really?" "Then pay A0"' in text_of(one.up()[0])
        assert one.up()[2:] == one.messages[-count - 1 :]


async def test_the_providers_count_calibrates_the_estimate(tmp_path: Path) -> None:
    """As many bytes may be few tokens, or many; what was counted outlives the process that heard of it."""
    async with conversation(tmp_path, NAME, policy(1_500)) as one:
        await one.settles("Pay A0")
        assert not (await one.says("And A1?")).fresh
        one.messages.append(one.spelling.says("Which one?"))
        async with gate(tmp_path, one.released) as other:
            up = await one.says("A1")
            assert up.noting is not None
            size = len(up.body)
            up.noting.saw(Frame(b"", None, b'{"usage":{"prompt_tokens":%d}}' % (size // 2)))
            up.noting.saw(Frame(b"", None, b'{"usage":{"prompt_tokens":%d}}' % (size * 2)))  # no tokenizer counts so
            one.messages.append(one.spelling.says("Wait."))
            one.messages.append(one.spelling.calls("look_9", "look", {}))
            one.messages.append(one.spelling.result("look_9", "look", {}))
            await one.ask()
            one.messages.append(one.spelling.says("It is there."))
            up = await one.says(
                "Good",
            )
            assert up.decision is not None
            assert up.decision.rate == Rate(size, size // 2)
            assert up.fresh == {Edit.COMPACTED: 1}
            assert up.tokens_before == len(one.body()) * (size // 2) // size
            one.messages.pop()
            one.messages.append(one.spelling.words("Well"))
            assert (await one.ask(histories=other)).fresh == {Edit.COMPACTED: 1}


async def test_after_a_lost_ledger_what_was_said_before_stays(tmp_path: Path) -> None:
    """What was refused then is not known any more; what comes later is summed up as ever."""
    (lost := tmp_path / "lost").mkdir()
    async with conversation(lost, NAME) as one:
        await one.settles("Pay A0")
        async with gate(tmp_path, one.released) as other:
            one.histories = other
            up = await one.says("And A1?")
            assert up.body == one.body()
            one.messages.append(one.spelling.says("What of it?"))
            await one.settles("Pay it")
            first = one.messages[:6]
            await one.says("And now?")
            assert one.up()[:6] == first
            assert "receipt rc_1" in text_of(one.up()[-3])


async def test_an_erased_subject_leaves_no_word(tmp_path: Path) -> None:
    """Neither what was decided nor what was noted; the history goes up as the client holds it, and is taken."""
    async with conversation(tmp_path, NAME) as one:
        await one.settles("Pay A0")
        up = await one.says("And A1?")
        assert up.where is not None
        assert up.fresh
        vault, notes = one.histories._vault, one.histories._receipts.notes  # type: ignore[union-attr] # it has one
        note = Note("pay", (), "", "no", "rc_1", "", "No.", "ex", "talk")
        await asyncio.to_thread(notes.put, up.where, [note], one.histories._clock())
        assert await asyncio.to_thread(notes.find, "t", ASKER.subject, [up.where.place]) == {up.where.place: [note]}
        assert await asyncio.to_thread(notes.find, "t", "another", [up.where.place]) == {}
        await asyncio.to_thread(vault._vault.erase, ASKER.subject)
        assert await asyncio.to_thread(notes.find, "t", ASKER.subject, [up.where.place]) == {}
        again = await one.ask()
        assert again.body == one.body()


async def test_receipts_that_cannot_be_read_let_the_request_wait(tmp_path: Path) -> None:
    """Nothing is decided meanwhile, and nothing is guessed."""
    async with conversation(tmp_path, NAME) as one:
        await one.settles("Pay A0")
        one.released.fails = True
        with pytest.raises(StoreError):
            await one.says("And A1?")
        one.released.fails = False
        assert (await one.ask()).fresh == {Edit.COMPACTED: 1}


async def test_another_customers_receipt_is_not_told(tmp_path: Path) -> None:
    """A call of the same id and arguments that was released for somebody else: nothing is known of this one."""
    async with conversation(tmp_path, NAME) as one:
        await one.settles("Pay A0")
        one.released.rows = [replace(row, subject="another") for row in one.released.rows]
        assert (await one.says("And A1?")).body == one.body()


async def test_two_workers_that_decide_at_once_send_the_same(tmp_path: Path) -> None:
    """What is written first holds for both."""
    async with conversation(tmp_path, NAME) as one, gate(tmp_path, one.released) as other:
        await one.settles("Pay A0")
        one.messages.append(one.spelling.words("And A1?"))
        ups = await asyncio.gather(*(one.ask(histories=each) for each in (one.histories, other) * 4))
        assert len({up.body for up in ups}) == 1
        assert len(ups[0].body) < len(one.body())


async def test_a_policy_without_the_key_leaves_what_stands(tmp_path: Path) -> None:
    """And sums up nothing more."""
    async with conversation(tmp_path, NAME) as one:
        await one.settles("Pay A0")
        await one.says("And A1?")
        first = one.up()[:2]
        one.policy = replace(POLICY, history=replace(POLICY.history, compact_above=None))
        one.messages.pop()
        await one.settles("And A1?")
        up = await one.says("And now?")
        assert one.up()[:2] == first
        assert one.up()[2:] == one.messages[-7:]
        assert up.noting is None


async def test_a_stale_result_in_a_summary_is_not_replaced(tmp_path: Path) -> None:
    """Nor is the model told of one that it cannot see."""
    stale = load_policy_text("""
language: 1
policy: p
compact_above: 100
resume_after: 1m
tools:
  look: {effect: read, reads: {order: args.order_id}}
  pay:
    arguments: {order_id: {pattern: '[A-Z][0-9]'}, amount: {money: USD, unit: major}}
    writes: {order: args.order_id}
""")
    async with conversation(tmp_path, NAME, stale) as one:
        await one.settles("Pay A0")
        up = await one.says("And A1?")
        assert up.fresh == {Edit.COMPACTED: 1}
        one.messages.append(one.spelling.says("Which one?"))
        up = await one.says("A1")
        assert not up.fresh
        assert one.up()[2:] == one.messages[-3:]


@pytest.mark.parametrize("more", ["", "server_held: notice\n"])
async def test_what_the_provider_keeps_is_refused_or_receipted(tmp_path: Path, more: str) -> None:
    """It cannot be summed up: the request says to send the whole history, or a record says that it stays."""
    async with conversation(tmp_path, "openai-responses", policy(500, more)) as one:
        dialect = one.dialect
        said = b'{"previous_response_id":"resp_1","input":"And?"}'
        lift = one.histories.lift(dialect, said, one.policy, Subject("t", ASKER))
        if not more:
            with pytest.raises(ServerHeldError, match="nothing in it can be summed up"):
                await lift
            return
        up = await lift
        assert up.body == said
        assert up.fresh == {Edit.NOT_COMPACTED: 1}
        again = await one.histories.lift(dialect, said, one.policy, Subject("t", ASKER))
        assert not again.fresh


async def _refused_in_the_answer(one: Conversation, reply: str) -> None:
    up = await one.says("Close my account")
    assert up.noting is not None
    note = Note("close", (), "", "no_write", "rc_9", "", reply, "ex_1", "talk")
    await asyncio.to_thread(up.noting._notes.put, up.noting._where, [note], one.histories._clock())
    one.messages.append(one.spelling.says("I may not do that."))


@pytest.mark.parametrize(("reply", "is_told"), [("I may not\ndo that.", True), ("I am another.", False)])
async def test_what_was_noted_is_told_where_its_reply_stands(tmp_path: Path, reply: str, is_told: bool) -> None:
    """A request that was answered twice has two answers: what the client holds says which one counts."""
    async with conversation(tmp_path, NAME) as one:
        await _refused_in_the_answer(one, reply)
        await one.settles("Then pay A0")
        await one.says("And A1?")
        assert ("Refused: close, reason no_write, receipt rc_9." in text_of(one.up()[0])) is is_told


async def test_the_result_that_was_made_up_for_a_lost_one_stays(tmp_path: Path) -> None:
    """A client lost the result of a look-up, and a matter is closed behind it: its call stays, and so does what answers
    it, which stands in the turn that the matter begins with."""
    async with conversation(tmp_path, NAME, policy(100, "broken_pairs: repair")) as one:
        one.messages.append({"role": "user", "content": "Where is A9?"})
        one.messages.append(one.spelling.calls("look_9", "look", {}))
        await one.says("Never mind.")
        one.messages.append(one.spelling.says("All right."))
        await one.settles("Pay A0")
        await one.settles("Pay A1")
        await one.says("And A2?")
        assert chat_refusal({"model": "m", "messages": one.up()}) is None
        assert any("<system-reminder>" in str(each["content"]) for each in one.up())
