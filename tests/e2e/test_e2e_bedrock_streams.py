"""Event streams of Bedrock that break off or are damaged, in both of its dialects: what was judged arrives, each
message with its checksums, and never a call of which the gate did not read the end."""

from __future__ import annotations

import asyncio
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import boto3
import orjson
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.eventstream import EventStreamBuffer

from proxy.demo import bedrock_wire, eventstream
from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Call, Text, Turn, always
from tests.e2e.harness import ALLOW_ALL, CUSTOMER, DENY_ALL, PARTIAL, REFUSAL, desk, session_header
from tests.e2e.mouths import Anthropic, ClaudeInvoked, Converse
from tests.e2e.steps import Cut, Steps

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.e2e.harness import Desk

TURN = Turn(
    (
        Text("Let me look."),
        Call("allowed", '{"text": "alpha-mark, long"}', "toolu_1"),
        Call("drop_tables", '{"text": "bravo-mark, long"}', "toolu_2"),
        Call("allowed", '{"text": "gamma-mark, long"}', "toolu_3"),
    )
)
ALLOWED = {"toolu_1": "alpha-mark, long", "toolu_3": "gamma-mark, long"}
CHARS = 12
EVENTS = {
    "converse": bedrock_wire.converse_events(TURN, CHARS),
    "invoke": bedrock_wire.invoke_events(TURN, "m", Identifiers(), CHARS),
}
MOUTHS = {"converse": Converse(), "invoke": ClaudeInvoked()}
HEADERS = {"Content-Type": eventstream.CONTENT_TYPE}
both = pytest.mark.parametrize("name", EVENTS)


@dataclass
class Came:
    """What a client has of a stream: the calls whose end it read, with their arguments, and the name of an error."""

    calls: dict[str, str] = field(default_factory=dict)
    error: str = ""
    body: bytes = b""


def read(name: str, body: bytes) -> Came:
    """By AWS's own reader, which checks both checksums of every message."""
    buffer = EventStreamBuffer()
    buffer.add_data(body)
    came, open_calls = Came(body=body), {}
    size = 0
    for message in buffer:
        size += message.prelude.total_length
        if message.headers[":message-type"] == "exception":
            came.error = message.headers[":exception-type"]
            continue
        event = orjson.loads(message.payload)
        start, delta, is_stop, index = _read(name, message.headers[":event-type"], event)
        if start:
            open_calls[index] = (start, "")
        elif delta is not None:
            open_calls[index] = (open_calls[index][0], open_calls[index][1] + delta)
        elif is_stop and index in open_calls:
            identity, arguments = open_calls.pop(index)
            came.calls[identity] = arguments
    assert size == len(body), "half a message"
    return came


def _read(name: str, kind: str, event: Any) -> tuple[str, str | None, bool, int]:
    """The id of a call that starts, a fragment of its arguments, whether a block ends, and where."""
    if name == "invoke":
        event = orjson.loads(b64decode(event["bytes"]))
        start, fragment = event.get("content_block", {}).get("id", ""), event.get("delta", {}).get("partial_json")
        return start, fragment, event["type"] == "content_block_stop", event.get("index", 0)
    start = event.get("start", {}).get("toolUse", {}).get("toolUseId", "")
    fragment = event.get("delta", {}).get("toolUse", {}).get("input")
    return start, fragment, kind == "contentBlockStop", event.get("contentBlockIndex", 0)


def check(came: Came, records: list[dict[str, Any]]) -> None:
    """Every call in the client's hands is whole, and was released."""
    released = {each["receipt"] for each in records if each["kind"] == "released"}
    decided = {each["call_id"]: each for each in records if each["kind"] == "decided" and each["call_id"]}
    for identity, arguments in came.calls.items():
        assert orjson.loads(arguments) == {"text": ALLOWED[identity]}
        assert decided[identity]["receipt"] in released
    for identity, mark in ALLOWED.items():
        if _shows(came.body, mark[:5].encode()):
            assert identity in decided
            assert decided[identity]["ruling"] == "allow"
    assert not _shows(came.body, b"bravo")


def _shows(body: bytes, mark: bytes) -> bool:
    """In the message itself, or in any of its chunks."""
    buffer = EventStreamBuffer()
    buffer.add_data(body)
    payloads = [message.payload for message in buffer]
    chunks = [b64decode(one["bytes"]) for one in map(orjson.loads, payloads) if "bytes" in one]
    return any(mark in one for one in (*payloads, *chunks))


async def ask(gate: Desk, name: str) -> Came:
    mouth = MOUTHS[name]
    body = orjson.dumps(mouth.body([mouth.words("go")], streamed=True))
    headers = {"authorization": "Bearer k", "content-type": "application/json"} | session_header()
    async with gate.session.post(gate.url + mouth.path(True), data=body, headers=headers) as got:
        data = await got.read()
        return read(name, data) if got.status == 200 else Came(error=got.headers["x-amzn-errortype"])


