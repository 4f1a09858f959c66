"""What an expression is evaluated against: the values of its roots, and the time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from zoneinfo import ZoneInfo


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Stands in the place of a root, or of a field at any depth, that has no value. `why` holds no value."""

    why: str


@dataclass(frozen=True, slots=True)
class Environment:
    """`roots` holds values of the policy language, plain JSON (`int`, `list`, `None` for missing), or `Unreadable`.

    Every read is checked, so that nothing is taken for what it is not. `now` is aware; `zone` is the policy's
    `time_zone`, without which calendar functions are errors.
    """

    roots: Mapping[str, object]
    now: datetime
    zone: ZoneInfo | None = None

    def __post_init__(self) -> None:
        if self.now.utcoffset() is None:
            raise ValueError("the time of an environment is aware")
