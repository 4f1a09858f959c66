"""One table maps what stands against a call to its outcome, and every cause has a row."""

from __future__ import annotations

import pytest

from interceptors.causes import RefusalCause, answer, category_of
from policies.model import Category, Ruling, UnknownTools
from policies.system_reasons import SYSTEM_REASONS

F, E, C = Ruling.FORBID, Ruling.ESCALATE, Ruling.CLARIFY

# cause, ruling, reason, category, whether a retry can help: DESIGN 4 and 7, written out once more by hand.
ROWS = [
    (RefusalCause.MALFORMED, F, "malformed", Category.VALIDATION, True),
    (RefusalCause.AMBIGUOUS_TOOL, F, "ambiguous_tool", Category.POLICY, False),
    (RefusalCause.UNUSABLE_SCHEMA, F, "unusable_schema", Category.INTERNAL, False),
    (RefusalCause.SCHEMA_VIOLATED, C, "invalid_parameter", Category.VALIDATION, True),
    (RefusalCause.MISSING_PARAMETER, C, "missing_parameter", Category.VALIDATION, True),
    (RefusalCause.INVALID_PARAMETER, C, "invalid_parameter", Category.VALIDATION, True),
    (RefusalCause.UNDECLARED_PARAMETER, F, "undeclared_parameter", Category.VALIDATION, True),
    (RefusalCause.UNGROUNDED, C, "ungrounded", Category.VALIDATION, True),
    (RefusalCause.NOT_ALLOWED, F, "not_allowed", Category.POLICY, False),
    (RefusalCause.SENSITIVE_DATA, F, "sensitive_data", Category.POLICY, False),
    (RefusalCause.UNKNOWN_TOOL, F, "unknown_tool", Category.POLICY, False),
    (RefusalCause.NOT_PERMITTED, F, "not_permitted", Category.PERMISSION, False),
    (RefusalCause.HALTED, F, "halted", Category.POLICY, False),
    (RefusalCause.POLICY_UNAVAILABLE, F, "policy_unavailable", Category.INTERNAL, False),
    (RefusalCause.FACT_TIMEOUT, F, "facts_unavailable", Category.TRANSIENT, True),
    (RefusalCause.FACT_UNAVAILABLE, F, "facts_unavailable", Category.TRANSIENT, True),
    (RefusalCause.FACT_INVALID, F, "facts_unavailable", Category.TRANSIENT, True),
    (RefusalCause.FACT_MISSING, E, "facts_incomplete", Category.ESCALATED, False),
    (RefusalCause.FACT_KEY_UNREADABLE, E, "facts_incomplete", Category.ESCALATED, False),
    (RefusalCause.FACT_KEYS_TOO_MANY, E, "facts_incomplete", Category.ESCALATED, False),
    (RefusalCause.FIELD_UNREADABLE, E, "facts_incomplete", Category.ESCALATED, False),
    (RefusalCause.EXPRESSION_ERROR, E, "facts_incomplete", Category.ESCALATED, False),
    (RefusalCause.NO_LIMIT, E, "no_limit", Category.ESCALATED, False),
    (RefusalCause.NO_AMOUNT, E, "no_amount", Category.ESCALATED, False),
    (RefusalCause.LOW_CONFIDENCE, C, "low_confidence", Category.VALIDATION, True),
    (RefusalCause.ASKED_IN_VAIN, E, "asked_in_vain", Category.ESCALATED, False),
    (RefusalCause.NOT_CONFIRMED, C, "confirm", Category.VALIDATION, True),
    (RefusalCause.NO_CELL, E, "no_cell", Category.ESCALATED, False),
    (RefusalCause.OWNER_KEEPS, E, "owner_keeps", Category.ESCALATED, False),
    (RefusalCause.NOT_IN_CELL, F, "not_in_cell", Category.POLICY, False),
    (RefusalCause.ABOVE_LIMIT, E, "above_limit", Category.ESCALATED, False),
    (RefusalCause.CASE_CHANGED, E, "case_changed", Category.ESCALATED, False),
    (RefusalCause.REJECTED, F, "rejected", Category.POLICY, False),
    (RefusalCause.APPROVAL_EXPIRED, E, "approval_expired", Category.ESCALATED, False),
    (RefusalCause.APPROVAL_VOID, E, "approval_void", Category.ESCALATED, False),
    (RefusalCause.QUEUE_FULL, F, "queue_full", Category.TRANSIENT, True),
    (RefusalCause.PENDING, F, "pending_reconciliation", Category.POLICY, False),
    (RefusalCause.RAISED, F, "internal_error", Category.INTERNAL, False),
    (RefusalCause.SCHEMA_INVALID, F, "schema_invalid", Category.VALIDATION, True),
    (RefusalCause.SCHEMA_INVALID_AGAIN, E, "schema_invalid", Category.ESCALATED, False),
    (RefusalCause.TEXT_CALL, F, "text_call", Category.POLICY, False),
    (RefusalCause.FALSE_CLAIM, F, "false_claim", Category.POLICY, False),
    (RefusalCause.REPEATED, F, "repeated", Category.POLICY, False),
    (RefusalCause.REFUSED_TOGETHER, F, "refused_together", Category.POLICY, False),
    (RefusalCause.STORE_DOWN, F, "store_unavailable", Category.INTERNAL, False),
    (RefusalCause.LOG_DOWN, F, "store_unavailable", Category.INTERNAL, False),
    (RefusalCause.HOLD_LIMIT, F, "hold_limit", Category.TRANSIENT, True),
]


