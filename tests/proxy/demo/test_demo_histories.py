"""The scripted provider refuses the histories that real providers refuse, in their words, and takes all others."""

from __future__ import annotations

import pytest

from proxy.demo.anthropic_history import anthropic_refusal
from proxy.demo.chat_history import chat_refusal


def user(*blocks):
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks):
    return {"role": "assistant", "content": list(blocks)}


def text(words="hi"):
    return {"type": "text", "text": words}


def use(identifier, **more):
    return {"type": "tool_use", "id": identifier, "name": "f", "input": {}, **more}


def result(identifier):
    return {"type": "tool_result", "tool_use_id": identifier, "content": "ok"}


ASK = {"role": "user", "content": "hi"}
SERVER_USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_fetch", "input": {}}

ANTHROPIC_TAKEN = {
    "plain": [ASK],
    "pairs": [ASK, assistant(text(), use("a"), use("b")), user(result("b"), result("a"), text())],
    "text behind a call": [ASK, assistant(use("a"), text()), user(result("a"))],
    "neighbours are one turn": [
        ASK,
        ASK,
        assistant(use("a")),
        assistant(use("b")),
        user(result("a")),
        user(result("b")),
    ],
    "a system message stands between": [
        ASK,
        assistant(use("a")),
        {"role": "system", "content": "x"},
        user(result("a")),
    ],
    "a pending server tool, results only": [ASK, assistant(use("a"), SERVER_USE), user(result("a"))],
}
ANTHROPIC_REFUSED = {
    "messages: at least one message is required": [],
    "messages.0: all messages must have non-empty content": [user()],
    "messages: text content blocks must be non-empty": [user(text(""))],
    "messages.0.role: Input should be": [{"role": "tool", "content": "x"}],
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a.": [
        ASK,
        assistant(use("a")),
        ASK,
    ],
    "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: b.": [
        ASK,
        assistant(use("a"), use("b")),
        user(result("a"), text(), result("b")),  # results come first
    ],
    "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a.": [
        ASK,
        assistant(text()),
        user(result("a")),
    ],
    "messages.2.content.1: each tool_use must have a single result.": [
        ASK,
        assistant(use("a")),
        user(result("a"), result("a")),
    ],
    "messages.3.content.0: `tool_use` ids must be unique": [
        ASK,
        assistant(use("a")),
        user(result("a")),
        assistant(use("a")),
        user(result("a")),
    ],
    "messages.1.content.0.tool_use.id: String should match": [ASK, assistant(use("a:b")), user(result("a:b"))],
    "messages.1.content.0.tool_use.input: Input should be a valid dictionary": [
        ASK,
        assistant(use("a", input="{}")),
        user(result("a")),
    ],
    "does not support assistant message prefill": [ASK, assistant(text())],
    "`web_fetch` tool use with id `srvtoolu_1` was found without": [
        ASK,
        assistant(use("a"), SERVER_USE),
        user(result("a"), text()),
    ],
    "messages.0: Input should be a valid dictionary": ["x"],
}


@pytest.mark.parametrize("messages", ANTHROPIC_TAKEN.values(), ids=ANTHROPIC_TAKEN)
def test_anthropic_takes(messages) -> None:
    """A history that the real provider takes is not refused."""
    assert anthropic_refusal({"messages": messages, "tools": [{"name": "web_fetch"}]}) is None


@pytest.mark.parametrize(("words", "messages"), ANTHROPIC_REFUSED.items(), ids=ANTHROPIC_REFUSED)
def test_anthropic_refuses(words: str, messages) -> None:
    """A history that the real provider refuses is a 400 with the real text."""
    refusal = anthropic_refusal({"messages": messages})

    assert refusal is not None
    assert (refusal.status, refusal.type) == (400, "invalid_request_error")
    assert words in refusal.message


def calls(*identifiers, **more):
    made = [{"id": one, "type": "function", "function": {"name": "f", "arguments": "{}"}} for one in identifiers]
    return {"role": "assistant", "content": None, "tool_calls": made, **more}


def tool(identifier, content="ok"):
    return {"role": "tool", "tool_call_id": identifier, "content": content}


CHAT_TAKEN = {
    "plain": [{"role": "developer", "content": "x"}, ASK],
    "pairs": [ASK, calls("a", "b"), tool("b"), tool("a"), ASK],
    "ids come again in a later turn": [ASK, calls("a"), tool("a"), calls("a"), tool("a")],
    "content beside calls": [ASK, calls("a", content="one moment"), tool("a")],
    "legacy": [
        ASK,
        {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}},
        {"role": "function", "name": "f", "content": "1"},
    ],
    "an id of forty": [ASK, calls("c" * 40), tool("c" * 40)],
}
CHAT_REFUSED = {
    "The following tool_call_ids did not have response messages: b": [ASK, calls("a", "b"), tool("a"), ASK],
    "The following tool_call_ids did not have response messages: a": [ASK, calls("a")],
    "must be a response to a preceeding message with 'tool_calls'": [ASK, tool("a")],
    "'tool_call_id' of 'z' not found": [ASK, calls("a"), tool("z"), tool("a")],
    "Duplicate value for 'tool_call_id' of 'a' in message": [ASK, calls("a"), tool("a"), tool("a")],
    "Duplicate value for 'tool_call_id' of 'a'.": [ASK, calls("a", "a"), tool("a")],
    "Invalid 'messages[1].tool_calls': empty array.": [ASK, calls()],
    "maximum length 40, but got a string with length 41": [ASK, calls("c" * 41), tool("c" * 41)],
    "Invalid value for 'content': expected a string, got null.": [{"role": "assistant", "content": None}, ASK],
    "Invalid value: 'model'. Supported values are: 'system',": [{"role": "model", "content": "x"}],
    "Missing parameter 'name'": [ASK, {"role": "function", "content": "1"}],
    "Invalid 'messages': empty array.": [],
    "Invalid type for 'messages[0]'": ["x"],
}


@pytest.mark.parametrize("messages", CHAT_TAKEN.values(), ids=CHAT_TAKEN)
def test_chat_takes(messages) -> None:
    """A history that the real provider takes is not refused."""
    assert chat_refusal({"messages": messages}) is None


@pytest.mark.parametrize(("words", "messages"), CHAT_REFUSED.items(), ids=CHAT_REFUSED)
def test_chat_refuses(words: str, messages) -> None:
    """A history that the real provider refuses is a 400 with the real text."""
    refusal = chat_refusal({"messages": messages})

    assert refusal is not None
    assert (refusal.status, refusal.type) == (400, "invalid_request_error")
    assert words in refusal.message


def test_chat_wants_its_arguments_as_text() -> None:
    """Arguments sent back as an object, as some compatible servers write them, are refused."""
    wrong = calls("a")
    wrong["tool_calls"][0]["function"]["arguments"] = {}

    refusal = chat_refusal({"messages": [ASK, wrong, tool("a")]})

    assert refusal is not None
    assert refusal.code == "invalid_type"
