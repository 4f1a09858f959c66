"""What was judged is what runs (G5): an SDK fed with what left executes the calls that were released, or finds none.

Each stream is one that two readers take differently; its docstring or id says how.
"""

from __future__ import annotations

import copy
import json
import random
from collections import Counter
from typing import TYPE_CHECKING, Any

import anthropic
import openai
import pytest

from interceptors.calls import ToolCall
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from tests import strategies as model
from tests.proxy.wire import sdks
from tests.proxy.wire.ambiguous import (
    ANTHROPIC_STREAMS,
    BEGIN,
    BODIES,
    CHAT_STREAMS,
    CLOSING,
    EVIL,
    FIRST,
    OPENING,
    PROGRAM,
    REFUND,
    WHOLE,
    A,
    B,
    chunk,
    part,
    piece,
    server,
    start,
    stop,
    text,
)
from tests.replay import Replay, allow, deny, replay

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

SDK_FAULTS = (
    anthropic.APIError,
    openai.APIError,
    AssertionError,
    AttributeError,
    IndexError,
    KeyError,
    RuntimeError,
    TypeError,
    ValueError,
)


def released(result: Replay, kinds: frozenset[str] | None = None) -> sdks.Found:
    found: sdks.Found = Counter()
    for call in result.released:
        if isinstance(call, ToolCall) and (kinds is None or call.name in kinds):
            found[call.name, json.dumps(json.loads(call.raw or "{}"), sort_keys=True)] += 1
    return found


def agree(dialect: Dialect, data: bytes, *, streamed: bool = True) -> Replay:
    """The SDK runs exactly what was released, under an allow of all; and nothing under a denial of all."""
    for rule in (deny, allow):
        result = replay(dialect, data, rule, streamed=streamed)
        try:
            found = sdks.calls_found(dialect, result.data, streamed=streamed)
        except SDK_FAULTS:
            continue
        assert found == released(result) or not found, (found, released(result))
    return result


@pytest.mark.parametrize("events", ANTHROPIC_STREAMS.values(), ids=list(ANTHROPIC_STREAMS))
def test_anthropic_streams_that_two_readers_take_differently(events: list[dict[str, Any]]) -> None:
    """A stream that a lenient client would read as another call than ours is broken off."""
    agree(ANTHROPIC_MESSAGES, model.framed(model.anthropic_frames(events)))


def test_a_call_that_begins_its_message_is_judged_and_can_be_replaced() -> None:
    """A program that goes on calling tools gets messages whose content stands in their start, whole."""
    data = model.framed(model.anthropic_frames(ANTHROPIC_STREAMS["calls in message_start"]))
    assert replay(ANTHROPIC_MESSAGES, data, allow).data == data
    refused = replay(ANTHROPIC_MESSAGES, data, deny)
    assert [call.name for call in refused.calls] == ["refund"]
    assert b"toolu_a" not in refused.data
    assert sdks.calls_found(ANTHROPIC_MESSAGES, refused.data) == Counter()
    assert b'"end_turn"' in refused.data


@pytest.mark.parametrize("skipped", range(6))
def test_an_event_without_a_name_among_named_ones(skipped: int) -> None:
    """The SDK skips it, others read its data: a fragment, or a block that shifts the others, would be lost to one."""
    frames = model.anthropic_frames(
        [OPENING, *text(0), start(1), part(1, '{"amount": 5'), part(1, "0}"), stop(1), *CLOSING]
    )
    del frames[skipped + 1][0]
    result = agree(ANTHROPIC_MESSAGES, model.framed(frames))
    assert result.breach is not None


@pytest.mark.parametrize("name", ["ping", "content_block_stop", "content_block_delta "])
def test_an_event_named_otherwise_than_its_data(name: str) -> None:
    """An event whose name and data disagree about what it is, is a fault."""
    frames = model.anthropic_frames([OPENING, *WHOLE, *CLOSING])
    frames[1][0] = f"event: {name}"
    assert agree(ANTHROPIC_MESSAGES, model.framed(frames)).breach is not None


@pytest.mark.parametrize("chunks", CHAT_STREAMS.values(), ids=list(CHAT_STREAMS))
def test_chat_streams_that_two_readers_take_differently(chunks: list[dict[str, Any]]) -> None:
    """A Chat stream that a lenient client would read as another call than ours is broken off."""
    data = model.framed([*[[f"data: {model.dump(one)}"] for one in chunks], ["data: [DONE]"]])
    agree(OPENAI_CHAT, data)
    agree(OPENAI_CHAT, model.framed([[f"data: {model.dump(one)}"] for one in chunks]))


@pytest.mark.parametrize(
    ("lines", "is_broken"),
    [
        (['data: {"choices":', "data: []}"], False),
        (['data: {"choices": []}', 'data: {"choices": []}'], True),
        (['data: {"choices": []} {"choices": []}'], True),
        (['data: {"choices": [], "choices": []}'], True),
        (["data: [1]"], True),
        (["data: null"], True),
        (["data: [DONE] "], True),
        (["data:"], False),
    ],
)
def test_frames_that_hold_no_single_object(lines: list[str], is_broken: bool) -> None:
    """Two documents, or none: client libraries take the first, the last, or neither."""
    result = replay(OPENAI_CHAT, model.framed([lines, ["data: [DONE]"]]), allow)
    assert (result.breach is not None) == is_broken


