"""Ways past the gate by a route that is passed on unexamined."""

from __future__ import annotations

import pytest

from proxy.routes import Refused, Unexamined, route

UPSTREAMS = frozenset({"anthropic", "openai", "gemini", "ollama", "vertex"})


@pytest.mark.parametrize(
    "root", ["/v1beta/models", "/v1/models", "/models", "/gemini/v1beta/models", "/gemini/v1/models"]
)
@pytest.mark.parametrize(
    "model",
    [
        "gemini-pro:generateContent",
        "gemini-pro:streamGenerateContent?alt=sse",
        "gemini-pro%3AstreamGenerateContent?alt=sse",
        "gemini-pro%3agenerate%43ontent",
        "a:b:generateContent",
        "gemini-pro:GenerateContent",
        "gemini-pro:rawPredict",
    ],
)
def test_a_create_call_is_not_read_as_a_model(root: str, model: str) -> None:
    """`GET .../models/M:generateContent` has the form of a look at a model, and is refused."""
    found = route("GET", f"{root}/{model}", "gemini", UPSTREAMS, ())
    assert isinstance(found, Refused), found


@pytest.mark.parametrize("model", ["gemini-pro", "ft:gpt-4o:org::id", "llama3:8b", "ft%3Agpt-4o", "generateContent"])
def test_models_with_colons_are_models(model: str) -> None:
    """Names of models may hold what separates a method."""
    assert isinstance(route("GET", f"/v1/models/{model}", "openai", UPSTREAMS, ()), Unexamined)
