"""The official SDKs as a second reader of what left, in process: a transport that answers with given bytes."""

from __future__ import annotations

import json
import warnings
from collections import Counter
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import anthropic
import boto3
import httpx
import httpx2
import ollama
import openai
from botocore.eventstream import EventStream
from botocore.parsers import EventStreamJSONParser
from google import genai

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

Found = Counter[tuple[str, str]]
_RUNTIME: Any = boto3.client(
    "bedrock-runtime", region_name="us-east-1", aws_access_key_id="k", aws_secret_access_key="k"
).meta
MESSAGES: Any = [{"role": "user", "content": "hi"}]


def _client(data: bytes, streamed: bool) -> httpx2.Client:
    kind = "text/event-stream" if streamed else "application/json"

    def answer(_: httpx2.Request) -> httpx2.Response:
        return httpx2.Response(200, headers={"content-type": kind}, content=data)

    return httpx2.Client(transport=httpx2.MockTransport(answer))


def calls_found(dialect: Dialect, data: bytes, *, streamed: bool = True) -> Found:
    """(name, arguments as canonical JSON) of each call that the SDK hands to its user; raises what the SDK raises."""
    if dialect.name.startswith("bedrock"):
        return _bedrock(data, streamed) if dialect.name == "bedrock-converse" else _invoke(data, streamed)
    if dialect.name.startswith(("gemini", "ollama")):
        return (_gemini if dialect.name.startswith("gemini") else _ollama)(data, streamed)
    read = _anthropic if dialect.name.startswith("anthropic") else _openai
    if dialect.name == "openai-responses":
        read = _responses
    with warnings.catch_warnings(), _client(data, streamed) as client:
        warnings.simplefilter("ignore")  # of pydantic, on damaged streams
        return read(client, streamed)


def _anthropic(http: httpx2.Client, streamed: bool) -> Found:
    client = anthropic.Anthropic(api_key="k", max_retries=0, http_client=http)
    if streamed:
        with client.messages.stream(model="m", max_tokens=9, messages=MESSAGES) as stream:
            message: Any = stream.get_final_message()
    else:
        message = client.messages.create(model="m", max_tokens=9, messages=MESSAGES)
    return Counter((block.name, _plain(block.input)) for block in message.content if block.type == "tool_use")


def _openai(http: httpx2.Client, streamed: bool) -> Found:
    client = openai.OpenAI(api_key="k", max_retries=0, http_client=http)
    if streamed:
        with client.chat.completions.stream(model="m", messages=MESSAGES) as stream:
            for _ in stream:
                pass
            completion: Any = stream.get_final_completion()
    else:
        completion = client.chat.completions.create(model="m", messages=MESSAGES)
    found: Found = Counter()
    for choice in completion.choices:
        legacy = choice.message.function_call
        for call in choice.message.tool_calls or ():
            body: Any = getattr(call, "function", None) or getattr(call, "custom", None)
            found[body.name, _parsed(getattr(body, "arguments", None) or "{}")] += 1
        if legacy:
            found[legacy.name, _parsed(legacy.arguments or "{}")] += 1
    return found


def _gemini(data: bytes, streamed: bool) -> Found:
    """A fragment is a call to this SDK: it puts nothing together."""

    def answer(_: httpx.Request) -> httpx.Response:
        kind = "text/event-stream" if streamed else "application/json"
        return httpx.Response(200, headers={"content-type": kind}, content=data)

    with httpx.Client(transport=httpx.MockTransport(answer)) as http:
        options = genai.types.HttpOptions(httpx_client=http)
        models = genai.Client(api_key="k", http_options=options).models
        if streamed:
            chunks = list(models.generate_content_stream(model="m", contents="hi"))
        else:
            chunks = [models.generate_content(model="m", contents="hi")]
    found: Found = Counter()
    for chunk in chunks:
        for candidate in chunk.candidates or ():
            for part in (candidate.content and candidate.content.parts) or ():
                if part.function_call:
                    found[part.function_call.name or "", _plain(part.function_call.args)] += 1
    return found


def _bedrock(data: bytes, streamed: bool) -> Found:
    """botocore's own parsers; blocks are put together by the order of their events, as agents do."""
    if not streamed:
        blocks: Any = ((json.loads(data).get("output") or {}).get("message") or {}).get("content") or ()
        calls = [block["toolUse"] for block in blocks if "toolUse" in block]
        return Counter((call["name"], _plain(call["input"])) for call in calls if call.get("type") != "server_tool_use")
    found: Found = Counter()
    name, arguments = "", ""
    for event in _events(data):
        match event:
            case {"contentBlockStart": {"start": {"toolUse": call}}} if call.get("type") != "server_tool_use":
                name, arguments = call["name"], ""
            case {"contentBlockDelta": {"delta": {"toolUse": {"input": text}}}}:
                arguments += text
            case {"contentBlockStop": _} if name:
                found[name, _parsed(arguments or "{}")] += 1
                name = ""
    return found


def _invoke(data: bytes, streamed: bool) -> Found:
    """The events of the chunks, to Anthropic's client."""
    events: list[Any] = [json.loads(event["chunk"]["bytes"]) for event in _events(data)] if streamed else []
    said = b"".join(b"event: %s\ndata: %s\n\n" % (each["type"].encode(), json.dumps(each).encode()) for each in events)
    with warnings.catch_warnings(), _client(said if streamed else data, streamed) as client:
        warnings.simplefilter("ignore")
        return _anthropic(client, streamed)


def _events(data: bytes) -> list[Any]:
    """As boto3 hands them on; raises what it raises for an exception."""
    runtime = _RUNTIME.service_model.operation_model("ConverseStream").output_shape.members["stream"]
    chunks = _RUNTIME.service_model.operation_model("InvokeModelWithResponseStream").output_shape.members["body"]
    found = []
    for shape in (runtime, chunks):
        source = SimpleNamespace(stream=lambda: iter([data]), close=lambda: None)
        found += list(EventStream(source, shape, EventStreamJSONParser(), "ConverseStream"))
    return found


def _ollama(data: bytes, streamed: bool) -> Found:
    def answer(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, content=data)

    client = ollama.Client(transport=httpx.MockTransport(answer))
    if streamed:
        lines = list(client.chat(model="m", messages=MESSAGES, stream=True))
    else:
        lines = [client.chat(model="m", messages=MESSAGES)]
    found: Found = Counter()
    for line in lines:
        for call in line.message.tool_calls or ():
            found[call.function.name, _plain(call.function.arguments)] += 1
    return found


def _responses(http: httpx2.Client, streamed: bool) -> Found:
    client = openai.OpenAI(api_key="k", max_retries=0, http_client=http)
    if streamed:
        with client.responses.stream(model="m", input="hi") as stream:
            response: Any = stream.get_final_response()
    else:
        response = client.responses.create(model="m", input="hi")
    calls = [item for item in response.output or () if item.type in ("function_call", "custom_tool_call")]
    return Counter(
        (item.name, _parsed(item.arguments or "{}" if item.type == "function_call" else item.input)) for item in calls
    )


def _parsed(arguments: str) -> str:
    """What an agent makes of arguments: JSON, or the text where they are none."""
    try:
        return _plain(json.loads(arguments))
    except ValueError:
        return f"not JSON: {arguments}"


def _plain(value: object) -> str:
    return json.dumps(value, sort_keys=True)
