"""What changes in what a tool reads and says: facts, results, confidence, fees, cases for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.difference.figures import moved, one_way
from policies.difference.meaning import meaning
from policies.explain_fees import fee_lines
from policies.expressions import sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from policies.asking import Confidence
    from policies.fee_schedules import FeeSchedule
    from policies.model import FactField, Policy, Tool


def told_readings(old: Policy, new: Policy, before: Tool, after: Tool, name: str) -> dict[str, Callable[[], list[str]]]:
    """By the field of a tool that changes, its sentences."""
    return {
        "facts": lambda: [*_facts(old, new, before, after, name)],
        "result": lambda: [*_results(before.result, after.result, name)],
        "confidence": lambda: [*_confidence(old, new, before.confidence, after.confidence, name)],
        "fee_schedule": lambda: [*one_way(name, _fees(old, before), _fees(new, after))],
        "escalation": lambda: [*_cases(before, after, name)],
    }


def _facts(old: Policy, new: Policy, before: Tool, after: Tool, name: str) -> Iterator[str]:
    for fact in dict.fromkeys([*before.facts, *after.facts]):
        one, other = before.facts.get(fact), after.facts.get(fact)
        if other is None:
            yield f"{name} reads the fact {fact} no more."
        elif one is None:
            yield f"{name} reads the fact {fact}, too, by {sentence(other.key, new.constants)}."
        elif meaning(one) != meaning(other):
            by = sentence(other.key, new.constants), sentence(one.key, old.constants)
            yield f"{name} reads the fact {fact} by {by[0]} instead of {by[1]}."


def _results(before: Mapping[str, FactField], after: Mapping[str, FactField], name: str) -> Iterator[str]:
    for field in dict.fromkeys([*before, *after]):
        if field not in after:
            yield f"The field {field} of a result of {name} is read no more."
        elif field not in before:
            yield f"The field {field} of a result of {name} is read, too: {_read(after[field])}."
        elif meaning(before[field]) != meaning(after[field]):
            now, then = _read(after[field]), _read(before[field])
            yield f"The field {field} of a result of {name} is read as {now} instead of {then}."


def _read(field: FactField) -> str:
    kind = "a point in time" if field.timestamp else field.type.kind.value
    unit = "" if field.money_unit is None else f" in {field.money_currency} ({field.money_unit.value})"
    return f"{kind}{unit} at {'.'.join(field.path)}"


def _confidence(
    old: Policy, new: Policy, before: Confidence | None, after: Confidence | None, name: str
) -> Iterator[str]:
    if before is None or after is None:
        asked = "no more" if after is None else "now"
        yield f"How sure the model says it is of a call of {name} counts {asked}."
        return
    values = sentence(after.value, new.constants), sentence(before.value, old.constants)
    if values[0] != values[1]:
        yield f"How sure the model is of a call of {name} is what {values[0]} says, instead of {values[1]}."
    if before.clarify_below != after.clarify_below:
        yield moved(f"The confidence below which {name} is asked back", before.clarify_below, after.clarify_below)
    if before.escalate_below != after.escalate_below:
        what = f"The confidence below which {name} is passed to a person"
        yield moved(what, before.escalate_below, after.escalate_below)


def _fees(policy: Policy, tool: Tool) -> list[str]:
    declared: FeeSchedule | None = tool.fee_schedule
    return (
        []
        if declared is None
        else list(fee_lines(policy, declared, f"Else {declared.ruling.value} ({declared.reason})"))
    )


def _cases(before: Tool, after: Tool, name: str) -> Iterator[str]:
    for key in dict.fromkeys([*before.escalation, *after.escalation]):
        one, other = before.escalation.get(key), after.escalation.get(key)
        if other is None:
            yield f"A case of {name} says nothing of its own as {key} any more."
        elif one is None:
            yield f"A case of {name} says as {key}: {other.source!r}."
        elif one.source != other.source:
            yield f"A case of {name} says as {key} {other.source!r} instead of {one.source!r}."
