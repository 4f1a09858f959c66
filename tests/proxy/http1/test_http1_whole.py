"""A body that is put together of its parts: the same bytes, in little more memory than they have."""

from __future__ import annotations

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from proxy.http1.incoming import Whole


@given(st.lists(st.one_of(st.binary(min_size=1, max_size=9), st.integers(4090, 4100).map(bytes)), max_size=40))
def test_a_body_is_all_of_its_parts_in_order(parts: list[bytes]) -> None:
    """Small ones, large ones, and those between."""
    whole = Whole()
    for part in parts:
        whole.add(part)
    assert (whole.joined(), whole.size) == (b"".join(parts), sum(map(len, parts)))


def test_small_parts_take_no_more_memory_than_others() -> None:
    """A chunk may have two bytes; kept by itself it would take some fifty, and 64 MB of them gigabytes."""
    count, whole = 200_000, Whole()
    tracemalloc.start()
    try:
        for number in range(count):
            whole.add(number.to_bytes(2, "big") if number < 65536 else bytes(bytearray(2)))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert (whole.size, kept < 2 * 2 * count) == (2 * count, True)
