"""A turn means the same however a client spells it, and another thing when it says another thing."""

from __future__ import annotations

import copy
import random
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION
from proxy.wire.chat_turn import CHAT_CONTINUATION
from proxy.wire.envelope import EnvelopeError
from proxy.wire.seal import opened, sealed
from proxy.wire.transcript import CHAIN_START, HiddenResult, Side, chained

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from proxy.wire.turn import Continuation

Message = dict[str, Any]
_scalars = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=8)
_values = st.recursive(
    _scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
)
_arguments = st.dictionaries(st.text(max_size=5), _values, max_size=4)
_words = st.text(st.characters(codec="utf-8", exclude_categories=("Cs",)), max_size=20)


def meanings(continuation: Continuation, messages: list[Message]) -> list[bytes]:
    body = orjson.dumps({"model": "m", "messages": messages})
    return [turn.meaning() for turn in continuation.transcript(body).turns()]


@st.composite
def anthropic_turns(draw: st.DrawFn) -> Message:
    blocks: list[Message] = []
    for _ in range(draw(st.integers(1, 5))):
        kind = draw(st.sampled_from(["thinking", "redacted_thinking", "text", "tool_use"]))
        if kind == "thinking":
            blocks.append({"type": kind, "thinking": draw(_words), "signature": "c2ln"})
        elif kind == "redacted_thinking":
            blocks.append({"type": kind, "data": "ZGF0YQ=="})
        elif kind == "text":
            blocks.append({"type": kind, "text": draw(_words)})
        else:
            name, number = draw(st.sampled_from(["f", "g"])), len(blocks)
            call = {"type": kind, "id": f"toolu_{number}", "name": name, "input": draw(_arguments)}
            blocks.append({**call, "caller": {"type": "direct"}})
    return {"role": "assistant", "content": blocks}


@st.composite
def chat_turns(draw: st.DrawFn) -> Message:
    calls = [
        {
            "id": f"call_{number}",
            "type": "function",
            "function": {
                "name": draw(st.sampled_from(["f", "g"])),
                "arguments": orjson.dumps(draw(_arguments)).decode(),
            },
        }
        for number in range(draw(st.integers(0, 3)))
    ]
    message: Message = {"role": "assistant", "content": draw(_words | st.none()), "refusal": None, "annotations": []}
    return {**message, "reasoning_content": "hm", **({"tool_calls": calls} if calls else {})}


def mangled(message: Message, dice: random.Random) -> Message:
    """What clients do to a turn that they keep."""
    message = copy.deepcopy(message)
    if isinstance(message["content"], list):
        blocks = message["content"]
        if dice.random() < 0.5:
            blocks = [block for block in blocks if "thinking" not in block["type"]]
        if dice.random() < 0.5:
            blocks = list(_merged(blocks))
        for block in blocks:
            if dice.random() < 0.5:
                block.pop("caller", None)
            if block["type"] == "tool_use" and dice.random() < 0.5:
                block["input"] = dict(reversed(block["input"].items()))
        message["content"] = [dict(reversed(block.items())) if dice.random() < 0.5 else block for block in blocks]
    else:
        for key in ("refusal", "annotations", "reasoning_content"):
            if dice.random() < 0.5:
                del message[key]
        if not message["content"]:
            message["content"] = dice.choice(["", None])
        for call in message.get("tool_calls", ()):
            arguments = orjson.loads(call["function"]["arguments"])
            text = orjson.dumps(dict(reversed(arguments.items())), option=orjson.OPT_INDENT_2).decode()
            call["function"]["arguments"] = text if dice.random() < 0.7 else arguments
    return dict(reversed(message.items())) if dice.random() < 0.5 else message


def _merged(blocks: list[Message]) -> Iterator[Message]:
    texts: list[str] = []
    for block in blocks:
        if block["type"] == "text":
            texts.append(block["text"])
            continue
        if texts:
            yield {"type": "text", "text": "\n".join(texts)}
            texts = []
        yield block
    if texts:
        yield {"type": "text", "text": "".join(texts)}


@given(anthropic_turns(), st.integers())
def test_an_anthropic_turn_means_the_same_however_it_is_spelled(turn: Message, seed: int) -> None:
    """Dropped thinking, merged texts, arguments written anew, keys stripped and in another order."""
    changed = mangled(turn, random.Random(seed))
    if changed["content"]:
        assert meanings(ANTHROPIC_CONTINUATION, [changed]) == meanings(ANTHROPIC_CONTINUATION, [turn])


