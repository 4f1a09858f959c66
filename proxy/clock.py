"""The one place that asks what time it is. Everything else is told."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

Clock: TypeAlias = "Callable[[], datetime]"
"""Gives the present as an aware UTC time."""


def utc_now() -> datetime:
    """The wall clock."""
    return datetime.now(UTC)
