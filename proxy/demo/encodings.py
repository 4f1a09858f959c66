"""Content encodings of both directions, piece by piece: each piece is flushed, so a stream stays a stream."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Protocol, assert_never

import brotli
import zstandard

from proxy.demo.turns import Encoding

if TYPE_CHECKING:
    from collections.abc import Callable

_GZIP_WINDOW = 31


class Encoder(Protocol):
    def feed(self, piece: bytes) -> bytes:
        """The encoded piece, flushed."""
        ...

    def end(self) -> bytes: ...


class Identity:
    def feed(self, piece: bytes) -> bytes:
        return piece

    def end(self) -> bytes:
        return b""


class _Zlib:
    def __init__(self, window: int) -> None:
        self._deflater = zlib.compressobj(wbits=window)

    def feed(self, piece: bytes) -> bytes:
        return self._deflater.compress(piece) + self._deflater.flush(zlib.Z_SYNC_FLUSH)

    def end(self) -> bytes:
        return self._deflater.flush(zlib.Z_FINISH)


class _Brotli:
    def __init__(self) -> None:
        self._compressor = brotli.Compressor()

    def feed(self, piece: bytes) -> bytes:
        return bytes(self._compressor.process(piece)) + bytes(self._compressor.flush())

    def end(self) -> bytes:
        return bytes(self._compressor.finish())


class _Zstandard:
    def __init__(self) -> None:
        self._compressor = zstandard.ZstdCompressor().compressobj()

    def feed(self, piece: bytes) -> bytes:
        return self._compressor.compress(piece) + self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_BLOCK)

    def end(self) -> bytes:
        return self._compressor.flush(zstandard.COMPRESSOBJ_FLUSH_FINISH)


def encoder(encoding: Encoding | None) -> Encoder:
    match encoding:
        case None:
            return Identity()
        case Encoding.GZIP:
            return _Zlib(_GZIP_WINDOW)
        case Encoding.DEFLATE:
            return _Zlib(zlib.MAX_WBITS)
        case Encoding.BROTLI:
            return _Brotli()
        case Encoding.ZSTD:
            return _Zstandard()
        case _:
            assert_never(encoding)


_DECODERS: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    "identity": bytes,
    "gzip": lambda body: zlib.decompress(body, _GZIP_WINDOW),
    "deflate": zlib.decompress,
    "br": lambda body: bytes(brotli.decompress(body)),
    "zstd": lambda body: zstandard.ZstdDecompressor().decompressobj().decompress(body),
}


def decoded(body: bytes, content_encoding: str) -> bytes:
    """A request's body without its encoding. Raises `ValueError` for an encoding that is not known or does not fit."""
    decode = _DECODERS.get(content_encoding.strip().lower())
    if decode is None:
        raise ValueError(f"unknown content encoding {content_encoding!r}")
    try:
        return decode(body)
    except (zlib.error, brotli.error, zstandard.ZstdError) as error:
        raise ValueError(f"the body is not valid {content_encoding}") from error