@given(chat_turns(), st.integers())
def test_a_chat_turn_means_the_same_however_it_is_spelled(turn: Message, seed: int) -> None:
    """The same, and arguments as a text or an object, and a content that is missing or empty."""
    changed = mangled(turn, random.Random(seed))
    assert meanings(CHAT_CONTINUATION, [changed]) == meanings(CHAT_CONTINUATION, [turn])


_TURN: Message = {
    "role": "assistant",
    "content": [
        {"type": "text", "text": "I look"},
        {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1, "s": "a b"}},
        {"type": "tool_use", "id": "toolu_2", "name": "g", "input": {}},
    ],
}
_CHAT_TURN: Message = {
    "role": "assistant",
    "content": "I look",
    "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1, "s": "a b"}'}},
        {"id": "call_2", "type": "function", "function": {"name": "g", "arguments": ""}},
    ],
}


def _set(path: tuple[str | int, ...], value: Any) -> Callable[[Message], None]:
    def change(message: Message) -> None:
        target: Any = message
        for step in path[:-1]:
            target = target[step]
        target[path[-1]] = value

    return change


@pytest.mark.parametrize(
    "change",
    [
        _set(("content", 0, "text"), "I looked"),
        _set(("content", 1, "id"), "toolu_9"),
        _set(("content", 1, "name"), "g"),
        _set(("content", 1, "input"), {"n": 2, "s": "a b"}),
        _set(("content", 1, "input"), {"n": 1, "s": "ab"}),
        _set(("content", 1, "input"), {"n": "1", "s": "a b"}),
        _set(("content", 1, "toolset_name"), "t"),
        lambda message: message["content"].pop(),
        lambda message: message["content"].append({"type": "image", "source": {"type": "url", "url": "x"}}),
        lambda message: message["content"].insert(1, message["content"].pop()),
        _set(("role",), "user"),
    ],
)
def test_an_anthropic_turn_that_says_something_else_means_something_else(change: Callable[[Message], None]) -> None:
    """Each thing that a model or an agent would act on counts."""
    changed = copy.deepcopy(_TURN)
    change(changed)
    assert meanings(ANTHROPIC_CONTINUATION, [changed]) != meanings(ANTHROPIC_CONTINUATION, [_TURN])


@pytest.mark.parametrize(
    "change",
    [
        _set(("content",), "I looked"),
        _set(("tool_calls", 0, "id"), "call_9"),
        _set(("tool_calls", 0, "function", "name"), "g"),
        _set(("tool_calls", 0, "function", "arguments"), '{"n": 2, "s": "a b"}'),
        _set(("tool_calls", 0, "function", "arguments"), '{"n": 1, "s": "ab"}'),
        _set(("tool_calls", 1, "function", "arguments"), '{"n": 1}'),
        lambda message: message["tool_calls"].pop(),
        lambda message: message["tool_calls"].reverse(),
    ],
)
def test_a_chat_turn_that_says_something_else_means_something_else(change: Callable[[Message], None]) -> None:
    """Each thing that a model or an agent would act on counts."""
    changed = copy.deepcopy(_CHAT_TURN)
    change(changed)
    assert meanings(CHAT_CONTINUATION, [changed]) != meanings(CHAT_CONTINUATION, [_CHAT_TURN])


def test_the_spelling_of_a_number_makes_no_difference() -> None:
    """A client that parses and writes JSON writes 120.00 as 120, and 1e2 as 100."""
    spelled = '{"a": 120.00, "b": 1e2, "c": 0.50}', '{"c":0.5,"b":100,"a":120}'
    found = []
    for arguments in spelled:
        body = b'{"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":%s}]}]}'
        (turn,) = ANTHROPIC_CONTINUATION.transcript(body % arguments.encode()).turns()
        found.append(turn.meaning())
    assert found[0] == found[1]


def test_texts_of_a_place_chain() -> None:
    """The name of a place depends on every turn before it, and on their order."""
    turns = ANTHROPIC_CONTINUATION.transcript(
        orjson.dumps({"messages": [{"role": "user", "content": "a"}, _TURN, {"role": "user", "content": "b"}]})
    ).turns()
    names = [CHAIN_START]
    for turn in turns:
        names.append(chained(names[-1], turn.meaning()))
    assert len(set(names)) == 4
    assert chained(chained(CHAIN_START, turns[2].meaning()), turns[1].meaning()) != names[2]


