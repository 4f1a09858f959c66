"""The strict provider as each Chat server: what it demands back is refused when missing; what it wrote passes."""

from __future__ import annotations

import copy
from typing import Any

import orjson
import pytest

from proxy.demo import chat_wire
from proxy.demo.admission import Admitted, admitted_chat
from proxy.demo.chat_history import chat_refusal
from proxy.demo.identifiers import Identifiers
from proxy.demo.saying import said_chat
from proxy.demo.servers import DEEPSEEK, GEMINI, MISTRAL, OLLAMA, OPENAI, ChatServer, Indexes
from proxy.demo.signatures import call_signature
from proxy.demo.turns import Call, Text, Thinking, Turn

ASK = {"role": "user", "content": "hi"}
TURN = Turn((Thinking("hm"), Text("one moment"), Call("f", '{"n": 1.50}'), Call("g", "{}")))
SERVERS = {"openai": OPENAI, "deepseek": DEEPSEEK, "gemini": GEMINI, "mistral": MISTRAL, "ollama": OLLAMA}
REASONING = "The `reasoning_content` in the thinking mode must be passed back to the API."
FOLLOWED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The "
    "following tool_call_ids did not have response messages: "
)
COUNTED = "Not the same number of function calls and responses"
PRECEEDING = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
)


def loop(server: ChatServer) -> list[dict[str, Any]]:
    """A user's text, the model's turn with two calls, their results."""
    turn = copy.deepcopy(said_chat(TURN, 100, Identifiers(), server).message)
    results = [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in turn["tool_calls"]]
    return [dict(ASK), turn, *results]


def refusal(messages: list[Any], server: ChatServer) -> str:
    refused = chat_refusal({"messages": messages}, server)
    return refused.message if refused is not None else ""


@pytest.mark.parametrize("server", SERVERS.values(), ids=SERVERS)
def test_its_own_turn_comes_back(server: ChatServer) -> None:
    """What a server wrote, with a result for each call, is taken; with one missing, or one apart, it is not."""
    messages = loop(server)
    first, second = (call["id"] for call in messages[1]["tool_calls"])
    assert isinstance(admitted_chat({"messages": [*messages, ASK]}, server), Admitted)

    one, both = (COUNTED, COUNTED) if server is MISTRAL else (FOLLOWED + second, f"{FOLLOWED}{first}, {second}")
    assert refusal(messages[:-1], server) == one
    assert refusal([*messages[:2], ASK, *messages[2:]], server) == both
    assert refusal([*messages, ASK, messages[2]], server) == PRECEEDING
    assert "'tool_call_id' of 'other' not found" in refusal(
        [*messages, {**messages[2], "tool_call_id": "other"}], server
    )
    assert "Duplicate value for 'tool_call_id'" in refusal([*messages, messages[2]], server)


def test_reasoning_must_come_back() -> None:
    """DeepSeek: every assistant message with calls brings its reasoning back; others need none."""
    messages = loop(DEEPSEEK)
    assert messages[1]["reasoning_content"] == "hm"
    del messages[1]["reasoning_content"]

    assert refusal(messages, DEEPSEEK) == REASONING
    assert refusal([*messages, ASK], DEEPSEEK) == REASONING
    assert refusal(messages, OPENAI) == ""
    assert refusal([ASK, {"role": "assistant", "content": "x"}, ASK], DEEPSEEK) == ""


def test_the_first_call_brings_its_signature_back() -> None:
    """Gemini: the signature is on the first call only, and stays on that very call."""
    messages = loop(GEMINI)
    first, second = messages[1]["tool_calls"]
    assert "extra_content" not in second
    first["function"]["arguments"] = '{"n":1.5}'  # the same value, written anew
    assert refusal(messages, GEMINI) == ""

    signature = first.pop("extra_content")
    assert refusal(messages, GEMINI).startswith("Function call is missing a thought_signature in functionCall parts.")
    assert "function call `default_api:f` , position 1." in refusal(messages, GEMINI)
    without = [messages[0], {**messages[1], "tool_calls": [second]}, messages[3]]
    assert "is missing a thought_signature" in refusal(without, GEMINI)
    second["extra_content"] = signature
    assert refusal(without, GEMINI) == "Corrupted thought signature."
    assert refusal(messages[:2] + messages[2:], OPENAI) == ""


