"""Random bytes, asked of the system many at a time: each question lets another thread take the interpreter."""

from __future__ import annotations

import os
import secrets
from collections import deque

BLOCK_BYTES = 32
_BLOCKS = 64

_blocks: deque[bytes] = deque()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_blocks.clear)  # two processes must not hand out the same bytes


def random_block() -> bytes:
    """`BLOCK_BYTES` from the system's generator, given out once. Any thread may ask."""
    try:
        return _blocks.popleft()
    except IndexError:
        fresh = secrets.token_bytes(BLOCK_BYTES * _BLOCKS)
        _blocks.extend(fresh[start : start + BLOCK_BYTES] for start in range(BLOCK_BYTES, len(fresh), BLOCK_BYTES))
        return fresh[:BLOCK_BYTES]
