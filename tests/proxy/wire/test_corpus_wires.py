"""Recorded exchanges of the hosts that the examiner leaves out: Ollama, Bedrock, and Claude and Gemini on Vertex.

In the examiner's spirit: what is allowed passes byte for byte in any split, what is denied leaves nothing behind, and
of several calls those that are allowed are found by the official client.
"""

from __future__ import annotations

import gzip
import json
from base64 import b64decode, b64encode
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from botocore.eventstream import EventStreamBuffer

from proxy.wire.anthropic_vertex import ANTHROPIC_ON_VERTEX
from proxy.wire.bedrock import BEDROCK_CONVERSE
from proxy.wire.bedrock_invoke import BEDROCK_INVOKE
from proxy.wire.gemini import GEMINI_ON_VERTEX
from proxy.wire.ollama import OLLAMA_CHAT
from proxy.wire.paths import variables_of
from tests.proxy.wire import sdks
from tests.replay import REFUSAL, allow, bytewise, deny, replay

if TYPE_CHECKING:
    from interceptors.calls import Call

CORPUS = Path(__file__).resolve().parents[4] / "shared" / "corpus" / "open.jsonl.gz"
SMALL = 6  # shorter strings are found by chance


def _dialect(record: dict[str, Any]) -> Any:
    if record["format"] == "ollama-chat":
        return OLLAMA_CHAT
    if record["format"] == "bedrock-converse":
        return BEDROCK_CONVERSE
    if record.get("subformat") == "bedrock-invoke":
        return BEDROCK_INVOKE if "anthropic." in record["request"]["path"] else None
    if record.get("subformat") == "vertex-rawPredict":
        return ANTHROPIC_ON_VERTEX
    return GEMINI_ON_VERTEX if "aiplatform" in record["host"] and record["format"] == "gemini-generate" else None


def _records() -> list[Any]:
    if not CORPUS.exists():
        return []
    with gzip.open(CORPUS, "rt", encoding="utf-8") as file:
        found = [json.loads(line) for line in file]
    return [pytest.param(one, id=one["id"]) for one in found if _dialect(one) and one["response"]["status"] == 200]


RECORDS = _records()
records = pytest.mark.parametrize("record", RECORDS)
pytestmark = pytest.mark.skipif(not RECORDS, reason="../shared/corpus is not there")


def _answer(record: dict[str, Any]) -> tuple[Any, bytes, bool]:
    response = record["response"]
    data = b64decode(response["body_b64"]) if "body_b64" in response else response["body_text"].encode()
    return _dialect(record), data, record["streamed"]


def _is_array(record: dict[str, Any]) -> bool:
    return bool(record["streamed"] and record["response"].get("body_text", "").lstrip().startswith("["))


def _client_calls(record: dict[str, Any]) -> list[dict[str, Any]]:
    return [call for call in record["tool_calls"] if not call.get("server_side")]


def _strings(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for inner in value.values() for text in _strings(inner)]
    if isinstance(value, list):
        return [text for inner in value for text in _strings(inner)]
    return [value] if isinstance(value, str) and len(value) >= SMALL else []


@records
def test_a_recorded_path_is_mediated(record: dict[str, Any]) -> None:
    """The path that the recorded client asked for is one of the dialect's, to the letter."""
    path = record["request"]["path"].partition("?")[0].replace("<", "").replace(">", "")
    assert any(variables_of(pattern, path) is not None for pattern in _dialect(record).paths), path


@records
def test_transparency(record: dict[str, Any]) -> None:
    """Where all is allowed the bytes down are the bytes up, in any split, and each recorded call was judged."""
    dialect, data, streamed = _answer(record)
    if _is_array(record):
        pytest.skip("the JSON array is refused on the request")
    if b'"stopReason":"max_tokens"' in data and _client_calls(record):
        pytest.skip("its last call was cut by the token limit, and is refused")
    for chunks in (data, bytewise(data)) if streamed else (data,):
        result = replay(dialect, chunks, allow, streamed=streamed)
        assert result.data == data
    judged = Counter((call.name, json.dumps(dict(call.arguments), sort_keys=True, default=str)) for call in result.ran)
    expected = Counter((call["name"], json.dumps(call["arguments"], sort_keys=True)) for call in _client_calls(record))
    assert sum(judged.values()) == sum(expected.values())
    assert Counter(name for name, _ in judged.elements()) == Counter(name for name, _ in expected.elements())


