"""Tools of the provider: found wherever a request hands them to the model, and taken out without touching the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from policies.model import folded
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.envelope import EnvelopeError
from proxy.wire.gemini import GEMINI
from proxy.wire.ollama import OLLAMA_CHAT
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.stripping import stripped

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

MINE = {"name": "lookup_order", "input_schema": {"type": "object"}}
SEARCH = {"type": "web_search_20260318", "name": "lookup_order", "max_uses": 3}
CODE = {"type": "code_execution_20260120", "name": "code_execution"}
SERVER = {"type": "url", "name": "wiki", "url": "https://wiki.example/mcp"}
CHAT_MINE = {"type": "function", "function": {"name": "lookup_order", "parameters": {}}}
FUNCTION = {"type": "function", "name": "lookup_order", "parameters": {}}
WEB = {"type": "web_search"}
GEMINI_MINE = {"functionDeclarations": [{"name": "lookup_order"}]}


def at(dialect: Dialect) -> Address:
    return Address("/v1beta/models/{model}:generateContent", {"model": "m"}, "") if dialect is GEMINI else NOWHERE


def brought(*tools: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An item of the input of Responses that brings tools."""
    return {"type": "additional_tools", "role": "developer", "tools": list(tools), **more}


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
    (OPENAI_CHAT, {"enable_search": True}, ("web_search",)),
    (OPENAI_CHAT, {"enable_search": False, "search_parameters": None}, ()),
    (OPENAI_CHAT, {"search_settings": {"include_domains": ["a.b"]}}, ("web_search",)),
    (OPENAI_CHAT, {"enable_search": True, "search_options": {"forced_search": True}}, ("web_search",)),
    (OPENAI_CHAT, {"compound_custom": {"tools": {"enabled_tools": ["web_search"]}}}, ("compound",)),
    (
        OPENAI_CHAT,
        {"mcp_servers": [{"name": "wiki"}, {"server_url": "https://x"}, {}]},
        ("mcp/wiki", "mcp/https://x", "mcp/"),
    ),
    (OPENAI_CHAT, {"data_sources": [{"type": "azure_search"}]}, ("data_sources/azure_search",)),
    (OPENAI_CHAT, {"connectors": [{"id": "web-search"}, "x"]}, ("connectors/web-search", "connectors/")),
    (OPENAI_CHAT, {"extra_body": {"google": {"cached_content": "cachedContents/1"}}}, ("cached_content",)),
    (OPENAI_CHAT, {"extra_body": {"google": {"thinking_config": {}}}}, ()),
    (OPENAI_CHAT, {"model": "groq/compound"}, ("compound",)),
    (OPENAI_CHAT, {"model": "compound-beta-mini"}, ("compound",)),
    (OPENAI_CHAT, {"model": "meta-llama/compound-eyes"}, ()),
    (OPENAI_CHAT, {"model": "openai/gpt-5:online"}, ("plugins/web",)),
    (OPENAI_CHAT, {"model": "openai/gpt-5:free", "models": ["x/y", "a/b:nitro:online"]}, ("plugins/web",)),
    (OPENAI_CHAT, {"model": "a/b:online:nitro"}, ("plugins/web",)),
    (OPENAI_CHAT, {"model": "openai/gpt-5:free", "plugins": [{"id": "web"}]}, ("plugins/web",)),
    (OPENAI_CHAT, {"model": "openai/gpt-5-online"}, ()),
    (OPENAI_CHAT, {"model": "Perplexity/Sonar-Reasoning-Pro"}, ("web_search",)),
    (OPENAI_CHAT, {"model": "gpt-4o-search-preview-2025-03-11", "web_search_options": {}}, ("web_search",)),
    (OPENAI_CHAT, {"model": "gpt-4o-researcher"}, ()),
    (OPENAI_RESPONSES, {"model": "openai/gpt-5:online", "plugins": [{"id": "web"}]}, ("plugins/web",)),
    (OPENAI_RESPONSES, {"input": [brought(FUNCTION)]}, ()),
    (OPENAI_RESPONSES, {"input": [brought(FUNCTION, WEB)]}, ("web_search",)),
    (OPENAI_RESPONSES, {"tools": [{"type": "namespace", "name": "crm", "tools": [FUNCTION, WEB]}]}, ("web_search",)),
    (OPENAI_RESPONSES, {"prompt": {"id": "pmpt_1"}}, ("prompt",)),
    (GEMINI, {"tools": [GEMINI_MINE]}, ()),
    (
        GEMINI,
        {"tools": [{**GEMINI_MINE, "googleSearch": {}, "codeExecution": {}}]},
        ("google_search", "code_execution"),
    ),
    (GEMINI, {"tools": [{"google_search": {}}]}, ("google_search",)),
    (GEMINI, {"tools": {"urlContext": {}}}, ("url_context",)),
    (GEMINI, {"tools": [{"mcpServers": [{"name": "wiki"}]}]}, ("mcp/wiki",)),
    (GEMINI, {"cachedContent": "cachedContents/1"}, ("cached_content",)),
    (OLLAMA_CHAT, {"tools": [CHAT_MINE]}, ()),
]


@pytest.mark.parametrize(("dialect", "request_body", "names"), FOUND)
def test_every_hand_elsewhere_has_a_name(
    dialect: Dialect, request_body: dict[str, Any], names: tuple[str, ...]
) -> None:
    """What a request gives the model beside the agent's own tools is found by what it is, not by its name."""
    view = dialect.request(orjson.dumps({"model": "m", "messages": [], **request_body}), at(dialect))
    assert tuple(view.tools.provider) == names


