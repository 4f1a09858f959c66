"""Which ids were no released call's, known without asking again, whichever process releases meanwhile.

Clients send the same results with every try, and those of calls from before the gate. That the store does not know an
id holds until a call is released under it. A file in the state folder, mapped into each process, has numbers for that:
an id belongs to one of them, by its digest, and who releases a call sets the number of its id to a random one, after
the commit and before anybody hears of it. Before a byte of the call leaves, what was known of its id has ended; that of
the few ids with the same number ends too, which costs a question each.

What is remembered is what the number was before the store was asked: a release that came in between makes it another.
Nothing is added up in the numbers, so it does not matter who sets one at the same moment.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from proxy.store.flags import shared_numbers
from proxy.store.folder import RELEASE_MARKS
from proxy.store.randomness import random_block

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Mapping
    from pathlib import Path

NUMBERS = 4096
"""In the file: all processes of a state folder must agree on it."""
REMEMBERED_MAX = 4096
_ID_LENGTH_MAX = 128  # clients choose them


class Absences:
    """One for the process. `released` may be called in any thread, all else on the loop."""

    def __init__(self, state: Path) -> None:
        """Raises `StateFolderError`."""
        self._mapped, self._numbers = shared_numbers(state / RELEASE_MARKS, NUMBERS)
        self._known: dict[tuple[str, str], int] = {}

    def covers(self, tenant: str, call_ids: Iterable[str]) -> bool:
        """Whether surely none of these is a released call's, at this moment."""
        for each in call_ids:
            number = self._known.get((tenant, each))
            if number is None or number != self._numbers[_place(tenant, each)]:
                return False
        return True

    def asks(self, tenant: str, call_ids: Iterable[str]) -> dict[str, int]:
        """Those of which it is not known, each with its number: look at it first, then ask."""
        known, numbers = self._known, self._numbers
        asked = {}
        for each in call_ids:
            number = numbers[_place(tenant, each)]
            if known.get((tenant, each)) != number:
                asked[each] = number
        return asked

    def learn(self, tenant: str, asked: Mapping[str, int], found: Container[str]) -> None:
        """The store was asked, after the numbers in `asked` were looked at, and these were there."""
        known = self._known
        for each, number in asked.items():
            if each not in found and 0 < len(each) <= _ID_LENGTH_MAX:
                known.pop((tenant, each), None)
                known[(tenant, each)] = number
        while len(known) > REMEMBERED_MAX:
            del known[next(iter(known))]

    def released(self, calls: Iterable[tuple[str, str]]) -> None:
        """Calls of these tenants and ids are on the disk, and nobody heard of it yet."""
        for tenant, call_id in calls:
            self._numbers[_place(tenant, call_id)] = int.from_bytes(random_block()[:8], "little")

    def close(self) -> None:
        self._numbers.release()
        self._mapped.close()


def _place(tenant: str, call_id: str) -> int:
    return zlib.crc32(f"{tenant}\0{call_id}".encode("utf-8", "surrogatepass")) % NUMBERS