@records
def test_refusal(record: dict[str, Any]) -> None:
    """Denied, no argument of a call leaves that the answer's own text does not hold; an SDK finds no call."""
    dialect, data, streamed = _answer(record)
    calls = _client_calls(record)
    if _is_array(record) or not calls:
        pytest.skip("no call, or refused on the request")
    result = replay(dialect, bytewise(data) if streamed else data, deny, streamed=streamed)
    own, read = _without_calls(record), result.data
    if "body_b64" in record["response"]:
        read = _text({"body_b64": b64encode(result.data)}).encode()
    for text in _strings([call["arguments"] for call in calls]):
        assert text in own or json.dumps(text, ensure_ascii=False)[1:-1].encode() not in read
    assert read.count(REFUSAL.encode()) == len(calls)
    if not record["oracle"].startswith("own"):  # the SDK can read the recording
        assert not sdks.calls_found(dialect, result.data, streamed=streamed)


@records
def test_partial(record: dict[str, Any]) -> None:
    """The first tool refused and the others allowed: the SDK finds exactly the others."""
    dialect, data, streamed = _answer(record)
    calls = _client_calls(record)
    if _is_array(record) or len({call["name"] for call in calls}) < 2:
        pytest.skip("fewer than two tools called")
    first = calls[0]["name"]

    def rule(call: Call) -> bool:
        return call.name != first

    result = replay(dialect, bytewise(data) if streamed else data, rule, streamed=streamed)
    found = sdks.calls_found(dialect, result.data, streamed=streamed)
    expected = Counter(
        (call["name"], json.dumps(call["arguments"], sort_keys=True)) for call in calls if call["name"] != first
    )
    assert found == expected


@records
def test_malformed(record: dict[str, Any]) -> None:
    """The recording cut at any of a hundred places: never an exception, and a call that was cut never runs."""
    dialect, data, streamed = _answer(record)
    if _is_array(record):
        pytest.skip("the JSON array is refused on the request")
    whole = len(replay(dialect, data, allow, streamed=streamed).ran)
    for place in range(1, len(data), max(1, len(data) // 100)):
        result = replay(dialect, data[:place], allow, streamed=streamed)
        assert len(result.ran) <= whole


def _without_calls(record: dict[str, Any]) -> str:
    """What the answer says beside its calls, and the request: a model may say an argument too."""
    said = json.dumps(record["request"]["body"], ensure_ascii=False)
    for value in _values(_text(record["response"])):
        said += json.dumps(_stripped(value), ensure_ascii=False)
    return said


def _text(response: dict[str, Any]) -> str:
    """The answer as lines of JSON; of a binary stream, what its messages hold."""
    if "body_b64" not in response:
        return str(response["body_text"])
    buffer = EventStreamBuffer()
    buffer.add_data(b64decode(response["body_b64"]))
    payloads = [json.loads(message.payload) for message in buffer]
    inner = [
        b64decode(one["bytes"]).decode() if "bytes" in one else json.dumps(one, ensure_ascii=False) for one in payloads
    ]
    return "\n".join(inner)


def _values(text: str) -> list[Any]:
    found = []
    for line in text.replace("\r\n", "\n").split("\n"):
        try:
            found.append(json.loads(line.removeprefix("data: ")))
        except ValueError:
            continue
    if not found:
        found.append(json.loads(text))
    return found


def _stripped(value: Any) -> Any:
    if isinstance(value, dict):
        gone = ("functionCall", "tool_calls", "toolUse", "input", "partial_json")
        return {key: _stripped(inner) for key, inner in value.items() if key not in gone}
    if isinstance(value, list):
        return [_stripped(inner) for inner in value]
    return value
