"""The double of Gemini and Ollama refuses what the real ones refuse, in their words."""

from __future__ import annotations

from typing import Any

import pytest

from proxy.demo import ollama_wire
from proxy.demo.gemini_history import gemini_refusal
from proxy.demo.gemini_wire import message
from proxy.demo.turns import Call, Thinking, Turn

USER = {"role": "user", "parts": [{"text": "hi"}]}
TWO = message(Turn((Thinking("hm"), Call("look", '{"a": 1}'), Call("pay", '{"b": 2.50}'))))


def answers(*names: str) -> dict[str, Any]:
    return {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {}}} for name in names]}


def without(content: dict[str, Any], *members: str) -> dict[str, Any]:
    parts = [{key: value for key, value in part.items() if key not in members} for part in content["parts"]]
    return {**content, "parts": parts}


def moved() -> dict[str, Any]:
    """The signature of the first call on the second, the first one gone."""
    first, second = TWO["parts"][1:]
    return {**TWO, "parts": [{**second, "thoughtSignature": first["thoughtSignature"]}]}


def test_what_the_double_said_it_takes_back() -> None:
    """Calls with their responses in order, signed on the first one alone."""
    assert gemini_refusal({"contents": [USER, TWO, answers("look", "pay")]}) is None
    assert gemini_refusal({"contents": [USER, TWO, answers("pay", "look"), USER]}) is None


@pytest.mark.parametrize(
    ("contents", "text"),
    [
        ([], "contents is not specified"),
        ([{"role": "assistant", "parts": [{"text": "x"}]}], "valid role"),
        ([USER, {"role": "model", "parts": []}], "must not be empty"),
        ([USER, TWO, answers("look")], "number of function response parts"),
        ([USER, TWO, answers("look", "look")], "number of function response parts"),
        ([USER, TWO], "number of function response parts"),
        ([USER, TWO, USER], "number of function response parts"),
        ([USER, answers("look")], "immediately after a function call turn"),
        ([TWO, answers("look", "pay")], "immediately after a user turn"),
        ([USER, without(TWO, "thoughtSignature"), answers("look", "pay")], "missing a thought_signature"),
        ([USER, {**TWO, "parts": TWO["parts"][2:]}, answers("pay")], "missing a thought_signature"),
        ([USER, moved(), answers("pay")], "Corrupted thought signature"),
    ],
)
def test_gemini_refuses(contents: list[Any], text: str) -> None:
    """Counts, turns and signatures; dropping the first of parallel calls breaks the others."""
    refused = gemini_refusal({"contents": contents})
    assert refused is not None
    assert text in refused.message


def test_signatures_of_past_turns_may_be_gone() -> None:
    """Only the current turn's must be there."""
    past = [
        USER,
        without(TWO, "thoughtSignature"),
        answers("look", "pay"),
        {"role": "model", "parts": [{"text": "ok"}]},
    ]
    assert gemini_refusal({"contents": [*past, USER]}) is None


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"messages": []}, "model is required"),
        ({"model": "m", "messages": [{"role": "model"}]}, "invalid role"),
        ({"model": "m", "messages": [{"role": "user", "content": []}]}, "cannot unmarshal array"),
        (
            {"model": "m", "messages": [{"role": "assistant", "tool_calls": [{"function": {"arguments": "{}"}}]}]},
            "ToolCallFunctionArguments",
        ),
    ],
)
def test_ollama_refuses_shapes(body: Any, text: str) -> None:
    """Its server checks what Go's decoder checks, and no pairs."""
    refused = ollama_wire.refusal(body)
    assert refused is not None
    assert text in refused.message
