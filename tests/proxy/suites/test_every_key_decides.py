"""Each key of the policy language alone changes a decision, a byte that leaves, or a record.

The keys are the loader's own lists: a key without a row fails here. What a decision can show is in `key_rows.py`; what
only an exchange shows, in `tests/e2e/test_every_key_in_exchanges.py`; what needs files beside the policy, or has one
value, is named below with the test that shows it.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from interceptors.history import PastResult
from interceptors.obligations import injection_of, reserve_of
from interceptors.pipeline import Pipeline
from interceptors.settlement import state_of
from policies import load_policy_text
from policies.documents import keys
from proxy.suites.reader import read_suite
from proxy.suites.trial import run
from tests.e2e.key_exchanges import EXCHANGES
from tests.proxy.suites.key_rows import ROWS, Row

ROOT = Path(__file__).parents[3]
NOT_KEYS = ("MERGED", "LIMIT_RULINGS", "RULINGS", "GATHER")
"""Lists of names that are no objects of the language, or parts of other lists."""
_APPROVALS = "tests/proxy/test_approvals.py::"
_FRESHNESS = "tests/e2e/test_history_freshness.py::"
_RESULTS = "tests/e2e/test_history_results.py::test_each_key_alone_changes_what_goes_up"
_COMPACTION = "tests/e2e/test_history_compaction.py::"
_HANDED_OVER = (
    "tests/e2e/test_e2e_escalate_with.py::test_the_agent_gets_its_escalation_tool_and_the_model_keeps_its_call"
)
_FEES = "tests/policies/test_fee_schedule_documents.py::test_each_key_alone_changes_what_is_done"
_WISHES = "tests/proxy/suites/test_handoff_cases.py::test_each_key_alone_changes_what_is_decided"
SHOWN_BY = {
    ("TOP", "language"): "tests/policies/test_loader_mutations.py::test_the_table_of_effects_is_complete",
    ("TOP", "owner"): (
        "tests/e2e/test_every_key_in_exchanges.py::test_who_owns_a_policy_is_told_with_each_change_of_it"
    ),
    ("TOP", "policy_stale_seconds_max"): (
        "tests/proxy/test_policy_source.py::test_how_long_a_broken_edit_is_lived_with_is_the_policys_word"
    ),
    ("SESSION_FIELD", "hmac"): "tests/proxy/test_session_header.py::test_signed_claims_are_the_subject",
    ("EGRESS", "list"): "tests/interceptors/test_egress.py::test_the_list_that_was_looked_at_stands_in_the_record",
    ("LIST", "file"): "tests/policies/test_lists.py::test_a_list_is_read_from_the_file_beside_the_policy",
    ("TOP", "resume_after"): _FRESHNESS + "test_after_a_pause_the_model_must_ask_again",
    ("TOP", "broken_pairs"): "tests/e2e/test_history_pairs.py::test_a_broken_pair_is_mended",
    ("TOP", "server_held"): "tests/e2e/test_history_server_held.py::test_a_notice_goes_up_with_what_the_user_says",
    ("TOP", "compact_above"): _COMPACTION + "test_a_settled_matter_becomes_a_summary",
    ("TOOL", "closes_topic"): _COMPACTION + "test_a_tool_may_say_that_a_matter_is_closed",
    ("TOOL", "reads"): _FRESHNESS + "test_a_write_puts_what_was_read_before_it_out_of_date",
    ("TOOL", "writes"): _FRESHNESS + "test_a_write_puts_what_was_read_before_it_out_of_date",
    ("RESULT", "fresh_for"): _FRESHNESS + "test_nothing_old_is_left_where_it_holds_for_no_time",
    **{("RESULT", key): _RESULTS for key in ("keep", "drop", "max_bytes", "max_items", "errors")},
    **{("RESULT_ERROR", key): _RESULTS for key in keys.RESULT_ERROR},
    ("TOOL", "fee_schedule"): "tests/interceptors/test_fee_schedule.py::test_a_tool_without_a_schedule_has_no_row",
    ("TOP", "approvals"): _APPROVALS + "test_the_policy_says_how_many_approve",
    ("APPROVALS", "approvers"): _APPROVALS + "test_the_policy_names_who_approves",
    ("APPROVALS", "quorum"): _APPROVALS + "test_the_policy_says_how_many_approve",
    ("APPROVALS", "answer_within"): _APPROVALS + "test_the_policy_says_how_long_a_case_waits",
    ("APPROVALS", "valid_for"): _APPROVALS + "test_the_policy_says_how_long_an_approval_holds",
    ("APPROVALS", "open_max"): _APPROVALS + "test_more_cases_than_people_can_look_at_are_refused",
    ("TOP", "operators"): "tests/e2e/test_e2e_decide.py::test_who_may_not_propose",
    ("OPERATOR", "token"): "tests/e2e/test_e2e_decide.py::test_who_may_not_propose",
    ("OPERATOR", "kind"): "tests/e2e/test_e2e_decide.py::test_a_back_end_is_nobodys_yes",
    ("OPERATOR", "tools"): "tests/e2e/test_e2e_decide.py::test_what_a_kind_may",
    ("TOOL", "on_approval"): "tests/e2e/test_e2e_approvals.py::test_deliver",
    ("TOOL", "escalate_with"): _HANDED_OVER,
    (
        "DEFAULTS",
        "escalate_with",
    ): "tests/policies/test_escalate_with_documents.py::test_in_defaults_it_holds_for_all_but_escalation_tools",
    **{("ESCALATE_WITH", key): _HANDED_OVER for key in keys.ESCALATE_WITH},
    **{("FEE_SCHEDULE", key): _FEES for key in keys.FEE_SCHEDULE},
    ("TOP", "handoff"): _WISHES,
    **{("HANDOFF", key): _WISHES for key in keys.HANDOFF},
    ("PHRASES", "only"): _WISHES,
}
"""Keys that no case and no plain exchange shows: which test does, and that there is one is itself a test."""
WHAT_TO_DO = (
    "add a row for it to tests/proxy/suites/key_rows.py (two policies that differ in it alone, and a call that they"
    " decide differently), or to tests/e2e/key_exchanges.py (and an exchange in which a byte or a record differs)"
)


def seen(policy: str, case: str) -> list[Any]:
    """All that the decision of this call leaves behind, and what its result settles."""
    text = policy if policy.startswith("policy:") else f"policy: p\n{policy}"
    compiled = load_policy_text(f"language: 1\n{text}")
    expected = "outcome: allow, settles: executed" if ", result: " in case else "outcome: allow"
    suite = f"suite: p\nnow: 2026-11-30T18:00:00Z\ncases: [{{name: x, {case}, expect: {{{expected}}}}}]\n"
    (one,) = read_suite(suite.encode(), "suite.yaml").cases
    trial = run(Pipeline(compiled), one)
    decision = trial.decision
    assert decision is not None, trial.against
    reserve, injection = reserve_of(decision), injection_of(decision)
    verdicts = [(each.interceptor, each.rule, each.ruling, each.detail) for each in decision.verdicts]
    held = [] if reserve is None else [reserve.intent, reserve.charges, reserve.settle_within]
    told = (decision.reason, decision.category, decision.reply, decision.summary, decision.arguments)
    found = [decision.ruling, decision.policy, decision.is_write, *told, verdicts, trial.reads, held, injection]
    if one.answered is not None:
        past = PastResult("c", one.answered.value, one.answered.is_error, 0, is_new=True)
        tool = compiled.tool(decision.tool) or compiled.unknown_tool
        found.append(state_of(compiled, tool, past, one.now))
    return found


@pytest.mark.parametrize("row", ROWS.values(), ids=[".".join(key) for key in ROWS])
def test_a_key_alone_changes_what_is_decided_or_recorded(row: Row) -> None:
    """The same call under two policies that differ in the key."""
    assert seen(row.before, row.case) != seen(row.after, row.case)


@pytest.mark.parametrize("row", ROWS.values(), ids=[".".join(key) for key in ROWS])
def test_the_same_policy_decides_the_same(row: Row) -> None:
    """What is compared depends on nothing else: else the test above could not fail."""
    for policy in (row.before, row.after):
        assert seen(policy, row.case) == seen(policy, row.case)


def test_every_key_has_its_row() -> None:
    """Those of the loader, and no other."""
    tables = [name for name in vars(keys) if name.isupper() and name not in (*NOT_KEYS, "LATER")]
    known = {(table, key) for table in tables for key in getattr(keys, table)}
    shown = ROWS.keys() | EXCHANGES.keys() | SHOWN_BY.keys()
    missing = sorted(".".join(key) for key in known - shown)
    assert not missing, f"{', '.join(missing)}: {WHAT_TO_DO}"
    assert not shown - known, "rows of keys that are none"


@pytest.mark.parametrize("key", SHOWN_BY, ids=".".join)
def test_what_is_shown_elsewhere_is_shown_there(key: tuple[str, str]) -> None:
    """The test that is named for a key exists, and its file speaks of the key."""
    file, _, name = SHOWN_BY[key].partition("::")
    text = (ROOT / file).read_text(encoding="utf-8")
    tests = {
        node.name for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }

    assert name in tests
    assert re.search(rf"\b{key[1]}\b", text)


def test_a_row_names_its_key() -> None:
    """One of the two policies has it."""
    for (table, key), row in ROWS.items():
        assert f"{key}:" in row.before + row.after, (table, key)
