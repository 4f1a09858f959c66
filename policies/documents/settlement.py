"""What a tool says of its results, and of the money that they settle."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING

from policies.documents import keys
from policies.documents.facts import read_fields
from policies.documents.limits import duration
from policies.documents.rules import Place
from policies.expressions import Scope
from policies.guards import ResultFormat
from policies.model import SETTLE_WITHIN
from policies.nodes import listed
from policies.values import Kind, record_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.expressions import Expression
    from policies.fact_fields import FactField
    from policies.model import Argument
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.values import Type

SETTLE_WITHIN_MAX = timedelta(days=30)
SAMPLE_KEY = "00000000-0000-8000-8000-000000000000"
"""Of the form that every injected key has."""


@dataclass(frozen=True, slots=True)
class Settlement:
    """What was read of these keys."""

    result: Mapping[str, FactField] = field(default_factory=dict)
    result_format: ResultFormat = ResultFormat.JSON
    not_executed_when: Expression | None = None
    inject: str | None = None


def read_settle_within(mapping: MappingNode, default: timedelta = SETTLE_WITHIN) -> timedelta:
    node = mapping.get("settle_within")
    return default if node is None else duration(node, SETTLE_WITHIN_MAX)


def read_settlement(
    mapping: MappingNode,
    constants: Type | None,
    arguments: Mapping[str, Argument] | None,
    problems: Problems,
    *,
    has_time_zone: bool,
) -> Settlement:
    """The keys that a tool has beside its limits; what is wrong in them is among the problems."""
    result: dict[str, FactField] = {}
    result_format = ResultFormat.JSON
    not_executed_when: Expression | None = None
    inject: str | None = None
    with problems.collect():
        if (node := mapping.get("result")) is not None:
            result = _read_result(node.mapping(), problems)
            result_format = _read_format(node.mapping())
    with problems.collect():
        if (node := mapping.get("not_executed_when")) is not None:
            not_executed_when = _result_place(result, constants, has_time_zone=has_time_zone).condition(node)
            if not any(path[0] == "result" for path in not_executed_when.paths):
                node.fail("this reads nothing of the result, and would free every call's money or none")
    with problems.collect():
        if (node := mapping.get("inject")) is not None:
            inject = _read_inject(node, arguments)
    return Settlement(result, result_format, not_executed_when, inject)


def _read_result(mapping: MappingNode, problems: Problems) -> dict[str, FactField]:
    mapping.check_keys(keys.RESULT, keys.LATER)
    if not mapping.entries:
        mapping.fail(f"expected at least one of {listed(keys.RESULT)}")
    fields = mapping.get("fields")
    return {} if fields is None else read_fields(fields.mapping(), "result", problems)


def _read_format(mapping: MappingNode) -> ResultFormat:
    node = mapping.get("format")
    return ResultFormat.JSON if node is None else node.choice(ResultFormat)


def _result_place(result: Mapping[str, FactField], constants: Type | None, *, has_time_zone: bool) -> Place:
    roots: dict[str, Type] = {"result": record_of({name: one.type for name, one in result.items()})}
    why = "a result is judged by itself: `not_executed_when` may read result and constants only"
    absent = {"args": why, "session": why, "constants": "the policy has no `constants` section"}
    if constants is not None:
        roots["constants"] = constants
    return Place(Scope(roots, absent), has_time_zone, ())


def _read_inject(node: Node, arguments: Mapping[str, Argument] | None) -> str:
    name = node.text()
    declared = None if arguments is None else arguments.get(name)
    if declared is None:
        return name
    # What the model writes there is replaced, so that it need not be there, and can be nothing but a text.
    if declared.type.kind is not Kind.STRING or declared.one_of or not declared.optional:
        node.fail(f"the argument {name!r} must be an optional text: the gate writes it, whatever the model does")
    if declared.pattern is not None and not declared.pattern.matches(SAMPLE_KEY):
        node.fail(f"the pattern of {name!r} does not match a key such as {SAMPLE_KEY}")
    return name
