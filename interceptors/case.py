"""What the interceptors look at: one proposed call, the tool that judges it, and what was derived from them so far."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol

from interceptors.arguments import reader
from interceptors.calls import Proposer, ToolCall
from interceptors.causes import answer
from interceptors.decisions import Needs, Verdict
from interceptors.guarded import Guarded, guarded
from interceptors.readings import read_field
from policies.expressions import EACH, Environment, Unreadable
from policies.fee_schedules import ROOT as FEES
from policies.model import Ruling, ToolEffect
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from interceptors.arguments import Reading
    from interceptors.calls import Call, Json
    from interceptors.causes import RefusalCause
    from interceptors.context import Context, Facts
    from interceptors.decisions import FactRead
    from interceptors.obligations import Ask, Obligation
    from interceptors.usage import Usages
    from policies.model import Policy, Rule, Tool
    from policies.values import Value


_RULES: Final = 5


class Stage(Enum):
    """The stages of a decision by their numbers in DESIGN 4. Those before RULES read no fact and end the matter."""

    SHAPE = 1
    CAPABILITY = 2
    ALLOWLISTS = 3
    GROUNDING = 4
    RULES = _RULES
    CONFIRMATION = 7

    def __init__(self, number: int) -> None:
        self.is_screen = number < _RULES


class Interceptor(Protocol):
    """One file, one idea, one line in the pipeline's list. Pure: a verdict a row, or what it needs first."""

    @property
    def name(self) -> str: ...

    @property
    def stage(self) -> Stage: ...

    def judge(self, case: Case) -> tuple[Verdict, ...] | Needs: ...


@dataclass(frozen=True, slots=True)
class PreparedRule:
    """A rule with the facts it reads, and its two usual rows, made once."""

    rule: Rule
    facts: frozenset[str]
    fired: Verdict
    silent: Verdict


@dataclass(frozen=True, slots=True)
class PreparedTool:
    """A tool of the policy, or `Policy.unknown_tool` (`is_named` is then false), with what every call of it needs.

    `fields` are the fields of each fact that its rules and limits read: those a receipt shows. `money` is its first
    amount, `guarded` are the arguments with a list or a source.
    """

    tool: Tool
    is_named: bool
    is_write: bool
    rules: tuple[PreparedRule, ...]
    fields: Mapping[str, tuple[str, ...]]
    money: str | None
    read: Callable[[Mapping[str, Json]], Reading] | None = None  # None of a tool without `arguments`
    guarded: tuple[Guarded, ...] = ()
    cells: Mapping[str, tuple[PreparedRule, ...]] = field(default_factory=dict)  # the rules of its action in each

    @classmethod
    def of(cls, tool: Tool, *, is_named: bool) -> PreparedTool:
        mapped = frozenset((*tool.facts, FEES))
        rules = tuple(_prepared(rule, mapped) for rule in tool.rules)
        read = {path for rule in tool.rules for path in _paths(rule)}
        cells: dict[str, tuple[PreparedRule, ...]] = {}
        if tool.matrix is not None:
            cells = {
                name: tuple(_prepared(rule, mapped) for rule in one.rules) for name, one in tool.matrix.actions.items()
            }
            read |= {path for rule in tool.matrix.rules for path in _paths(rule)}
            read |= {path for expression in tool.matrix.expressions for path in expression.paths}
        limits = (*tool.limits, *((tool.once_per,) if tool.once_per is not None else ()))
        read |= {path for limit in limits for expression in limit.expressions for path in expression.paths}
        fees = () if tool.fee_schedule is None else tool.fee_schedule.expressions
        read |= {path for expression in fees for path in expression.paths}
        fields = {fact: tuple(sorted({_field_of(path) for path in read if path[0] == fact})) for fact in tool.facts}
        money = (name for name, argument in (tool.arguments or {}).items() if argument.type.kind is Kind.MONEY)
        is_write = tool.effect is ToolEffect.WRITE
        read_them = None if tool.arguments is None else reader(tool.arguments)
        places = guarded(tool.arguments)
        return cls(tool, is_named, is_write, rules, fields, next(money, None), read_them, places, cells)


def _prepared(rule: Rule, facts: frozenset[str]) -> PreparedRule:
    return PreparedRule(
        rule,
        facts & {path[0] for path in _paths(rule)},
        Verdict("rules", rule.ruling, rule.reason, rule.id),
        Verdict("rules", Ruling.ALLOW, rule=rule.id),
    )


