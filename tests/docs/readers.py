"""What a reader of YAML accepts: seen while it reads, so that no list of keys is copied into a test."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple
from unittest.mock import patch

from policies.nodes import MappingNode

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator


class Read(NamedTuple):
    """One mapping: its path, the keys that it may have, and those that it has."""

    path: str
    allowed: tuple[str, ...]
    present: frozenset[str]


@contextmanager
def keys_read() -> Iterator[list[Read]]:
    """Every mapping whose keys are checked while the block lasts."""
    found: list[Read] = []
    original = MappingNode.check_keys

    def recorded(self: MappingNode, allowed: Collection[str], later: Collection[str] = ()) -> None:
        found.append(Read(self.path, tuple(allowed), frozenset(self.entries)))
        original(self, allowed, later)

    with patch.object(MappingNode, "check_keys", recorded):
        yield found
