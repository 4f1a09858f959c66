"""Pairs, ids and shapes of Anthropic Messages at the strict provider: a bad request for each sentence, and its text."""

from __future__ import annotations

import pytest

from proxy.demo.anthropic_history import anthropic_refusal
from proxy.demo.anthropic_shapes import shape_faults
from proxy.demo.servers import AnthropicServer
from tests.proxy.demo.strict import assistant, result, server_use, text, use, user

ASK = user(text())
FETCH = [{"type": "web_fetch_20260101", "name": "web_fetch"}]
FETCHED = {"type": "web_fetch_tool_result", "tool_use_id": "srvtoolu_1", "content": {}}
PROGRAM = {"type": "code_execution_20260120", "tool_id": "srvtoolu_9"}
BREAKPOINT = {"type": "text", "text": "x", "cache_control": {"type": "ephemeral"}}
NO_RESULT = "`web_fetch` tool use with id `srvtoolu_1` was found without a corresponding `web_fetch_tool_result` block"

TAKEN = {
    "a string": [{"role": "user", "content": "hi"}],
    "results first, text after": [ASK, assistant(use("a"), use("b")), user(result("a"), result("b"), text())],
    "results in two neighbours": [ASK, assistant(use("a"), use("b")), user(result("b")), user(result("a"), text())],
    "an error result without content": [ASK, assistant(use("a")), user(result("a", is_error=True, content=[]))],
    "a toolset's name echoed": [
        ASK,
        assistant(use("a", toolset_name="browser")),
        user(result("a", toolset_name="browser")),
    ],
    "a server's result in its turn": [ASK, assistant(server_use(), FETCHED, text()), ASK],
    "a server's result after the client's": [
        ASK,
        assistant(use("a"), server_use()),
        user(result("a")),
        assistant(FETCHED, text()),
        ASK,
    ],
    "a pending server tool, results only": [ASK, assistant(use("a"), server_use()), user(result("a"))],
    "a program's call, results only": [ASK, assistant(use("a", caller=PROGRAM)), user(result("a"))],
    "a paused turn sent back": [ASK, assistant(text(), server_use())],
    "an id of every letter": [ASK, assistant(use("toolu_-Az09")), user(result("toolu_-Az09"))],
    "four breakpoints": [user(BREAKPOINT, BREAKPOINT), user(BREAKPOINT, BREAKPOINT)],
    "a breakpoint's name in an input": [
        ASK,
        assistant(*(use(f"a{n}", input={"cache_control": 1}) for n in range(5))),
        user(*(result(f"a{n}") for n in range(5))),
    ],
}
REFUSED = {
    "an unanswered call": (
        [ASK, assistant(use("toolu_1")), user(text())],
        (
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_1. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message."
        ),
    ),
    "two unanswered calls of three": (
        [ASK, assistant(use("a"), use("b"), use("c")), user(result("b"))],
        (
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a, c. Each "
            "`tool_use` block must have a corresponding `tool_result` block in the next message."
        ),
    ),
    "a result of no call": (
        [ASK, assistant(text()), user(result("a"))],
        (
            "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block "
            "must have a corresponding `tool_use` block in the previous message."
        ),
    ),
    "a result of a call long ago": (
        [ASK, assistant(use("a")), user(result("a")), assistant(text()), user(result("a"))],
        (
            "messages.4.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a. Each `tool_result` block "
            "must have a corresponding `tool_use` block in the previous message."
        ),
    ),
    "a server's result of no call": (
        [ASK, assistant(FETCHED, text()), ASK],
        (
            "messages.1.content.0: unexpected `tool_use_id` found in `web_fetch_tool_result` blocks: srvtoolu_1. Each "
            "`web_fetch_tool_result` block must have a corresponding `server_tool_use` block before it."
        ),
    ),
    "a server's result before its call": (
        [ASK, assistant(FETCHED, server_use()), ASK],
        (
            "messages.1.content.0: unexpected `tool_use_id` found in `web_fetch_tool_result` blocks: srvtoolu_1. Each "
            "`web_fetch_tool_result` block must have a corresponding `server_tool_use` block before it."
        ),
    ),
    "two results of a server's call": (
        [ASK, assistant(server_use(), FETCHED, FETCHED), ASK],
        (
            "messages.1.content.2: each server_tool_use must have a single result. Found multiple "
            "`web_fetch_tool_result` blocks with id: srvtoolu_1"
        ),
    ),
    "two results of a call": (
        [ASK, assistant(use("a")), user(result("a"), result("a"))],
        "messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
    ),
    "two results in two neighbours": (
        [ASK, assistant(use("a")), user(result("a")), user(result("a"))],
        "messages.3.content.0: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a",
    ),
    "an id twice in a turn": (
        [ASK, assistant(use("a"), use("a")), user(result("a"))],
        "messages.1.content.1: `tool_use` ids must be unique",
    ),
    "an id again in a later turn": (
        [ASK, assistant(use("a")), user(result("a")), assistant(use("a")), user(result("a"))],
        "messages.3.content.0: `tool_use` ids must be unique",
    ),
    "text before the results": (
        [ASK, assistant(use("a")), user(text(), result("a"))],
        (
            "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a. Each `tool_use` "
            "block must have a corresponding `tool_result` block in the next message."
        ),
    ),
    "a pending server tool and text": (
        [ASK, assistant(use("a"), server_use()), user(result("a"), text())],
        NO_RESULT,
    ),
    "a pending program and text": (
        [ASK, assistant(use("a", caller=PROGRAM)), user(result("a"), text())],
        (
            "`code_execution` tool use with id `srvtoolu_9` was found without a corresponding "
            "`code_execution_tool_result` block"
        ),
    ),
    "an id with a colon": (
        [ASK, assistant(use("list_dir:0")), user(result("list_dir:0"))],
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ),
    "a server's id of another kind": (
        [ASK, assistant(server_use("toolu_1")), ASK],
        "messages.1.content.0.server_tool_use.id: String should match pattern '^srvtoolu_[a-zA-Z0-9_]+$'",
    ),
    "an assistant turn at the end": (
        [ASK, assistant(text("The"))],
        "This model does not support assistant message prefill. The conversation must end with a user message.",
    ),
    "an empty text": ([user(text(""))], "messages: text content blocks must be non-empty"),
    "an empty text in a result": (
        [ASK, assistant(use("a")), user(result("a", content=[text("")]))],
        "messages: text content blocks must be non-empty",
    ),
    "an empty text of the assistant": (
        [ASK, assistant(text(""), use("a")), user(result("a"))],
        "messages: text content blocks must be non-empty",
    ),
    "no content": ([ASK, assistant(), ASK], "messages.1: all messages must have non-empty content"),
    "a content that is a number": (
        [{"role": "user", "content": 1}],
        "messages.0.content: Input should be a valid list",
    ),
    "a call of the user": (
        [user(use("a"))],
        "messages.0.content.0: `tool_use` blocks can only be in `assistant` messages",
    ),
    "a result of the assistant": (
        [ASK, assistant(use("a"), result("a")), user(result("a"))],
        "messages.1.content.1: `tool_result` blocks can only be in `user` messages",
    ),
    "thinking of the user": (
        [user({"type": "thinking", "thinking": "x", "signature": "y"})],
        "messages.0.content.0: `thinking` blocks can only be in `assistant` messages",
    ),
    "thinking without a signature": (
        [ASK, assistant({"type": "thinking", "thinking": "x"}), ASK],
        "messages.1.content.0.thinking.signature: Field required",
    ),
    "redacted thinking without data": (
        [ASK, assistant({"type": "redacted_thinking"}), ASK],
        "messages.1.content.0.redacted_thinking.data: Field required",
    ),
    "a toolset's name left out": (
        [ASK, assistant(use("a", toolset_name="browser")), user(result("a"))],
        "messages.2.content.0.tool_result.toolset_name: must be the `toolset_name` of `tool_use` block a",
    ),
    "a toolset's name made up": (
        [ASK, assistant(use("a")), user(result("a", toolset_name="browser"))],
        "messages.2.content.0.tool_result.toolset_name: must be the `toolset_name` of `tool_use` block a",
    ),
    "a result that names no call": (
        [ASK, assistant(use("a")), user({"type": "tool_result", "content": "x"})],
        "messages.2.content.0.tool_result.tool_use_id: Field required",
    ),
    "an input as a text": (
        [ASK, assistant(use("a", input="{}")), user(result("a"))],
        "messages.1.content.0.tool_use.input: Input should be a valid dictionary",
    ),
    "five breakpoints": (
        [user(*([BREAKPOINT] * 5))],
        "A maximum of 4 blocks with cache_control may be provided. Found 5.",
    ),
}


