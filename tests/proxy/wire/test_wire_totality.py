"""Any bytes give commands or a break: never an exception, never more memory than the limit, nothing after the end."""

from __future__ import annotations

import contextlib
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.envelope import EnvelopeError
from proxy.wire.registry import DIALECTS
from tests import strategies as model
from tests.proxy.wire.rendered import body_of, is_ollama, stream_of, whole_bytes
from tests.replay import Driver, allow, deny, replay, split_at

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.text(max_size=3)
            | st.sampled_from(
                [
                    "type",
                    "index",
                    "choices",
                    "delta",
                    "candidates",
                    "content",
                    "parts",
                    "functionCall",
                    "output",
                    "item",
                ]
            ),
            inner,
            max_size=3,
        )
    ),
    max_leaves=8,
)

MEMBERS = (
    "model",
    "stream",
    "tools",
    "functions",
    "mcp_servers",
    "container",
    "web_search_options",
    "messages",
    "input",
    "prompt",
)
tool = st.dictionaries(st.sampled_from(["type", "name", "function", "custom", "input_schema"]), json_values, max_size=4)
requests = st.dictionaries(st.sampled_from(MEMBERS), json_values | st.lists(tool, max_size=2), max_size=5)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
@given(model.turns(), model.cut_places, st.data())
def test_damaged_streams(dialect: Dialect, turn: model.Turn, cuts: list[int], data: st.DataObject) -> None:
    """Cut, doubled, swapped, overwritten bytes: the same result for any split, and no refused call leaks."""
    damaged = data.draw(model.mutations(stream_of(dialect, turn)))
    refused = replay(dialect, split_at(damaged, cuts), deny)
    assert refused.data == replay(dialect, damaged, deny).data
    for call in refused.calls:
        assert not call.id.startswith("call_Zq") or call.id.encode() not in refused.data
    replay(dialect, damaged, allow)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
@given(model.turns(), st.data())
def test_damaged_bodies(dialect: Dialect, turn: model.Turn, data: st.DataObject) -> None:
    """A damaged body is read or refused with a wire error; it never raises anything else."""
    damaged = data.draw(model.mutations(body_of(dialect, turn)))
    for rule in (allow, deny):
        result = replay(dialect, damaged, rule, streamed=False)
        assert result.breach or result.data


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
@given(st.binary(max_size=200), json_values)
def test_any_bytes_and_any_json(dialect: Dialect, noise: bytes, value: object) -> None:
    """Any bytes and any JSON are read or refused with a wire error."""
    text = json.dumps(value).encode()
    for streamed, data in ((True, noise), (False, noise), (False, text), (True, b"data: " + text + b"\n\n")):
        for rule in (allow, deny):
            replay(dialect, data, rule, streamed=streamed)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
@given(st.binary(max_size=200) | requests.map(lambda value: json.dumps(value).encode()))
def test_any_request_is_read_or_refused(dialect: Dialect, body: bytes) -> None:
    """The one exception that a request may raise is the one that has a message for the client."""
    with contextlib.suppress(EnvelopeError):
        dialect.request(body)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_a_call_that_never_ends_is_bounded(dialect: Dialect) -> None:
    """G12: at `held_bytes_max` the open call is refused, the turn ends, and what follows is not even looked at."""
    if is_ollama(dialect):
        pytest.skip("a call comes in one line, which is bounded as a frame")
    call = model.ToolUse("call_Zqx", "send_mail", ('{"a": "', *["Zq" * 20] * 2000, '"}'))
    driver = Driver(dialect, allow, held_bytes_max=20_000)
    data = stream_of(dialect, model.Turn((model.Text("hi"), call)))
    for place in range(0, len(data), 500):
        driver.feed(data[place : place + 500])
        assert driver.gate.held_bytes <= 20_000 + 1000
    result = driver.end()
    assert result.limited
    assert driver.gate.is_over
    assert b"Zq" not in result.data
    assert result.released == []


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_a_frame_that_never_ends_is_bounded(dialect: Dialect) -> None:
    """A frame that never ends is refused at its limit, not collected."""
    driver = Driver(dialect, allow, held_bytes_max=20_000)
    driver.feed(b"data: ")
    for _ in range(100):
        driver.feed(b"x" * 500)
    result = driver.end()
    assert result.breach is not None
    assert b"xxx" not in result.data


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
def test_nesting_is_bounded(dialect: Dialect) -> None:
    """Deep JSON, in the envelope or in arguments, is a break or a malformed call, not an exhausted stack."""
    deep = "[" * 100_000
    frame = model.framed([[f"data: {deep}"]])
    assert replay(dialect, deep.encode() if is_ollama(dialect) else frame, allow).breach is not None
    assert replay(dialect, deep.encode(), allow, streamed=False).breach is not None
    call = model.ToolUse("call_Zqx", "send_mail", ('{"a":' + "[" * 90 + "]" * 90 + "}",))
    result = replay(dialect, stream_of(dialect, model.Turn((call,))), allow)
    assert result.released == []
    assert len(result.refused) == 1


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
@given(model.turns(), model.cut_places)
def test_writes_are_whole_events(dialect: Dialect, turn: model.Turn, cuts: list[int]) -> None:
    """A keep-alive may stand between any two writes: each ends where an event ends."""
    for rule in (allow, deny):
        result = replay(dialect, split_at(stream_of(dialect, turn), cuts), rule)
        assert all(whole_bytes(dialect, data) == len(data) for data in result.writes)


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda one: one.name)
@given(model.turns(calls_max=0))
def test_text_is_never_delayed(dialect: Dialect, turn: model.Turn) -> None:
    """G2: after each byte in, every whole event that came has left."""
    data = stream_of(dialect, turn)
    driver = Driver(dialect, deny)
    for place in range(len(data)):
        driver.feed(data[place : place + 1])
        assert len(driver.result.data) == whole_bytes(dialect, data[: place + 1])
