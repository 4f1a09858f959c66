"""What an argument must be besides its type: where its value comes from, and what may not leave in it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from policies.model import Argument


@dataclass(frozen=True, slots=True)
class FromUser:
    """The value occurs in what the user wrote."""


@dataclass(frozen=True, slots=True)
class FromResult:
    """The value is the field at `path` of a result of this tool (its folded name); `[*]` is each item of a list."""

    tool: str
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FromText:
    """The value occurs in a text: the field at `path` of a result of this tool, or all of a result that is a text."""

    tool: str
    path: tuple[str, ...]


ValueSource: TypeAlias = "FromUser | FromResult | FromText"


class ResultFormat(Enum):
    """What a result that is a text may be read as, beside JSON."""

    JSON = "json"
    YAML = "yaml"

    @property
    def told(self) -> str:
        """What stands behind "read as"."""
        return "JSON only" if self is ResultFormat.JSON else "JSON, or as the YAML that serializers write"


class EgressList(Enum):
    """The versions of the list of secrets and personal data. What a version finds never changes."""

    V1 = "v1"


@dataclass(frozen=True, slots=True)
class Egress:
    """What may not leave in an argument, and the reason that a refusal gives."""

    list: EgressList
    reason: str


def has_sources(argument: Argument) -> bool:
    """Whether any value in it must come from somewhere."""
    inner = (*argument.fields.values(), *((argument.element,) if argument.element is not None else ()))
    return bool(argument.sources) or any(map(has_sources, inner))
