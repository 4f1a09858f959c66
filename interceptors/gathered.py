"""The facts that a person gets with a case: typed fields as they were read, and none of the model's words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from policies.expressions import Unreadable
from policies.values import render

if TYPE_CHECKING:
    from interceptors.case import Case
    from policies.model import Policy
    from policies.values import Value

NOT_AVAILABLE: Final = "not available"
LINES_MAX: Final = 60
LENGTH_MAX: Final = 200  # characters of one value
RECORDS_MAX: Final = 5


def gathered(case: Case) -> dict[str, str]:
    """By `fact.field`; of a fact with several records the first few, by `fact.1.field`. A fact that could not be read,
    and one that the decision did not get to, says so."""
    lines: dict[str, str] = {}
    for fact in case.found.tool.upkeep.gather:
        lines |= fact_lines(fact, case.roots.get(fact), case.policy)
    return dict(list(lines.items())[:LINES_MAX])


def fact_lines(fact: str, value: object, policy: Policy) -> dict[str, str]:
    """The lines of one fact: of a record, of a list of records, or of what is neither."""
    if isinstance(value, tuple):
        lines: dict[str, str] = {}
        for number, record in enumerate(value[:RECORDS_MAX], 1):
            lines |= fact_lines(f"{fact}.{number}", record, policy)
        return lines
    if not isinstance(value, Mapping):
        return {fact: NOT_AVAILABLE}
    return {f"{fact}.{name}": _shown(field, policy) for name, field in value.items()}


def _shown(value: Value | Unreadable, policy: Policy) -> str:
    return NOT_AVAILABLE if isinstance(value, Unreadable) else render(value, policy.time_zone)[:LENGTH_MAX]
