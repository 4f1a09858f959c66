"""How a model of Bedrock may be named: by its id, or by an ARN, whose escaped slash divides nothing (WIRE.md 5)."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from proxy.routes import Mediated, Refused, Unexamined, route
from proxy.wire import envelope
from proxy.wire.bedrock import BEDROCK_CONVERSE
from proxy.wire.bedrock_invoke import BEDROCK_INVOKE
from proxy.wire.paths import Address

OWN = "arn:aws:bedrock:us-east-1:123456789012:"
NAMED = (
    f"{OWN}inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
    "arn:aws-us-gov:bedrock:us-gov-west-1::foundation-model/anthropic.claude-3-5-sonnet-20240620-v1:0",
    f"{OWN}custom-model/anthropic.claude-3-haiku/abcdefghijkl",
)
UNNAMED = (
    f"{OWN}application-inference-profile/a1b2c3d4e5f6",
    f"{OWN}provisioned-model/a1b2c3d4e5f6",
    f"{OWN}imported-model/a1b2c3d4e5f6",
    f"{OWN}custom-model-deployment/a1b2c3d4e5f6",
    f"{OWN}default-prompt-router/anthropic:1",
    "arn:aws:sagemaker:eu-west-1:123456789012:endpoint/my-endpoint",
)
WAYS = ("converse", "converse-stream", "invoke", "invoke-with-response-stream")
CLAUDE = b'{"anthropic_version":"bedrock-2023-05-31","max_tokens":9,"messages":[]}'


def to(model: str, way: str, before: str = "") -> object:
    return route("POST", f"{before}/model/{model}/{way}", "bedrock", ("bedrock", "eu"), ())


@pytest.mark.parametrize("arn", [*NAMED, *UNNAMED])
@pytest.mark.parametrize("safe", ["", ":"], ids=["botocore", "anthropic"])
def test_an_arn_as_clients_escape_it_is_one_name(arn: str, safe: str) -> None:
    """It goes up as it came, from the bare path and behind the name of an upstream."""
    escaped = quote(arn, safe=safe)
    for way in WAYS:
        for before, upstream in (("", "bedrock"), ("/eu", "eu")):
            found = to(escaped, way, before)
            assert isinstance(found, Mediated)
            assert (found.upstream, found.target) == (upstream, f"/model/{escaped}/{way}")
            if found.dialect is BEDROCK_CONVERSE:
                assert found.dialect.request(b"{}", found.at).model == arn
    assert isinstance(to(escaped, "count-tokens"), Unexamined)


@pytest.mark.parametrize(
    "model",
    [
        "a%2Fb",
        "a%2F..",
        f"{OWN}provisioned-model%2F..",
        f"{OWN}provisioned-model%2F..%2Fx",
        f"{OWN}provisioned-model%2Fa..b",
        f"{OWN}provisioned-model%2Fa%2Fb",
        f"{OWN}provisioned-model%252Fa",
        f"{OWN}provisioned-model%2Fa%00",
        f"{OWN}agent%2FABCDEFGHIJ",
        "arn:aws:s3:::bucket%2Fkey",
        f"x{OWN}provisioned-model%2Fa",
    ],
)
def test_any_other_escaped_slash_is_refused(model: str) -> None:
    """No server can divide the path elsewhere than the gate did."""
    found = to(model, "converse")
    assert isinstance(found, Refused)
    assert "encoded separator" in found.message


def test_an_arn_is_a_name_in_its_place_alone() -> None:
    """Not in another path of another provider, nor beside another escape."""
    escaped = quote(UNNAMED[1], safe="")
    for target in (f"/v1/models/{escaped}", f"/model/{escaped}/a%2Fb", f"/model/{escaped}", f"/x/{escaped}/converse"):
        assert isinstance(route("POST", target, "bedrock", ("bedrock",), ()), Refused)
        assert isinstance(route("GET", target, "openai", ("openai", "bedrock"), ()), Refused)


@pytest.mark.parametrize("way", WAYS[2:])
def test_invoke_needs_the_vendor_in_the_name(way: str) -> None:
    """Of an ARN that does not say whose model it is, the form of the answer is not known; the error says what to do."""
    pattern = f"/model/{{model}}/{way}"
    for arn in NAMED:
        view = BEDROCK_INVOKE.request(CLAUDE, Address(pattern, {"model": quote(arn, safe="")}))
        assert (view.model, view.streamed) == (arn, "stream" in way)
    for arn in UNNAMED:
        with pytest.raises(envelope.EnvelopeError, match="use Converse"):
            BEDROCK_INVOKE.request(CLAUDE, Address(pattern, {"model": quote(arn, safe="")}))


def test_a_stored_prompt_is_a_tool_of_the_providers() -> None:
    """What it brings nobody here can read: the policy decides on `prompt`."""
    at = Address("/model/{model}/converse", {"model": quote(f"{OWN}prompt/ABCDEFGHIJ:1", safe="")})
    assert BEDROCK_CONVERSE.request(b"{}", at).tools.provider == ("prompt",)
    plain = Address("/model/{model}/converse", {"model": quote(UNNAMED[0], safe="")})
    assert BEDROCK_CONVERSE.request(b"{}", plain).tools.provider == ()
