"""Paths with variables: they match to the letter, and no server can divide a segment elsewhere than the gate did."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.paths import NOWHERE, Address, variables_of

GENERATE = "/v1beta/models/{model}:generateContent"
ONE = "/v1/projects/{p}/locations/{l}/publishers/google/models/{m}:streamGenerateContent"
BEDROCK = "/model/{id}/converse-stream"


@pytest.mark.parametrize(
    ("pattern", "path", "expected"),
    [
        ("/v1/messages", "/v1/messages", {}),
        (GENERATE, "/v1beta/models/gemini-2.5-flash:generateContent", {"model": "gemini-2.5-flash"}),
        (
            ONE,
            "/v1/projects/p-1/locations/us-east5/publishers/google/models/g@1:streamGenerateContent",
            {"p": "p-1", "l": "us-east5", "m": "g@1"},
        ),
        (BEDROCK, "/model/eu.anthropic.claude-v1:0/converse-stream", {"id": "eu.anthropic.claude-v1:0"}),
        (BEDROCK, "/model/anthropic.claude-v1%3A0/converse-stream", {"id": "anthropic.claude-v1%3A0"}),
    ],
)
def test_variables_are_what_stands_in_their_place(pattern: str, path: str, expected: dict[str, str]) -> None:
    """What a variable stands for is given as it stood in the path, escapes and all."""
    assert variables_of(pattern, path) == expected


@pytest.mark.parametrize(
    ("pattern", "path"),
    [
        ("/v1/messages", "/v1/messages/"),
        ("/v1/messages", "/V1/messages"),
        (GENERATE, "/v1beta/models/:generateContent"),
        (GENERATE, "/v1beta/models/m:GenerateContent"),
        (GENERATE, "/v1beta/models/m:generateContent/"),
        (GENERATE, "/v1beta/models/m:streamGenerateContent"),
        (GENERATE, "/v1beta/models/m:streamGenerateContent:generateContent"),
        (GENERATE, "/v1beta/models/m%3AstreamGenerateContent:generateContent"),
        (GENERATE, "/v1beta/models/a/b:generateContent"),
        (GENERATE, "/v1beta/models/m:generateContent:generateContent"),
        (BEDROCK, "/model//converse-stream"),
        (BEDROCK, "/model/a/b/converse-stream"),
    ],
)
def test_what_differs_in_a_letter_does_not_match(pattern: str, path: str) -> None:
    """No folding, no trailing slash, no empty variable, and no second method hidden in a variable."""
    assert variables_of(pattern, path) is None


@given(st.text(st.sampled_from("ab:/%{}"), max_size=12))
def test_a_match_is_the_pattern_with_its_variables_filled_in(middle: str) -> None:
    """A path that matches is the pattern again once the variables are put into it: nothing of it was passed over."""
    for path in (f"/v1beta/models/{middle}:generateContent", middle):
        found = variables_of(GENERATE, path)
        if found is not None:
            assert GENERATE.replace("{model}", found["model"]) == path
            assert not set("/:%") & set(found["model"])


def test_a_request_without_an_address_has_no_variables() -> None:
    """A body that is read by itself (as tests and benchmarks do) was posted nowhere in particular."""
    assert Address("", {}, "") == NOWHERE
