"""What an expression may name: the roots that stand around it, with their types."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from policies.expressions.errors import ExpressionError
from policies.values import ANY, Kind, Type, list_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

EACH = "[*]"  # the step of a path that stands for every element of a list


@dataclass(frozen=True, slots=True)
class Scope:
    """Declared roots: `args`, `session`, `constants`, and one a fact.

    A root is a record, a list of records (a fact that is mapped with `[*]`), or `ANY`: declared, but open, its fields
    known at run time only. `absent` says of roots that do not stand here why not, for the message.
    """

    roots: Mapping[str, Type]
    absent: Mapping[str, str] = field(default_factory=dict)

    def type_of(self, path: Sequence[str], column: int = 1) -> Type:
        """The type of what `path` reads; a list where it holds `EACH`. `ExpressionError` names an undeclared path."""
        root = path[0]
        if root not in self.roots:
            why = self.absent.get(root, f"declared here are {_listed(self.roots)}")
            raise ExpressionError(f"{root!r} is not declared: {why}", column)
        current, each = self.roots[root], False
        for index, step in enumerate(path[1:], start=1):
            if step == EACH:
                current, each = _element(current, path[:index], column), True
            else:
                current = _field(current, path[:index], step, column)
        return list_of(current) if each else current


def dotted(path: Sequence[str]) -> str:
    """`args.payments[*].amount`; a name that is no identifier is quoted: `args["order-id"]`."""
    text = path[0]
    for step in path[1:]:
        if step == EACH:
            text += EACH
        elif step.isascii() and step.isidentifier():
            text += f".{step}"
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
    return text


def _element(current: Type, so_far: Sequence[str], column: int) -> Type:
    if current.kind is Kind.ANY:
        return ANY
    if current.kind is Kind.LIST:
        return current.element or ANY
    raise ExpressionError(f"{dotted(so_far)!r} is a {current.kind.value}, not a list: [*] does not apply", column)


def _field(current: Type, so_far: Sequence[str], name: str, column: int) -> Type:
    if current.kind is Kind.ANY:
        return ANY
    if current.kind is Kind.LIST:
        raise ExpressionError(f"{dotted(so_far)!r} is a list: write {dotted([*so_far, EACH, name])!r}", column)
    if current.kind is not Kind.RECORD:
        raise ExpressionError(f"{dotted(so_far)!r} is a {current.kind.value} and has no field {name!r}", column)
    if name not in current.fields:
        known = f"{dotted(so_far)} has {_listed(current.fields)}"
        raise ExpressionError(f"{dotted([*so_far, name])!r} is not declared: {known}", column)
    return current.fields[name]


def _listed(names: Mapping[str, Type]) -> str:
    return ", ".join(sorted(names)) if names else "nothing"
