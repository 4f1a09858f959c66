"""The facts that a tool maps: which records to read, and what their typed fields are (DESIGN 4 and 7)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import date, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.case import Stage
from interceptors.causes import RefusalCause
from interceptors.combine import TOLD, is_told
from interceptors.context import FactDocument, FactFailed, FactFailure, FactKey
from interceptors.decisions import FactRead, Needs, Verdict
from interceptors.readings import read_declared
from policies.expressions import EvaluationError, Unreadable
from policies.model import Ruling
from policies.values import render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.case import Case
    from interceptors.context import FactResult
    from policies.model import Fact, FactUse, Policy
    from policies.values import Value

KEYS_MAX: Final = 64
"""Records of one fact in one decision; a call that needs more is for a person."""
FIELD_SHOWN_MAX: Final = 200
"""Characters of a field's text in a receipt."""

_NAME: Final = "facts"
_CAUSES: Final = {
    FactFailure.TIMEOUT: RefusalCause.FACT_TIMEOUT,
    FactFailure.UNAVAILABLE: RefusalCause.FACT_UNAVAILABLE,
    FactFailure.INVALID: RefusalCause.FACT_INVALID,
    FactFailure.MISSING: RefusalCause.FACT_MISSING,
}
_NOT_READ: Final = Unreadable("the fact could not be read")


@dataclass(slots=True)
class _Progress:
    """What one look at the facts found out. `waiting`: facts whose records or keys are still to be read."""

    needs: dict[FactKey, None] = field(default_factory=dict)
    waiting: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    verdicts: list[Verdict] = field(default_factory=list)
    reads: list[FactRead] = field(default_factory=list)

    @property
    def is_settled(self) -> bool:
        """Whether no further record could change that the call is refused or asked about."""
        return any(one.ruling in (Ruling.FORBID, Ruling.CLARIFY) and not is_told(one) for one in self.verdicts)


class FactReader:
    """Says which records are needed, then puts their fields into the environment.

    A fact that cannot be had is one verdict here, and the rules that read it are not evaluated; an unreadable field
    makes only those rules fire that read it. `reads_on`: also where one that cannot be had settles the matter.
    """

    name = _NAME
    stage = Stage.RULES

    def __init__(self, *, reads_on: bool = False) -> None:
        self._reads_on = reads_on

    def judge(self, case: Case) -> tuple[Verdict, ...] | Needs:
        uses = case.found.tool.facts
        if not uses:
            return ()
        progress = _Progress()
        for name, use in uses.items():
            _look(case, name, use, progress)
        if progress.needs and (self._reads_on or not progress.is_settled):
            return Needs(tuple(progress.needs))
        case.failed = frozenset(progress.failed | progress.waiting)
        case.reads = tuple(progress.reads)
        for name in case.failed:
            case.roots[name] = _NOT_READ
        return tuple(progress.verdicts) or (Verdict(_NAME, Ruling.ALLOW),)


def _look(case: Case, name: str, use: FactUse, progress: _Progress) -> None:
    root = next(iter(use.key.paths))[0]
    if root in progress.failed:
        progress.failed.add(name)  # the verdict about the fact that has the key stands for both
        return
    if root in progress.waiting:
        progress.waiting.add(name)
        return
    keys = _keys(case, name, use, is_argument=root == "args")
    if isinstance(keys, Verdict):
        progress.failed.add(name)
        progress.verdicts.append(keys)
        return
    unread = [key for key in keys if key not in case.facts]
    if unread:
        progress.needs.update(dict.fromkeys(unread))
        progress.waiting.add(name)
        return
    results = {key: case.facts[key] for key in keys}
    failures = {result.failure for result in results.values() if isinstance(result, FactFailed)}
    if failures:
        progress.failed.add(name)
        progress.verdicts.extend(_failed(case, name, failures))
    else:
        records = _records(case.policy.facts[name], results)
        case.roots[name] = tuple(records.values()) if use.many else next(iter(records.values()))
        shown = case.found.fields[name]
        progress.reads.extend(_read(key, results[key], record, shown, case.policy) for key, record in records.items())
    progress.reads.extend(
        FactRead(key.fact, key.key, result.as_of, {})
        for key, result in results.items()
        if isinstance(result, FactFailed)
    )


