"""What an answer of people is bound to, from a decision in the making: pure, and the same for the same call.

A binding names what the rules read that passed the call on, so that an edit of a comment, or a change of a fact that
they do not read, leaves an answer valid.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.customers import customer
from interceptors.grants import Asks, Binding
from interceptors.strict_json import canonical, digest
from policies.difference.meaning import meaning
from policies.expressions import EACH, Unreadable, dotted
from policies.matrix import CaseOfSession
from policies.values import kind_of, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from interceptors.calls import Json
    from interceptors.case import Case
    from policies.expressions import Expression
    from policies.model import Policy, Tool

Path = tuple[str, ...]

_OWN: Final = frozenset({"args", "constants"})
"""Roots that are bound otherwise: the arguments by their digest, constants with the rules."""
_JUDGING: Final = (
    "effect",
    "facts",
    "arguments",
    "rules",
    "egress",
    "limits",
    "once_per",
    "inject",
    "fee_schedule",
    "confidence",
    "confirm",
    "matrix",
)


def asked_of(case: Case, rows: Iterable[str], rules: str) -> Asks:
    """What people are asked for, where these rows (`Verdict.row`) pass the call on."""
    named = tuple(sorted(set(rows)))
    paths = sorted({path for row in named for path in _paths(case, row)})
    read = {dotted(path): _digest_at(case, path) for path in paths}
    return Asks(name_of(case), Binding(named, read, rules))


def name_of(case: Case) -> str:
    """Whose call it is, of which tool, with what arguments: never a call's id."""
    stated = digest(dict(getattr(case.call, "arguments", {})))
    parts: list[Json] = ["grant", case.policy.name, case.context.tenant, customer(case), case.key, stated]
    return canonical(parts).decode()


def changed_since(case: Case, binding: Binding, rules: str) -> str:
    """Why the binding does not hold on what is read now; empty where it does."""
    if binding.rules != rules:
        return "the rules of the tool have changed"
    now = {dotted(path): _digest_at(case, path) for row in binding.rows for path in _paths(case, row)}
    changed = sorted(path for path, read in binding.facts.items() if now.get(path) != read)
    return f"{', '.join(changed)} changed" if changed else ""


def rules_digest(policy: Policy, tool: Tool) -> str:
    """The digest of all that judges calls of this tool, with the constants and the facts that it reads."""
    parts: list[object] = [(name, meaning(getattr(tool, name))) for name in _JUDGING]
    # By its id a rule is named in grants: the order counts, which `meaning` leaves out.
    parts.append([rule.id for rule in tool.all_rules])
    parts.append([(rule.id, meaning(rule)) for rule in tool.all_rules])
    parts.append([(limit.id, meaning(limit)) for limit in tool.limits])
    named = {path[1] for one in _expressions(tool) for path in one.paths if path[0] == "constants" and len(path) > 1}
    parts.append([(name, repr(policy.constants[name])) for name in sorted(named)])
    parts.append([(name, meaning(policy.facts[name])) for name in sorted(tool.facts)])
    return digest(repr(_ordered(parts)))


def _ordered(value: object) -> object:
    if isinstance(value, dict):
        return [(key, _ordered(value[key])) for key in sorted(value, key=repr)]
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    if isinstance(value, frozenset | set):
        return sorted(map(repr, value))
    return value


def _expressions(tool: Tool) -> Iterator[Expression]:
    for rule in tool.all_rules:
        yield from (each for each in (rule.when, rule.unless) if each is not None)
    for limit in (*tool.limits, *((tool.once_per,) if tool.once_per is not None else ())):
        yield from limit.expressions
    if tool.matrix is not None:
        yield from tool.matrix.expressions
    if tool.fee_schedule is not None:
        yield from tool.fee_schedule.expressions
    if tool.confidence is not None:
        yield tool.confidence.value
    if tool.confirm is not None and tool.confirm.when is not None:
        yield tool.confirm.when


def _paths(case: Case, row: str) -> set[Path]:
    """What the rule of a row reads of facts and of the session; of a row without such a rule, all that the tool reads.
    An amount that is put in is read by people, whatever the row.

    A row of the matrix is of all its cells: the case and the segment say which of them holds.
    """
    tool, rule = case.found.tool, row.split("/")[1] if row.count("/") >= 2 else ""
    found: list[Expression] = []
    for one in tool.all_rules:
        if one.id == rule:
            found += [each for each in (one.when, one.unless) if each is not None]
    for limit in (*tool.limits, *((tool.once_per,) if tool.once_per is not None else ())):
        if limit.id == rule:
            found += limit.expressions
    if rule.startswith("cases.") and tool.matrix is not None:
        found += tool.matrix.expressions
    read = {path for one in found or _expressions(tool) for path in one.paths}
    if tool.matrix is not None and isinstance(tool.matrix.cases.source, CaseOfSession):
        read.add(("session", tool.matrix.cases.source.field))
    kept = {path for path in read if path[0] not in _OWN}
    fees = tool.fee_schedule
    if fees is not None and fees.injects:  # the model did not write it, so the call's digest does not hold it
        kept.add(("args", fees.amount))
    return kept


def _digest_at(case: Case, path: Path) -> str:
    environment = case.environment  # makes the roots
    return digest(_text_at(environment.roots.get(path[0]), path[1:]))


def _text_at(value: object, steps: Path) -> Json:
    """What stands there, in one spelling a value."""
    if steps and steps[0] == EACH:
        return [_text_at(item, steps[1:]) for item in value] if isinstance(value, tuple | list) else "no list"
    if steps:
        return _text_at(value.get(steps[0]), steps[1:]) if isinstance(value, dict) else "not readable"
    if value is None or isinstance(value, Unreadable):
        return "not readable"
    if isinstance(value, tuple | list):
        return [_text_at(item, ()) for item in value]
    return _record(value) if isinstance(value, dict) else _scalar(value)


def _record(value: Mapping[str, object]) -> Json:
    return {name: _text_at(item, ()) for name, item in sorted(value.items())}


def _scalar(value: object) -> Json:
    kind = kind_of(value)
    return "not readable" if kind is None else [kind.value, render(value)]  # type: ignore[arg-type] # a value by its kind
