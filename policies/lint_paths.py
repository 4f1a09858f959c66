"""What a compiled policy reads: every path of every expression and text in it, wherever it stands."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import TYPE_CHECKING

from policies.expressions import Expression
from policies.templates import Template

if TYPE_CHECKING:
    from collections.abc import Iterator


def paths_in(value: object) -> Iterator[tuple[str, ...]]:
    """Of a part of a policy, or of all of it. A new key is seen without a word about it here."""
    if isinstance(value, Expression | Template):
        yield from value.paths
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from paths_in(item)
    elif isinstance(value, tuple):
        for item in value:
            yield from paths_in(item)
    elif dataclasses.is_dataclass(value) and not isinstance(value, Enum | type):
        for field in dataclasses.fields(value):
            yield from paths_in(getattr(value, field.name))
