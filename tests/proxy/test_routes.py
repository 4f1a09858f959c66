"""Which request goes where: by method and raw path, exactly. What is odd is refused, never normalised (G1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.routes import Mediated, Refused, Unexamined, provider_of, route
from proxy.wire.paths import variables_of
from proxy.wire.registry import DIALECTS

if TYPE_CHECKING:
    from proxy.routes import Route
    from proxy.settings import PassThrough

BOTH = ("anthropic", "openai")
CREATE = {
    "/v1/messages": "anthropic",
    "/messages": "anthropic",
    "/v1/chat/completions": "openai",
    "/chat/completions": "openai",
}


def to(
    method: str,
    target: str,
    provider: str = "openai",
    upstreams: tuple[str, ...] = BOTH,
    passes: tuple[PassThrough, ...] = (),
) -> Route:
    return route(method, target, provider, upstreams, passes)


@pytest.mark.parametrize(("path", "provider"), CREATE.items())
@pytest.mark.parametrize("query", ["", "?beta=true", "?a=%2F..//;b&c=?d", "?"])
def test_create_calls_are_mediated_with_their_query_as_it_came(path: str, provider: str, query: str) -> None:
    """A bare path goes to the upstream named after the dialect's provider, whatever the headers say."""
    for headers_say in BOTH:
        found = to("POST", path + query, headers_say)
        assert isinstance(found, Mediated)
        assert (found.upstream, found.target, found.name) == (provider, path + query, path)
        assert found.dialect.provider == provider


@pytest.mark.parametrize("path", CREATE)
def test_a_name_goes_before_any_path(path: str) -> None:
    """`/{name}/...`: the rest of the path chooses the dialect, the name the upstream."""
    found = to("POST", f"/groq{path}?x=1", upstreams=("groq", "openai"))
    assert isinstance(found, Mediated)
    assert (found.upstream, found.target, found.dialect.provider) == ("groq", f"{path}?x=1", CREATE[path])


def test_a_providers_own_path_goes_before_a_name() -> None:
    """A path that a dialect's table has is that provider's, also where it begins as an upstream is named."""
    found = to("POST", "/v1/messages", upstreams=("v1", "anthropic"))
    assert isinstance(found, Mediated)
    assert (found.upstream, found.target) == ("anthropic", "/v1/messages")


@pytest.mark.parametrize(
    ("method", "target", "provider", "upstream"),
    [
        ("GET", "/v1/models", "openai", "openai"),
        ("GET", "/v1/models", "anthropic", "anthropic"),
        ("GET", "/v1/models/gpt-5?x=1", "openai", "openai"),
        ("GET", "/models/claude", "anthropic", "anthropic"),
        ("POST", "/v1/messages/count_tokens?beta=true", "openai", "anthropic"),
        ("GET", "/openai/v1/models", "anthropic", "openai"),
    ],
)
def test_passive_routes_pass_unexamined(method: str, target: str, provider: str, upstream: str) -> None:
    """Counting, listing and health questions carry no calls: they pass, and their record says unexamined."""
    found = to(method, target, provider)
    assert isinstance(found, Unexamined)
    assert found.upstream == upstream
    assert target.endswith(found.target)


@pytest.mark.parametrize(
    ("method", "target"),
    [
        ("GET", "/v1/messages"),
        ("PUT", "/v1/chat/completions"),
        ("post", "/v1/messages"),
        ("DELETE", "/v1/models/x"),
        ("POST", "/v1/models"),
        ("GET", "/v1/models/a/b"),
        ("GET", "/v1/models/"),
        ("POST", "/v1/messages/"),
        ("POST", "/V1/messages"),
        ("POST", "/v1/messages/batches/x/results"),
        ("GET", "/v1/responses"),
        ("GET", "/v1/chat/completions/chatcmpl-1"),
        ("GET", "/v1/realtime"),
        ("POST", "/unknown/v1/messages"),
        ("POST", "/anthropic/openai/v1/messages"),
        ("POST", "/"),
        ("OPTIONS", "*"),
        ("POST", ""),
        ("POST", "https://api.openai.com/v1/chat/completions"),
    ],
)
def test_what_no_table_names_is_refused(method: str, target: str) -> None:
    """Every other way to a provider returns calls that nobody judged."""
    assert isinstance(to(method, target), Refused)


