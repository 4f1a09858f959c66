"""Answers of the provider count against `bytes_in_flight_max`, and not requests alone."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

from aiohttp import web

from tests.e2e.harness import ALLOW_ALL, desk

if TYPE_CHECKING:
    from pathlib import Path

MIB = 1024 * 1024
ROOM = {"bytes_in_flight_max": 16 * MIB, "held_bytes_max": 12 * MIB}
BODY = {"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]}
START = {"type": "content_block_start", "index": 0, "content_block": {"type": "tool_use", "id": "toolu_1", "name": "x"}}
DELTA = {"type": "content_block_delta", "index": 0, "delta": {"type": "input_json_delta", "partial_json": "a" * MIB}}


def event(value: dict[str, object]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


async def both(folder: Path, kind: str, parts: list[bytes], *, streamed: bool) -> list[tuple[int, bytes]]:
    """What two clients get whose answers come at once and do not end by themselves."""
    given = asyncio.Event()

    async def answer(request: web.Request) -> web.StreamResponse:
        await request.read()
        response = web.StreamResponse(headers={"Content-Type": kind})
        await response.prepare(request)
        for part in parts:
            await response.write(part)
            await asyncio.sleep(0)
        await given.wait()
        return response

    app = web.Application()
    app.router.add_post("/v1/messages", answer)
    async with desk(folder, lambda _: (), ALLOW_ALL, upstream=app, limits=ROOM) as gate:

        async def ask() -> tuple[int, bytes]:
            async with gate.session.post(f"{gate.url}/v1/messages", json={**BODY, "stream": streamed}) as response:
                return response.status, await response.read()

        tasks = [asyncio.ensure_future(ask()) for _ in range(2)]
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED, timeout=10)
        given.set()
        return [await task for task in tasks]


async def test_whole_answers_without_room_are_an_overload(tmp_path: Path) -> None:
    """Thirty answers of 40 MB took 1.2 GB beside a limit of 512 MB."""
    answers = await both(tmp_path / "gate", "application/json", [b" " * MIB] * 10, streamed=False)
    assert 503 in [status for status, _ in answers]


async def test_a_stream_that_holds_more_than_there_is_room_for_is_ended(tmp_path: Path) -> None:
    """Each is within `held_bytes_max`; together they are not."""
    parts = [event(START), *[event(DELTA)] * 10]
    answers = await both(tmp_path / "gate", "text/event-stream", parts, streamed=True)
    assert any(b"message_stop" in body for _, body in answers)
    assert not any(b"tool_use" in body for _, body in answers)
