"""Random bytes that are asked for in advance are given out once."""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from proxy.store.randomness import BLOCK_BYTES, random_block


def test_no_two_threads_get_the_same_block() -> None:
    """Salts and ids are made by the loop and by the thread that writes, at once."""
    with ThreadPoolExecutor(8) as pool:
        blocks = [
            block for part in pool.map(lambda _: [random_block() for _ in range(500)], range(8)) for block in part
        ]

    assert len(set(blocks)) == len(blocks) == 4000
    assert {len(block) for block in blocks} == {BLOCK_BYTES}


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_process_has_bytes_of_its_own() -> None:
    """What was waiting to be given out is not given out by two processes."""
    random_block()
    with multiprocessing.get_context("fork").Pool(1) as pool:
        theirs = pool.apply(_blocks, (100,))

    assert not set(theirs) & set(_blocks(100))


def _blocks(count: int) -> list[bytes]:
    return [random_block() for _ in range(count)]
