"""boto3, unmodified but for its endpoint, behind the gate as without it: Converse and Claude's InvokeModel.

The strict provider checks roles, pairs, ids and every signature of thinking, so that a history which the gate edited
wrongly is refused by it.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore import UNSIGNED
from botocore.config import Config
from botocore.exceptions import ClientError, EventStreamError

from proxy.demo.identifiers import Identifiers
from proxy.demo.turns import Call, Delivery, HttpError, Text, Thinking, Turn, always, by_text
from tests.e2e.harness import ALLOW_ALL, CUSTOMER, DENY_ALL, PARTIAL, REFUSAL, desk, session_header
from tests.e2e.told import NO_READ, NO_WRITE, POLICY, call, turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

MODEL = "us.anthropic.claude-sonnet-4-5-20250929-v1:0"
ASKED = "Refund A1001, please."
SAID = "I will look at it — gleich."
TURN = Turn(
    (
        Text(SAID),
        Call("allowed", '{"order_id": "A1001", "amount": 12.50}'),
        Call("refused", '{"order_id": "A1001", "amount": 900, "note": "über"}'),
    )
)
ALLOWED = ("allowed", {"order_id": "A1001", "amount": 12.5})
REFUSED = ("refused", {"order_id": "A1001", "amount": 900, "note": "über"})
TOOLS: Any = {
    "tools": [
        {"toolSpec": {"name": name, "inputSchema": {"json": {"type": "object"}}}} for name in ("allowed", "refused")
    ]
}


@contextmanager
def runtime(url: str, monkeypatch: pytest.MonkeyPatch, key: str = "bedrock-api-key-sk") -> Iterator[Any]:
    """The client of an application that has a bearer key, and says for whom it asks. By itself botocore sends a bearer
    key over TLS only; on the loopback it is told so."""
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "AWS_BEARER_TOKEN_BEDROCK"):
        monkeypatch.delenv(name, raising=False)
    config = Config(retries={"total_max_attempts": 1}, proxies={}, signature_version=UNSIGNED)
    client = boto3.client("bedrock-runtime", region_name="us-east-1", endpoint_url=url, config=config)

    def add_headers(request: Any, **_: Any) -> None:
        request.headers["Authorization"] = f"Bearer {key}"
        for name, value in session_header(CUSTOMER).items():
            request.headers[name] = value

    client.meta.events.register("before-send", add_headers)
    try:
        yield client
    finally:
        client.close()


def converse(client: Any, messages: list[Any], tools: Any = TOOLS, model: str = MODEL) -> Any:
    answer = client.converse(modelId=model, messages=messages, toolConfig=tools)
    return answer["output"]["message"], answer["stopReason"], answer["usage"]


def converse_stream(client: Any, messages: list[Any], tools: Any = TOOLS, model: str = MODEL) -> Any:
    """Blocks put together as the documentation's example does: by the order of the events."""
    content: list[Any] = []
    block: dict[str, Any] = {}
    reason, usage = "", {}
    for event in client.converse_stream(modelId=model, messages=messages, toolConfig=tools)["stream"]:
        match event:
            case {"contentBlockStart": {"start": {"toolUse": start}}}:
                block = {"toolUse": {**start, "input": ""}}
            case {"contentBlockDelta": {"delta": {"toolUse": delta}}}:
                block["toolUse"]["input"] += delta["input"]
            case {"contentBlockDelta": {"delta": {"text": text}}}:
                block["text"] = block.get("text", "") + text
            case {"contentBlockDelta": {"delta": {"reasoningContent": delta}}}:
                reasoning = block.setdefault("reasoningContent", {})
                if "redactedContent" not in delta:
                    reasoning = reasoning.setdefault("reasoningText", {"text": ""})
                for name, value in delta.items():
                    reasoning[name] = reasoning[name] + value if name in reasoning else value
            case {"contentBlockStop": _}:
                if "toolUse" in block:
                    block["toolUse"]["input"] = json.loads(block["toolUse"]["input"] or "{}")
                content.append(block)
                block = {}
            case {"messageStop": {"stopReason": stated}}:
                reason = stated
            case {"metadata": {"usage": stated}}:
                usage = stated
    return {"role": "assistant", "content": content}, reason, usage


WAYS: dict[str, Callable[[Any, list[Any]], Any]] = {"whole": converse, "stream": converse_stream}
ways = pytest.mark.parametrize("way", WAYS)


def texts(message: Any) -> str:
    return "".join(block["text"] for block in message["content"] if "text" in block)


