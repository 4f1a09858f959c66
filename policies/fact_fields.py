"""A value that may be read from a JSON document: of a fact, or of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.values import Type, Unit


@dataclass(frozen=True, slots=True)
class FactField:
    """`path` are the keys from the top of its document, with `[*]` for each item of a list.

    `currency_path` are those of what says the currency of an amount; empty where nothing does, and the policy's word
    holds.
    """

    name: str
    path: tuple[str, ...]
    type: Type
    money_unit: Unit | None = None
    money_currency: str | None = None
    timestamp: bool = False  # an ISO 8601 text with an offset
    currency_path: tuple[str, ...] = ()
