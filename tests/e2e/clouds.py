"""The official clients of the clouds, each as one thing that asks: unmodified but for their address and headers.

`CLIENTS` gives them by name; a new one joins by a context and a row.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import anthropic
import boto3
import httpx
import httpx2
import openai
import orjson
from botocore.config import Config
from google import genai
from google.oauth2.credentials import Credentials

from tests.e2e.harness import session_header
from tests.e2e.mouths import Anthropic, Called, Chat, Converse, Gemini, Responses
from tests.e2e.test_e2e_bedrock import converse, converse_stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from contextlib import AbstractContextManager

    import pytest

    from tests.e2e.mouths import Mouth
    from tests.e2e.tls import Secure

CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PROFILE = "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/a1b2c3d4e5f6"


@dataclass(frozen=True, slots=True)
class Said:
    """What a client makes of one answer; `entries` are what it sends back of it."""

    text: str
    calls: Sequence[Called]
    entries: Sequence[Any]


Ask: TypeAlias = "Callable[[list[Any], bool], Said]"
"""From a history, and whether the answer is streamed."""


@dataclass(frozen=True, slots=True)
class Client:
    """`mouth` says how words and results are spelled, and what the double is."""

    mouth: Mouth
    opened: Callable[[Secure, str, pytest.MonkeyPatch], AbstractContextManager[Ask]]


def _claude(client: Any, model: str) -> Ask:
    def ask(history: list[Any], streamed: bool) -> Said:
        tools = Anthropic().body([], streamed=False)["tools"]
        asked: Any = {"model": model, "max_tokens": 512, "messages": history, "tools": tools}
        if streamed:
            with client.messages.stream(**asked) as stream:
                message: Any = stream.get_final_message()
        else:
            message = client.messages.create(**asked)
        calls = [Called(one.name, one.input, one.id) for one in message.content if one.type == "tool_use"]
        text = "".join(one.text for one in message.content if one.type == "text")
        return Said(text, calls, [{"role": "assistant", "content": message.content}])

    return ask


@contextmanager
def anthropic_vertex(_: Secure, url: str, __: pytest.MonkeyPatch) -> Iterator[Ask]:
    with anthropic.AnthropicVertex(
        region="global",
        project_id="p",
        access_token="a-key",
        base_url=f"{url}/v1",
        max_retries=0,
        default_headers=session_header(),
        http_client=httpx2.Client(trust_env=False),
    ) as client:
        yield _claude(client, "claude-sonnet-5-5")


@contextmanager
def anthropic_bedrock(_: Secure, url: str, __: pytest.MonkeyPatch) -> Iterator[Ask]:
    with anthropic.AnthropicBedrock(
        api_key="a-key",
        aws_region="us-east-1",
        base_url=url,
        max_retries=0,
        default_headers=session_header(),
        http_client=httpx2.Client(trust_env=False),
    ) as client:
        yield _claude(client, f"arn:aws:bedrock:us-east-1:123456789012:inference-profile/{CLAUDE}")


def _azure(url: str) -> openai.AzureOpenAI:
    return openai.AzureOpenAI(
        azure_endpoint=url,
        api_key="a-key",
        api_version="2025-04-01-preview",
        max_retries=0,
        default_headers=session_header(),
        http_client=openai.DefaultHttpxClient(trust_env=False),
    )


@contextmanager
def azure_chat(_: Secure, url: str, __: pytest.MonkeyPatch) -> Iterator[Ask]:
    with _azure(url) as client:

        def ask(history: list[Any], streamed: bool) -> Said:
            asked: Any = {"model": "gpt-5", "messages": history, "tools": Chat().body([], streamed=False)["tools"]}
            if streamed:
                with client.chat.completions.stream(**asked) as stream:
                    message: Any = stream.get_final_completion().choices[0].message
            else:
                message = client.chat.completions.create(**asked).choices[0].message
            made = message.tool_calls or ()
            calls = [Called(one.function.name, orjson.loads(one.function.arguments), one.id) for one in made]
            kept = {"role": "assistant", "content": message.content}
            if made:
                kept["tool_calls"] = [
                    {"id": one.id, "type": "function"}
                    | {"function": {"name": one.function.name, "arguments": one.function.arguments}}
                    for one in made
                ]
            return Said(message.content or "", calls, [kept])

        yield ask


@contextmanager
def azure_responses(_: Secure, url: str, __: pytest.MonkeyPatch) -> Iterator[Ask]:
    with _azure(url) as client:

        def ask(history: list[Any], streamed: bool) -> Said:
            asked: Any = {"model": "gpt-5", "input": history, "tools": Responses().body([], streamed=False)["tools"]}
            if streamed:
                with client.responses.stream(**asked) as stream:
                    response: Any = stream.get_final_response()
            else:
                response = client.responses.create(**asked)
            made = [one for one in response.output if one.type == "function_call"]
            calls = [Called(one.name, orjson.loads(one.arguments), one.call_id) for one in made]
            entries = [one.model_dump(exclude_none=True, mode="json") for one in response.output]
            for one in entries:
                one.pop("parsed_arguments", None)
                for part in one.get("content", ()):
                    part.pop("parsed", None)
            return Said(response.output_text, calls, entries)

        yield ask


@contextmanager
def boto3_converse(secure: Secure, _: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Ask]:
    """botocore takes the key from the environment, and sends it over TLS only."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_BEARER_TOKEN_BEDROCK", "a-key")
    client = boto3.session.Session().client(
        "bedrock-runtime",
        region_name="us-east-1",
        endpoint_url=secure.url,
        verify=str(secure.certificate),
        config=Config(retries={"total_max_attempts": 1}, proxies={}),
    )

    def signed(request: Any, **_: Any) -> None:
        for name, value in session_header().items():
            request.headers[name] = value

    client.meta.events.register("before-send", signed)
    tools = Converse().body([], streamed=False)["toolConfig"]

    def ask(history: list[Any], streamed: bool) -> Said:
        message, _, _ = (converse_stream if streamed else converse)(client, history, tools, PROFILE)
        made = [one["toolUse"] for one in message["content"] if "toolUse" in one]
        calls = [Called(one["name"], one["input"], one["toolUseId"]) for one in made]
        text = "".join(one["text"] for one in message["content"] if "text" in one)
        return Said(text, calls, [message])

    try:
        yield ask
    finally:
        client.close()


