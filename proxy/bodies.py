"""Content encodings: a request body is decoded within a bound, an encoded response is refused.

One reading only: a single member, no bytes behind it, one encoding. The bytes that go up are the ones that came, so
what another decoder might make of a second member would be a body that nothing here has read.
"""

from __future__ import annotations

import asyncio
import zlib
from enum import Enum
from typing import assert_never

import brotli
import zstandard

_STEP_BYTES = 64 * 1024
# A zstd block of four bytes can state 128 KiB, so the input goes in by small slices.
_ZSTD_STEP_BYTES = 256
# RFC 8878, 3.1.1.1.2: what a decoder should support, and as much memory as one needs.
_ZSTD_WINDOW_BYTES_MAX = 8 * 1024 * 1024


class BodyProblem(Enum):
    """Why a body is refused, with the HTTP status that says so."""

    UNSUPPORTED = 415
    CORRUPT = 400
    TOO_LARGE = 413


class BodyRefusedError(Exception):
    """A body that cannot be read in exactly one way, or not within its bound."""

    def __init__(self, problem: BodyProblem, message: str) -> None:
        super().__init__(message)
        self.problem = problem


class Encoding(Enum):
    GZIP = "gzip"
    DEFLATE = "deflate"
    BROTLI = "br"
    ZSTD = "zstd"


def read_encoding(header: str | None) -> Encoding | None:
    """The content encoding that a header names; None for none or `identity`.

    Raises:
        BodyRefusedError: an encoding that is not known, or more than one.
    """
    name = (header or "").strip().lower()
    if name in ("", "identity"):
        return None
    if name == "x-gzip":
        return Encoding.GZIP
    try:
        return Encoding(name)
    except ValueError:
        known = ", ".join(e.value for e in Encoding)
        raise BodyRefusedError(
            BodyProblem.UNSUPPORTED, f"the content encoding is not one of {known}; one at a time"
        ) from None


def decode_body(body: bytes, encoding: Encoding | None, *, decoded_bytes_max: int) -> bytes:
    """The body without its content encoding. Output is produced by pieces and never grows past the bound.

    Raises:
        BodyRefusedError: corrupt, cut off, followed by other bytes, or too large when decoded.
    """
    if encoding is None:
        if len(body) > decoded_bytes_max:
            raise _too_large(decoded_bytes_max)
        return body
    try:
        match encoding:
            case Encoding.GZIP:
                return _inflate(body, zlib.MAX_WBITS | 16, decoded_bytes_max)
            case Encoding.DEFLATE:
                return _inflate(body, zlib.MAX_WBITS, decoded_bytes_max)
            case Encoding.BROTLI:
                return _unbrotli(body, decoded_bytes_max)
            case Encoding.ZSTD:
                return _unzstd(body, decoded_bytes_max)
            case _:
                assert_never(encoding)
    except (zlib.error, brotli.error, zstandard.ZstdError):
        raise _corrupt(encoding) from None


async def decode_body_off_loop(body: bytes, encoding: Encoding | None, *, decoded_bytes_max: int) -> bytes:
    """As `decode_body`; in a thread where there is something to decode, since a small input can be a large output."""
    if encoding is None:
        return decode_body(body, None, decoded_bytes_max=decoded_bytes_max)
    return await asyncio.to_thread(decode_body, body, encoding, decoded_bytes_max=decoded_bytes_max)


def refuse_encoded_response(header: str | None) -> None:
    """An encoded response cannot be read, so it may not pass.

    Raises:
        BodyRefusedError: the provider sent another content encoding than `identity`.
    """
    if (header or "").strip().lower() not in ("", "identity"):
        raise BodyRefusedError(
            BodyProblem.UNSUPPORTED, "the provider answered in a content encoding that was not asked for"
        )


def _inflate(body: bytes, window_bits: int, bound: int) -> bytes:
    decoder = zlib.decompressobj(window_bits)
    out = bytearray()
    pending = body
    while not decoder.eof:
        piece = decoder.decompress(pending, _STEP_BYTES)
        pending = decoder.unconsumed_tail
        _append(out, piece, bound)
        if not piece and not pending and not decoder.eof:
            raise _corrupt(Encoding.GZIP if window_bits > zlib.MAX_WBITS else Encoding.DEFLATE)
    if decoder.unused_data:
        raise _corrupt(Encoding.GZIP if window_bits > zlib.MAX_WBITS else Encoding.DEFLATE)
    return bytes(out)


def _unbrotli(body: bytes, bound: int) -> bytes:
    decoder = brotli.Decompressor()
    out = bytearray()
    piece = decoder.process(body, output_buffer_limit=_STEP_BYTES)
    _append(out, piece, bound)
    while not decoder.is_finished():
        piece = decoder.process(b"", output_buffer_limit=_STEP_BYTES)
        _append(out, piece, bound)
        if not piece and decoder.can_accept_more_data() and not decoder.is_finished():
            raise _corrupt(Encoding.BROTLI)
    return bytes(out)


def _unzstd(body: bytes, bound: int) -> bytes:
    decoder = zstandard.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES_MAX).decompressobj()
    out = bytearray()
    view = memoryview(body)
    for start in range(0, len(view), _ZSTD_STEP_BYTES):
        if decoder.eof:
            raise _corrupt(Encoding.ZSTD)
        _append(out, decoder.decompress(view[start : start + _ZSTD_STEP_BYTES]), bound)
    if not decoder.eof or decoder.unused_data:
        raise _corrupt(Encoding.ZSTD)
    return bytes(out)


def _append(out: bytearray, piece: bytes, bound: int) -> None:
    if len(out) + len(piece) > bound:
        raise _too_large(bound)
    out += piece


def _too_large(bound: int) -> BodyRefusedError:
    return BodyRefusedError(BodyProblem.TOO_LARGE, f"the body holds more than {bound} bytes when decoded")


def _corrupt(encoding: Encoding) -> BodyRefusedError:
    return BodyRefusedError(BodyProblem.CORRUPT, f"the body is not exactly one whole {encoding.value} stream")
