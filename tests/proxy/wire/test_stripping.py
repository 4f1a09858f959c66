"""Tools of the provider: found wherever a request hands them to the model, and taken out without touching the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from policies.model import folded
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.paths import NOWHERE
from proxy.wire.stripping import stripped

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

MINE = {"name": "lookup_order", "input_schema": {"type": "object"}}
SEARCH = {"type": "web_search_20260318", "name": "lookup_order", "max_uses": 3}
CODE = {"type": "code_execution_20260120", "name": "code_execution"}
SERVER = {"type": "url", "name": "wiki", "url": "https://wiki.example/mcp"}
CHAT_MINE = {"type": "function", "function": {"name": "lookup_order", "parameters": {}}}


def added(definition: dict[str, Any]) -> list[dict[str, Any]]:
    tool = {"type": "tool_definition", "definition": definition}
    return [{"role": "system", "content": [{"type": "tool_addition", "tool": tool}]}]


FOUND: list[tuple[Dialect, dict[str, Any], tuple[str, ...]]] = [
    (ANTHROPIC_MESSAGES, {"tools": [MINE]}, ()),
    (ANTHROPIC_MESSAGES, {"tools": [SEARCH, MINE]}, ("web_search",)),
    (ANTHROPIC_MESSAGES, {"tools": [{"type": "mcp_toolset", "mcp_server_name": "wiki"}]}, ("mcp/wiki",)),
    (ANTHROPIC_MESSAGES, {"tools": [{"type": "new_thing_20300101"}]}, ("new_thing",)),
    (ANTHROPIC_MESSAGES, {"tools": [{**MINE, "allowed_callers": ["direct"]}]}, ()),
    (
        ANTHROPIC_MESSAGES,
        {"tools": [{**MINE, "allowed_callers": ["direct", "code_execution_20260120"]}]},
        ("code_execution",),
    ),
    (ANTHROPIC_MESSAGES, {"mcp_servers": [SERVER]}, ("mcp/wiki",)),
    (ANTHROPIC_MESSAGES, {"container": "c_1"}, ("container",)),
    (ANTHROPIC_MESSAGES, {"thread": {"create": True}}, ("thread",)),
    (ANTHROPIC_MESSAGES, {"messages": added(SEARCH)}, ("web_search",)),
    (ANTHROPIC_MESSAGES, {"messages": added(MINE)}, ()),
    (OPENAI_CHAT, {"tools": [CHAT_MINE]}, ()),
    (OPENAI_CHAT, {"tools": [{"type": "browser_search"}, CHAT_MINE]}, ("browser_search",)),
    (OPENAI_CHAT, {"tools": [{"type": "mcp", "server_label": "wiki"}]}, ("mcp/wiki",)),
    (OPENAI_CHAT, {"web_search_options": {}}, ("web_search",)),
    (OPENAI_CHAT, {"search_parameters": {"mode": "on"}}, ("live_search",)),
    (OPENAI_CHAT, {"plugins": [{"id": "web"}]}, ("plugins/web",)),
]


@pytest.mark.parametrize(("dialect", "request_body", "names"), FOUND)
def test_every_hand_elsewhere_has_a_name(
    dialect: Dialect, request_body: dict[str, Any], names: tuple[str, ...]
) -> None:
    """What a request gives the model beside the agent's own tools is found by what it is, not by its name."""
    view = dialect.request(orjson.dumps({"model": "m", "messages": [], **request_body}), NOWHERE)
    assert tuple(view.tools.provider) == names


def test_a_definition_inside_a_message_is_found_however_it_is_spelled() -> None:
    """An escape in the type of a block hides no tool: a filter that looked for the plain word only would be passed."""
    body = orjson.dumps({"messages": added(SEARCH)}).replace(b"tool_addition", rb"tool\u005faddition")
    assert ANTHROPIC_MESSAGES.request(body, NOWHERE).tools.provider == ("web_search",)
    body = orjson.dumps({"messages": added(SEARCH)}).replace(b"tool_addition", rb"\u0074ool_addition")
    assert ANTHROPIC_MESSAGES.request(body, NOWHERE).tools.provider == ("web_search",)


def test_a_tool_of_the_agents_inside_a_message_is_declared() -> None:
    """Its schema and its spelling count as if it stood in `tools`."""
    view = ANTHROPIC_MESSAGES.request(orjson.dumps({"messages": added(MINE)}), NOWHERE)
    assert view.tools.by_name["lookuporder"].schema == orjson.dumps(MINE["input_schema"])


STRIPPED: list[tuple[Dialect, dict[str, Any], set[str], dict[str, Any]]] = [
    (ANTHROPIC_MESSAGES, {"tools": [SEARCH, MINE, CODE]}, {"web_search"}, {"tools": [MINE, CODE]}),
    (ANTHROPIC_MESSAGES, {"tools": [SEARCH], "tool_choice": {"type": "auto"}}, {"web_search"}, {}),
    (
        ANTHROPIC_MESSAGES,
        {"tools": [SEARCH, MINE], "tool_choice": {"type": "tool", "name": "web_search"}},
        {"web_search"},
        {"tools": [MINE]},
    ),
    (
        ANTHROPIC_MESSAGES,
        {"tools": [SEARCH, MINE], "tool_choice": {"type": "any"}},
        {"web_search"},
        {"tools": [MINE], "tool_choice": {"type": "any"}},
    ),
    (
        ANTHROPIC_MESSAGES,
        {"tools": [{**MINE, "allowed_callers": ["direct", "code_execution_20260120"]}, CODE]},
        {"code_execution"},
        {"tools": [MINE]},
    ),
    (
        ANTHROPIC_MESSAGES,
        {"mcp_servers": [SERVER, {**SERVER, "name": "other"}], "container": "c_1"},
        {"mcp/wiki", "container"},
        {"mcp_servers": [{**SERVER, "name": "other"}]},
    ),
    (OPENAI_CHAT, {"web_search_options": {}, "tools": [CHAT_MINE]}, {"web_search"}, {"tools": [CHAT_MINE]}),
    (
        OPENAI_CHAT,
        {"tools": [{"type": "browser_search"}], "tool_choice": "auto", "parallel_tool_calls": True},
        {"browser_search"},
        {},
    ),
]


@pytest.mark.parametrize(("dialect", "given", "names", "left"), STRIPPED)
def test_what_is_stripped_is_gone_and_the_rest_is_as_it_was(
    dialect: Dialect, given: dict[str, Any], names: set[str], left: dict[str, Any]
) -> None:
    """The provider reads a request that never had the tool, which it accepts; other members keep their bytes."""
    head = b'{"model" :"m","messages":[ {"role":"user","content":"5.00"} ]'
    body = head + b"," + orjson.dumps(given)[1:]
    after = stripped(dialect, body, NOWHERE, frozenset(map(folded, names)))
    assert orjson.loads(after) == {**orjson.loads(head + b"}"), **left}
    assert b'[ {"role":"user","content":"5.00"} ]' in after
    kept = [name for name in dialect.request(body, NOWHERE).tools.provider if name not in names]
    assert list(dialect.request(after, NOWHERE).tools.provider) == kept
