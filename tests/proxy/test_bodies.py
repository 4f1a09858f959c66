"""Content encodings are read in one way, within a bound."""

from __future__ import annotations

import contextlib
import gzip
import time
import tracemalloc
import zlib

import brotli
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from proxy.bodies import (
    BodyProblem,
    BodyRefusedError,
    Encoding,
    decode_body,
    decode_body_off_loop,
    read_encoding,
    refuse_encoded_response,
)

ENCODE = {
    Encoding.GZIP: gzip.compress,
    Encoding.DEFLATE: zlib.compress,
    Encoding.BROTLI: brotli.compress,
    Encoding.ZSTD: zstandard.compress,
}
EACH = pytest.mark.parametrize("encoding", list(Encoding))
BOUND = 1_000_000


@EACH
@given(data=st.binary(max_size=4096))
def test_what_was_encoded_is_read_back(encoding: Encoding, data: bytes) -> None:
    """Any body survives the round trip, the empty one too."""
    assert decode_body(ENCODE[encoding](data), encoding, decoded_bytes_max=BOUND) == data


@EACH
def test_a_large_body_is_read_whole_at_its_bound_and_refused_one_byte_above(encoding: Encoding) -> None:
    """The bound is exact."""
    data = bytes(range(256)) * 2000
    body = ENCODE[encoding](data)

    assert decode_body(body, encoding, decoded_bytes_max=len(data)) == data
    with pytest.raises(BodyRefusedError) as refusal:
        decode_body(body, encoding, decoded_bytes_max=len(data) - 1)
    assert refusal.value.problem is BodyProblem.TOO_LARGE


@EACH
def test_a_bomb_is_refused_without_being_unfolded(encoding: Encoding) -> None:
    """200 MB of zeros in a small body cost little memory and little time."""
    if encoding is Encoding.BROTLI:
        compressor = brotli.Compressor(quality=1)
        body = b"".join(compressor.process(bytes(1 << 20)) for _ in range(200)) + compressor.finish()
    else:
        body = ENCODE[encoding](bytes(200 << 20))
    tracemalloc.start()
    started = time.process_time()

    with pytest.raises(BodyRefusedError) as refusal:
        decode_body(body, encoding, decoded_bytes_max=BOUND)

    seconds = time.process_time() - started
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert refusal.value.problem is BodyProblem.TOO_LARGE
    assert seconds < 10
    assert peak < 48 << 20


@EACH
@pytest.mark.parametrize("tail", [b"x", b"\0", None])
def test_bytes_behind_the_stream_are_refused(encoding: Encoding, tail: bytes | None) -> None:
    """A second member, or garbage, is what one decoder reads and another does not."""
    body = ENCODE[encoding](b'{"a":1}')

    with pytest.raises(BodyRefusedError) as refusal:
        decode_body(body + (body if tail is None else tail), encoding, decoded_bytes_max=BOUND)

    assert refusal.value.problem is BodyProblem.CORRUPT


@EACH
@given(cut=st.integers(min_value=0, max_value=200))
def test_a_body_that_is_cut_anywhere_is_refused(encoding: Encoding, cut: int) -> None:
    """What is left of a stream is never taken for the whole."""
    body = ENCODE[encoding](bytes(range(256)) * 4)
    cut = min(cut, len(body) - 1)

    with pytest.raises(BodyRefusedError):
        decode_body(body[:cut], encoding, decoded_bytes_max=BOUND)


@EACH
@given(noise=st.binary(max_size=64))
def test_noise_is_refused_or_read_and_never_another_error(encoding: Encoding, noise: bytes) -> None:
    """The decoders' own errors do not come through."""
    with contextlib.suppress(BodyRefusedError):
        decode_body(noise, encoding, decoded_bytes_max=BOUND)


def test_raw_deflate_is_refused() -> None:
    """`deflate` is the zlib format (RFC 9110, 8.4.1.2); the raw one that some servers read too is another reading."""
    compressor = zlib.compressobj(wbits=-15)
    body = compressor.compress(b"{}") + compressor.flush()

    with pytest.raises(BodyRefusedError):
        decode_body(body, Encoding.DEFLATE, decoded_bytes_max=BOUND)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, None),
        ("", None),
        ("identity", None),
        (" GZIP ", Encoding.GZIP),
        ("x-gzip", Encoding.GZIP),
        ("deflate", Encoding.DEFLATE),
        ("br", Encoding.BROTLI),
        ("zstd", Encoding.ZSTD),
    ],
)
def test_known_encodings_are_named_in_any_case(header: str | None, expected: Encoding | None) -> None:
    """RFC 9110, 8.4.1."""
    assert read_encoding(header) is expected


@pytest.mark.parametrize("header", ["gzip, gzip", "gzip,identity", "compress", "gzip;q=1", "lzma", "aws-chunked"])
def test_unknown_and_double_encodings_are_refused(header: str) -> None:
    """415; the header's value is not repeated."""
    with pytest.raises(BodyRefusedError) as refusal:
        read_encoding(header)

    assert refusal.value.problem is BodyProblem.UNSUPPORTED


@pytest.mark.parametrize("header", ["gzip", "br", "GZIP", "zstd", "unknown", "identity, gzip"])
def test_an_encoded_response_is_refused(header: str) -> None:
    """The gate asked for identity; what it cannot read does not pass."""
    with pytest.raises(BodyRefusedError):
        refuse_encoded_response(header)


@pytest.mark.parametrize("header", [None, "", "identity", "Identity"])
def test_a_plain_response_is_not_refused(header: str | None) -> None:
    """Identity is what was asked for."""
    refuse_encoded_response(header)


async def test_decoding_off_the_loop_gives_the_same() -> None:
    """The thread changes where the work is done, nothing else."""
    body = gzip.compress(b"[]" * 9)

    assert await decode_body_off_loop(body, Encoding.GZIP, decoded_bytes_max=BOUND) == b"[]" * 9
    assert await decode_body_off_loop(b"[]", None, decoded_bytes_max=BOUND) == b"[]"
    with pytest.raises(BodyRefusedError):
        await decode_body_off_loop(b"[]", None, decoded_bytes_max=1)
