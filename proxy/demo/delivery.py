"""How an answer reaches the client: pieces, pauses, encodings, and connections lost on purpose."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING

from aiohttp import web

from proxy.demo.encodings import encoder

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.demo.turns import Delivery


@dataclass(frozen=True, slots=True)
class Dialogue:
    """What of an answer depends on its dialect once it is bytes."""

    ping: bytes
    error_event: bytes


def arranged(events: Sequence[bytes], delivery: Delivery, dialogue: Dialogue) -> list[bytes]:
    """The frames of a stream as `delivery` wants them. `cut_after` is not applied here."""
    frames = list(events)
    frames[1:1] = delivery.extra_events
    if delivery.pings:
        frames = [piece for frame in frames for piece in (frame, dialogue.ping)]
    if delivery.error_after is not None:
        frames = [*frames[: delivery.error_after], dialogue.error_event]
    return frames


async def deliver(
    request: web.Request, status: int, headers: Mapping[str, str], pieces: Sequence[bytes], delivery: Delivery
) -> web.StreamResponse:
    """Write `pieces` as `delivery` says. A connection that is lost on purpose ends without the body's last chunk."""
    await asyncio.sleep(delivery.delay_seconds)
    response = web.StreamResponse(status=status, headers=headers)
    if delivery.encoding is not None:
        response.headers["Content-Encoding"] = delivery.encoding.value
    await response.prepare(request)
    coding = encoder(delivery.encoding)
    kept = pieces if delivery.cut_after is None else pieces[: delivery.cut_after]
    encoded = [coding.feed(piece) for piece in kept]
    if delivery.cut_after is None:
        encoded.append(coding.end())
    for number, piece in enumerate(_writes(encoded, delivery.write_bytes)):
        if number and delivery.pause_seconds:
            await asyncio.sleep(delivery.pause_seconds)
        await response.write(piece)
    if delivery.cut_after is not None and not delivery.clean_cut:
        _lose(request)
        return response
    await response.write_eof()
    return response


def _writes(pieces: Sequence[bytes], write_bytes: int | None) -> list[bytes]:
    if write_bytes is None:
        return [piece for piece in pieces if piece]
    whole = b"".join(pieces)
    return [whole[start : start + write_bytes] for start in range(0, len(whole), write_bytes)]


def _lose(request: web.Request) -> None:
    """Close behind what was written: the client gets those bytes, then a body that is not complete."""
    if request.transport is not None:
        request.transport.close()