def test_a_last_fragment_without_its_blank_line_is_read_by_all_or_by_none() -> None:
    """The SDK drops an event that no blank line ends, others read it: what was judged leaves with one."""
    last = chunk(piece(0, arguments=REFUND), "tool_calls")
    data = model.framed([[f"data: {model.dump(one)}"] for one in (BEGIN, FIRST[0], last)]).removesuffix(b"\n\n")
    result = agree(OPENAI_CHAT, data)
    assert result.data == data + b"\n\n"
    assert len(result.released) == 1


def test_a_text_without_its_blank_line_stays_as_it_came() -> None:
    """G2: where nothing was judged, nothing is mended."""
    data = model.anthropic_stream(model.Turn((model.Text("hi"),))).removesuffix(b"\n\n")
    assert replay(ANTHROPIC_MESSAGES, data, allow).data == data


@pytest.mark.parametrize("choices", BODIES.values(), ids=list(BODIES))
def test_bodies_that_two_readers_take_differently(choices: Any) -> None:
    """A body that a lenient client would read as another call than ours is refused."""
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    body = json.dumps({**head, "choices": choices}).encode()
    agree(OPENAI_CHAT, body, streamed=False)
    kept = replay(OPENAI_CHAT, body, lambda call: call.name == "lookup", streamed=False)
    assert A.encode() not in kept.data
    assert kept.data.count(B.encode()) <= 1


# --- damaged streams

VALUES: list[Any] = [
    None,
    0,
    1,
    -1,
    10**30,
    True,
    "",
    "x",
    "tool_use",
    "function",
    [],
    {},
    [{}],
    [None],
    {"a": 1},
    "{}",
    EVIL,
    A,
    B,
    "length",
    "max_tokens",
    PROGRAM,
    [PROGRAM],
    piece(0, "call_z", "evil", "{}")["tool_calls"],
]
MEMBERS = (
    "index",
    "type",
    "delta",
    "content_block",
    "input",
    "tool_calls",
    "function_call",
    "custom",
    "function",
    "message",
    "choices",
    "content",
    "finish_reason",
    "id",
    "name",
    "arguments",
    "object",
)


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *[place for key, item in inner for place in _places(item, (*path, key))]]


def damaged(rng: random.Random, events: list[dict[str, Any]]) -> list[Any]:
    """Events left out, doubled, swapped; members taken away, added, overwritten."""
    events = copy.deepcopy(events)
    for _ in range(rng.choice((1, 1, 2, 3))):
        index, other = rng.randrange(len(events)), rng.randrange(len(events))
        match rng.randrange(8):
            case 0 if len(events) > 1:
                del events[index]
            case 1:
                events.insert(other, copy.deepcopy(events[index]))
            case 2:
                events[index], events[other] = events[other], events[index]
            case step:
                *path, last = rng.choice(_places(events[index])[1:] or [("type",)])
                target: Any = events[index]
                for key in path:
                    target = target[key]
                if step == 3 and isinstance(target, dict):
                    target[rng.choice(MEMBERS)] = copy.deepcopy(rng.choice(VALUES))
                elif step == 4 and target:
                    del target[last]
                elif isinstance(target, dict | list) and target:
                    target[last] = copy.deepcopy(rng.choice(VALUES))
        events = [event for event in events if isinstance(event, dict)] or [{"type": "ping"}]
    return events


@pytest.mark.parametrize("seed", range(8))
def test_damaged_streams_run_only_what_was_released(seed: int) -> None:
    """Structure-aware damage: never an exception of ours, and no call that an SDK finds was judged otherwise."""
    rng = random.Random(seed)
    bases = (
        (
            ANTHROPIC_MESSAGES,
            [
                OPENING,
                *text(0),
                start(1),
                part(1, ""),
                part(1, REFUND),
                stop(1),
                server(2),
                part(2, "{}"),
                stop(2),
                start(3, "lookup", "toolu_b"),
                stop(3),
                *CLOSING,
            ],
        ),
        (OPENAI_CHAT, CHAT_STREAMS["function_call beside tool_calls"]),
        (OPENAI_CHAT, CHAT_STREAMS["two choices, turn about"]),
    )
    for dialect, base in bases:
        for _ in range(20):
            events = damaged(rng, base)
            heads = [[f"event: {one['type']}"] if isinstance(one.get("type"), str) else [] for one in events]
            frames = [[*head, f"data: {json.dumps(one)}"] for head, one in zip(heads, events, strict=True)]
            if dialect is OPENAI_CHAT:
                frames = [[f"data: {json.dumps(one)}"] for one in events] + [["data: [DONE]"]]
            for rule in (allow, deny, lambda call: call.name == "lookup"):
                result = replay(dialect, model.framed(frames), rule)
                try:
                    found = sdks.calls_found(dialect, result.data)
                except SDK_FAULTS:
                    continue
                extra = found - released(result)
                assert not extra, (extra, events)
