"""How many tokens a request has, as far as it can be told before a provider counts them: by its bytes, at the rate at
which this conversation's earlier requests were counted.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING, Final

from proxy.ledger.edits import UNRATED, Rate

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.ledger.edits import Decision, Where

BYTES_A_TOKEN: Final = 4
"""Of JSON in English, where nothing better is known."""
KEPT_MAX: Final = 10_000
"""Rates that are known beside those in the ledger, of all conversations."""


class Rates:
    """What providers counted of late, by the place that was answered, for any thread. It is put into the ledger with
    the next decision of its conversation, so that it outlives the process."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, bytes], Rate] = OrderedDict()
        self._lock = threading.Lock()

    def saw(self, where: Where, size: int, tokens: int) -> None:
        """A request of so many bytes has so many tokens. What no tokenizer can have counted is not believed."""
        if not 0 < tokens <= size:
            return
        with self._lock:
            self._known[where.tenant, where.place] = Rate(size, tokens)
            self._known.move_to_end((where.tenant, where.place))
            while len(self._known) > KEPT_MAX:
                self._known.popitem(last=False)

    def of(self, tenant: str, places: Sequence[bytes], decisions: Mapping[int, Decision]) -> Rate:
        """The newest one of the conversation of these places; `decisions` are theirs, by number."""
        for number in range(len(places) - 1, -1, -1):
            with self._lock:
                known = self._known.get((tenant, places[number]))
            if known is not None:
                return known
            if number in decisions and decisions[number].rate != UNRATED:
                return decisions[number].rate
        return UNRATED


def estimated(size: int, rate: Rate) -> int:
    """The tokens of so many bytes."""
    return size * rate.tokens // rate.size if rate != UNRATED else size // BYTES_A_TOKEN