def _failed(case: Case, name: str, failures: Iterable[FactFailure]) -> list[Verdict]:
    ordered = sorted(failures, key=lambda failure: failure.value)
    if _is_only_told(case, name):
        rows = [(_CAUSES[one], case.verdict(_NAME, _CAUSES[one], fact=name)) for one in ordered]
        return [replace(row, rule=f"{TOLD}{name}", detail=f"fact {name!r}: {cause.value}") for cause, row in rows]
    return [
        case.verdict(_NAME, _CAUSES[failure], detail=f"fact {name!r}: {_CAUSES[failure].value}", fact=name)
        for failure in ordered
    ]


def _is_only_told(case: Case, name: str) -> bool:
    """Whether people get the fact with a case, and nothing else reads it."""
    tool = case.found.tool
    is_key = any(next(iter(use.key.paths))[0] == name for use in tool.facts.values())
    return name in tool.upkeep.gather and not case.found.fields[name] and not is_key


def _keys(case: Case, name: str, use: FactUse, *, is_argument: bool) -> tuple[FactKey, ...] | Verdict:
    """The keys of the records to read, each once, or the verdict where one cannot be made."""
    what = f"argument {use.key.source.removeprefix('args.')!r}" if is_argument else f"the key {use.key.source!r}"
    try:
        value = use.key.evaluate(case.environment)
    except EvaluationError:
        cause = RefusalCause.MISSING_PARAMETER if is_argument else RefusalCause.FACT_KEY_UNREADABLE
        return case.verdict(_NAME, cause, detail=f"{what}: is missing")
    values: tuple[object, ...] = value if use.many and isinstance(value, tuple) else (value,)
    if len(values) > KEYS_MAX:
        return case.verdict(_NAME, RefusalCause.FACT_KEYS_TOO_MANY, detail=f"{what}: more than {KEYS_MAX} records")
    pattern = case.policy.facts[name].key
    keys: dict[FactKey, None] = {}
    for item in values:
        text = _key_text(item)
        # A dot segment would walk the source's path, whatever the pattern says.
        if text in ("", ".", "..") or not pattern.matches(text):
            cause = RefusalCause.INVALID_PARAMETER if is_argument else RefusalCause.FACT_KEY_UNREADABLE
            return case.verdict(_NAME, cause, detail=f"{what}: does not match the pattern of fact {name!r}")
        # Each record once: a key that is given twice must not count twice in a sum over the records.
        keys[FactKey(name, text)] = None
    return tuple(keys)


def _key_text(value: object) -> str:
    """The text of a key; empty, which is no key, for what has none."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, Decimal) or (isinstance(value, date) and not isinstance(value, datetime)):
        return render(value)
    return ""


def _records(fact: Fact, results: Mapping[FactKey, FactResult]) -> dict[FactKey, dict[str, Value | Unreadable]]:
    return {
        key: {name: read_declared(result.document, declared) for name, declared in fact.fields.items()}
        for key, result in results.items()
        if isinstance(result, FactDocument)
    }


def _read(
    key: FactKey, result: FactResult, record: Mapping[str, Value | Unreadable], shown: tuple[str, ...], policy: Policy
) -> FactRead:
    return FactRead(
        key.fact, key.key, result.as_of, {name: _text(record[name], policy) for name in shown if name in record}
    )


def _text(value: Value | Unreadable, policy: Policy) -> str:
    if isinstance(value, Unreadable):
        return f"unreadable: {value.why}"
    if isinstance(value, tuple):
        return f"list of {len(value)}"
    if isinstance(value, dict):
        return f"record of {len(value)}"
    return render(value, policy.time_zone)[:FIELD_SHOWN_MAX]
