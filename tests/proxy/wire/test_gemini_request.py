"""What a Gemini request says: the model and the stream in its path, its tools, and the query (WIRE.md 4)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from proxy.routes import Mediated, Refused, route
from proxy.wire.envelope import EnvelopeError
from proxy.wire.gemini import GEMINI
from proxy.wire.gemini_request import refuse_query
from proxy.wire.gemini_splice import StreamSplice
from proxy.wire.paths import Address
from proxy.wire.sse import Framer

PATH = "/v1beta/models/{model}:streamGenerateContent"
VERTEX = "/v1/projects/p/locations/l/publishers/google/models/gemini-3:generateContent"


def view(body: Any, pattern: str = PATH, query: str = "alt=sse") -> Any:
    return GEMINI.request(json.dumps({"contents": [], **body}).encode(), Address(pattern, {"model": "gemini-3"}, query))


@pytest.mark.parametrize(
    ("target", "upstream", "streamed"),
    [
        ("/v1beta/models/gemini-3:generateContent", "gemini", False),
        ("/v1/models/gemini-3:streamGenerateContent?alt=sse", "gemini", True),
        (VERTEX, "vertex", False),
        (VERTEX.replace(":generate", ":streamGenerate") + "?alt=sse", "vertex", True),
        ("/mine/v1beta/models/gemini-3:generateContent", "mine", False),
    ],
)
def test_the_path_says_where_it_goes_and_whether_it_streams(target: str, upstream: str, streamed: bool) -> None:
    """A bare path goes to the upstream of its host, and nothing of it is rewritten."""
    way = route("POST", target, "openai", ("gemini", "vertex", "mine"), ())
    assert isinstance(way, Mediated)
    assert way.upstream == upstream
    assert target.endswith(way.target)
    found = way.dialect.request(b'{"contents":[]}', way.at)
    assert (found.model, found.streamed) == ("gemini-3", streamed)


@pytest.mark.parametrize(
    "target",
    [
        "/v1beta/models/gemini-3:batchGenerateContent",
        "/v1beta/models/gemini-3:streamGenerateContent:generateContent",
        "/v1beta/models/gemini-3%3AstreamGenerateContent:generateContent",
        "/v1beta/models/gemini-3:GenerateContent",
        "/v1beta/interactions",
        "/v1beta/cachedContents",
    ],
)
def test_other_ways_to_the_model_are_refused(target: str) -> None:
    """Batches, interactions and a second method in the model's name go nowhere."""
    assert isinstance(route("POST", target, "gemini", ("gemini",), ()), Refused)


@pytest.mark.parametrize(
    ("query", "streamed"),
    [
        ("", True),
        ("alt=json", True),
        ("alt=sse&alt=json", True),
        ("alt=sse&%61lt=json", True),
        ("alt=sse&$alt=json", True),
        ("alt=sse", False),
        ("alt=sse&key=sk-1", True),
        ("access_token=x", False),
        ("callback=run", False),
        ("fields=candidates", False),
    ],
)
def test_a_query_that_could_change_the_answers_form_is_refused(query: str, streamed: bool) -> None:
    """The JSON array in place of events, a key in the URL, and whatever is not known to be harmless."""
    with pytest.raises(EnvelopeError) as refused:
        refuse_query(query, streamed=streamed)
    assert "sk-1" not in str(refused.value)


def test_the_refusal_of_an_array_says_what_to_do() -> None:
    """A clear error: the official clients already ask for events."""
    with pytest.raises(EnvelopeError, match="alt=sse"):
        view({}, query="")


SCHEMA = {
    "type": "OBJECT",
    "properties": {
        "order": {"type": "STRING", "nullable": True, "minLength": "2"},
        "n": {"type": "NUMBER", "minimum": 0.5},
    },
    "required": ["order"],
}


@pytest.mark.parametrize("spelling", ["functionDeclarations", "function_declarations"])
def test_declared_functions_have_their_schema(spelling: str) -> None:
    """Google's own schema becomes a JSON Schema; a JSON Schema stays what it is."""
    tools = [
        {
            spelling: [
                {"name": "pay", "parameters": SCHEMA},
                {"name": "look", "parametersJsonSchema": {"type": "object"}},
            ]
        }
    ]
    declared = view({"tools": tools}).tools.by_name
    assert json.loads(declared["look"].schema) == {"type": "object"}
    assert json.loads(declared["pay"].schema) == {
        "type": "object",
        "properties": {"order": {"type": ["string", "null"], "minLength": 2}, "n": {"type": "number", "minimum": 0.5}},
        "required": ["order"],
    }


def test_tools_that_the_provider_executes_are_named() -> None:
    """Searches, code, MCP servers, and content that Google keeps; `computerUse` is the client's to execute."""
    tools = [{"googleSearch": {}, "codeExecution": {}}, {"mcpServers": [{"name": "crm"}]}, {"computerUse": {}}]
    assert view({"tools": tools, "cachedContent": "cachedContents/x"}).tools.provider == (
        "cached_content",
        "google_search",
        "code_execution",
        "mcp/crm",
    )


def test_the_form_of_the_answer_is_the_schema_that_it_asks_for() -> None:
    """Structured output is judged as a call where the policy says so; its name is the schema's title."""
    config = {"responseMimeType": "application/json", "responseJsonSchema": {"title": "intent", "type": "object"}}
    output = view({"generationConfig": config}).output
    assert output is not None
    assert output.name == "intent"


def test_a_chunk_of_another_shape_is_left_to_the_reader() -> None:
    """Joining the legs of a turn never raises on what the reader will refuse."""

    (frame,) = Framer(1000).feed(b'data: {"candidates":[{"content":[]}]}\n\n')
    assert StreamSplice().join(frame) is frame
