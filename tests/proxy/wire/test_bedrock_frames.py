"""Messages of an event stream: read in one way or not at all, written as botocore reads them; seals that are base64."""

from __future__ import annotations

import base64
import json

import pytest
from botocore.eventstream import EventStreamBuffer
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import bedrock_seal
from proxy.wire.bedrock_chunks import CHUNKS
from proxy.wire.bedrock_frames import MESSAGES, MessageFramer, message, with_payload
from proxy.wire.sse import FramingFault
from tests.proxy.wire import bedrock_turns as bedrock

EVENTS = st.lists(st.tuples(st.sampled_from(["messageStart", "metadata", "x"]), st.binary(max_size=20)), max_size=4)


@given(EVENTS, st.lists(st.integers(0, 400), max_size=6))
def test_frames_are_the_stream_whatever_its_split(events: list[tuple[str, bytes]], cuts: list[int]) -> None:
    """The raw bytes of all frames are the bytes that came, with the name and the payload of each event."""
    data = b"".join(bedrock.event(name, payload) for name, payload in events)
    framer = MessageFramer(1000)
    places = sorted({min(cut, len(data)) for cut in cuts})
    parts = [data[start:end] for start, end in zip([0, *places], [*places, len(data)], strict=True)]
    frames = [frame for part in parts for frame in framer.feed(part)]
    assert b"".join(frame.raw for frame in frames) == data
    assert [(frame.event, frame.data) for frame in frames] == events
    assert (framer.fault, framer.pending) == (None, 0)


def test_each_turned_bit_is_seen() -> None:
    """Both checksums are checked: no bit of a message can be another."""
    data = bedrock.event("metadata", {"a": 1})
    for place in range(len(data) * 8):
        turned = bytearray(data)
        turned[place // 8] ^= 1 << place % 8
        framer = MessageFramer(1 << 40)
        assert framer.feed(bytes(turned)) == []
        assert framer.fault is FramingFault.NOT_A_MESSAGE, place


@pytest.mark.parametrize(
    "headers",
    [
        {":event-type": "a"},
        {":message-type": "event"},
        {":message-type": "exception", ":event-type": "a"},
        {":message-type": "other"},
        {":event-type": "a", ":message-type": "event", ":Event-Type": "b"},
    ],
)
def test_headers_have_one_reading(headers: dict[str, str]) -> None:
    """An event without a name, a name without an event, and a header twice are refused."""
    framer = MessageFramer(1000)
    assert framer.feed(bedrock.message(headers, b"{}")) == []
    assert framer.fault is FramingFault.NOT_A_MESSAGE


def test_a_message_is_bounded_and_one_that_is_cut_off_is_none() -> None:
    """Size is judged by what a message states, before it came; the rest of a stream is nothing to any client."""
    data = bedrock.event("a", b"x" * 100)
    framer = MESSAGES.framer(50)
    framer.feed(data[:12])
    assert framer.fault is FramingFault.TOO_LARGE
    framer = MESSAGES.framer(1000)
    assert framer.feed(data[:-1]) == []
    assert framer.pending == len(data) - 1
    assert framer.close() is None
    assert not MESSAGES.may_be(b' {"message"')
    assert MESSAGES.may_be(data[:4])


@given(st.text(max_size=20))
def test_botocore_reads_what_is_rebuilt(text: str) -> None:
    """Fresh checksums, and the headers as they came, those that no table knows too."""
    headers = {":event-type": "a", "x-own": "é", ":message-type": "event"}
    raw = bedrock.message(headers, b'{"a":1}')
    payload = json.dumps({"text": text}).encode()
    buffer = EventStreamBuffer()
    buffer.add_data(with_payload(raw, payload) + message("b", payload) + message("c", payload, is_exception=True))
    edited, made, failed = list(buffer)
    assert (edited.headers, edited.payload) == (headers, payload)
    assert (made.headers[":event-type"], made.payload) == ("b", payload)
    assert failed.headers[":exception-type"] == "c"


def test_chunks_hold_one_event_each() -> None:
    """The bytes of a chunk are one event on one line; an exception is the error that Anthropic's reader knows."""
    framer = CHUNKS.framer(1000)
    (frame,) = framer.feed(bedrock.chunk({"type": "ping"}))
    assert (frame.event, frame.data) == (None, b'{"type": "ping"}')
    (failed,) = framer.feed(bedrock.exception("throttlingException", "no"))
    assert json.loads(failed.data or b"")["type"] == "error"
    (skipped,) = framer.feed(bedrock.event("initial-response", {}))
    assert skipped.data is None
    for payload in (
        b"[]",
        b"{}",
        b'{"bytes":1}',
        b'{"bytes":"e30=","Bytes":"e30="}',
        b'{"bytes":"ewp9"}',
        b'{"bytes":""}',
    ):
        framer = CHUNKS.framer(1000)
        assert framer.feed(bedrock.event("chunk", payload)) == []
        assert framer.fault is FramingFault.NOT_A_MESSAGE, payload


@given(st.binary(min_size=1), st.lists(st.integers(0, 50), max_size=3))
def test_a_seal_on_bytes_survives_their_parts(own: bytes, cuts: list[int]) -> None:
    """Clients decode the parts of redacted reasoning and join them: sealed on the first one, they open to what was."""
    places = sorted({min(cut, len(own)) for cut in cuts} - {0})
    parts = [own[start:end] for start, end in zip([0, *places], [*places, len(own)], strict=True) if start != end]
    first, *rest = [json.dumps({"redactedContent": base64.b64encode(part).decode()}).encode() for part in parts]
    sealed = bedrock_seal.seal_delta(first, "hg1")
    assert sealed is not None
    joined = b"".join(base64.b64decode(json.loads(part)["redactedContent"]) for part in (sealed, *rest))
    held = {"redactedContent": base64.b64encode(joined).decode()}
    assert bedrock_seal.mark_of(held) == "hg1"
    opened = json.loads(bedrock_seal.unsealed(json.dumps(held).encode()))
    assert base64.b64decode(opened["redactedContent"]) == own


def test_a_signature_is_sealed_in_whole_blocks_too() -> None:
    """What has nothing to seal stays as it is."""
    block = b'{"reasoningText":{"text":"hm","signature":"c2ln"}}'
    sealed = bedrock_seal.seal_block(block, "hg2")
    assert bedrock_seal.mark_of(json.loads(sealed)) == "hg2"
    assert bedrock_seal.unsealed(sealed) == block
    assert bedrock_seal.seal_delta(b'{"text":"hm"}', "hg2") is None
    assert bedrock_seal.mark_of({"reasoningText": {"text": "hm"}}) == ""
