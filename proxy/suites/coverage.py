"""Which rules, limits, facts and cells of a policy the cases of its suite reach, on both of their sides."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final

from interceptors.guarded import guarded
from policies.lint_limits import limits_of
from policies.model import Ruling

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from interceptors.decisions import Decision, Verdict
    from policies.model import Policy, Tool
    from proxy.suites.handoffs import AskingTrial
    from proxy.suites.trial import Trial

_UNJUDGED: Final = "not evaluated"


class Side(Enum):
    """What of an item a case has shown. The words are those of the report."""

    FIRED = "fires"
    SILENT = "is silent"
    READ = "is read"
    NOT_READ = "cannot be had"
    REACHED = "is reached"


@dataclass(frozen=True, slots=True)
class Item:
    """`kind` is rule, limit, guard, fact, cell or words."""

    kind: str
    name: str


_WORDS: Final = Item("words", "handoff")


@dataclass(frozen=True, slots=True)
class Coverage:
    """Per item the sides that must be shown, and those that were."""

    wanted: Mapping[Item, frozenset[Side]]
    shown: Mapping[Item, frozenset[Side]]

    @property
    def gaps(self) -> Iterator[tuple[Item, Side]]:
        for item, sides in self.wanted.items():
            for side in Side:
                if side in sides and side not in self.shown.get(item, frozenset()):
                    yield item, side

    @property
    def percent(self) -> float:
        """Of all sides, those that were shown; a policy that has nothing to show is covered."""
        total = sum(len(sides) for sides in self.wanted.values())
        return 100.0 if not total else 100.0 * (total - sum(1 for _ in self.gaps)) / total


def covered(policy: Policy, trials: Iterable[Trial], asking: Iterable[AskingTrial] = ()) -> Coverage:
    """What these cases reach, whether they passed or not."""
    wanted = dict(_wanted(policy))
    by_name = {item.name: item for item in wanted if item.kind not in ("fact", "cell")}
    shown: dict[Item, set[Side]] = {item: set() for item in wanted}
    for trial in trials:
        for decision in (*trial.earlier, *((trial.decision,) if trial.decision is not None else ())):
            for verdict in decision.verdicts:
                _show_row(verdict, decision, by_name, shown)
            for read in decision.facts:
                if (item := Item("fact", read.fact)) in shown:
                    shown[item].add(Side.READ if read.fields else Side.NOT_READ)
    for asked in asking if _WORDS in shown else ():
        shown[_WORDS].add(Side.SILENT if asked.made is None else Side.FIRED)
        for key in asked.reads:
            shown[Item("fact", key.fact)].add(Side.READ if asked.has_read(key) else Side.NOT_READ)
    return Coverage(wanted, {item: frozenset(sides) for item, sides in shown.items()})


def _show_row(verdict: Verdict, decision: Decision, by_name: Mapping[str, Item], shown: dict[Item, set[Side]]) -> None:
    if verdict.rule:
        for name in (verdict.rule, f"{verdict.rule} of {decision.tool}"):
            if name in by_name and not verdict.detail.startswith(_UNJUDGED):
                shown[by_name[name]].add(Side.SILENT if verdict.ruling is Ruling.ALLOW else Side.FIRED)
        if (cell := Item("cell", verdict.rule)) in shown:
            shown[cell].add(Side.REACHED)


def _wanted(policy: Policy) -> Iterator[tuple[Item, frozenset[Side]]]:
    both = frozenset({Side.FIRED, Side.SILENT})
    tools = (*policy.tools.values(), policy.unknown_tool)
    for tool in tools:
        for rule in (*tool.rules, *(tool.matrix.rules if tool.matrix is not None else ())):
            always = rule.when is None and rule.unless is None
            yield Item("rule", rule.id), frozenset({Side.FIRED}) if always else both
        for limit in limits_of(tool):
            yield Item("limit", limit.id), both
        for name in _guards(tool):
            yield Item("guard", name), both
        if tool.matrix is not None:
            yield from _cells(tool)
    used = {name for tool in tools for name in tool.facts}
    if policy.people.handoff is not None:
        used |= policy.people.handoff.case.facts.keys()
        yield _WORDS, both
    for name in policy.facts:
        if name in used:
            yield Item("fact", name), frozenset({Side.READ, Side.NOT_READ})


def _guards(tool: Tool) -> Iterator[str]:
    for place in guarded(tool.arguments):
        if place.argument.allow is not None:
            yield place.rule(tool, "allow")
        if place.argument.sources:
            yield place.rule(tool, "from")
    if tool.confirm is not None:
        yield f"{tool.name}.confirm"
    if tool.fee_schedule is not None:
        yield tool.fee_schedule.id
    if tool.egress is not None:
        yield f"egress.{tool.egress.list.value} of {tool.name}"


def _cells(tool: Tool) -> Iterator[tuple[Item, frozenset[Side]]]:
    assert tool.matrix is not None
    for action in tool.matrix.actions.values():
        yield Item("cell", action.id), frozenset({Side.REACHED})
        if action.value is not None:
            sides = {Side.FIRED, Side.SILENT} if action.maximum is not None else {Side.FIRED}
            yield Item("limit", f"{action.id}.max"), frozenset(sides)
    if tool.matrix.ceiling is not None:
        yield Item("limit", f"cases.ceiling.{tool.name}"), frozenset({Side.FIRED, Side.SILENT})
    for case in tool.matrix.cases.owner_keeps:
        yield Item("cell", f"cases.owner_keeps.{case}"), frozenset({Side.REACHED})
