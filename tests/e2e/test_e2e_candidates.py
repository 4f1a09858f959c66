"""Answers of several choices (Chat) or candidates (Gemini): there is no one turn that could go on, so code
answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.turns import Verbatim, always
from tests.e2e.client import events
from tests.e2e.harness import desk, session_header
from tests.e2e.told import NO_READ, POLICY

if TYPE_CHECKING:
    from pathlib import Path

CALLS = [("read_refused", 1), ("read_allowed", 2), ("read_refused", 3)]
"""One to a choice. A refusal of a read goes to the model where it can."""
HEADERS = {"authorization": "Bearer sk", "x-goog-api-key": "sk", "content-type": "application/json"}
PATHS = {
    ("chat", True): "/v1/chat/completions",
    ("chat", False): "/v1/chat/completions",
    ("gemini", True): "/v1beta/models/gemini-3:streamGenerateContent?alt=sse",
    ("gemini", False): "/v1beta/models/gemini-3:generateContent",
}


def chat(streamed: bool) -> bytes:
    head = {
        "id": "chatcmpl-1",
        "created": 1,
        "model": "m",
        "object": "chat.completion" + (".chunk" if streamed else ""),
    }
    made = [
        {"id": f"call_{n}", "type": "function", "function": {"name": name, "arguments": f'{{"n": {n}}}'}}
        for name, n in CALLS
    ]
    said = [
        {"role": "assistant", "content": None, "tool_calls": [call | {"index": 0} if streamed else call]}
        for call in made
    ]
    if not streamed:
        choices = [{"index": n, "message": one, "finish_reason": "tool_calls"} for n, one in enumerate(said)]
        return orjson.dumps(head | {"choices": choices})
    chunks = [[{"index": n, "delta": one, "finish_reason": None}] for n, one in enumerate(said)]
    chunks += [[{"index": n, "delta": {}, "finish_reason": "tool_calls"}] for n in range(len(said))]
    frames = [b"data: " + orjson.dumps(head | {"choices": one}) + b"\n\n" for one in chunks]
    return b"".join(frames) + b"data: [DONE]\n\n"


def gemini(streamed: bool) -> bytes:
    candidates = [
        {
            "index": n,
            "finishReason": "STOP",
            "content": {"role": "model", "parts": [{"functionCall": {"name": name, "args": {"n": n}}}]},
        }
        for n, (name, _) in enumerate(CALLS)
    ]
    if not streamed:
        return orjson.dumps({"candidates": candidates, "responseId": "r"})
    return b"".join(
        b"data: " + orjson.dumps({"candidates": [one], "responseId": "r"}) + b"\r\n\r\n" for one in candidates
    )


def read(name: str, data: bytes, streamed: bool) -> dict[int, tuple[str, list[str]]]:
    """The text and the calls of each choice."""
    found: dict[int, tuple[str, list[str]]] = {}
    for document in events(data) if streamed else [orjson.loads(data)]:
        for one in () if document == "[DONE]" else document["choices" if name == "chat" else "candidates"]:
            text, calls = found.get(one["index"], ("", []))
            said: Any = one.get("delta") or one.get("message") or one.get("content") or {}
            if name == "chat":
                text += said.get("content") or ""
                calls = [*calls, *(call["function"]["name"] for call in said.get("tool_calls") or ())]
            else:
                text += "".join(part.get("text", "") for part in said.get("parts", ()))
                calls = [
                    *calls,
                    *(part["functionCall"]["name"] for part in said.get("parts", ()) if "functionCall" in part),
                ]
            found[one["index"]] = (text, calls)
    return found


@pytest.mark.parametrize("streamed", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize("name", ["chat", "gemini"])
async def test_each_candidate_is_answered_by_code(tmp_path: Path, name: str, streamed: bool) -> None:
    """Each refusal's reply stands in its own choice, the call that runs in its own; nothing more goes up, and each call
    has its records."""
    kind = "text/event-stream" if streamed else "application/json"
    answer = (chat if name == "chat" else gemini)(streamed)
    body = {
        "chat": {"model": "m", "n": 3, "stream": streamed, "messages": [{"role": "user", "content": "x"}]},
        "gemini": {"generationConfig": {"candidateCount": 3}, "contents": [{"role": "user", "parts": [{"text": "x"}]}]},
    }[name]
    async with desk(tmp_path, always(Verbatim(answer, kind)), POLICY) as gate:
        url, headers = gate.url + PATHS[name, streamed], HEADERS | session_header()
        async with gate.session.post(url, data=orjson.dumps(body), headers=headers) as got:
            data = await got.read()
        assert len(gate.provider.received) == 1
        records = await gate.settled()
    assert read(name, data, streamed) == {0: (NO_READ, []), 1: ("", ["read_allowed"]), 2: (NO_READ, [])}
    tools = {each["receipt"]: each["tool"] for each in records if each["kind"] == "decided"}
    told = [(each["kind"], tools[each["receipt"]]) for each in records if each["kind"] != "decided"]
    assert sorted(told) == [("released", "read_allowed"), *[("substituted", "read_refused")] * 2]
