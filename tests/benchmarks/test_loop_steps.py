"""No step of a large request holds the loop for long: other exchanges wait behind it."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from benchmarks.cells import EXCHANGES
from proxy.wire.registry import DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from proxy.wire.dialect import Dialect

STEPS_MAX = 5.0
"""In what it takes to find the members of such a body, which is a millisecond or two."""
ATTEMPTS = 10
MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])
BODY = EXCHANGES["history of 5 MB"].body
SPACED = json.dumps(json.loads(BODY)).encode()
"""With white space between its members, as some clients write it: its members are walked over one by one."""


@pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)
@pytest.mark.parametrize("body", [BODY, SPACED], ids=["compact", "spaced"])
def test_a_request_of_5_mb_is_viewed_in_one_short_step(dialect: Dialect, body: bytes) -> None:
    """The least CPU time of several attempts counts, beside another in the same attempts: neither what else runs on the
    machine matters, nor how fast it is."""
    taken, beside = [], []
    for _ in range(ATTEMPTS):
        taken.append(_seconds(lambda: dialect.request(body)))
        beside.append(_seconds(lambda: MEMBERS.decode(body)))

    assert min(taken) < STEPS_MAX * min(beside), f"{min(taken) / min(beside):.1f} times"


def _seconds(step: Callable[[], object]) -> float:
    before = time.thread_time()
    step()
    return time.thread_time() - before