def _paths(rule: Rule) -> set[tuple[str, ...]]:
    return {path for expression in (rule.when, rule.unless) if expression is not None for path in expression.paths}


def _field_of(path: tuple[str, ...]) -> str:
    """The field of a fact that a path reads: `order.paid` and `orders[*].paid` read `paid`; the whole fact has none."""
    steps = [step for step in path[1:] if step != EACH]
    return steps[0] if steps else ""


@dataclass(slots=True)
class Case:
    """One decision in the making. Interceptors read it; those of facts and of limits write the fields they own."""

    policy: Policy
    call: Call
    found: PreparedTool
    key: str  # the folded name
    context: Context
    facts: Facts
    usages: Usages = field(default_factory=dict)
    proposer: Proposer = Proposer.MODEL
    discharges: frozenset[str] = frozenset()  # rows that people have approved (`Verdict.row`)
    # Written by the interceptors of fee schedules and limits:
    obligations: tuple[Obligation, ...] = ()
    injecting: dict[str, Json] = field(default_factory=dict)  # arguments that leave in place of the model's own
    # Written by the confirmation interceptor, where it asks:
    question: str = ""
    asking: Ask | None = None
    # Written by the facts interceptor:
    roots: dict[str, object] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()  # facts, and what rests on them, that could not be had; a verdict says so
    reads: tuple[FactRead, ...] = ()
    _reading: Reading | None = None
    _environment: Environment | None = None

    @property
    def reading(self) -> Reading | None:
        """The typed arguments; None for a malformed call and for a tool without `arguments`."""
        if self._reading is None and self.found.read is not None and isinstance(self.call, ToolCall):
            self._reading = self.found.read(self.call.arguments)
        return self._reading

    @property
    def declared_schema(self) -> bytes | None:
        """The request's own schema of the tool."""
        declared = self.context.declared.get(self.key)
        return None if declared is None else declared.schema

    def inject(self, name: str, spelled: Json, value: Value) -> None:
        """Let `value` leave as this argument: rules and limits that come after judge what leaves."""
        self.injecting[name] = spelled
        assert self.reading is not None, "a tool that says which argument declares it"
        self.environment  # noqa: B018 - makes the roots
        self.roots["args"] = {**self.reading.values, name: value}

    @property
    def environment(self) -> Environment:
        """What expressions and templates read; one object a case, in which facts appear as they are read."""
        if self._environment is None:
            self.roots.update(args=self._arguments(), session=self._session(), constants=self.policy.constants)
            self._environment = Environment(self.roots, self.context.now, self.policy.time_zone)
        return self._environment

    def _arguments(self) -> object:
        if not isinstance(self.call, ToolCall):
            return Unreadable("the call is malformed")
        return self.call.arguments if self.reading is None else self.reading.values

    def _session(self) -> Mapping[str, object]:
        subject = self.context.subject
        return {name: read_field(subject, claim.at, claim.type) for name, claim in self.policy.session.items()}

    def anew(self, discharges: frozenset[str]) -> Case:
        """The same call before the first look, with these rows discharged."""
        return Case(
            self.policy,
            self.call,
            self.found,
            self.key,
            self.context,
            self.facts,
            self.usages,
            self.proposer,
            discharges,
        )

    def passed(self, verdict: Verdict) -> Verdict:
        """The verdict, allowed where it passes the call on and people have approved exactly that row."""
        if verdict.ruling is not Ruling.ESCALATE or verdict.row not in self.discharges:
            return verdict
        return replace(verdict, ruling=Ruling.ALLOW, reason="", detail=f"{verdict.reason}: approved")

    def verdict(self, interceptor: str, cause: RefusalCause, *, detail: str = "", fact: str = "") -> Verdict:
        """The verdict of a cause under this policy. `fact` names the one that FACT_MISSING is about."""
        unknown_tools = self.policy.unknown_tools
        if fact:
            given = answer(cause, unknown_tools=unknown_tools, missing=self.policy.facts[fact].missing)
        else:
            given = answer(cause, unknown_tools=unknown_tools)
        return Verdict(interceptor, given.ruling, given.reason, detail=detail or cause.value)
