"""What a case may say of how a refusal is answered, of the calls beside it, and of how long a result may take."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from interceptors.pipeline import Pipeline
from policies.files import read_snapshot
from policies.loader import load_policy_text
from policies.problems import DocumentError
from proxy.suites.reader import read_suite
from proxy.suites.survival import survive
from proxy.suites.trial import run

if TYPE_CHECKING:
    from pathlib import Path

POLICY = """\
language: 1
policy: desk
identities:
  bot: {token: "${T}"}
  clerk: {token: "${U}", autonomous: true}
reasons:
  large: {category: policy, reply: {en: "Above {constants.top}.", de: "Mehr als {constants.top}."}}
  twice: {category: validation, reply: "Once only."}
  false_claim: {reply: "That is not done."}
  refused_together: {reply: "None of it is done."}
constants: {top: 500.00 USD}
reply_language: de
tools:
  look:
    effect: read
    on_refusal: code
    arguments: {order: string}
    rules: [{forbid: twice, when: args.order == "none"}]
  pay:
    arguments: {order: string, amount: {money: USD, unit: major}}
    rules: [{forbid: large, when: args.amount > constants.top}]
    limits: [{forbid: twice, once_per: args.order}]
    settle_within: 10m
"""
TOGETHER = POLICY + "    batch: all_or_nothing\n"
HEAD = """\
suite: desk
now: 2026-11-30T12:00:00Z
defaults:
  identity: bot
  arguments: {pay: {order: a, amount: 1.00}, look: {order: none}}
cases:
"""


def against(case: str, policy: str = POLICY) -> list[str]:
    """What is not as this case of the tool `pay` expects it."""
    (one,) = read_suite(f"{HEAD}  - {{name: x, call: pay, {case}}}\n".encode(), "policy_test.yaml").cases
    return list(run(Pipeline(load_policy_text(policy)), one).against)


@pytest.mark.parametrize(
    ("who", "more", "answers"),
    [
        ("bot", "", "code"),
        ("clerk", "", "model"),
        ("bot", "    on_refusal: model\n", "model"),
        ("clerk", "    on_refusal: code\n", "code"),
    ],
)
def test_who_answers_a_refusal(who: str, more: str, answers: str) -> None:
    """It is what the gate itself asks: by the tool, else by its effect and by who asks."""
    other = "code" if answers == "model" else "model"

    case = "arguments: {amount: 501}, identity: %s, expect: {outcome: forbid, answered_by: %s}"
    assert against(case % (who, answers), POLICY + more) == []
    assert against(case % (who, other), POLICY + more) == [f"expected {other} to answer the refusal, got {answers}"]


def test_how_long_a_result_may_take() -> None:
    """The time of the reservation; a call that holds nothing has none."""
    assert against("expect: {outcome: allow, settle_within: 10m}") == []
    assert against("expect: {outcome: allow, settle_within: 11m}") == ["expected a result within 11m, got 10m"]
    free = POLICY.replace("    limits: [{forbid: twice, once_per: args.order}]\n    settle_within: 10m\n", "")
    assert against("expect: {outcome: allow, settle_within: 10m}", free) == [
        "expected a result within 10m, got a call that holds nothing"
    ]


BESIDE = "beside: [{call: look}], expect: {outcome: %s}"


def test_a_call_beside_a_refused_one() -> None:
    """Alone it runs; where one tool of the turn says so it is refused with it, and then holds nothing."""
    together = BESIDE % 'forbid, reason: refused_together, reply: "None of it is done."'

    assert against(BESIDE % "allow") == []
    assert against(together, TOGETHER) == []
    assert against(BESIDE % "allow", TOGETHER) == [
        "expected allow, got forbid (refused_together) [gate: a call beside it was refused]"
    ]
    allowed = "beside: [{call: look, arguments: {order: b}}], expect: {outcome: allow}"
    assert against(allowed, TOGETHER) == []


def test_a_call_beside_it_holds_what_it_would() -> None:
    """The same intent twice in one turn is one."""
    twice = "beside: [{call: pay}], expect: {outcome: forbid, reason: %s}"

    assert against(twice % "pending_reconciliation") == []


def test_what_the_gate_refuses_for_reasons_of_its_own() -> None:
    """Its words are the policy's, as they are where no call shows the reason."""
    assert against('refused: false_claim, expect: {outcome: forbid, reply: "That is not done.", reads: []}') == []
    assert against("refused: repeated, expect: {outcome: forbid, reason: repeated}") == []


@pytest.mark.parametrize(
    ("case", "message"),
    [
        ("refused: large, expect: {outcome: forbid}", "expected one of schema_invalid, text_call, false_claim"),
        ("expect: {outcome: allow, answered_by: code}", "an allowed call has no answered_by"),
        ("expect: {outcome: forbid, settle_within: 1h}", "only an allowed call holds something"),
        ("beside: [{call: look, ago: 1h}], expect: {outcome: allow}", "ago"),
    ],
)
def test_what_cannot_be_said_is_an_error(case: str, message: str) -> None:
    """As strictly as everything else of a suite."""
    with pytest.raises(DocumentError, match=message):
        against(case)


SHOWING = (
    "{name: a refusal, call: look, expect: {outcome: forbid, answered_by: code}}",
    "{name: b, call: pay, arguments: {amount: 900}, identity: clerk, expect: {outcome: forbid, answered_by: model}}",
    "{name: paid, call: pay, expect: {outcome: allow, settle_within: 10m}}",
    '{name: beside, call: pay, beside: [{call: look}], expect: {outcome: forbid, reply: "None of it is done."}}',
    '{name: claimed, call: pay, refused: false_claim, expect: {outcome: forbid, reply: "That is not done."}}',
    "{name: again, call: pay, earlier: [{call: pay}], expect: {outcome: forbid, category: validation}}",
)
EDITS = [
    ["tools.look.on_refusal: code -> model"],
    ["identities.clerk.autonomous: true -> false"],
    ["tools.pay.settle_within: 10m -> 11m", "tools.pay.settle_within: 10m -> 9m"],
    ["tools.pay.batch: all_or_nothing -> independent", "tools.pay.batch: without all_or_nothing"],
    ["reasons.false_claim.reply: That is not done. -> That is not done. Or so."],
    ["reasons.twice.category: validation -> policy"],
]


def _survivors(folder: Path, cases: tuple[str, ...]) -> set[str]:
    folder.mkdir()
    (folder / "policy.yaml").write_text(TOGETHER, encoding="utf-8")
    suite = HEAD + "".join(f"  - {case}\n" for case in cases)
    return {
        edit.name for edit in survive(read_snapshot(folder), read_suite(suite.encode(), "policy_test.yaml")).survivors
    }


@pytest.mark.parametrize("at", range(len(SHOWING)))
def test_a_mutant_of_an_answer_dies_by_the_case_that_tells_it(tmp_path: Path, at: int) -> None:
    """With the case none of them is alive, without it all are."""
    whole = _survivors(tmp_path / "whole", SHOWING)
    less = _survivors(tmp_path / "less", (*SHOWING[:at], *SHOWING[at + 1 :]))

    assert not whole & set(EDITS[at])
    assert less - whole >= set(EDITS[at])
