"""A `decided` record as people read it: which rules fired, on which facts, from which words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interceptors.decisions import EvidenceKind
from policies.model import Ruling
from policies.values import render

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from interceptors.calls import Json
    from policies.model import Policy, Rule


@dataclass(frozen=True, slots=True)
class Row:
    """One rule or check, with its answer. `condition` and `figures` are of the policy that decided this."""

    rule: str
    ruling: str
    reason: str
    detail: str
    condition: str = ""
    figures: tuple[tuple[str, str], ...] = ()

    @property
    def fired(self) -> bool:
        return self.ruling != Ruling.ALLOW.value


@dataclass(frozen=True, slots=True)
class FactLine:
    """One field of a fact as it was read."""

    name: str
    value: str
    key: str
    as_of: str


@dataclass(frozen=True, slots=True)
class Decided:
    """What a page shows of a decision. `payload` is the whole."""

    payload: Mapping[str, Json]
    rows: tuple[Row, ...]
    facts: tuple[FactLine, ...]
    arguments: tuple[tuple[str, str], ...]
    evidence: tuple[tuple[str, str], ...]  # an argument, and where its value stands
    is_of_policy: bool  # the policy that was given decided it

    @property
    def fired(self) -> tuple[Row, ...]:
        return tuple(row for row in self.rows if row.fired)


def read_decided(payload: Mapping[str, Json], policy: Policy) -> Decided:
    """Missing parts of a payload read as none: an older version may have written it."""
    is_of_policy = payload.get("revision") == policy.revision
    tool = policy.tool(str(payload.get("tool", ""))) if is_of_policy else None
    rules = {rule.id: rule for rule in tool.all_rules} if tool is not None else {}
    verdicts = _objects(payload.get("verdicts"))
    given = payload.get("arguments")
    return Decided(
        payload=payload,
        rows=tuple(_row(verdict, rules, policy) for verdict in verdicts),
        facts=tuple(_facts(payload)),
        arguments=tuple(_flat(given)) if isinstance(given, dict) else (),
        evidence=tuple(line for verdict in verdicts for line in _evidence(verdict)),
        is_of_policy=is_of_policy,
    )


def _row(verdict: Mapping[str, Json], rules: Mapping[str, Rule], policy: Policy) -> Row:
    name = str(verdict.get("rule") or verdict.get("interceptor", ""))
    rule = rules.get(name)
    condition, figures = "", []
    if rule is not None:
        for word, expression in (("when", rule.when), ("unless", rule.unless)):
            if expression is not None:
                condition += f"{word} {expression.source} "
                read = sorted(path[1] for path in expression.paths if len(path) == 2 and path[0] == "constants")
                figures += [(constant, _rendered(policy, constant)) for constant in read]
    return Row(
        rule=name,
        ruling=str(verdict.get("ruling", "")),
        reason=str(verdict.get("reason") or ""),
        detail=str(verdict.get("detail") or ""),
        condition=condition.strip(),
        figures=tuple(figures),
    )


def _rendered(policy: Policy, constant: str) -> str:
    try:
        return render(policy.constants[constant])
    except ValueError:
        return "a list"


def _facts(payload: Mapping[str, Json]) -> Iterator[FactLine]:
    for fact in _objects(payload.get("facts")):
        fields = fact.get("fields")
        for name, value in fields.items() if isinstance(fields, dict) else ():
            yield FactLine(f"{fact.get('fact')}.{name}", str(value), str(fact.get("key")), str(fact.get("as_of")))


def _evidence(verdict: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    for one in _objects(verdict.get("evidence")):
        message = f"message {one.get('turn')}"
        if one.get("kind") == EvidenceKind.USER.value:
            yield str(one.get("argument")), f"user {message}, chars {one.get('start')} to {one.get('end')}"
        else:
            place = f", chars {one.get('start')} to {one.get('end')}" if one.get("end") else ""
            yield str(one.get("argument")), f"result in {message}, {one.get('path')}{place}"
    computed = verdict.get("computed")
    if isinstance(computed, dict):
        yield "amount", f"{computed.get('document')}, line {computed.get('line')}: {computed.get('quotation')}"


_DEPTH_MAX: Final = 4


def _flat(value: Json, path: str = "", depth: int = 0) -> Iterator[tuple[str, str]]:
    """An argument a line, `payments[0].amount`; what was not kept says of which kind it was."""
    if isinstance(value, dict) and "redacted" in value:
        length = f" of {value['length']}" if "length" in value else ""
        yield path, f"{value['redacted']}{length}, not kept"
    elif isinstance(value, dict) and value and depth < _DEPTH_MAX:
        for name, inner in value.items():
            yield from _flat(inner, f"{path}.{name}" if path else name, depth + 1)
    elif isinstance(value, list) and value and depth < _DEPTH_MAX:
        for index, inner in enumerate(value):
            yield from _flat(inner, f"{path}[{index}]", depth + 1)
    else:
        yield path, "none" if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _objects(value: Json) -> list[Mapping[str, Json]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