def test_ids_of_nine() -> None:
    """Mistral: ids are nine letters or digits, made and taken."""
    messages = loop(MISTRAL)
    assert all(len(call["id"]) == 9 and call["id"].isalnum() for call in messages[1]["tool_calls"])
    for odd in ("call_abc", "abcdefgh", "abcdefghij", "abcdefg-1"):
        wrong = copy.deepcopy(messages)
        wrong[1]["tool_calls"][0]["id"] = wrong[2]["tool_call_id"] = odd
        text = f"Tool call id was {odd} but must be a-z, A-Z, 0-9, with a length of 9."
        assert refusal(wrong, MISTRAL) == text
        assert refusal(wrong, OPENAI) == ""


def test_ids_of_forty() -> None:
    """OpenAI's limit is a switch: newer hosts take a longer id."""
    messages = loop(OPENAI)
    messages[1]["tool_calls"][0]["id"] = messages[2]["tool_call_id"] = "c" * 41
    text = (
        "Invalid 'messages[1].tool_calls[0].id': string too long. Expected a string with maximum length 40, but got a "
        "string with length 41 instead."
    )

    refused = chat_refusal({"messages": messages})
    assert refused is not None
    assert (refused.message, refused.code) == (text, "string_above_max_length")
    assert refusal(messages, ChatServer(id_chars_max=None)) == ""


def _deltas(server: ChatServer) -> list[dict[str, Any]]:
    turn = said_chat(TURN, 100, Identifiers(), server).turn
    frames = chat_wire.events(turn, "m", Identifiers(), 4, include_usage=False, server=server)[:-1]
    choices = [orjson.loads(frame.removeprefix(b"data: "))["choices"][0] for frame in frames]
    assert choices[-1]["finish_reason"] == ("stop" if server.finish_stop else "tool_calls")
    return [choice["delta"] for choice in choices]


@pytest.mark.parametrize("indexes", Indexes)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("apart", [True, False])
def test_quirks_of_the_wire(indexes: Indexes, whole: bool, apart: bool) -> None:
    """Indexes, whole calls and signatures of their own are written as the switches say; the pieces are all there."""
    server = ChatServer(indexes=indexes, whole_calls=whole, signed_calls=True, signature_apart=apart, reasoning=True)
    deltas = _deltas(server)
    calls = [call for delta in deltas for call in delta.get("tool_calls", ())]

    expected = {Indexes.DENSE: {0, 1}, Indexes.ZERO: {0}, Indexes.NONE: {None}}[indexes]
    assert {call.get("index") for call in calls} == expected
    assert "".join(call.get("function", {}).get("arguments", "") for call in calls) == '{"n": 1.50}{}'
    assert [call["function"]["name"] for call in calls if "id" in call] == ["f", "g"]
    assert (len([call for call in calls if "function" in call]) == 2) == whole
    signed = [call for call in calls if "extra_content" in call]
    assert [call["extra_content"]["google"]["thought_signature"] for call in signed] == [
        call_signature("f", '{ "n": 1.5 }')
    ]
    assert ("function" in signed[0]) is not apart
    assert "".join(delta.get("reasoning_content", "") for delta in deltas) == "hm"


def test_arguments_as_an_object() -> None:
    """Ollama behind LiteLLM writes arguments as an object, in a stream and out of it, and takes them back so."""
    calls = [call for delta in _deltas(OLLAMA) for call in delta.get("tool_calls", ())]
    assert [call["function"]["arguments"] for call in calls] == [{"n": 1.5}, {}]

    messages = loop(OLLAMA)
    assert refusal(messages, OLLAMA) == ""
    assert "expected a string, but got an object" in refusal(messages, OPENAI)


def test_openai_shows_no_thinking() -> None:
    """Without the switch neither a stream nor a body has reasoning or signatures."""
    assert not any("reasoning_content" in delta for delta in _deltas(OPENAI))
    body = orjson.loads(chat_wire.body(TURN, "m", Identifiers()))
    assert set(body["choices"][0]["message"]) == {"role", "content", "tool_calls", "refusal", "annotations"}
    assert not any("extra_content" in call for call in body["choices"][0]["message"]["tool_calls"])
