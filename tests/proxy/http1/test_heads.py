"""Heads that a connection sends again: what is remembered of the one before is what would be read of the next."""

from __future__ import annotations

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.http1.heads import Fields, HeadError, HeadLimits, RequestHeads, head_bytes, read_fields

LIMITS = HeadLimits(8190, 4)
Pair: TypeAlias = "tuple[bytes, bytes]"
LENGTHS = (b"0", b"7", b"12 ", b"123\t", b"00012", b"9" * 15, b"9" * 16)
NAMED = st.tuples(
    st.sampled_from((b"A", b"a", b"Content-Lengths", b"Transfer-Encoding", b"X")),
    st.sampled_from((b"", b"1", b"chunked", b"x ", b"x" * 9000)),
)
STATED = st.tuples(st.sampled_from((b"Content-Length", b"content-length")), st.sampled_from(LENGTHS))
HEADS = st.lists(st.one_of(NAMED, STATED), max_size=5)


def _anew(pairs: list[Pair]) -> tuple[tuple[Pair, ...], bytes | None, int | None] | None:
    try:
        raw, coding, length = read_fields(pairs, LIMITS)
    except HeadError:
        return None
    return tuple(pair for pair in raw if pair[0].lower() != b"content-length"), coding, length


@given(st.lists(st.one_of(HEADS, st.sampled_from(LENGTHS)), max_size=8))
def test_a_head_that_comes_again_is_read_as_it_was(sent: list[list[Pair] | bytes]) -> None:
    """Whatever was sent before, each head says what it says when it is read alone; a length stands for the head before
    with that length."""
    heads = RequestHeads(LIMITS)
    pairs: list[Pair] = []
    for each in sent:
        if isinstance(each, bytes):
            pairs = [(name, each if name.lower() == b"content-length" else value) for name, value in pairs]
        else:
            pairs = each
        try:
            head, coding, length = heads.read(list(pairs))
        except HeadError:
            assert _anew(pairs) is None
        else:
            assert (head.raw_headers, coding, length) == _anew(pairs)


def test_what_was_noted_of_a_head_is_found_with_the_next_that_is_equal() -> None:
    """Another length is no other head; another value is one, and so is a head of another connection."""
    heads = RequestHeads(LIMITS)
    first, _, _ = heads.read([(b"A", b"1"), (b"Content-Length", b"5")])
    first.noted = "noted"
    again, _, length = heads.read([(b"A", b"1"), (b"Content-Length", b"17")])
    assert (again.noted, length) == ("noted", 17)
    assert heads.read([(b"A", b"2"), (b"Content-Length", b"17")])[0].noted is None
    assert RequestHeads(LIMITS).read([(b"A", b"1"), (b"Content-Length", b"5")])[0].noted is None


def test_a_head_of_many_bytes_is_not_kept() -> None:
    """An idle connection holds little: what was noted of such a head is not found again."""
    heads = RequestHeads(LIMITS)
    long = [(b"A", b"x" * 8000), (b"B", b"x" * 8000), (b"C", b"x" * 1000)]
    heads.read(list(long))[0].noted = "noted"
    assert heads.read(list(long))[0].noted is None


def test_fields_that_are_sent_again_are_the_same_bytes_and_are_looked_at_all_the_same() -> None:
    """A line break in one of them is refused each time."""
    pairs = (("A", "1"), ("B", "\u00e4"))
    kept = Fields(pairs)
    assert head_bytes("X", kept, "C: 1\r\n") == head_bytes("X", kept, "C: 1\r\n") == head_bytes("X", pairs, "C: 1\r\n")
    broken = Fields((("A", "1\r\nB: 2"),))
    for _ in range(2):
        with pytest.raises(HeadError):
            head_bytes("X", broken)
