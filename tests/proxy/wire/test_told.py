"""Whole answers of ours: the official SDKs' types and the gate's own readers take them, streamed and not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest
from anthropic.types import Message, RawMessageStreamEvent
from google.genai.types import GenerateContentResponse
from ollama import ChatResponse
from openai.types.chat import ChatCompletion, ChatCompletionChunk
from openai.types.responses import Response, ResponseStreamEvent
from pydantic import TypeAdapter

from proxy.wire import (
    anthropic_told,
    bedrock_told,
    chat_told,
    gemini_told,
    ollama_told,
    responses_told,
)
from proxy.wire.events import CallCompleted, FrameRead, TurnEnded, WireBroken
from proxy.wire.paths import Address
from proxy.wire.registry import DIALECTS
from proxy.wire.sse import Frame
from proxy.wire.standing import Named
from proxy.wire.told import KeepsAnswers, Told

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect

TEXT = 'Grüße, "a person" \u2028 will call.'
TOLD = Told(TEXT, "a-model", "0123456789abcdef" * 2, 1_764_504_000, b'{"stream_options":{"include_usage":true}}')


def events(data: bytes) -> list[bytes]:
    """The data of server-sent events."""
    lines = [line for line in data.split(b"\n") if line.startswith(b"data: ")]
    return [line.removeprefix(b"data: ") for line in lines]


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
def test_the_dialects_own_reader_finds_a_turn_that_ended(dialect: Dialect, streamed: bool) -> None:
    """Nothing of it is a call, nothing breaks, the end is there, the text is the text; the same bytes each time."""
    data = dialect.told(TOLD, streamed)
    assert dialect.told(TOLD, streamed) == data
    framer, reader = dialect.framing.framer(1 << 20), dialect.reader(streamed, frozenset())
    frames = framer.feed(data) if streamed else [Frame(data, None, data)]
    assert b"".join(frame.raw for frame in frames) == data
    found = [*(event for frame in frames for event in reader.receive(frame)), *reader.end()]
    assert not any(isinstance(event, CallCompleted | WireBroken) for event in found)
    assert any(isinstance(event, TurnEnded) for event in found)
    finder = dialect.texts(streamed)
    said = [finder.find(event.value, holds=False) for event in found if isinstance(event, FrameRead) and event.value]
    assert "".join(text for one in said for text in one.values()) == TEXT


def test_the_sdks_read_them() -> None:
    """Each type validates as the SDK that clients use makes it."""
    message = Message.model_validate_json(anthropic_told.body(TOLD))
    assert (message.stop_reason, message.content[0].model_dump()["text"]) == ("end_turn", TEXT)
    event: TypeAdapter[Any] = TypeAdapter(RawMessageStreamEvent)
    assert [event.validate_json(one).type for one in events(anthropic_told.events(TOLD))][-1] == "message_stop"
    completion = ChatCompletion.model_validate_json(chat_told.body(TOLD))
    assert (completion.choices[0].finish_reason, completion.choices[0].message.content) == ("stop", TEXT)
    *chunks, done = events(chat_told.events(TOLD))
    read = [ChatCompletionChunk.model_validate_json(one) for one in chunks]
    assert done == b"[DONE]"
    assert [one.usage is not None for one in read] == [False, False, False, True]
    assert "".join(choice.delta.content or "" for one in read for choice in one.choices) == TEXT
    response = Response.model_validate_json(responses_told.body(TOLD))
    assert (response.output_text, response.status) == (TEXT, "completed")
    item: TypeAdapter[Any] = TypeAdapter(ResponseStreamEvent)
    told = [item.validate_json(one) for one in events(responses_told.events(TOLD))]
    assert [one.sequence_number for one in told] == list(range(len(told)))
    assert told[-1].response.output_text == TEXT
    assert GenerateContentResponse.model_validate_json(gemini_told.body(TOLD)).text == TEXT
    assert ChatResponse.model_validate_json(ollama_told.body(TOLD)).message.content == TEXT
    lines = [ChatResponse.model_validate_json(line) for line in ollama_told.lines(TOLD).split(b"\n") if line]
    assert [(one.message.content, one.done) for one in lines] == [(TEXT, False), ("", True)]
    assert orjson.loads(bedrock_told.body(TOLD))["output"]["message"]["content"] == [{"text": TEXT}]


def test_usage_is_told_to_who_asked_for_it() -> None:
    """A client without `stream_options` gets no chunk without a choice."""
    plain = events(chat_told.events(TOLD._replace(request=b"{}")))
    assert all(orjson.loads(one)["choices"] for one in plain[:-1])


def test_only_what_a_provider_would_keep_has_names() -> None:
    """By its id, and by its conversation; nothing where the request says that nothing is kept."""
    keeping = [dialect for dialect in DIALECTS if isinstance(dialect, KeepsAnswers)]
    assert [dialect.name for dialect in keeping] == ["openai-responses"]
    told = TOLD._replace(request=b'{"conversation":{"id":"conv_1"}}')
    kept = responses_told.kept(told)
    assert kept is not None
    assert kept.named == Named(f"resp_cg{TOLD.name}", "conv_1")
    assert orjson.loads(kept.item)["id"] == kept.item_id
    assert orjson.loads(responses_told.body(told))["conversation"] == {"id": "conv_1"}
    assert responses_told.kept(TOLD._replace(request=b'{"store":false}')) is None
    assert responses_told.kept(TOLD._replace(request=b'{"conversation":"conv_2"}')).named.conversation == "conv_2"  # type: ignore[union-attr] # it is kept


def test_a_compaction_is_no_turn() -> None:
    """What the answer of a path is made of decides whether a customer can be answered there."""
    (responses,) = [dialect for dialect in DIALECTS if dialect.name == "openai-responses"]
    body = b'{"model":"m","input":"I want a human"}'
    assert responses.request(body, Address("/v1/responses", {}, "")).is_turn
    assert not responses.request(body, Address("/v1/responses/compact", {}, "")).is_turn
