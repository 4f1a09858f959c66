"""What a result makes of held money: free only by what the policy says, and unknown wherever there is doubt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.history import PastResult
from interceptors.kinds import MoneyState
from interceptors.settlement import state_of
from policies import load_policy_text
from tests.interceptors.builders import NOW

if TYPE_CHECKING:
    from interceptors.calls import Json

POLICY = load_policy_text(
    "language: 1\npolicy: p\nreasons: {r: {category: policy}}\ntools:\n"
    "  plain: {limits: [{forbid: r, count: true, max: 9}]}\n"
    "  told:\n    limits: [{forbid: r, count: true, max: 9}]\n    result: {fields: {status: string, left: integer}}\n"
    "    not_executed_when: result.status == 'rejected' and result.left >= 0\n"
    "  read: {limits: [{forbid: r, count: true, max: 9}], result: {fields: {status: string}}}\n"
)


def state(tool: str, value: Json, *, is_error: bool = False) -> MoneyState:
    return state_of(POLICY, POLICY.tools[tool], PastResult("c", value, is_error, 0, is_new=True), NOW)


@pytest.mark.parametrize(
    ("tool", "value", "is_error", "wanted"),
    [
        ("plain", {"status": "ok"}, False, MoneyState.EXECUTED),
        ("plain", "done", False, MoneyState.EXECUTED),
        ("plain", {"status": "ok"}, True, MoneyState.UNKNOWN),
        ("plain", "504 Gateway Time-out", True, MoneyState.UNKNOWN),
        ("plain", {"error": "504"}, False, MoneyState.UNKNOWN),
        ("plain", {"isError": True}, False, MoneyState.UNKNOWN),
        ("plain", {"error": None}, False, MoneyState.EXECUTED),
        ("plain", {"status": "rejected"}, False, MoneyState.EXECUTED),
        ("told", {"status": "paid", "left": 1}, False, MoneyState.EXECUTED),
        ("told", {"status": "paid", "left": 1}, True, MoneyState.UNKNOWN),
        ("told", {"status": "rejected", "left": 1}, False, MoneyState.NOT_EXECUTED),
        ("told", {"status": "rejected", "left": 1}, True, MoneyState.NOT_EXECUTED),
        ("told", {"status": "rejected"}, False, MoneyState.UNKNOWN),
        ("told", {"status": "rejected", "left": "1"}, False, MoneyState.UNKNOWN),
        ("told", {}, False, MoneyState.UNKNOWN),
        ("told", [], False, MoneyState.UNKNOWN),
        ("told", "<html>504</html>", True, MoneyState.UNKNOWN),
        ("told", None, False, MoneyState.UNKNOWN),
        ("read", {"status": "rejected"}, False, MoneyState.EXECUTED),
        ("read", {"status": "rejected"}, True, MoneyState.UNKNOWN),
        ("read", "rejected", False, MoneyState.UNKNOWN),
    ],
)
def test_what_a_result_settles(tool: str, value: Json, is_error: bool, wanted: MoneyState) -> None:
    """An error, and what is not as it is declared, is unknown; only the declared no frees."""
    assert state(tool, value, is_error=is_error) is wanted


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["status", "left", "error", "isError"]), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(JSON, st.booleans())
def test_nothing_is_free_without_the_policys_word(value: Json, is_error: bool) -> None:
    """Whatever a back end answers: a tool that names no no frees nothing, and an error never is an execution."""
    for tool in ("plain", "read"):
        assert state(tool, value, is_error=is_error) is not MoneyState.NOT_EXECUTED
    for tool in ("plain", "read", "told"):
        assert not is_error or state(tool, value, is_error=True) is not MoneyState.EXECUTED
