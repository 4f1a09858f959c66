"""Limits in YAML: each key has an effect on a decision or a record; what makes no sense is an error that says why."""

from __future__ import annotations

from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest

from interceptors.context import FactDocument, FactKey
from interceptors.decisions import Needs
from interceptors.history import PastResult
from interceptors.obligations import Reserve
from interceptors.pipeline import Pipeline
from interceptors.settlement import state_of
from interceptors.usage import unused
from policies import PolicyError, load_policy_text
from policies.documents import keys
from policies.explain import explain
from policies.findings import FindingCode
from policies.limits import counted
from policies.lint import lint
from policies.lint_limits import limits_of
from tests.interceptors.builders import NOW, context, proposal
from tests.policies.limit_effects import EFFECTS, ONCE, STATUS, SUM, tool

HEAD = "language: 1\npolicy: p\n"


def trace(text: str) -> Any:
    """All that the gate does under a policy: the answer, what it looked up, what is held and until when, the key, and
    what a result settles.
    """
    policy = load_policy_text(HEAD + text)
    deciding = Pipeline(policy)
    call = proposal("t", '{"a":"x","b":"y","n":50}')
    facts = {FactKey("f", "x"): FactDocument({"paid": 2000, "gone": 100}, NOW)}
    seen: dict[Any, Any] = {}
    while isinstance(answer := deciding.decide(call, context(), facts, seen), Needs):
        seen |= {key: unused(key) for key in answer.usages}
    held = [
        (one.intent, one.terms, one.charges, one.settle_within) if isinstance(one, Reserve) else one
        for one in answer.obligations
    ]
    values = [{"status": Decimal(1)}, {"status": "no"}, "status: 'no'\n"]
    results = [PastResult("", value, False, 0) for value in values]
    found = policy.tool("t")
    assert found is not None
    settled = [state_of(policy, found, result, NOW) for result in results]
    return answer.ruling, answer.reason, held, tuple(seen), settled


@pytest.mark.parametrize("key", EFFECTS, ids=".".join)
def test_each_key_alone_changes_what_is_done(key: tuple[str, str]) -> None:
    """A decision, what it looks up, what is held for how long, the key in the call, or what a result settles."""
    before, after = EFFECTS[key]
    assert key[1] in after
    assert trace(before) != trace(after)


def test_the_table_is_complete() -> None:
    """Every key of a limit and of a result has its row."""
    expected = {("LIMIT", key) for key in keys.LIMIT} | {("RESULT", "fields"), ("RESULT", "format")}
    assert {key for key in EFFECTS if key[0] in ("LIMIT", "RESULT")} == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (tool("sum: args.n, max: 1.00 USD"), "one of forbid, escalate"),
        (tool("clarify: r, sum: args.n, max: 1.00 USD"), "unknown key 'clarify'"),
        (tool("forbid: r, max: 1.00 USD"), "one of sum, count, value, once_per"),
        (tool(f"{SUM}, count: true"), "one of sum, count, value, once_per"),
        (tool("forbid: r, sum: args.n"), "'max' is required"),
        (tool("forbid: r, sum: args.n, max: 1.00 EUR"), "EUR and USD do not mix"),
        (tool("forbid: r, sum: args.n, max: 100"), "must be a money"),
        (tool("forbid: r, sum: args.n, max: args.n"), "would set its own limit"),
        (tool("forbid: r, sum: args.a, max: 1"), "is money or a number, this is a string"),
        (tool("forbid: r, count: false, max: 1"), "leave the limit out"),
        (tool("forbid: r, count: true, max: 1.00 USD"), "must be a number"),
        (tool(f"{SUM}, within: 1h, each: day"), "either 'within', which rolls, or 'each'"),
        (tool(f"{SUM}, each: week"), "expected one of day, month"),
        (tool(f"{SUM}, within: 0s"), "must be above zero"),
        (tool(f"{SUM}, per: []"), "must not be empty"),
        (tool(f"{SUM}, per: 1"), "the same for every call"),
        (tool(f"{SUM}, fact_counts: 1.00 USD"), "reads a fact"),
        (tool(f"{SUM}, within: 1h, fact_counts: f.gone"), "neither 'within' nor 'each'"),
        (tool(SUM.replace("sum", "value") + ", per: args.a"), "'per' does not go with 'value'"),
        (tool(f"{ONCE}, max: 1"), "'max' does not go with 'once_per'"),
        (tool(f"{ONCE}}}, {{{ONCE}"), "a tool has one `once_per`"),
        (tool(SUM.replace("forbid: r", "forbid: nobody")), "is not declared"),
        (
            tool(SUM).replace("time_zone: Europe/Berlin\n", "").replace("max:", "each: day, max:"),
            "`time_zone` is required",
        ),
        (tool(SUM, ", inject: key"), "'inject' goes with a `once_per` limit"),
        (tool(ONCE, ", inject: a"), "must be an optional text"),
        (tool(SUM.replace("sum", "value"), ", settle_within: 1h"), "without, nothing is held"),
        (tool(SUM.replace("sum", "value"), STATUS), "without, nothing is held"),
        (tool(SUM, ", not_executed_when: true"), "reads nothing of the result"),
        (tool(SUM, ", not_executed_when: args.a == 'x'"), "may read result and constants only"),
        (tool(SUM, ", not_executed_when: result.other"), "result.other"),
        (tool(SUM, ", result: {}"), "expected at least one of fields, format"),
        (tool(SUM, ", settle_within: 31d"), "at most 30d"),
        (tool(SUM) + "defaults: {limits: [{forbid: r, once_per: args.a}]}\n", "stands in a tool"),
    ],
)
def test_what_a_limit_may_not_say(text: str, why: str) -> None:
    """An error with its place, before any call is decided."""
    with pytest.raises(PolicyError) as caught:
        load_policy_text(HEAD + text)
    assert why in str(caught.value)


