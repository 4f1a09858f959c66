"""Golden decisions: each case of `fixtures/decisions` is decided, and its receipt's rows compared."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from interceptors.context import Context, DeclaredTool, FactDocument, FactFailed, FactFailure, FactKey
from interceptors.decisions import Decision, Evidence, EvidenceKind, Needs
from interceptors.pipeline import Pipeline
from interceptors.strict_json import parse
from interceptors.usage import unused
from policies import load_policy, load_policy_text
from policies.model import Category, Ruling, folded
from tests.interceptors.builders import proposal
from tests.interceptors.conversations import assistant, call, history, result, system, user

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from interceptors.history import Entry
    from interceptors.usage import Usage, UsageKey

ROOT = Path(__file__).resolve().parent.parent.parent
DECISIONS = ROOT / "fixtures" / "decisions"
FAILURES = {failure.value for failure in FactFailure}
CASE_KEYS = {
    "name",
    "call",
    "subject",
    "facts",
    "declared",
    "ambiguous",
    "identity",
    "halted",
    "history",
    "evidence",
    "needs",
    "decision",
    "rows",
}


@dataclass(frozen=True)
class Golden:
    """One case with what its file says for all."""

    file: str
    now: datetime
    case: dict[str, Any]
    policy: str  # the path of a pack, or a text

    def __str__(self) -> str:
        return f"{self.file}: {self.case['name']}"


def _cases() -> list[Golden]:
    found: list[Golden] = []
    for path in sorted(DECISIONS.glob("*.yaml")):
        document = yaml.safe_load(path.read_text())
        policy = document["policy"] if "policy" in document else str(ROOT / "policies" / "packs" / document["pack"])
        for case in document["cases"]:
            assert set(case) <= CASE_KEYS, set(case) - CASE_KEYS
            found.append(Golden(path.name, document["now"], document.get("defaults", {}) | case, policy))
    return found


@cache
def _pipeline(policy: str) -> Pipeline:
    return Pipeline(load_policy_text(policy) if "\n" in policy else load_policy(Path(policy) / "policy.yaml"))


def _context(golden: Golden) -> Context:
    case = golden.case
    return Context(
        now=golden.now,
        tenant="tenant",
        identity=case.get("identity"),
        subject=case.get("subject", {}),
        declared={
            folded(name): DeclaredTool(name, None if schema is None else schema.encode())
            for name, schema in case.get("declared", {}).items()
        },
        ambiguous=frozenset(case.get("ambiguous", [])),
        halted=case.get("halted", False),
        history=history(*map(_entry, case.get("history", []))),
    )


def _entry(entry: dict[str, Any]) -> Entry:
    """`user`, `assistant` or `system` with a text, `call` with a tool, `result` with its content."""
    (kind, content), *more = entry.items()
    makers: dict[str, Callable[..., Entry]] = {
        "user": user,
        "assistant": assistant,
        "system": system,
        "call": call,
        "result": result,
    }
    return makers[kind](content, **dict(more))


def _decide(golden: Golden) -> tuple[Decision, list[str]]:
    """The decision, and the facts that were asked for on the way, round by round."""
    known = {}
    for name, text in golden.case.get("facts", {}).items():
        fact, _, key = name.partition("/")
        if text in FAILURES:
            known[FactKey(fact, key)] = FactFailed(FactFailure(text), golden.now)
        else:
            document = parse(text)
            assert isinstance(document, dict)
            known[FactKey(fact, key)] = FactDocument(document, golden.now)
    deciding, context = _pipeline(golden.policy), _context(golden)
    name, _, arguments = golden.case["call"].partition(" ")
    proposed = proposal(name, arguments or "{}")
    answer = deciding.screen(proposed, context)
    asked: list[FactKey] = []
    usages: dict[UsageKey, Usage] = {}
    while isinstance(answer, Needs):
        assert answer.facts or answer.usages
        assert not set(answer.facts) & set(asked), "asked for what was given"
        asked += answer.facts
        usages |= {key: unused(key) for key in answer.usages}
        answer = deciding.decide(proposed, context, {key: known[key] for key in asked}, usages)
    return answer, [f"{key.fact}/{key.key}" for key in asked]


def _plain(value: Any) -> Any:
    return value.value if isinstance(value, (Ruling, Category)) else value


def _row(verdict: Any) -> str:
    return " ".join(filter(None, [verdict.interceptor, verdict.rule, verdict.ruling.value, verdict.reason]))


def _where(one: Evidence) -> str:
    place = f"{one.path} {one.receipt}" if one.kind is EvidenceKind.RESULT else f"{one.start}-{one.end}"
    return f"{one.argument} {one.kind.value} {one.turn} {place}"


GOLDEN = _cases()


@pytest.mark.parametrize("golden", GOLDEN, ids=str)
def test_a_golden_case_is_decided_as_written(golden: Golden) -> None:
    """The decision's named fields, the rows of its receipt and the facts that were asked for are the written ones."""
    decision, asked = _decide(golden)
    if "needs" in golden.case:
        assert asked == golden.case["needs"]
    if "rows" in golden.case:
        assert [_row(verdict) for verdict in decision.verdicts] == golden.case["rows"]
    if "evidence" in golden.case:
        assert [_where(one) for row in decision.verdicts for one in getattr(row, "evidence", ())] == golden.case[
            "evidence"
        ]
    for field, wanted in golden.case["decision"].items():
        assert _plain(getattr(decision, field)) == (parse(wanted) if field == "arguments" else wanted), field


@pytest.mark.parametrize("golden", GOLDEN, ids=str)
def test_every_refusal_has_its_words(golden: Golden) -> None:
    """Whatever is refused has a reason, a category, and texts for the customer and the agent; an allow has none."""
    decision, _ = _decide(golden)
    told = [decision.reason, decision.category, decision.reply, decision.message, decision.next]
    assert all(told) if decision.ruling is not Ruling.ALLOW else not any(told)
    assert bool(decision.summary) is (decision.ruling is Ruling.ESCALATE)
    assert decision.revision
