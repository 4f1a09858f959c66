"""What a compiled policy means, without what says where it stands: equal meanings decide alike."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from enum import Enum
from typing import Final, TypeAlias
from zoneinfo import ZoneInfo

from policies.expressions import Expression
from policies.model import Origin
from policies.secrets import Expandable
from policies.templates import Template

Meaning: TypeAlias = object

_NO_MEANING: Final = frozenset({"origin", "files", "revision", "constant_origins", "id"})
_UNORDERED: Final = frozenset({"rules", "limits", "not_user"})


def meaning(value: object) -> Meaning:
    """A value that is equal for two parts of policies that mean the same; the order of mappings and of rules
    does not count."""
    if isinstance(value, Expression | Template | Expandable):
        return (type(value).__name__, value.source)
    if isinstance(value, Mapping):
        return {key: meaning(item) for key, item in value.items()}
    if isinstance(value, tuple):
        return [meaning(item) for item in value]
    if isinstance(value, Origin):
        return None
    if isinstance(value, ZoneInfo):
        return value.key
    if dataclasses.is_dataclass(value) and not isinstance(value, Enum | type):
        return {name: _of_field(name, getattr(value, name)) for name in names_of(value)}
    return value


def _of_field(name: str, value: object) -> Meaning:
    found = meaning(value)
    return sorted(found, key=repr) if name in _UNORDERED and isinstance(found, list) else found


def names_of(value: object) -> list[str]:
    """The fields of a part of a policy that mean something."""
    assert dataclasses.is_dataclass(value)
    return [one.name for one in dataclasses.fields(value) if one.name not in _NO_MEANING and one.compare]


def changed(old: object, new: object) -> list[str]:
    """The fields of two parts of one type that do not mean the same."""
    return [
        name for name in names_of(new) if _of_field(name, getattr(old, name)) != _of_field(name, getattr(new, name))
    ]
