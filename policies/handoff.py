"""What a policy says of customers who ask for a person: in which words, what is read for the case, what it says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.model import Origin, Tool

REASON: Final = "handoff"
"""The system's reason under which people get such a case, and by whose `reply` the customer is answered."""


@dataclass(frozen=True, slots=True)
class Spoken:
    """The words of one language: the policy's own phrases, beside the built-in words or in their place."""

    phrases: tuple[str, ...] = ()
    built_in: bool = True


@dataclass(frozen=True, slots=True)
class Handoff:
    """`languages` by their tags, in the order in which they are looked for; `named` are those that the policy spells
    out. `case` says like a tool, which it is not, what is read for the case and what its summary says."""

    languages: Mapping[str, Spoken]
    named: frozenset[str]
    case: Tool
    origin: Origin