def test_results_belong_to_the_users_side() -> None:
    """Whatever role a dialect gives them; neighbours of one side are one turn."""
    messages = [
        {"role": "system", "content": "s"},
        {"role": "user", "content": "a"},
        _CHAT_TURN,
        {"role": "tool", "tool_call_id": "call_1", "content": '{"b": 1, "a": 2}'},
        {"role": "tool", "tool_call_id": "call_2", "content": "ok"},
        {"role": "user", "content": "b"},
    ]
    turns = CHAT_CONTINUATION.transcript(orjson.dumps({"messages": messages})).turns()
    assert [turn.side for turn in turns] == [Side.SYSTEM, Side.USER, Side.ASSISTANT, Side.USER]
    assert [(result.call, result.value) for result in turns[3].results] == [
        ("call_1", {"b": 1, "a": 2}),
        ("call_2", "ok"),
    ]
    assert (turns[3].first, turns[3].last) == (3, 5)


@pytest.mark.parametrize("continuation", [ANTHROPIC_CONTINUATION, CHAT_CONTINUATION])
def test_reading_the_newest_reads_what_reading_all_reads(continuation: Continuation) -> None:
    """A long history is not read for its end."""
    turn = _TURN if continuation is ANTHROPIC_CONTINUATION else _CHAT_TURN
    messages = [
        {"role": "user", "content": "a"},
        turn,
        {"role": "user", "content": "b"},
        turn,
        {"role": "user", "content": "c"},
    ]
    transcript = continuation.transcript(orjson.dumps({"messages": messages}))
    said, came = transcript.newest()
    assert (said, came) == tuple(transcript.turns()[-2:])
    opening = transcript.opening()
    assert opening == transcript.turns()[0]


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "nobody", "content": "x"}],
        [{"content": "x"}],
        ["x"],
        [{"role": "user", "content": 1}],
        [{"role": "user", "content": [1]}],
    ],
)
def test_what_cannot_be_read_is_an_error(messages: list[Any]) -> None:
    """And the message says where."""
    with pytest.raises(EnvelopeError):
        meanings(ANTHROPIC_CONTINUATION, messages)


def test_a_result_goes_first_and_in_the_order_of_the_calls() -> None:
    """WIRE.md 1.6: all results in one message, before its text; untouched blocks keep their bytes."""
    own = b'{"type": "tool_result",  "tool_use_id": "toolu_2", "content": "ok"}'
    text = b'{"type":"text",   "text":"and be quick"}'
    message = b'{"role":"user","content":[' + own + b"," + text + b"]}"
    transcript = ANTHROPIC_CONTINUATION.transcript(b'{"messages":[' + message + b"]}")
    hidden = [HiddenResult("toolu_1", "f", "tool_use", "{}"), HiddenResult("toolu_3", "f", "tool_use", "{}")]
    (merged,) = transcript.with_results([message], hidden, ["toolu_1", "toolu_2", "toolu_3"])
    kinds = [block.get("tool_use_id", block["type"]) for block in orjson.loads(merged)["content"]]
    assert kinds == ["toolu_1", "toolu_2", "toolu_3", "text"]
    assert own in merged
    assert text in merged


def test_a_seal_opens_to_what_was_sealed() -> None:
    """Signatures of any base64; the mark comes back with them."""
    assert opened(sealed("hg1", "EgAB+x6/==")) == ("hg1", "EgAB+x6/==")


def test_thinking_goes_up_only_behind_what_it_depends_on() -> None:
    """Opened where its mark is that of the last hidden turn, taken out elsewhere; a turn keeps something."""
    thinking = {"type": "thinking", "thinking": "t", "signature": sealed("hg1", "c2ln")}
    plain = {"type": "thinking", "thinking": "u", "signature": "c2ln"}
    redacted = {"type": "redacted_thinking", "data": sealed("hg1", "ZA==")}
    message = orjson.dumps({"role": "assistant", "content": [thinking, plain, redacted]})
    transcript = ANTHROPIC_CONTINUATION.transcript(b'{"messages":[]}')
    opened_, removed = transcript.unsealed(message, "hg1")
    found = orjson.loads(opened_)["content"]
    assert [block.get("signature", block.get("data")) for block in found] == ["c2ln", "ZA=="]
    assert ([block["type"] for block in found], removed) == (["thinking", "redacted_thinking"], 1)
    kept, removed = transcript.unsealed(message, "")
    assert ([block["thinking"] for block in orjson.loads(kept)["content"]], removed) == (["u"], 2)
    emptied, removed = transcript.unsealed(message, "hg2")
    assert ([block["type"] for block in orjson.loads(emptied)["content"]], removed) == (["text"], 3)
    untouched = orjson.dumps({"role": "assistant", "content": [plain]})
    assert transcript.unsealed(untouched, "") == (untouched, 0)
