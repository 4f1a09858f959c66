"""The arguments of a tool that are guarded one by one, wherever in objects and lists they stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.expressions import EACH

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.model import Argument, Tool


@dataclass(frozen=True, slots=True)
class Guarded:
    """An argument with the steps that lead to it from the top of the arguments (`payments`, `[*]`, `iban`)."""

    argument: Argument
    steps: tuple[str, ...]

    def rule(self, tool: Tool, key: str) -> str:
        """The place in the policy that guards it: `pay.arguments.payments[*].iban.allow`."""
        return f"{tool.name}.arguments.{shown_path(self.steps)}.{key}"

    def values(self, arguments: object) -> Iterator[tuple[str, object]]:
        """Each value that stands there, with where: `payments[2].iban`. An argument that is left out has none."""
        yield from _values(arguments, self.steps, "")


def guarded(arguments: Mapping[str, Argument] | None) -> tuple[Guarded, ...]:
    """The arguments that have an allowlist or a source."""
    return tuple(
        place
        for name, argument in (arguments or {}).items()
        for place in _nested(argument, (name,))
        if place.argument.allow is not None or place.argument.sources
    )


def shown_path(steps: tuple[str, ...]) -> str:
    return ".".join(steps).replace(f".{EACH}", EACH)


def _nested(argument: Argument, steps: tuple[str, ...]) -> Iterator[Guarded]:
    yield Guarded(argument, steps)
    for name, field in argument.fields.items():
        yield from _nested(field, (*steps, name))
    if argument.element is not None:
        yield from _nested(argument.element, (*steps, EACH))


def _values(value: object, steps: tuple[str, ...], path: str) -> Iterator[tuple[str, object]]:
    if not steps:
        yield path, value
    elif steps[0] == EACH and isinstance(value, tuple):
        for index, item in enumerate(value):
            yield from _values(item, steps[1:], f"{path}[{index}]")
    elif isinstance(value, dict) and steps[0] in value:
        yield from _values(value[steps[0]], steps[1:], f"{path}.{steps[0]}" if path else steps[0])
