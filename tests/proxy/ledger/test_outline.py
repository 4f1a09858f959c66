"""What is remembered of histories: the same as reading them anew, whatever came before, bounded, and nobody else's."""

from __future__ import annotations

import asyncio
import dataclasses
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.ledger.hidden import Hidden, root_of
from proxy.ledger.keeper import Ledger
from proxy.ledger.outline import Outlines, outlined
from proxy.ledger.vault import Vault
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION as ANTHROPIC
from proxy.wire.chat_turn import CHAT_CONTINUATION as CHAT
from proxy.wire.ollama_turn import OLLAMA_CONTINUATION as OLLAMA
from proxy.wire.transcript import SideTurn

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.wire.transcript import Transcript

Message = dict[str, Any]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
_messages = st.lists(
    st.builds(
        lambda role, text: {"role": role, "content": text},
        st.sampled_from(["user", "assistant", "system"]),
        st.sampled_from(["a", "b", "c\u0000", ""]),
    ),
    max_size=8,
)


def transcript(messages: list[Message]) -> Transcript:
    return ANTHROPIC.transcript(orjson.dumps({"messages": messages}))


def of(memory: Outlines, messages: list[Message], owner: bytes = b"t") -> Any:
    return memory.of(owner, transcript(messages), ANTHROPIC.transcript)


@given(st.lists(_messages, max_size=6), st.data())
def test_what_is_remembered_is_what_would_be_read(talks: list[list[Message]], data: st.DataObject) -> None:
    """Any requests in any order, longer, shorter, forked, with few or many steps to spare."""
    memory = Outlines(steps_max=data.draw(st.sampled_from([0, 3, 1000])))
    for messages in talks:
        more = messages + data.draw(_messages)
        for each in (messages, more, messages):
            assert of(memory, each) == outlined(transcript(each).turns())


def test_a_history_that_came_before_is_not_read_again() -> None:
    """Only what stands behind it is."""
    memory = Outlines()
    talk: list[Message] = [{"role": role, "content": f"{n}"} for n in range(50) for role in ("user", "assistant")]
    of(memory, talk)
    read: list[str] = []
    meaning = SideTurn.meaning

    def counted(turn: SideTurn) -> bytes:
        read.append(turn.texts[0])
        return meaning(turn)

    with patch.object(SideTurn, "meaning", counted):
        of(memory, [*talk, {"role": "user", "content": "more"}])
        assert read == ["49", "more"]
        of(memory, talk, owner=b"another")
        assert len(read) == 102, "another tenant's history is its own"
        memory.clear()
        of(memory, talk)
        assert len(read) == 202, "what was forgotten is read again"


@given(st.integers(1, 12), st.integers(1, 12))
def test_the_calls_of_a_history_are_remembered_with_it(first: int, second: int) -> None:
    """What a request says of its calls and results is the same whether part of it came before or not; results of a
    dialect without ids are told by the calls before them."""
    said: list[Message] = [{"role": "user", "content": "x"}]
    for n in range(6):
        said.append(
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {"n": n}}}]}
        )
        said.append({"role": "tool", "tool_name": "look", "content": f'{{"n": {n}}}'})
    memory = Outlines(with_calls=True)
    for messages in (said[:first], said[:second], said):
        read = OLLAMA.transcript(orjson.dumps({"messages": messages}))
        found = memory.of(b"t", read, OLLAMA.transcript)
        assert found == outlined(read.turns(), with_calls=True)
        results = [result.call for step in found for result in step.results]
        assert results == [call.id for step in found for call in step.calls][: len(results)]


def test_it_is_bounded_in_what_calls_hold() -> None:
    """By the bytes of their messages: what was needed last is remembered."""
    memory = Outlines(with_calls=True)
    with patch("proxy.ledger.outline.CALL_BYTES_MAX", 1000):
        for n in range(20):
            block = {"type": "tool_use", "id": f"c{n}", "name": "put", "input": {"text": "x" * 300}}
            result = {"type": "tool_result", "tool_use_id": f"c{n}", "content": ""}
            talk: list[Message] = [{"role": "user", "content": f"{n}"}, {"role": "assistant", "content": [block]}]
            of(memory, [*talk, {"role": "user", "content": [result]}, {"role": "assistant", "content": "a"}])
            assert 300 < memory._call_bytes <= 1000


def test_it_is_bounded() -> None:
    """In turns, whatever comes."""
    memory = Outlines(steps_max=100)
    for n in range(300):
        of(memory, [{"role": role, "content": f"{n} {m}"} for m in range(10) for role in ("user", "assistant")])
        assert sum(len(outline) for outline, _ in memory._known.values()) == memory._steps <= 100
        assert len(memory._lengths) <= 101


@pytest.mark.parametrize("continuation", [ANTHROPIC, CHAT])
def test_a_request_without_messages_has_no_outline(continuation: Any) -> None:
    """It is its provider's to refuse."""
    assert Outlines().of(b"t", continuation.transcript(b"{}"), continuation.transcript) == ()


async def test_what_is_remembered_ends_with_an_erasure_in_any_process(tmp_path: Path) -> None:
    """Two gates on one folder: what one erases, or lets expire, the other does not remember at its next request."""

    def vault() -> Vault:
        return Vault(tmp_path, 60.0)

    one, two = await asyncio.to_thread(vault), await asyncio.to_thread(vault)
    (tmp_path / "keys").mkdir(exist_ok=True)
    ledger = Ledger(one, lambda: NOW, lambda _: None)
    body = orjson.dumps({"messages": [{"role": role, "content": "a"} for role in ("user", "assistant", "user")]})
    request = ANTHROPIC.transcript(body)
    steps = outlined(request.turns())
    assert steps[1].place is not None
    entry = Hidden("h", root_of(request.opening()), *steps[1].place, (request.messages[1],))
    try:
        for forget in (lambda: two.erase("s"), lambda: two.expire(NOW + timedelta(hours=1))):
            await asyncio.to_thread(one.put, "t", "s", entry, NOW)
            assert (await ledger.prepare(ANTHROPIC_MESSAGES, body, "t")).restored == 1
            assert ledger._restoring.outlines._known
            assert await asyncio.to_thread(forget) == 1
            await asyncio.to_thread(one.put, "t", "another", dataclasses.replace(entry, id="h2"), NOW)
            with patch.object(Outlines, "of", lambda *_: outlined(request.turns())):
                await ledger.prepare(ANTHROPIC_MESSAGES, body, "t")
            assert not ledger._restoring.outlines._known
            await asyncio.to_thread(two.erase, "another")
    finally:
        one.close()
        two.close()


def test_what_goes_on_with_a_remembered_turn_is_one_with_it() -> None:
    """A client that says more before the answer comes: the turn that it adds to ended a history that is remembered."""
    memory = Outlines()
    first, more, said = ({"role": role, "content": role} for role in ("user", "user", "assistant"))
    for messages in ([first, said], [first, more, said]):
        assert of(memory, messages) == outlined(transcript(messages).turns())
