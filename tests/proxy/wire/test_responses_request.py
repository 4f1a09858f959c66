"""What a Responses request hands the model: its tools, wherever they stand, and what is refused of it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from policies.model import folded
from proxy.routes import Mediated, Refused, Unexamined, route
from proxy.wire.envelope import EnvelopeError
from proxy.wire.openai_responses import OPENAI_RESPONSES
from proxy.wire.paths import NOWHERE
from proxy.wire.responses_request import TOOL_MEMBERS
from proxy.wire.stripping import stripped
from proxy.wire.unserved import UNSERVED, why_unserved


def view(**members: Any) -> Any:
    return OPENAI_RESPONSES.request(json.dumps({"model": "m", **members}).encode())


TOOLS = [
    ({"type": "function", "name": "f", "parameters": {}}, "f", ""),
    ({"type": "custom", "name": "edit"}, "edit", ""),
    ({"type": "namespace", "name": "crm", "tools": [{"type": "function", "name": "pay"}]}, "crm/pay", ""),
    ({"type": "local_shell"}, "local_shell_call", ""),
    ({"type": "shell"}, "shell_call", ""),
    ({"type": "shell", "environment": {"type": "local"}}, "shell_call", ""),
    ({"type": "shell", "environment": {"type": "container_auto"}}, "", "shell"),
    ({"type": "apply_patch"}, "apply_patch_call", ""),
    ({"type": "computer_use_preview"}, "computer_call", ""),
    ({"type": "tool_search", "execution": "client"}, "tool_search_call", ""),
    ({"type": "tool_search"}, "", "tool_search"),
    ({"type": "mcp", "server_label": "crm"}, "", "mcp/crm"),
    ({"type": "web_search"}, "", "web_search"),
    ({"type": "web_search_2025_08_26"}, "", "web_search"),
    ({"type": "web_search_preview_2025_03_11"}, "", "web_search_preview"),
    ({"type": "programmatic_tool_calling"}, "", "programmatic_tool_calling"),
    ({"type": "something_new"}, "", "something_new"),
]


@pytest.mark.parametrize(("tool", "declared", "provider"), TOOLS)
def test_who_executes_a_tool(tool: dict[str, Any], declared: str, provider: str) -> None:
    """A type that no table knows is the provider's. A tool that an item of the input brings counts as well."""
    brought = {"type": "additional_tools", "role": "developer", "tools": [tool]}
    for found in (view(tools=[tool]), view(input=[brought]), view(tools=[tool], input=[brought])):
        assert list(found.tools.by_name) == ([folded(declared)] if declared else [])
        assert list(found.tools.provider) == ([provider] if provider else [])
        assert not found.tools.ambiguous


def test_a_stored_prompt_may_bring_any_tool() -> None:
    """What the gate cannot see has a name of its own."""
    assert view(prompt={"id": "pmpt_1"}).tools.provider == ("prompt",)
    assert view(plugins=[{"id": "web"}]).tools.provider == ("plugins/web",)
    assert view(search_parameters={}).tools.provider == ("live_search",)
    assert set(TOOL_MEMBERS) == {"tools", "input", "prompt", "plugins", "search_parameters"}


def test_a_tool_of_the_provider_can_be_stripped() -> None:
    """From `tools`, from an item of the input, and as a whole; the rest keeps its bytes."""
    item = {"type": "additional_tools", "role": "developer", "tools": [{"type": "web_search"}]}
    said = {"role": "user", "content": "x"}
    body = json.dumps({"tools": [{"type": "function", "name": "f"}, {"type": "web_search"}], "input": [item, said]})
    left = json.loads(stripped(OPENAI_RESPONSES, body.encode(), NOWHERE, frozenset({folded("web_search")})))
    assert left == {"tools": [{"type": "function", "name": "f"}], "input": [said]}


def test_the_form_of_an_answer() -> None:
    """`text.format` asks for a schema by name."""
    stated = {"format": {"type": "json_schema", "name": "desk", "schema": {"type": "object"}}}
    found = view(text=stated).output
    assert (found.name, json.loads(found.schema)) == ("desk", {"type": "object"})
    assert view(text={"format": {"type": "text"}}).output is None


@pytest.mark.parametrize("value", [True, 1, "yes", {}])
def test_a_background_answer_is_refused(value: Any) -> None:
    """It is fetched later, past the gate."""
    with pytest.raises(EnvelopeError, match="background"):
        view(background=value)
    assert view(background=False).model == "m"


UPSTREAMS = ("openai", "azure", "groq")
ROUTES = {
    "/v1/responses": ("openai-responses", "openai", "/v1/responses"),
    "/responses": ("openai-responses", "openai", "/responses"),
    "/v1/responses/compact": ("openai-responses", "openai", "/v1/responses/compact"),
    "/groq/v1/responses": ("openai-responses", "groq", "/v1/responses"),
    "/openai/v1/responses": ("openai-responses", "openai", "/v1/responses"),
    "/openai/v1/chat/completions": ("openai-chat", "openai", "/v1/chat/completions"),
    "/azure/openai/v1/responses": ("openai-responses", "azure", "/openai/v1/responses"),
    "/azure/openai/responses": ("openai-responses", "azure", "/openai/responses"),
    "/azure/openai/v1/chat/completions": ("openai-chat", "azure", "/openai/v1/chat/completions"),
    "/azure/openai/deployments/d-1/chat/completions": (
        "openai-chat",
        "azure",
        "/openai/deployments/d-1/chat/completions",
    ),
    "/openai/deployments/d-1/chat/completions": ("openai-chat", "openai", "/openai/deployments/d-1/chat/completions"),
}


@pytest.mark.parametrize(("path", "expected"), ROUTES.items())
def test_where_a_request_goes(path: str, expected: tuple[str, str, str]) -> None:
    """OpenAI's paths and Azure's, with the version in the query; an upstream's name goes before either."""
    found = route("POST", f"{path}?api-version=2026-10-01", "openai", UPSTREAMS, ())
    assert isinstance(found, Mediated)
    assert (found.dialect.name, found.upstream, found.target) == (
        expected[0],
        expected[1],
        f"{expected[2]}?api-version=2026-10-01",
    )


def test_a_count_of_tokens_passes() -> None:
    """It returns a number."""
    assert isinstance(route("POST", "/v1/responses/input_tokens", "openai", UPSTREAMS, ()), Unexamined)


@pytest.mark.parametrize("row", UNSERVED, ids=lambda row: f"{row.method} {row.path}")
def test_what_is_not_served_says_why(row: Any) -> None:
    """What the provider keeps is refused with what to do instead, under any upstream's name."""
    path = row.path.replace("{id}", "resp_1")
    for prefix in ("", "/groq"):
        found = route(row.method, prefix + path, "openai", UPSTREAMS, ())
        assert isinstance(found, Refused)
        assert row.why in found.message
    assert why_unserved("GET", "/v1/nothing") == ""