@pytest.mark.parametrize("messages", TAKEN.values(), ids=TAKEN)
def test_taken(messages) -> None:
    """A history that the real provider takes is not refused."""
    assert anthropic_refusal({"messages": messages, "tools": FETCH}) is None


@pytest.mark.parametrize(("messages", "words"), REFUSED.values(), ids=REFUSED)
def test_refused(messages, words: str) -> None:
    """A history that the real provider refuses is a 400 with its whole text."""
    refusal = anthropic_refusal({"messages": messages, "tools": FETCH})

    assert refusal is not None
    assert (refusal.status, refusal.type, refusal.message) == (400, "invalid_request_error", words)


def test_a_pending_tool_must_be_offered() -> None:
    """Dropping its tool, or all tools, while a server tool waits is refused; once it has answered, it is not."""
    waiting = [ASK, assistant(use("a"), server_use()), user(result("a"))]
    for more in ({"tools": [{"name": "f"}]}, {}):
        refusal = anthropic_refusal({"messages": waiting, **more})
        assert refusal is not None
        assert refusal.message == f"{NO_RESULT}, but no `web_fetch` tool was provided"
    assert anthropic_refusal({"messages": [*waiting, assistant(FETCHED, text()), ASK]}) is None


def test_a_family_of_server_tools_is_offered_as_one() -> None:
    """The shells of code execution come with the tool of that name."""
    waiting = [ASK, assistant(use("a"), server_use(name="bash_code_execution")), user(result("a"))]

    assert anthropic_refusal({"messages": waiting, "tools": [{"name": "code_execution"}]}) is None
    assert anthropic_refusal({"messages": waiting, "tools": FETCH}) is not None


def test_older_models_take_a_prefill() -> None:
    """The switch lets an assistant turn stand at the end."""
    body = {"messages": [ASK, assistant(text("The"))]}

    assert anthropic_refusal(body, AnthropicServer(prefill=True)) is None


def test_every_fault_of_a_shape_is_found() -> None:
    """Faults do not hide one another: each is told, in the order of the request."""
    body = {"messages": [user(text("")), {"role": "tool", "content": "x"}, "x", user("x")]}

    assert [fault.partition(":")[0] for fault in shape_faults(body)] == [
        "messages",
        "messages.1.role",
        "messages.2",
        "messages.3.content.0",
    ]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"tools": {}}, "tools: Input should be a valid list"),
        ({"tools": ["f"]}, "tools.0: Input should be a valid dictionary"),
        ({"thinking": "on"}, "thinking: Input should be a valid dictionary"),
        ({"tools": None, "thinking": None}, ""),
    ],
)
def test_the_other_fields(more, words: str) -> None:
    """Tools and thinking have their types, or are not there."""
    refusal = anthropic_refusal({"messages": [ASK], **more})

    assert (refusal.message if refusal is not None else "") == words
