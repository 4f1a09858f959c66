"""A declared confidence narrows, and does nothing else."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.asking import CLARIFY_BELOW, ESCALATE_BELOW
from policies.model import Category, Ruling
from tests.interceptors.builders import context, decided, pipeline, proposal

if TYPE_CHECKING:
    from interceptors.decisions import Decision
    from interceptors.pipeline import Pipeline

POLICY = """\
constants: {top: 100}
reasons: {over: {category: policy}, which: {category: validation}}
tools:
  act:
    arguments: {n: integer, confidence: {type: number, optional: true}}
    CONFIDENCE
    rules:
      - {forbid: over, when: args.n > constants.top}
      - {clarify: which, when: args.n < 0}
"""


def desk(confidence: str) -> Pipeline:
    return pipeline(POLICY.replace("CONFIDENCE", confidence))


SURE = desk("confidence: args.confidence")
OWN = desk("confidence: {value: args.confidence, clarify_below: 0.95, escalate_below: 0.1}")
WITHOUT = desk("")
ORDER = (Ruling.FORBID, Ruling.ESCALATE, Ruling.CLARIFY, Ruling.ALLOW)


def act(confidence: object, n: int = 1, deciding: Pipeline = SURE) -> Decision:
    given = f'{{"n":{n}}}' if confidence is None else f'{{"n":{n},"confidence":{confidence}}}'
    return decided(deciding.decide(proposal("act", given), context(), {}))


@pytest.mark.parametrize(
    ("confidence", "ruling", "reason"),
    [
        ("1", Ruling.ALLOW, ""),
        ("0.80", Ruling.ALLOW, ""),
        ("0.799", Ruling.CLARIFY, "low_confidence"),
        ("0.60", Ruling.CLARIFY, "low_confidence"),
        ("0.59", Ruling.ESCALATE, "low_confidence"),
        ("0", Ruling.ESCALATE, "low_confidence"),
        ("-0.1", Ruling.ESCALATE, "facts_incomplete"),
        ("80", Ruling.ESCALATE, "facts_incomplete"),
        (None, Ruling.ESCALATE, "facts_incomplete"),
        ("null", Ruling.ESCALATE, "facts_incomplete"),
        ('"0.9"', Ruling.CLARIFY, "invalid_parameter"),
    ],
)
def test_the_bounds(confidence: object, ruling: Ruling, reason: str) -> None:
    """Below 0.80 it is asked, below 0.60 a person decides; what is no number from 0 to 1 is for a person too."""
    decision = act(confidence)
    assert (decision.ruling, decision.reason) == (ruling, reason)
    assert decision.category in (None, Category.ESCALATED, Category.VALIDATION)


def test_the_bounds_are_those_of_the_policy_model() -> None:
    """What the page and the table above say is what a tool has that says nothing else."""
    sure = SURE.policy.tools["act"].confidence
    assert sure is not None
    assert (sure.clarify_below, sure.escalate_below) == (CLARIFY_BELOW, ESCALATE_BELOW)
    assert (Decimal("0.80"), Decimal("0.60")) == (CLARIFY_BELOW, ESCALATE_BELOW)


def test_a_tool_has_its_own_bounds() -> None:
    """Per tool: 0.9 is not enough where 0.95 is asked for, and 0.2 is not too little where 0.1 is."""
    assert [act(value, deciding=OWN).ruling for value in ("0.95", "0.94", "0.2", "0.09")] == [
        Ruling.ALLOW,
        Ruling.CLARIFY,
        Ruling.CLARIFY,
        Ruling.ESCALATE,
    ]


@given(st.decimals(0, 1, places=3), st.integers(-5, 200))
def test_it_only_narrows(confidence: Decimal, n: int) -> None:
    """However sure the model says it is, nothing is allowed that is refused without a confidence."""
    assert ORDER.index(act(f"{confidence:f}", n).ruling) <= ORDER.index(act("1", n, WITHOUT).ruling)


@given(st.decimals(0, 1, places=3), st.decimals(0, 1, places=3))
def test_the_less_sure_the_narrower(one: Decimal, other: Decimal) -> None:
    """It is monotone."""
    low, high = sorted((one, other))
    assert ORDER.index(act(f"{low:f}").ruling) <= ORDER.index(act(f"{high:f}").ruling)
