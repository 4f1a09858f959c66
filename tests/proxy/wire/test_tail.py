"""The newest turns of a request are the same, read from its end or from its beginning."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import envelope, tail
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION as ANTHROPIC
from proxy.wire.bedrock_turn import CONVERSE_CONTINUATION as CONVERSE
from proxy.wire.chat_turn import CHAT_CONTINUATION as CHAT

if TYPE_CHECKING:
    from proxy.wire.transcript import SideTurn

_HOSTILE = ['{"role":"user"}', '[{"role"', "}]", '{"role":"assistant","content":"x"}', "\\", '"', "a"]
_texts = st.lists(st.sampled_from(_HOSTILE), max_size=4).map("".join)
_values = st.recursive(
    _texts,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2), st.dictionaries(st.sampled_from(["role", "x"]), inner, max_size=2)
    ),
    max_leaves=4,
)


def _user(number: int, inner: Any, results: bool) -> dict[str, Any]:
    if results:
        block = {"type": "tool_result", "tool_use_id": f"c{number}", "content": [{"role": inner, "type": "image"}]}
        return {"role": "user", "content": [block]}
    return {"role": "user", "content": str(inner)}


def _assistant(number: int, inner: Any) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": [{"type": "tool_use", "id": f"c{number}", "name": "f", "input": {"role": inner}}],
    }


_message = st.one_of(
    st.builds(_user, st.integers(0, 3), _values, st.booleans()), st.builds(_assistant, st.integers(0, 3), _values)
)


def _said(turn: SideTurn | None) -> object:
    return None if turn is None else (turn.texts, turn.calls, turn.results, turn.other)


def _spelled(messages: list[dict[str, Any]], style: int) -> bytes:
    if style == 0:
        return orjson.dumps({"messages": messages, "model": "m"})
    if style == 1:
        return orjson.dumps({"messages": messages}, option=orjson.OPT_INDENT_2)
    turned = [dict(reversed(message.items())) for message in messages]
    return orjson.dumps({"messages": turned})


@given(st.lists(_message, max_size=7), st.integers(0, 2))
def test_the_end_is_what_the_whole_says_of_it(messages: list[dict[str, Any]], style: int) -> None:
    """Objects and texts that look like messages, any spelling, any order of keys."""
    body = _spelled(messages, style)
    raw = envelope.members(body)["messages"]
    assert list(tail.backwards(raw)) == envelope.elements(raw)[::-1]
    whole = ANTHROPIC.transcript(body).newest()
    assert tuple(map(_said, tail.newest(body, raw, ANTHROPIC.transcript))) == tuple(map(_said, whole))
    last = ANTHROPIC.transcript(body).turns()
    expected = list(last[-1].results) if last and last[-1].side.value == "user" else []
    assert tail.results(raw, ANTHROPIC.transcript) == expected
    assert tail.result_ids(raw, ANTHROPIC.transcript) == [one.call for one in expected]


@pytest.mark.parametrize("count", [1, 2, 9])
def test_parallel_results_are_one_turn(count: int) -> None:
    """Chat has a message for each."""
    calls = [{"id": f"c{n}", "type": "function", "function": {"name": "f", "arguments": "{}"}} for n in range(count)]
    given = [{"role": "tool", "tool_call_id": f"c{n}", "content": "1"} for n in range(count)]
    body = orjson.dumps(
        {"messages": [{"role": "user", "content": "x"}, {"role": "assistant", "tool_calls": calls}, *given]}
    )
    raw = envelope.members(body)["messages"]
    said, came = tail.newest(body, raw, CHAT.transcript)
    assert said is not None
    assert came is not None
    assert ([one.id for one in said.calls], [one.call for one in came.results]) == (
        [f"c{n}" for n in range(count)],
    ) * 2
    assert [one.call for one in tail.results(raw, CHAT.transcript)] == [f"c{n}" for n in range(count)]
    assert tail.result_ids(raw, CHAT.transcript) == [f"c{n}" for n in range(count)]


@pytest.mark.parametrize("is_spaced", [False, True], ids=["compact", "spaced"])
def test_blocks_that_bear_their_kind_as_a_key(is_spaced: bool) -> None:
    """Converse's blocks have no type, and what they answer is found however a client spells its JSON."""
    blocks = [{"toolResult": {"toolUseId": f"c{n}", "content": [{"text": "1"}]}} for n in range(2)]
    call = {"toolUse": {"toolUseId": "c0", "name": "f", "input": {}}}
    messages = [
        {"role": "user", "content": [{"text": "x"}]},
        {"role": "assistant", "content": [call]},
        {"role": "user", "content": [*blocks, {"text": "y"}]},
    ]
    raw = orjson.dumps(messages)
    raw = raw.replace(b":", b": ") if is_spaced else raw
    assert tail.result_ids(raw, CONVERSE.transcript) == ["c0", "c1"]
