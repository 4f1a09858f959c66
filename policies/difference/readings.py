"""What changes in what a tool reads and says: facts, results, confidence, fees, cases for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.difference.cases import told_uses
from policies.difference.facts import told_fields
from policies.difference.figures import moved, one_way
from policies.explain_fees import fee_lines
from policies.expressions import value_sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from policies.asking import Confidence
    from policies.fee_schedules import FeeSchedule
    from policies.model import Policy, Tool


def told_readings(old: Policy, new: Policy, before: Tool, after: Tool, name: str) -> dict[str, Callable[[], list[str]]]:
    """By the field of a tool that changes, its sentences."""
    return {
        "facts": lambda: [*told_uses(old, new, before.facts, after.facts, name)],
        "result": lambda: [*told_fields(before.result, after.result, f"a result of {name}")],
        "confidence": lambda: [*_confidence(old, new, before.confidence, after.confidence, name)],
        "fee_schedule": lambda: [*one_way(name, _fees(old, before), _fees(new, after))],
        "escalation": lambda: [*_cases(before, after, name)],
    }


def _confidence(
    old: Policy, new: Policy, before: Confidence | None, after: Confidence | None, name: str
) -> Iterator[str]:
    if before is None or after is None:
        asked = "no more" if after is None else f"now: {_sure(new, after)}"
        was = f"; it was {_sure(old, before)}" if before is not None else ""
        yield f"How sure the model says it is of a call of {name} counts {asked}{was}."
        return
    values = value_sentence(after.value, new.constants), value_sentence(before.value, old.constants)
    if values[0] != values[1]:
        yield f"How sure the model is of a call of {name} is what {values[0]} says, instead of {values[1]}."
    if before.clarify_below != after.clarify_below:
        yield moved(f"The confidence below which {name} is asked back", before.clarify_below, after.clarify_below)
    if before.escalate_below != after.escalate_below:
        what = f"The confidence below which {name} is passed to a person"
        yield moved(what, before.escalate_below, after.escalate_below)


def _sure(policy: Policy, confidence: Confidence) -> str:
    value = value_sentence(confidence.value, policy.constants)
    return f"{value}, asked back below {confidence.clarify_below}, for a person below {confidence.escalate_below}"


def told_schedule(before: Tool, after: Tool, name: str) -> Iterator[str]:
    """By which name receipts tell the schedule."""
    one, other = before.fee_schedule, after.fee_schedule
    if one is not None and other is not None and one.schedule.id != other.schedule.id:
        yield f"The fee schedule of {name} is called {other.schedule.id} instead of {one.schedule.id}."


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
        if other is None and one is not None:
            yield f"A case of {name} says nothing of its own as {key} any more; it said {one.source!r}."
        elif one is None and other is not None:
            yield f"A case of {name} says as {key}: {other.source!r}."
        elif one is not None and other is not None and one.source != other.source:
            yield f"A case of {name} says as {key} {other.source!r} instead of {one.source!r}."