@pytest.mark.parametrize(
    ("cause", "ruling", "reason", "category", "retryable"), ROWS, ids=[row[0].name for row in ROWS]
)
def test_each_cause_has_its_outcome(
    cause: RefusalCause, ruling: Ruling, reason: str, category: Category, retryable: bool
) -> None:
    """A cause answers as its row says, where the policy is silent."""
    given = answer(cause)
    assert (given.ruling, given.reason, given.category) == (ruling, reason, category)
    assert given.category is not None
    assert given.category.is_retryable is retryable


def test_every_cause_has_a_row() -> None:
    """No cause is without a row here, and none without an answer in the product."""
    assert [row[0] for row in ROWS] == sorted(RefusalCause, key=[row[0] for row in ROWS].index)
    assert len(ROWS) == len(RefusalCause)


@pytest.mark.parametrize("cause", RefusalCause)
def test_no_cause_allows_where_the_policy_is_silent(cause: RefusalCause) -> None:
    """Whatever breaks is a refusal, with a reason that the system knows and a text for it (guarantee G4)."""
    given = answer(cause)
    assert given.ruling is not Ruling.ALLOW
    assert given.reason in SYSTEM_REASONS


@pytest.mark.parametrize(
    ("unknown_tools", "ruling", "reason"),
    [
        (UnknownTools.FORBID, F, "unknown_tool"),
        (UnknownTools.ESCALATE, E, "unknown_tool"),
        (UnknownTools.ALLOW, Ruling.ALLOW, ""),
    ],
)
def test_the_policy_says_what_becomes_of_unknown_tools(
    unknown_tools: UnknownTools, ruling: Ruling, reason: str
) -> None:
    """`unknown_tools` changes the answer to UNKNOWN_TOOL, and to no other cause."""
    given = answer(RefusalCause.UNKNOWN_TOOL, unknown_tools=unknown_tools)
    assert (given.ruling, given.reason) == (ruling, reason)
    for cause in set(RefusalCause) - {RefusalCause.UNKNOWN_TOOL}:
        assert answer(cause, unknown_tools=unknown_tools) == answer(cause)


@pytest.mark.parametrize("ruling", [F, E, C])
def test_the_fact_says_what_its_absence_means(ruling: Ruling) -> None:
    """`missing` changes the answer to FACT_MISSING, and to no other cause."""
    given = answer(RefusalCause.FACT_MISSING, missing=(ruling, "order_not_found"))
    assert (given.ruling, given.reason) == (ruling, "order_not_found")
    for cause in set(RefusalCause) - {RefusalCause.FACT_MISSING}:
        assert answer(cause, missing=(ruling, "order_not_found")) == answer(cause)


@pytest.mark.parametrize("category", Category)
def test_a_category_never_contradicts_its_ruling(category: Category) -> None:
    """An escalation is escalated, a question can be answered, and no forbid says that a colleague has it."""
    assert category_of(Ruling.ALLOW, category) is None
    assert category_of(E, category) is Category.ESCALATED
    assert category_of(C, category) is Category.VALIDATION
    assert category_of(F, category) is (Category.POLICY if category is Category.ESCALATED else category)