@pytest.mark.parametrize(
    "path",
    [
        "//v1/messages",
        "/v1//messages",
        "/v1/messages//",
        "/v1/./messages",
        "/v1/x/../messages",
        "/../v1/messages",
        "/v1/models/..",
        "/v1/models/.",
        "/v1%2Fmessages",
        "/v1%2fmessages",
        "/v1/models/%2e%2e",
        "/v1/models/%2E",
        "/v1/models/..%2fmessages",
        "/v1/models/%5c",
        "/v1/models/a%00",
        "/v1/models/%252e",
        "/v1/models/a;b",
        "/v1/models/a\\b",
        "/v1/models/a#b",
        "/v1/models/a b\x7f",
        "/v1/models/ä",
        "/openai//v1/models",
        "/openai/../anthropic/v1/messages",
        "/openai/%2e%2e/messages",
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_what_another_server_could_normalise_is_refused(method: str, path: str) -> None:
    """The gate and the provider must not see two different paths; also where the configuration names it."""
    assert isinstance(to(method, path), Refused)
    assert isinstance(to(method, f"{path}?x=1", passes=((method, path),)), Refused)


@pytest.mark.parametrize(("provider", "shape"), [("anthropic", "anthropic-messages"), ("openai", "openai-chat")])
def test_a_refusal_has_the_shape_of_the_clients_dialect(provider: str, shape: str) -> None:
    """What is refused reads like an error of the client's own provider."""
    found = to("POST", "/v1/nothing", provider)
    assert isinstance(found, Refused)
    assert found.dialect.name == shape
    assert "/v1/nothing" in found.message


def test_a_route_without_its_upstream_is_refused_in_the_routes_own_shape() -> None:
    """A route whose provider is not configured says so in that route's dialect."""
    found = to("POST", "/v1/messages", "openai", upstreams=("openai",))
    assert isinstance(found, Refused)
    assert found.dialect.name == "anthropic-messages"
    assert "'anthropic'" in found.message


def test_the_configuration_names_what_else_may_pass() -> None:
    """Only what `pass_through` names, method and path, passes beyond the built-in routes."""
    passes = (("GET", "/v1/files"), ("POST", "/groq/v1/embeddings"))
    found = to("GET", "/v1/files?limit=2", passes=passes)
    assert isinstance(found, Unexamined)
    assert (found.upstream, found.target) == ("openai", "/v1/files?limit=2")
    named = to("POST", "/groq/v1/embeddings", upstreams=("groq", "openai"), passes=passes)
    assert isinstance(named, Unexamined)
    assert (named.upstream, named.target) == ("groq", "/v1/embeddings")
    assert isinstance(to("POST", "/v1/files", passes=passes), Refused)
    assert isinstance(to("GET", "/v1/files/", passes=passes), Refused)


def test_nothing_that_mediates_can_be_made_to_pass() -> None:
    """G1: naming a create call in the configuration does not take it out of the gate."""
    for path in CREATE:
        assert isinstance(to("POST", path, passes=(("POST", path),)), Mediated)


def test_the_provider_is_told_by_its_version_header() -> None:
    """A path that two dialects share goes to the provider whose header the request carries."""
    assert provider_of({"anthropic-version": "2023-06-01"}) == "anthropic"
    assert provider_of({"authorization": "Bearer x"}) == "openai"


@given(st.sampled_from(["GET", "POST"]), st.text(st.sampled_from("/.%2fFe5c\\;v1messages?#é "), max_size=24))
def test_any_target_that_goes_somewhere_is_in_a_table(method: str, target: str) -> None:
    """Whatever stands in a request line: it is a path of a table, to the letter, or it is refused."""
    found = to(method, target)
    if not isinstance(found, Refused):
        rows = [("POST", path) for dialect in DIALECTS for path in dialect.paths]
        rows += [row for dialect in DIALECTS for row in dialect.passive]
        path = target.partition("?")[0]
        assert any(method == row[0] and variables_of(row[1], path) is not None for row in rows)


@pytest.mark.parametrize(
    "path", ["/v1/agents/completions", "/v1/conversations", "/v1/fim/completions", "/v1/completions"]
)
def test_agents_that_other_servers_keep_are_refused(path: str) -> None:
    """Mistral's agents and conversations hold tools that no request shows; a plain completion has no calls to judge."""
    for target in (path, f"/mistral{path}"):
        assert isinstance(to("POST", target, upstreams=("mistral", "openai")), Refused)
