"""What `cases`, `confidence`, `confirm`, `reply_language` refuse at load, what lint sees in cells, what is told."""

from __future__ import annotations

import pytest

from policies import Policy, PolicyError, load_policy_text
from policies.documents.cases import CELLS_MAX
from policies.explain import explain
from policies.lint import lint
from policies.matrix import CaseOfTool
from tests.policies.asking_effects import BY_TOOL, CELL, HEAD, action, asking, cases

TOP = "language: 1\npolicy: p\n"


def load(text: str) -> Policy:
    return load_policy_text(TOP + text)


def told(text: str) -> str:
    with pytest.raises(PolicyError) as caught:
        load(text)
    return str(caught.value)


REFUSED = {
    "rules and cases": (
        cases().replace("t: {arguments", "t: {rules: [{forbid: r}], arguments"),
        "'t' has `rules`: a tool is governed by `rules` or by `cases`, never by both",
    ),
    "an unknown tool in a cell": (cases(cells="{a: {classfy: {}}}"), "no tool 'classfy', did you mean 'classify'?"),
    "another spelling": (cases(cells="{a: {T: {}}}"), "the tool is spelled 't'"),
    "an unknown session field": (cases("session.cases"), "did you mean 'session.case'?"),
    "a text that is no field": (cases("late"), "expected a field of `session` such as session.case"),
    "no closed set": (cases("{tool: t, argument: n}"), "a tool that only classifies changes nothing"),
    "an open argument": (
        cases("{tool: decide, argument: case}").replace(
            "decide: {effect: read, arguments: {case: {one_of: [a, b]}}}",
            "decide: {effect: read, arguments: {case: string}}",
        ),
        "the argument 'case' of 'decide' says them by `one_of`",
    ),
    "a case that is never said": (cases(BY_TOOL, "{c: {t: {}}}"), "'classify' never says the case 'c'"),
    "a kept case that is never said": (cases(BY_TOOL, more=", owner_keeps: [c]"), "'classify' never says the case 'c'"),
    "a segment that is not there": (cases(cells="{a/x: {t: {}}}"), "without `segment` a cell is named by its case"),
    "no segment": (cases(more=", segment: session.segment"), "a cell is named CASE/SEGMENT"),
    "a segment of the call": (cases(cells="{}", more=", segment: args.kind"), "a segment is a field of a fact or of"),
    "a segment of an unmapped fact": (cases(cells="{}", more=", segment: f.kind"), "in the `facts` of `cases`"),
    "a fact by an argument": (cases(more=", facts: {f: args.n}"), "the key must not read args"),
    "a limit of nothing": (action("max: 5"), "of what? say `value`"),
    "a limit of the call's own": (action("value: args.n, max: args.m"), "would set its own limit"),
    "money without a value": (
        action("rules: []").replace("n: {type: number}", "n: {money: USD, unit: major}"),
        "'t' moves money: say `value: args.n`",
    ),
    "a maximum above the ceiling": (cases(more=", ceiling: {t: 4}"), "is above the ceiling of this action"),
    "a ceiling in another unit": (
        cases(more=", ceiling: {t: 4.00 USD}"),
        "the ceiling of this action is in another unit",
    ),
    "a ceiling of nothing": (cases(more=", ceiling: {classify: 4}"), "its ceiling bounds nothing"),
    "a ceiling without a value": (
        cases(cells="{a: {t: {}}}", more=", ceiling: {t: 4}"),
        "the action has a ceiling: say `value`",
    ),
    "a reason that is not declared": (action("rules: [{forbid: q}]"), "the reason 'q' is not declared"),
    "an unknown key": (action("limit: 5"), "'limit'"),
    "a confidence that is a text": (asking(", confidence: session.id"), "a confidence is a number"),
    "a confidence of a constant": (asking(", confidence: '0.5'"), "a confidence is what the model declares"),
    "bounds that cross": (
        asking(", confidence: {value: args.c, clarify_below: 0.5}"),
        "'escalate_below' (0.60) is above 'clarify_below' (0.5)",
    ),
    "a bound above one": (asking(", confidence: {value: args.c, clarify_below: 80}"), "must be from 0 to 1, got"),
    "a yes to untyped arguments": (f"{HEAD}  u: {{confirm: user}}\n", "declare them in `arguments`"),
    "a yes of another": (asking(", confirm: operator"), "operator"),
    "a yes to what is no question": (asking(", confirm: {when: args.c}"), "a condition is true or false"),
    "a yes to nothing": (asking(", confirm: {}"), "'when' is required"),
    "a language of no field": (f"{HEAD}reply_language: session.lang\n", "'session.lang' is not declared"),
    "no language": (f"{HEAD}reply_language: German\n", "nor a language tag such as en or pt-BR"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    """Each with a sentence that says what is wrong, and where."""
    text, message = REFUSED[name]
    found = told(text)
    assert message in found
    assert found.startswith("policy.yaml:")


def test_the_cells_are_bounded() -> None:
    """A thousand are read, and one more is refused."""
    cells = ", ".join(f"c{number}: {{t: {CELL}}}" for number in range(CELLS_MAX + 1))
    assert f"more than {CELLS_MAX} cells" in told(cases(cells=f"{{{cells}}}"))


def test_two_keys_for_one_fact_are_refused() -> None:
    """A tool reads the fact of the section by the section's key."""
    text = cases(more=", facts: {f: session.id}").replace("t: {arguments", "t: {facts: {f: session.segment}, arguments")
    assert "`cases` reads 'f' by session.id, and this tool by session.segment" in told(text)
    load(text.replace("f: session.segment", "f: session.id"))


def test_a_policy_reads_the_history_where_it_must() -> None:
    """For a case that a tool says, and for a yes; not for a case that is signed."""
    assert load(cases(BY_TOOL)).reads_history
    assert load(asking(", confirm: user")).reads_history
    assert not load(cases()).reads_history
    source = load(cases(BY_TOOL)).cases
    assert source is not None
    assert source.source == CaseOfTool("classify", "classify", "case", ("a", "b"))


def test_lint_looks_into_cells() -> None:
    """What a cell reads is used; a gate that proves nothing, and one that is never reached, are found there."""
    clean = cases(more=", facts: {f: session.id}")
    assert [finding.code.value for finding in lint(load(clean))] == []
    unreached = cases(
        cells="{a: {t: {value: args.n, max: 5, rules: [{forbid: r}, {clarify: r, when: args.n > args.m}]}}}"
    )
    found = {finding.code.value for finding in lint(load(unreached))}
    assert {"unreachable-rule", "decorative-gate", "unused-fact"} <= found


def test_the_matrix_is_told_cell_by_cell() -> None:
    """Who reads it learns where the case comes from, each cell's limit and rules, and what holds elsewhere."""
    cells = f"{{a: {{t: {CELL}}}, b: {{}}}}"
    text = explain(load(cases(BY_TOOL, cells, ", ceiling: {t: 9}, owner_keeps: [b]")), "t")
    for line in (
        "the case that classify said last in an earlier turn (its argument case)",
        "In b: a person decides, whatever else is said (owner_keeps).",
        "In a: allowed where none of these says otherwise, up to 5 of args.n",
        "1. Refused (r) always.",
        "Above 9 it is passed to a person in every case (above_limit).",
    ):
        assert line in text
    assert "No case of the matrix names it: always refused" in explain(load(cases(cells="{a: {}}")), "t")
    asked = explain(load(asking(", confidence: args.c, confirm: user") + "reply_language: session.id\n"), "u")
    assert "Asked back (low_confidence) where args.c is below 0.80" in asked
    assert "the gate asks the customer whether exactly this call is wanted (confirm)" in asked
    assert "in the language that session.id names" in asked
    some = explain(load(asking(", confirm: {when: args.c > 2}")), "u")
    assert "  Of calls where args.c is more than 2:\n  Where all else allows it, the gate asks" in some
