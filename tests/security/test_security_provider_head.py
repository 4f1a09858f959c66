"""Answers that a client could read otherwise than the gate, by their head or in spite of their status."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from aiohttp import web

from proxy.provider_head import ERROR_BYTES_MAX
from tests.e2e.harness import DENY_ALL, desk

if TYPE_CHECKING:
    from pathlib import Path

BLOCK = {"type": "tool_use", "id": "toolu_1", "name": "evil", "input": {}}
BODY = {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": "end_turn"}
ANSWER = json.dumps({**BODY, "content": [BLOCK]})
START = json.dumps({"type": "content_block_start", "index": 0, "content_block": BLOCK})
ERROR = json.dumps({"type": "error", "error": {"type": "invalid_request_error", "message": "no"}})
PLAIN = json.dumps(BODY)


def upstream(status: int, body: str, *headers: tuple[str, str]) -> web.Application:
    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.Response(status=status, body=body.encode())
        response.headers.popall("Content-Type", None)
        for name, value in headers:
            response.headers.add(name, value)
        return response

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    return app


async def asked(folder: Path, app: web.Application) -> tuple[int, str]:
    """The status and the body that the client gets; what goes up asks for no stream."""
    async with desk(folder, lambda _: (), DENY_ALL, upstream=app) as gate:
        request = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
        async with gate.session.post(f"{gate.url}/v1/messages", json=request) as response:
            return response.status, await response.text()


@pytest.mark.parametrize(
    "body",
    [
        ANSWER,
        f"event: content_block_start\ndata: {START}\n\n",
        ANSWER[:-1] + ', "x": NaN}',
        "\ufeff" + ANSWER,
        f"nonsense\u2028data: {START}\u2028",
        f"[{ANSWER}]",
    ],
)
@pytest.mark.parametrize("status", [400, 429, 529])
async def test_an_error_that_holds_a_call_does_not_reach_the_client(tmp_path: Path, status: int, body: str) -> None:
    """A client that does not look at the status would run it."""
    got, text = await asked(tmp_path / "gate", upstream(status, body, ("Content-Type", "application/json")))
    assert got == 502
    assert "evil" not in text


@pytest.mark.parametrize("body", [ERROR, "<html><style>a{b:url(data:x)}</style>no such host</html>", "", "busy"])
async def test_an_error_without_a_call_passes_as_it_came(tmp_path: Path, body: str) -> None:
    """A provider's plain error reaches the client byte for byte."""
    head = ("Content-Type", "text/html; charset=ISO-8859-1"), ("Retry-After", "7")
    assert await asked(tmp_path / "gate", upstream(503, body, *head)) == (503, body)


@pytest.mark.parametrize(
    "headers",
    [
        [("Content-Type", "application/json; charset=utf-7")],
        [("Content-Type", 'application/json; a=b; CHARSET="utf-16"')],
        [("Content-Type", "application/json; charset*=utf-7''x")],
        [("Content-Type", "application/json; charset=utf-8; charset=utf-7")],
        [("Content-Type", "application/json"), ("Content-Type", "text/event-stream; charset=utf-7")],
        [("Content-Type", "application/json"), ("Content-Encoding", "identity"), ("Content-Encoding", "deflate")],
    ],
)
async def test_an_answer_in_another_charset_or_a_second_encoding_is_refused(
    tmp_path: Path, headers: list[tuple[str, str]]
) -> None:
    """In UTF-7 a quotation mark can stand where the gate read none; so can a deflated body in plain text."""
    status, _ = await asked(tmp_path / "gate", upstream(200, PLAIN, *headers))
    assert status == 502


async def test_a_usual_charset_passes(tmp_path: Path) -> None:
    """The charset that every reader takes for UTF-8 is no fault."""
    head = ("Content-Type", 'application/json; charset="UTF-8"')
    assert await asked(tmp_path / "gate", upstream(200, PLAIN, head)) == (200, PLAIN)


async def test_an_error_larger_than_errors_are_is_not_read_on(tmp_path: Path) -> None:
    """An error is kept whole before it passes, so it has a bound."""
    head = ("Content-Type", "text/plain")
    assert (await asked(tmp_path / "gate", upstream(500, "x" * ERROR_BYTES_MAX, head)))[0] == 500
    assert (await asked(tmp_path / "more", upstream(500, "x" * (ERROR_BYTES_MAX + 1), head)))[0] == 502
