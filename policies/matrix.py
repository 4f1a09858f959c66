"""The matrix of a policy after loading: what may be done in which case for which customers (DESIGN 7, `cases`).

A *cell* is a case, or a case and a segment of customers: `late_delivery/standard`, as the policy spells it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from decimal import Decimal

    from policies.expressions import Expression
    from policies.model import FactUse, Origin, Rule
    from policies.values import Money


@dataclass(frozen=True, slots=True)
class CaseOfSession:
    """The application signs the case: a text field of `session`."""

    field: str


@dataclass(frozen=True, slots=True)
class CaseOfTool:
    """The last released call of a classifying tool, in an earlier turn, says the case in a closed set of words."""

    tool: str  # folded
    name: str  # as the policy spells it
    argument: str
    words: tuple[str, ...]


CaseSource: TypeAlias = "CaseOfSession | CaseOfTool"


@dataclass(frozen=True, slots=True)
class Cases:
    """What all cells share. `segment` is None where a cell is a case alone; `facts` are those that it reads.

    `owner_keeps` are cases in which a person decides whatever a cell says.
    """

    source: CaseSource
    segment: Expression | None
    facts: Mapping[str, FactUse]
    owner_keeps: frozenset[str]
    cells: Mapping[str, tuple[str, ...]]  # the actions of each, as the policy spells them
    origin: Origin

    def cell(self, case: str, segment: str | None) -> str:
        return case if segment is None else f"{case}/{segment}"


@dataclass(frozen=True, slots=True)
class Action:
    """One tool in one cell. Without `value` nothing of it is bounded; with it but no `maximum`, no limit is recorded.

    `id` is `cases.cells.late_delivery/standard.process_refund`.
    """

    id: str
    value: Expression | None
    maximum: Expression | None
    rules: tuple[Rule, ...]
    origin: Origin


@dataclass(frozen=True, slots=True)
class Matrix:
    """The matrix as one tool sees it: its action in each cell that has one. A write that no cell names has none."""

    cases: Cases
    actions: Mapping[str, Action] = field(default_factory=dict)
    ceiling: Money | Decimal | None = None

    @property
    def rules(self) -> Iterator[Rule]:
        return (rule for action in self.actions.values() for rule in action.rules)

    @property
    def expressions(self) -> Iterator[Expression]:
        """All but those of the rules."""
        if self.actions and self.cases.segment is not None:
            yield self.cases.segment
        for action in self.actions.values():
            yield from (one for one in (action.value, action.maximum) if one is not None)