def test_a_definition_inside_a_message_is_found_however_it_is_spelled() -> None:
    """An escape in the type of a block hides no tool: a filter that looked for the plain word only would be passed."""
    body = orjson.dumps({"messages": added(SEARCH)}).replace(b"tool_addition", rb"tool\u005faddition")
    assert ANTHROPIC_MESSAGES.request(body, NOWHERE).tools.provider == ("web_search",)
    body = orjson.dumps({"messages": added(SEARCH)}).replace(b"tool_addition", rb"\u0074ool_addition")
    assert ANTHROPIC_MESSAGES.request(body, NOWHERE).tools.provider == ("web_search",)


@pytest.mark.parametrize("name", [rb"cached_\u0063ontent", rb"cached\u005fcontent", rb"cached\u0043ontent"])
def test_a_cached_context_is_found_however_it_is_spelled(name: bytes) -> None:
    """It may declare any tool, and its name is looked for inside a member that is not read otherwise."""
    body = b'{"model":"m","messages":[],"extra_body":{"google":{"%s":"\\u0063achedContents/1"}}}' % name
    assert OPENAI_CHAT.request(body, NOWHERE).tools.provider == ("cached_content",)


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
    (
        OPENAI_RESPONSES,
        {"tools": [WEB, FUNCTION], "prompt": {"id": "pmpt_1"}, "tool_choice": {"type": "web_search"}},
        {"web_search", "prompt"},
        {"tools": [FUNCTION]},
    ),
    (OPENAI_RESPONSES, {"tools": [WEB], "tool_choice": "auto"}, {"web_search"}, {}),
    (OPENAI_RESPONSES, {"input": [brought(WEB, FUNCTION)]}, {"web_search"}, {"input": [brought(FUNCTION)]}),
    (
        OPENAI_RESPONSES,
        {"input": [{"role": "user", "content": "x"}, brought(WEB)]},
        {"web_search"},
        {"input": [{"role": "user", "content": "x"}]},
    ),
    (
        OPENAI_RESPONSES,
        {"input": [brought(WEB, type="tool_search_output", call_id="call_1")]},
        {"web_search"},
        {"input": [brought(type="tool_search_output", call_id="call_1")]},
    ),
    (
        OPENAI_RESPONSES,
        {"tools": [{"type": "namespace", "name": "crm", "tools": [WEB, FUNCTION]}]},
        {"web_search"},
        {"tools": [{"type": "namespace", "name": "crm", "tools": [FUNCTION]}]},
    ),
    (
        GEMINI,
        {"tools": [{"googleSearch": {}, **GEMINI_MINE}, {"codeExecution": {}}]},
        {"google_search"},
        {"tools": [GEMINI_MINE, {"codeExecution": {}}]},
    ),
    (
        GEMINI,
        {"tools": [{"mcpServers": [{"name": "wiki"}, {"name": "crm"}]}, GEMINI_MINE]},
        {"mcp/wiki"},
        {"tools": [{"mcpServers": [{"name": "crm"}]}, GEMINI_MINE]},
    ),
    (
        GEMINI,
        {"tools": [{"google_search": {}}], "toolConfig": {"functionCallingConfig": {"mode": "AUTO"}}},
        {"google_search"},
        {},
    ),
    (
        GEMINI,
        {"cached_content": "cachedContents/1", "tools": [GEMINI_MINE]},
        {"cached_content"},
        {"tools": [GEMINI_MINE]},
    ),
]


@pytest.mark.parametrize(("dialect", "given", "names", "left"), STRIPPED)
def test_what_is_stripped_is_gone_and_the_rest_is_as_it_was(
    dialect: Dialect, given: dict[str, Any], names: set[str], left: dict[str, Any]
) -> None:
    """The provider reads a request that never had the tool, which it accepts; other members keep their bytes."""
    head = b'{"model" :"m","messages":[ {"role":"user","content":"5.00"} ]'
    body = head + b"," + orjson.dumps(given)[1:]
    after = stripped(dialect, body, at(dialect), frozenset(map(folded, names)))
    assert orjson.loads(after) == {**orjson.loads(head + b"}"), **left}
    assert b'[ {"role":"user","content":"5.00"} ]' in after
    kept = [name for name in dialect.request(body, at(dialect)).tools.provider if name not in names]
    assert list(dialect.request(after, at(dialect)).tools.provider) == kept


@pytest.mark.parametrize("spelled", [rb"additional\u005ftools", rb"\u0061dditional_tools"])
def test_an_item_that_brings_tools_is_found_however_it_is_spelled(spelled: bytes) -> None:
    """The provider reads the escape as the letter: a filter that looked for the plain word only would be passed."""
    body = orjson.dumps({"model": "m", "input": [brought(WEB)]}).replace(b"additional_tools", spelled)
    assert OPENAI_RESPONSES.request(body).tools.provider == ("web_search",)


@pytest.mark.parametrize("spelled", [b"configuration_update", rb"configuration\u005fupdate"])
def test_an_item_that_changes_the_form_of_later_answers_is_refused(spelled: bytes) -> None:
    """`structured` judges the text of an answer by the form that the request asks for; this form would be unknown to
    every later request."""
    item = {"type": "configuration_update", "text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}}
    body = orjson.dumps({"model": "m", "input": [item]}).replace(b"configuration_update", spelled)
    with pytest.raises(EnvelopeError, match="configuration_update"):
        OPENAI_RESPONSES.request(body)
    effort = {"type": "configuration_update", "reasoning": {"effort": "low"}}
    OPENAI_RESPONSES.request(orjson.dumps({"model": "m", "input": [effort]}))