def test_a_tools_limits_come_behind_those_of_defaults() -> None:
    """Both hold; `counted` names each once, though `defaults` are every tool's."""
    policy = load_policy_text(HEAD + tool(SUM) + "defaults: {limits: [{forbid: s, count: true, max: 3}]}\n")
    found = policy.tool("t")
    assert found is not None
    assert [limit.id for limit in found.limits] == ["defaults.limits[0]", "t.limits[0]"]
    assert [limit.id for limit in counted(policy)] == ["defaults.limits[0]", "t.limits[0]"]
    assert found.settle_within == timedelta(minutes=15)
    assert limits_of(found) == found.limits


def codes(text: str) -> set[FindingCode]:
    return {finding.code for finding in lint(load_policy_text(HEAD + text))}


def test_loose_limits_are_found() -> None:
    """Money that nothing adds up, a sum without a currency, and a cap by a text that can be spelled in many ways."""
    assert FindingCode.WRITE_WITHOUT_LIMIT in codes(tool(SUM.replace("sum", "value")))
    assert FindingCode.WRITE_WITHOUT_LIMIT not in codes(tool(SUM))
    assert FindingCode.LIMIT_WITHOUT_CURRENCY in codes(
        tool("forbid: r, sum: args.n, max: 1").replace("n: {money: USD, unit: major}", "n: number")
    )
    assert FindingCode.LIMIT_PER_FREE_TEXT in codes(tool(ONCE).replace("a: {pattern: '[a-z]+'}", "a: string"))
    assert FindingCode.UNUSED_REASON not in codes(tool(SUM) + "constants: {c: 1}\n").difference(
        {FindingCode.UNUSED_REASON}
    )
    assert not codes(tool(SUM)) & {FindingCode.LIMIT_WITHOUT_CURRENCY, FindingCode.LIMIT_PER_FREE_TEXT}


def test_limits_are_told_in_sentences() -> None:
    """What finance signs says each limit, its window and for whom, and what frees money."""
    text = explain(
        load_policy_text(
            HEAD + tool(f"{SUM}, per: args.a, each: day}}, {{{ONCE}, within: 24h", f"{STATUS}, inject: key")
        ),
        "t",
    )
    assert (
        "1. Refused (r) where the sum of args.n of all calls for one args.a in one day (Europe/Berlin) would be more"
        " than 100.00 USD." in text
    )
    assert "2. Refused (r) where a call with the same args.a was executed in the last 1d." in text
    assert 'result.status is "no", a person resolves it, or it never left the gate.' in text
    assert "Without a result within 15m its outcome is unknown, and it counts." in text
    assert "made again with the key of the first in key." in text
    ceiling = explain(load_policy_text(HEAD + tool(SUM.replace("sum", "value"))), "t")
    assert "where args.n is more than 100.00 USD" in ceiling
    assert "its outcome is unknown" not in ceiling