@both
@pytest.mark.parametrize("how", Cut, ids=[cut.name.lower() for cut in Cut])
async def test_a_cut_at_each_event(tmp_path: Path, name: str, how: Cut) -> None:
    """Whatever had come, the answer ends undamaged; a loss is told, and an open call is never delivered."""
    steps = Steps(EVENTS[name], headers=HEADERS)
    async with desk(tmp_path, always(TURN), PARTIAL, upstream=steps.app()) as gate:
        for number in range(len(steps.events) + 1):

            async def before(at: int, number: int = number) -> Cut | None:
                return how if at == number else None

            steps.before = before
            came = await ask(gate, name)
            check(came, await gate.settled(number + 1, within=30))
            if number < len(steps.events) and how is not Cut.END:
                assert came.error, number
        assert set(came.calls) == set(ALLOWED)


def damaged(name: str) -> Iterator[tuple[str, bytes]]:
    """Each way in which a message is none, in the place of the one that ends the refused call's first fragment."""
    events = EVENTS[name]
    place = next(number for number, one in enumerate(events) if b"toolu_3" in b64_open(one))
    whole = events[place]
    flipped = bytearray(whole)
    flipped[-1] ^= 1
    prelude = bytearray(whole)
    prelude[8] ^= 1
    payload = bytearray(whole)
    payload[-10] ^= 1
    for words, bad in (
        ("checksum", bytes(flipped)),
        ("prelude", bytes(prelude)),
        ("payload", bytes(payload)),
        ("length", b"\xff\xff\xff\xff" + whole[4:]),
        ("too short", b"\x00\x00\x00\x08" + whole[4:]),
        ("no JSON", eventstream.event("chunk" if name == "invoke" else "contentBlockDelta", b"{")),
        ("two readings", eventstream.event("chunk" if name == "invoke" else "contentBlockStop", b'{"a":1,"a":2}')),
    ):
        yield words, b"".join(events[:place]) + bad + b"".join(events[place + 1 :])
    if name == "invoke":
        for words, content in (("no base64", '{"bytes":"*"}'), ("no bytes", '{"p":"x"}'), ("a list", "[]")):
            yield words, b"".join(events[:place]) + eventstream.event("chunk", content.encode())
        twice = b64encode(b'{"type":"ping"}\n\n{"type":"ping"}').decode()
        yield "two events", b"".join(events[:place]) + eventstream.event("chunk", orjson.dumps({"bytes": twice}))
    failed = eventstream.exception("modelStreamErrorException", b'{"message":"it failed"}')
    yield "an exception", b"".join(events[:place]) + failed


def b64_open(message: bytes) -> bytes:
    """A message with what stands in its chunk."""
    _, found, rest = message.partition(b'"bytes":"')
    return message + (b64decode(rest.partition(b'"')[0]) if found else b"")


@both
async def test_a_damaged_stream_ends_where_it_is_damaged(tmp_path: Path, name: str) -> None:
    """What came before it stands, an exception says that it failed, and nothing behind it is read."""
    steps = Steps((), headers=HEADERS)
    async with desk(tmp_path, always(TURN), PARTIAL, upstream=steps.app()) as gate:
        for number, (words, stream) in enumerate(damaged(name)):
            steps.events = [stream]
            came = await ask(gate, name)
            check(came, await gate.settled(number + 1, within=30))
            assert came.error, words
            assert "toolu_3" not in came.calls, words
            assert "toolu_1" in came.calls, words


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
async def test_boto3_invokes_claude(tmp_path: Path, streamed: bool) -> None:
    """Allow-all: the bytes of the direct answer. Partial: the allowed calls, and a text in the place of the other.
    Deny-all: no call, and one plain end."""
    body = orjson.dumps(ClaudeInvoked().body([{"role": "user", "content": "go"}], streamed))

    def invoke(url: str) -> tuple[Any, bytes]:
        client = boto3.client(
            "bedrock-runtime",
            region_name="us-east-1",
            endpoint_url=url,
            config=Config(retries={"total_max_attempts": 1}, proxies={}, signature_version=UNSIGNED),
        )

        def add_headers(request: Any, **_: Any) -> None:
            request.headers["Authorization"] = "Bearer k"
            for header, value in session_header(CUSTOMER).items():
                request.headers[header] = value

        client.meta.events.register("before-send", add_headers)
        asked = {
            "modelId": "anthropic.claude-sonnet-4-5-20250929-v1:0",
            "body": body,
            "contentType": "application/json",
        }
        try:
            if not streamed:
                data = client.invoke_model(**asked)["body"].read()
                return ClaudeInvoked().read(data, False), data
            chunks = [one["chunk"]["bytes"] for one in client.invoke_model_with_response_stream(**asked)["body"]]
            plain = b"".join(b"data: " + one + b"\n\n" for one in chunks)
            return Anthropic().read(plain, True), b"\n".join(chunks)
        finally:
            client.close()

    async with desk(tmp_path / "allow", always(TURN), ALLOW_ALL) as gate:
        direct, said = await asyncio.to_thread(invoke, gate.provider_url)
        gate.provider.identifiers = Identifiers()
        assert await asyncio.to_thread(invoke, gate.url) == (direct, said)
        assert [one.id for one in direct.calls] == ["toolu_1", "toolu_2", "toolu_3"]
    for policy, found, stop in ((PARTIAL, list(ALLOWED), "tool_use"), (DENY_ALL, [], "end_turn")):
        async with desk(tmp_path / stop, always(TURN), policy) as gate:
            answer, _ = await asyncio.to_thread(invoke, gate.url)
            assert ([one.id for one in answer.calls], answer.stop) == (found, stop)
            assert answer.text == "Let me look." + REFUSAL * (3 - len(found))