def calls(message: Any) -> list[Any]:
    return [(block["toolUse"]["name"], block["toolUse"]["input"]) for block in message["content"] if "toolUse" in block]


@ways
async def test_boto3_behind_each_policy(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Allow-all: equal to the direct answer, ids included. Deny-all: no call, the reply, one plain end, usage kept.

    Partial: the allowed call as it was, and the reply in the place of the other.
    """
    asked = [{"role": "user", "content": [{"text": ASKED}]}]

    def ask(url: str) -> Any:
        with runtime(url, monkeypatch) as client:
            return WAYS[way](client, asked)

    async with desk(tmp_path / "allow", always(TURN), ALLOW_ALL) as gate:
        direct = await asyncio.to_thread(ask, gate.provider_url)
        gate.provider.identifiers = Identifiers()
        assert await asyncio.to_thread(ask, gate.url) == direct
        assert (texts(direct[0]), calls(direct[0]), direct[1]) == (SAID, [ALLOWED, REFUSED], "tool_use")
        first, second = gate.provider.received
        assert (first.body, first.target) == (second.body, second.target)
        assert first.header("authorization") == second.header("authorization") == "Bearer bedrock-api-key-sk"
    for policy, found, reason, replies in ((DENY_ALL, [], "end_turn", 2), (PARTIAL, [ALLOWED], "tool_use", 1)):
        async with desk(tmp_path / str(replies), always(TURN), policy) as gate:
            message, stated, usage = await asyncio.to_thread(ask, gate.url)
            assert (calls(message), stated, usage) == (found, reason, direct[2])
            assert texts(message) == SAID + REFUSAL * replies


HM = Thinking("hm")
STEPS: dict[str, tuple[Turn, ...]] = {
    "one": (turn(HM, Text("Hello.")),),
    "two": (turn(HM, Text("I look."), call("read_refused", 2)), turn(HM, Text("I may not."))),
    "three": (turn(HM, call("read_refused", 3), call("read_allowed", 3)), turn(HM, Text("One of two."))),
    "four": (turn(HM, call("write_allowed", 4), call("read_refused", 4)), turn(Text("The other of two."))),
    "five": (turn(HM, call("read_refused", 5), call("read_refused", 55)), turn(HM, Text("None."))),
    "six": (turn(HM, call("write_refused", 6)),),
    "seven": (turn(call("read_allowed", 7), call("read_allowed", 7)), turn(Text("Twice the same."))),
    "eight": (turn(HM, call("write_refused", 8), call("write_allowed", 8)), turn(HM, Text("One was written."))),
    "nine": (
        turn(call("write_refused", 9), call("read_refused", 9), call("write_allowed", 9)),
        turn(call("read_allowed", 9)),
        turn(Text("Two were not.")),
    ),
    "ten": (turn(HM, call("read_allowed", 10)), turn(Thinking(redacted=True), Text("Bye."))),
    "eleven": (turn(Text("The end.")),),
}
READS = {
    "one": "Hello.",
    "two": "I look.I may not.",
    "three": "One of two.",
    "four": "The other of two.",
    "five": "None.",
    "six": NO_WRITE,
    "seven": "Twice the same.",
    "eight": f"{NO_WRITE}One was written.",
    "nine": f"{NO_WRITE}Two were not.",
    "ten": "Bye.",
    "eleven": "The end.",
}


def talk(client: Any, way: str) -> dict[str, str]:
    """An agent's loop as the documentation shows it: what the model said goes back as it came."""
    messages: list[Any] = []
    reads: dict[str, str] = {}
    for words in STEPS:
        messages.append({"role": "user", "content": [{"text": words}]})
        reads[words] = ""
        while messages[-1]["role"] == "user":
            message, _, _ = WAYS[way](client, messages)
            messages.append(message)
            reads[words] += texts(message)
            made = [block["toolUse"]["toolUseId"] for block in message["content"] if "toolUse" in block]
            results = [{"toolResult": {"toolUseId": each, "content": [{"text": "done"}]}} for each in made]
            if results:
                messages.append({"role": "user", "content": results})
    return reads


@ways
async def test_a_talk_with_refusals_of_every_kind(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden, told, merged and answered by code: the customer reads what is said, and the provider refuses nothing.

    What the client never saw is back in its place with each later request, and thinking is valid behind it.
    """
    async with desk(tmp_path, by_text(STEPS), POLICY) as gate:

        def run() -> dict[str, str]:
            with runtime(gate.url, monkeypatch) as client:
                return talk(client, way)

        reads = await asyncio.to_thread(run)
        assert [one.refused for one in gate.provider.received if one.refused] == []
        assert reads == READS
        last = gate.provider.received[-1].body
        assert last.count(b'"read_refused"') == 6
        assert b"write_refused" not in last
    assert NO_READ not in READS.values()


@ways
async def test_a_signed_request_is_told_why(tmp_path: Path, way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Signature Version 4: an AccessDeniedException says what the signature covers and what to do; nothing goes up."""
    async with desk(tmp_path, always(TURN), ALLOW_ALL) as gate:

        def ask() -> Any:
            monkeypatch.delenv("AWS_BEARER_TOKEN_BEDROCK", raising=False)
            config = Config(retries={"total_max_attempts": 1}, proxies={})
            client = boto3.client(
                "bedrock-runtime",
                region_name="us-east-1",
                endpoint_url=gate.url,
                aws_access_key_id="AKIA",
                aws_secret_access_key="s",
                config=config,
            )
            return WAYS[way](client, [{"role": "user", "content": [{"text": ASKED}]}])

        with pytest.raises(ClientError) as error:
            await asyncio.to_thread(ask)
        said = error.value.response
        assert said["Error"]["Code"] == "AccessDeniedException"
        for words in ("signed", "method, path, host and body", "AWS_BEARER_TOKEN_BEDROCK", "upstreams.NAME.key"):
            assert words in said["Error"]["Message"]
        assert gate.provider.received == []
        assert (await gate.settled())[-1]["reason"] == "signed_request"


async def test_the_gate_holds_the_key(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With `upstreams.bedrock.key` the agent's own token stays here, and the key goes up as a bearer token."""
    async with desk(tmp_path, always(Turn((Text("Hello."),))), ALLOW_ALL, key="the-real-key") as gate:

        def ask() -> Any:
            with runtime(gate.url, monkeypatch, "any-token") as client:
                return converse(client, [{"role": "user", "content": [{"text": "Hi"}]}])

        assert texts((await asyncio.to_thread(ask))[0]) == "Hello."
        (received,) = gate.provider.received
        assert received.header("authorization") == "Bearer the-real-key"
        assert not any("any-token" in value for _, value in received.headers)


async def test_errors_have_their_shape(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The provider's own error is unchanged; one of ours bears its kind where AWS's clients look for it."""
    throttled = HttpError(429, "ThrottlingException", "Too many requests, please wait before trying again.")
    async with desk(tmp_path, always(throttled), ALLOW_ALL) as gate:

        def ask(model: str) -> Any:
            with runtime(gate.url, monkeypatch) as client, pytest.raises(ClientError) as error:
                client.converse(modelId=model, messages=[{"role": "user", "content": [{"text": "Hi"}]}])
            return error.value.response["Error"]

        found = await asyncio.to_thread(ask, MODEL)
        assert (found["Code"], found["Message"]) == ("ThrottlingException", throttled.message)
        found = await asyncio.to_thread(ask, "arn:aws:bedrock:us-east-1:123456789012:no-model/ABC")
        assert found["Code"] == "ResourceNotFoundException"
        assert "encoded separator" in found["Message"]


async def test_a_stream_that_fails_or_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An exception in mid-stream is raised by the client, behind the text that came; nothing of an open call leaves,
    nor where the stream just ends."""

    def ask(url: str) -> tuple[str, list[Any], str]:
        said, starts, failed = "", [], ""
        with runtime(url, monkeypatch) as client:
            stream = client.converse_stream(
                modelId=MODEL, messages=[{"role": "user", "content": [{"text": ASKED}]}], toolConfig=TOOLS
            )["stream"]
            try:
                for event in stream:
                    said += event.get("contentBlockDelta", {}).get("delta", {}).get("text", "")
                    starts += [event["contentBlockStart"]] if "contentBlockStart" in event else []
            except EventStreamError as error:
                failed = error.response["Error"]["Code"]
        return said, starts, failed

    async with desk(tmp_path / "fails", always(TURN, Delivery(error_after=7)), ALLOW_ALL) as gate:
        said, starts, failed = await asyncio.to_thread(ask, gate.url)
        assert said.startswith(SAID)
        assert (starts, failed) == ([], "throttlingException")
    async with desk(tmp_path / "ends", always(TURN, Delivery(cut_after=7, clean_cut=True)), ALLOW_ALL) as gate:
        said, starts, failed = await asyncio.to_thread(ask, gate.url)
        assert (starts, failed) == ([], "")
        assert said.startswith(SAID)
        records = await gate.settled()
        assert [each["reason"] for each in records if each["kind"] == "decided"] == ["malformed"]
