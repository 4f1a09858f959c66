"""What changes in the matrix of cases, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.difference.figures import constant, moved, names_of_both
from policies.difference.meaning import meaning
from policies.explain_cases import bounded, source_words
from policies.expressions import value_sentence
from policies.values import render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from policies.expressions import Expression
    from policies.matrix import Action, Cases
    from policies.model import FactUse, Policy, Rule, Tool

    Rules = Callable[[tuple[Rule, ...], tuple[Rule, ...], str], Iterator[str]]


def told_cases(old: Policy, new: Policy) -> Iterator[str]:
    """Of all cells what says the case, whom it is kept for, and which there are."""
    before, after = old.cases, new.cases
    if before is None or after is None:
        if after is not None:
            cells = ", ".join(after.cells)
            yield f"There are `cases`: what holds depends on {source_words(after)}; the cells: {cells}."
        elif before is not None:
            yield f"There are no `cases` any more; there were the cells {', '.join(before.cells)}."
        return
    if meaning(before.source) != meaning(after.source):
        yield f"What holds depends on {source_words(after)} instead of {source_words(before)}."
    if meaning(before.segment) != meaning(after.segment):
        yield f"The segment of a customer is {_segment(new, after)} instead of {_segment(old, before)}."
    yield from told_uses(old, new, before.facts, after.facts, "The segment")
    for word in sorted(before.owner_keeps ^ after.owner_keeps):
        yield f"A person decides {'always' if word in after.owner_keeps else 'not always any more'} in the case {word}."
    for cell in names_of_both(before.cells, after.cells):
        if cell not in after.cells:
            yield f"There is no cell {cell} any more: a person decides."
        elif cell not in before.cells:
            yield f"There is a cell {cell}: {', '.join(after.cells[cell]) or 'nothing may be done in it'}."


def _segment(policy: Policy, cases: Cases) -> str:
    return "none" if cases.segment is None else value_sentence(cases.segment, policy.constants)


def told_uses(
    old: Policy, new: Policy, before: Mapping[str, FactUse], after: Mapping[str, FactUse], who: str
) -> Iterator[str]:
    """By which key each fact is read."""
    for fact in names_of_both(before, after):
        one, other = before.get(fact), after.get(fact)
        if other is None:
            yield f"{who} reads the fact {fact} no more."
        elif one is None:
            yield f"{who} reads the fact {fact}, too, by {value_sentence(other.key, new.constants)}."
        elif meaning(one) != meaning(other):
            by = value_sentence(other.key, new.constants), value_sentence(one.key, old.constants)
            yield f"{who} reads the fact {fact} by {by[0]} instead of {by[1]}."


def told_matrix(old: Policy, new: Policy, before: Tool, after: Tool, name: str, rules: Rules) -> Iterator[str]:
    """Of one tool in which cells it may be done, and up to what. `rules` tells those of an action."""
    one, other = before.matrix, after.matrix
    if one is None or other is None:
        if one is not other:
            yield f"{name} is governed by {'its own rules' if other is None else '`cases`'}."
        return
    if one.ceiling is not None and other.ceiling is not None and one.ceiling != other.ceiling:
        yield moved(f"The ceiling of {name}", one.ceiling, other.ceiling)
    elif one.ceiling is not None and other.ceiling is None:
        yield f"{name} has no ceiling any more; it was {render(one.ceiling)}."
    elif other.ceiling is not None and one.ceiling is None:
        yield f"{name} has a ceiling of {render(other.ceiling)} in every case."
    for cell in names_of_both(one.actions, other.actions):
        if cell not in one.actions:
            yield f"{name} may be done in {cell}: {bounded(new, other.actions[cell])}"
        elif cell not in other.actions:
            yield f"{name} may not be done in {cell} any more; it was {bounded(old, one.actions[cell])}"
        else:
            first, second, where = one.actions[cell], other.actions[cell], f"{name} in {cell}"
            yield from _action(old, new, first, second, where)
            yield from rules(first.rules, second.rules, where)


def _action(old: Policy, new: Policy, before: Action, after: Action, name: str) -> Iterator[str]:
    if meaning(before.value) != meaning(after.value):
        now, then = _told(new, after.value, "nothing"), _told(old, before.value, "nothing")
        yield f"What is bounded of {name} is {now} instead of {then}."
    first, second = constant(old, before.maximum), constant(new, after.maximum)
    if first is not None and second is not None:
        if first != second:
            yield moved(f"The limit of {name}", first, second)
    elif meaning(before.maximum) != meaning(after.maximum):
        now, then = _told(new, after.maximum, "none"), _told(old, before.maximum, "none")
        yield f"The limit of {name} is {now} instead of {then}."


def _told(policy: Policy, expression: Expression | None, nothing: str) -> str:
    return nothing if expression is None else value_sentence(expression, policy.constants)
