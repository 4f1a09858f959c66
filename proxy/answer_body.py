"""The body of an answer that is not streamed, read whole."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, TypeVar

from proxy.downstream import NoBodyError
from proxy.wire.dialect import Fault

if TYPE_CHECKING:
    from collections.abc import Callable

    from proxy.http1.incoming import Incoming
    from proxy.limits import Limits

B = TypeVar("B", bytes, bytearray)


async def whole_body(
    content: Incoming, first: bytes, limits: Limits, deadline: float, holds: Callable[[int], bool]
) -> bytes:
    """`first`, which was read of it before, and all that comes behind it.

    Args:
        deadline: the end of the exchange, monotonic.
        holds: told how much is held; False where there is no room for it.

    Raises:
        NoBodyError: too large, too late, or without room for it.
        OSError: the connection was lost.
    """

    def fitting(body: B) -> B:
        if len(body) > limits.response_bytes_max:
            raise NoBodyError(Fault.UPSTREAM_FAILED, "the provider's answer is larger than response_bytes_max")
        if not holds(len(body)):
            raise NoBodyError(Fault.OVERLOADED, "the gate has no room for the provider's answer")
        return body

    if content.is_eof():  # it came with its head, and nothing is waited for
        return fitting(first + content.read_nowait())
    body = fitting(bytearray(first))
    try:
        async with asyncio.timeout(deadline - time.monotonic()) as limit:
            while data := await content.readany():
                body += data
                fitting(body)
    except TimeoutError:
        if limit.expired():
            raise NoBodyError(Fault.UPSTREAM_TIMEOUT, "the answer took longer than exchange_ms_max") from None
        raise
    return bytes(body)
