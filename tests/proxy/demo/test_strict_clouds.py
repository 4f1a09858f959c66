"""The doors of Vertex and Azure refuse what the real ones refuse, before a script hears of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import aiohttp
import orjson
import pytest

from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.demo.turns import Text, Turn, always

if TYPE_CHECKING:
    from collections.abc import Mapping

BEARER = {"authorization": "Bearer ya29"}
CLAUDE = "/v1/projects/p/locations/global/publishers/anthropic/models/claude-sonnet-5-5"
CLAUDE_BODY = {
    "anthropic_version": "vertex-2023-10-16",
    "max_tokens": 9,
    "messages": [{"role": "user", "content": "hi"}],
}
CHAT = "/openai/deployments/gpt-5/chat/completions"
CHAT_BODY = {"messages": [{"role": "user", "content": "hi"}]}


async def answer(path: str, headers: Mapping[str, str], body: Any) -> tuple[int, bytes]:
    provider = Provider(always(Turn((Text("Hello."),))))
    async with (
        serving(provider.app(), shutdown_seconds=0.1) as url,
        aiohttp.ClientSession() as session,
        session.post(url + path, data=orjson.dumps(body), headers=headers) as got,
    ):
        return got.status, await got.read()


@pytest.mark.parametrize(
    ("way", "headers", "more", "status", "words"),
    [
        ("rawPredict", BEARER, {}, 200, b"Hello."),
        ("streamRawPredict", BEARER, {"stream": True}, 200, b"message_stop"),
        ("rawPredict", {}, {}, 401, b"missing required authentication"),
        ("rawPredict", BEARER, {"stream": True}, 400, b"stream: streaming is not supported"),
        ("rawPredict", BEARER, {"model": "m"}, 400, b"model: Extra inputs are not permitted"),
        ("rawPredict", BEARER, {"anthropic_version": "2023-06-01"}, 400, b"anthropic_version: Field required"),
        ("rawPredict", BEARER, {"max_tokens": None}, 400, b"max_tokens: Field required"),
    ],
)
async def test_claude_on_vertex(way: str, headers: Mapping[str, str], more: Any, status: int, words: bytes) -> None:
    """The path names the model and the stream, the body its version; a key of Anthropic's own is none here."""
    body = {name: value for name, value in (CLAUDE_BODY | more).items() if value is not None}
    found, text = await answer(f"{CLAUDE}:{way}", headers, body)
    assert (found, words in text) == (status, True), text


@pytest.mark.parametrize(
    ("path", "headers", "more", "status", "words"),
    [
        (f"{CHAT}?api-version=2025-04-01-preview", {"api-key": "k"}, {}, 200, b"prompt_filter_results"),
        (f"{CHAT}?api-version=2025-04-01-preview", BEARER, {"stream": True}, 200, b'data: {"choices":[],"created":0'),
        (CHAT, {"api-key": "k"}, {}, 404, b"Resource not found"),
        (f"{CHAT}?api-version=1", {}, {}, 401, b"invalid subscription key"),
        ("/openai/v1/chat/completions", {"api-key": "k"}, {}, 400, b"you must provide a model parameter"),
        ("/openai/v1/chat/completions", {"api-key": "k"}, {"model": "gpt-5"}, 200, b"Hello."),
    ],
)
async def test_chat_on_azure(path: str, headers: Mapping[str, str], more: Any, status: int, words: bytes) -> None:
    """A deployment stands in the path, its API's version in the query; the content filter speaks first."""
    found, text = await answer(path, headers, CHAT_BODY | more)
    assert (found, words in text) == (status, True), text
