"""What changes in one tool, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from policies.difference.answers import told_batch, told_confirm, told_inject, told_on_refusal, told_passed_on
from policies.difference.cases import told_matrix
from policies.difference.figures import constant, moved, names_of_both, one_way, told_apart
from policies.difference.meaning import changed, meaning
from policies.difference.readings import told_readings, told_schedule
from policies.difference.words import OUTCOMES
from policies.explain import rule_sentence
from policies.explain_arguments import argument_lines, egress_lines
from policies.explain_limits import limit_sentence, once_sentence
from policies.explain_upkeep import upkeep_words
from policies.expressions import sentence
from policies.limits import Limit, Measure
from policies.model import Tool, ToolEffect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from policies.limits import OncePer
    from policies.model import Argument, Policy, Rule

T = TypeVar("T")


def tool_sentences(old: Policy, new: Policy, before: Tool, after: Tool, name: str) -> Iterator[str]:
    """Every difference of a tool, told as `name`. What has no sentence of its own is named by its key."""
    telling: dict[str, Callable[[], Iterator[str]]] = {
        "name": lambda: iter([f"The tool {before.name} is spelled {after.name}."]),
        "effect": lambda: iter([_effect(name, after)]),
        "arguments": lambda: _arguments(old, new, before, after, name),
        "result_format": lambda: iter(
            [f"The results of {name} are read as {after.result_format.told} instead of {before.result_format.told}."]
        ),
        "on_refusal": lambda: iter([told_on_refusal(name, before, after)]),
        "batch": lambda: iter([told_batch(name, after)]),
        "confirm": lambda: iter([told_confirm(old, new, before, after, name)]),
        "inject": lambda: iter([told_inject(name, before, after)]),
        "egress": lambda: one_way(name, list(egress_lines(before)), list(egress_lines(after))),
        "upkeep": lambda: one_way(name, upkeep_words(before), upkeep_words(after)),
        "not_executed_when": lambda: iter([_not_executed(old, new, before, after, name)]),
        "passed_on": lambda: told_passed_on(name, before, after),
        "settle_within": lambda: iter(
            [moved(f"The time within which {name} must have a result", before.settle_within, after.settle_within)]
        ),
    }
    # These are told with the constants that they read, so that a figure is seen wherever it works.
    told = {"rules", "limits", "once_per", "matrix"}
    yield from _rules(old, new, before.rules, after.rules, name)
    yield from _limits(old, new, before.limits, after.limits, name)
    yield from _once(old, new, before.once_per, after.once_per, name)

    def rules(one: Sequence[Rule], other: Sequence[Rule], where: str) -> Iterator[str]:
        return _rules(old, new, one, other, where)

    yield from told_matrix(old, new, before, after, name, rules)
    yield from told_schedule(before, after, name)
    readings = told_readings(old, new, before, after, name)
    for field in changed(before, after):
        if field in readings:
            yield from readings[field]() or [f"`{field}` of {name} changes."]
        elif field in telling:
            yield from telling[field]()
        elif field not in told:
            yield f"`{field}` of {name} changes."


def _effect(name: str, after: Tool) -> str:
    now = "only reads" if after.effect is ToolEffect.READ else "changes something"
    before = "changes something" if after.effect is ToolEffect.READ else "only reads"
    return f"{name} {now}; it was said that it {before}."


def _arguments(old: Policy, new: Policy, before: Tool, after: Tool, name: str) -> Iterator[str]:
    if before.arguments is None or after.arguments is None:
        now = "as the request declares them" if after.arguments is None else "as the policy says"
        yield f"The arguments of {name} are checked {now}."
        return
    for key in names_of_both(before.arguments, after.arguments):
        if key not in before.arguments:
            yield f"{name} has an argument more: {_argument(new, after, key)}."
        elif key not in after.arguments:
            yield f"{name} has the argument {key} no more; a call with it is refused."
        elif meaning(before.arguments[key]) != meaning(after.arguments[key]):
            yield from _became(f"The argument {key} of {name}", _argument(old, before, key), _argument(new, after, key))


def _argument(policy: Policy, tool: Tool, key: str) -> str:
    argument: Mapping[str, Argument] = {key: (tool.arguments or {})[key]}
    only = Tool(tool.name, tool.effect, None, {}, argument, (), {}, None)
    lines = list(argument_lines(policy, only))[1:]
    return "; ".join(line.strip().removeprefix("- ").rstrip(".") for line in lines).replace(
        "an object with; ", "an object with "
    )


def _rules(old: Policy, new: Policy, before: Sequence[Rule], after: Sequence[Rule], name: str) -> Iterator[str]:
    first = [(rule_sentence(old, rule), rule) for rule in before]
    second = [(rule_sentence(new, rule), rule) for rule in after]
    for one, other in paired(first, second, lambda rule: rule.reason):
        if one is None and other is not None:
            yield f"A rule more for {name}: {rule_sentence(new, other)}"
        elif other is None and one is not None:
            yield f"A rule less for {name}: {rule_sentence(old, one)}"
        elif one is not None and other is not None:
            yield from _rule(old, new, one, other, name)


def _rule(old: Policy, new: Policy, one: Rule, other: Rule, name: str) -> Iterator[str]:
    first, second = rule_sentence(old, one), rule_sentence(new, other)
    figures = told_apart(first, second)
    if figures is not None and one.ruling is other.ruling:
        yield moved(f"The figure by which {name} is {OUTCOMES[one.ruling]} ({one.reason})", *figures)
    else:
        yield f"A rule of {name} changes. Before: {first} Now: {second}"


def _limits(old: Policy, new: Policy, before: Sequence[Limit], after: Sequence[Limit], name: str) -> Iterator[str]:
    def same(limit: Limit) -> object:
        return limit.measure, limit.reason

    first = [(_limit(old, limit), limit) for limit in before]
    second = [(_limit(new, limit), limit) for limit in after]
    for one, other in paired(first, second, same):
        if one is None and other is not None:
            yield f"A limit more for {name}: {_limit(new, other)}."
        elif other is None and one is not None:
            yield f"A limit less for {name}: {_limit(old, one)}."
        elif one is not None and other is not None:
            yield from _limit_moved(old, new, one, other, name)


def _limit(policy: Policy, limit: Limit) -> str:
    return f"{OUTCOMES[limit.ruling]} ({limit.reason}) {limit_sentence(policy, limit)}"


def _limit_moved(old: Policy, new: Policy, one: Limit, other: Limit, name: str) -> Iterator[str]:
    first, second = _limit(old, one), _limit(new, other)
    bounds = constant(old, one.maximum), constant(new, other.maximum)
    rest = [field for field in changed(one, other) if field != "maximum"]
    if bounds[0] is not None and bounds[0] != bounds[1] and bounds[1] is not None and not rest:
        what = "ceiling" if one.measure is Measure.VALUE else "limit"
        more = "" if one.measure is Measure.VALUE else f" ({one.reason}: {_scope(new, other)})"
        yield moved(f"The {what} of {name}{more}", bounds[0], bounds[1])
    else:
        yield f"A limit of {name} changes. Before: {first}. Now: {second}."


def _scope(policy: Policy, limit: Limit) -> str:
    """What is bounded, without the bound."""
    words = limit_sentence(policy, limit).removeprefix("where ")
    return words.partition(" would be more than ")[0].rstrip(",")


def _once(old: Policy, new: Policy, before: OncePer | None, after: OncePer | None, name: str) -> Iterator[str]:
    if before is None and after is not None:
        yield f"{name} is done once: {OUTCOMES[after.ruling]} ({after.reason}) {once_sentence(new, after)}."
    elif after is None and before is not None:
        words = f"{OUTCOMES[before.ruling]} ({before.reason}) {once_sentence(old, before)}"
        yield f"{name} may be repeated: no more {words}."
    elif before is not None and after is not None:
        first = f"{OUTCOMES[before.ruling]} ({before.reason}) {once_sentence(old, before)}"
        second = f"{OUTCOMES[after.ruling]} ({after.reason}) {once_sentence(new, after)}"
        if first != second:
            yield from _became(f"What {name} does once", first, second)


def _not_executed(old: Policy, new: Policy, before: Tool, after: Tool, name: str) -> str:
    then, now = before.not_executed_when, after.not_executed_when
    was = "" if then is None else sentence(then, old.constants)
    if now is None:
        return f"No result of {name} frees what its call held any more; it was free where {was}."
    words = f"What a call of {name} held is free where {sentence(now, new.constants)}"
    return f"{words}, instead of where {was}." if was else f"{words}."


def _became(what: str, before: str, after: str) -> Iterator[str]:
    figures = told_apart(before, after)
    if figures is not None:
        yield moved(f"A figure in {what[0].lower()}{what[1:]}", *figures)
    yield f"{what} changes. Before: {before}. Now: {after}."


def paired(
    before: Sequence[tuple[str, T]], after: Sequence[tuple[str, T]], key: Callable[[T], object]
) -> Iterator[tuple[T | None, T | None]]:
    """What is told by the same words in both is left out; of the rest, those with one key are pairs."""
    gone, added = _without(before, after), _without(after, before)
    for one in gone:
        other = next((other for other in added if key(other) == key(one)), None)
        if other is not None:
            added.remove(other)
        yield one, other
    yield from ((None, one) for one in added)


def _without(some: Sequence[tuple[str, T]], others: Sequence[tuple[str, T]]) -> list[T]:
    words = [text for text, _ in others]
    left: list[T] = []
    for text, one in some:
        if text in words:
            words.remove(text)
        else:
            left.append(one)
    return left