@contextmanager
def genai_vertex(_: Secure, url: str, __: pytest.MonkeyPatch) -> Iterator[Ask]:
    types = genai.types
    with httpx.Client(trust_env=False) as http:
        client = genai.Client(
            vertexai=True,
            project="p",
            location="global",
            credentials=Credentials("a-key"),
            http_options=types.HttpOptions(base_url=url, headers=session_header(), httpx_client=http),
        )
        config = types.GenerateContentConfig(
            tools=Gemini().body([], streamed=False)["tools"],
            automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
        )

        def ask(history: list[Any], streamed: bool) -> Said:
            asked: Any = {"model": "gemini-3", "contents": history, "config": config}
            models = client.models
            chunks = list(models.generate_content_stream(**asked)) if streamed else [models.generate_content(**asked)]
            parts = [part for one in chunks for part in (one.candidates[0].content.parts or ())]
            made = [part.function_call for part in parts if part.function_call]
            text = "".join(part.text for part in parts if part.text and not part.thought)
            calls = [Called(one.name, one.args, one.id or "") for one in made]
            return Said(text, calls, [types.Content(role="model", parts=parts)])

        yield ask


CLIENTS: dict[str, Client] = {
    "AnthropicVertex": Client(Anthropic(), anthropic_vertex),
    "AnthropicBedrock": Client(Anthropic(), anthropic_bedrock),
    "AzureOpenAI chat": Client(Chat(), azure_chat),
    "AzureOpenAI responses": Client(Responses(), azure_responses),
    "boto3 Converse": Client(Converse(), boto3_converse),
    "google-genai on Vertex": Client(Gemini(), genai_vertex),
}
