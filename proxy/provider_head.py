"""What the head of a provider's answer must be, and an error's body, for every client to read what the gate read.

A client may take the text of a body by the charset of its head, and the encoding of a second header; and it may read
an answer without looking at its status.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from proxy.admission import RefusedError
from proxy.bodies import BodyRefusedError, refuse_encoded_response
from proxy.wire.dialect import Fault
from proxy.wire.events import FrameRead, WireBroken, WireEvent
from proxy.wire.sse import Frame, Framer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.http1.answers import Answer
    from proxy.wire.dialect import Dialect, RequestView

ERROR_BYTES_MAX = 1024 * 1024
_FIRST_BYTES_MAX = 64 * 1024
_STATED_ONCE = (b"content-type", b"content-encoding", b"content-length")
_UTF_8 = frozenset({"utf-8", "utf8", "us-ascii", "ascii"})
# In these a byte of ASCII is the character that it is in UTF-8.
_LIKE_ASCII = _UTF_8 | {"iso-8859-1", "iso-8859-15", "latin-1", "latin1", "windows-1252"}


def refuse_odd_head(upstream: Answer) -> None:
    """Raise `RefusedError` for a head by which a client could read another body than the gate."""
    for name in _STATED_ONCE:
        if len(upstream.every(name)) > 1:
            raise _refused("ambiguous_head", "the provider stated the type or the length of its answer twice")
    if not 200 <= upstream.status < 600:
        raise _refused("odd_status", "the provider answered with a status that ends no request")
    try:
        refuse_encoded_response(upstream.get(b"content-encoding"))
    except BodyRefusedError as error:
        raise _refused("undecodable_response", str(error)) from None
    allowed = _UTF_8 if upstream.status < 300 else _LIKE_ASCII
    kind = upstream.get(b"content-type")
    if kind and ";" in kind and not allowed.issuperset(_charsets(kind)):
        raise _refused("odd_charset", "the provider answered in another charset than UTF-8")


async def is_stream(upstream: Answer, dialect: Dialect, view: RequestView, deadline: float) -> tuple[bool, bytes]:
    """Whether the answer is a stream, and what was read of it to know.

    A client reads what it asked for, whatever the type says (`Framing.may_be`); a stream that was not asked for
    could be read in two ways, so it is refused.
    """
    is_stated = upstream.content_type == dialect.framing.content_type
    if not view.streamed:
        if is_stated:
            message = "the provider answered with a stream that was not asked for"
            raise RefusedError(Fault.UPSTREAM_FAILED, "unasked_stream", message)
        return False, b""
    if is_stated:
        return True, b""
    first = await _first_bytes(upstream, deadline)
    return dialect.framing.may_be(first), first


async def _first_bytes(upstream: Answer, deadline: float) -> bytes:
    """What a body begins with, up to its first byte that is no white space."""
    first = b""
    try:
        async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
            while not first.strip() and (data := await upstream.content.readany()):
                first += data
                if len(first) > _FIRST_BYTES_MAX and not first.strip():
                    raise RefusedError(Fault.UPSTREAM_FAILED, "no_answer", "the provider sent nothing but space")
    except TimeoutError:
        message = "the provider did not answer in time"
        raise RefusedError(Fault.UPSTREAM_TIMEOUT, "upstream_timeout", message) from None
    except OSError:
        message = "the provider's answer was cut off"
        raise RefusedError(Fault.UPSTREAM_FAILED, "upstream_failed", message) from None
    return first


async def read_error(upstream: Answer, dialect: Dialect, deadline: float) -> bytes:
    """The body of an answer that is an error, which holds no call in any reading. Raises `RefusedError`."""
    body = bytearray()
    try:
        async with asyncio.timeout(max(0.0, deadline - time.monotonic())):
            while data := await upstream.content.readany():
                body += data
                if len(body) > ERROR_BYTES_MAX:
                    raise _refused("large_error", "the provider's error is larger than an error may be")
    except TimeoutError:
        message = "the provider did not answer in time"
        raise RefusedError(Fault.UPSTREAM_TIMEOUT, "upstream_timeout", message) from None
    except OSError:
        raise _refused("upstream_failed", "the provider's answer was cut off") from None
    if may_hold_call(dialect, bytes(body)):
        raise _refused("error_with_call", "the provider's error could be read as an answer")
    return bytes(body)


def may_hold_call(dialect: Dialect, body: bytes) -> bool:
    """Whether a client that does not look at the status could find a call in this body.

    A page for people may pass: it begins as no JSON does and has no line that begins as an event's data does.
    """
    if b"\0" in body:
        return True
    start = body.removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith((b"{", b"[", b'"')):
        return _has_call(dialect.reader(False, frozenset()).receive(Frame(body, None, body)))
    if any(line.lstrip().startswith("data") for line in body.decode("utf-8", "replace").translate(_BREAKS).split("\n")):
        return _has_call(_events(dialect, body))
    return False


_BREAKS = str.maketrans(dict.fromkeys("\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029", "\n"))


def _events(dialect: Dialect, body: bytes) -> Iterator[WireEvent | None]:
    framer, reader = Framer(len(body) + 1), dialect.reader(True, frozenset())
    frames = framer.feed(body)
    last = framer.close()
    for frame in [*frames, *([last] if last is not None else [])]:
        yield from reader.receive(frame.on_one_line())
    if framer.fault:
        yield None


def _has_call(events: Iterator[WireEvent | None] | list[WireEvent]) -> bool:
    """What cannot be read in one way may hold one."""
    return any(
        event is None or isinstance(event, WireBroken) or (isinstance(event, FrameRead) and event.keys)
        for event in events
    )


def _charsets(content_type: str) -> list[str]:
    """Every charset that a reader could find; what is no plain `charset=` is named as it stands."""
    found = []
    for parameter in content_type.lower().split(";")[1:]:
        name, _, value = parameter.partition("=")
        if "charset" in parameter:
            found.append(value.strip().strip('"') if name.strip() == "charset" else parameter)
    return found


def _refused(reason: str, message: str) -> RefusedError:
    return RefusedError(Fault.UPSTREAM_FAILED, reason, message)
