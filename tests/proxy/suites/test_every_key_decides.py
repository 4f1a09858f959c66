"""Each key of the policy language alone changes a decision, a byte that leaves, or a record.

The keys are the loader's own lists: a key without a row fails here. What a decision can show is in `key_rows.py`; what
only an exchange shows, in `tests/e2e/test_every_key_in_exchanges.py`; what needs files beside the policy, or has one
value, is named below with the test that shows it.
"""

from __future__ import annotations

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

NOT_KEYS = ("MERGED", "LIMIT_RULINGS", "RULINGS", "GATHER")
"""Lists of names that are no objects of the language, or parts of other lists."""
SHOWN_BY = {
    ("TOP", "language"): "tests/policies/test_loader_mutations.py: any other value is an error",
    ("TOP", "owner"): "tests/policies/test_explain.py: it is what people read of a policy, and decides nothing",
    ("TOP", "policy_stale_seconds_max"): "tests/proxy/test_policy_source.py: how long a broken edit is lived with",
    ("SESSION_FIELD", "hmac"): "tests/proxy/test_session_header.py: the other way to sign",
    ("EGRESS", "list"): "tests/interceptors/test_egress.py: there is one list",
    ("LIST", "file"): "tests/policies/test_lists.py",
    ("TOP", "resume_after"): "tests/e2e/test_history_freshness.py",
    ("TOP", "broken_pairs"): "tests/e2e/test_history_pairs.py",
    ("TOP", "server_held"): "tests/e2e/test_history_server_held.py",
    ("TOP", "compact_above"): "tests/e2e/test_history_compaction.py",
    ("TOOL", "closes_topic"): "tests/e2e/test_history_compaction.py",
    ("TOOL", "reads"): "tests/e2e/test_history_freshness.py",
    ("TOOL", "writes"): "tests/e2e/test_history_freshness.py",
    ("RESULT", "fresh_for"): "tests/e2e/test_history_freshness.py",
    **{("RESULT", key): "tests/e2e/test_history_results.py" for key in ("keep", "drop", "max_bytes", "max_items")},
    ("RESULT", "errors"): "tests/e2e/test_history_results.py",
    **{("RESULT_ERROR", key): "tests/e2e/test_history_results.py" for key in keys.RESULT_ERROR},
    ("TOOL", "fee_schedule"): "tests/interceptors/test_fee_schedule.py",
    ("TOP", "approvals"): "tests/proxy/test_approvals.py",
    **{
        ("APPROVALS", key): "tests/proxy/test_approvals.py: one call, and what people may do with it"
        for key in keys.APPROVALS
    },
    ("TOP", "operators"): "tests/e2e/test_e2e_decide.py",
    **{("OPERATOR", key): "tests/e2e/test_e2e_decide.py" for key in keys.OPERATOR},
    ("TOOL", "on_approval"): "tests/e2e/test_e2e_approvals.py",
    ("TOOL", "escalate_with"): "tests/e2e/test_e2e_escalate_with.py",
    ("DEFAULTS", "escalate_with"): "tests/e2e/test_e2e_escalate_with.py",
    **{("ESCALATE_WITH", key): "tests/e2e/test_e2e_escalate_with.py" for key in keys.ESCALATE_WITH},
    **{("FEE_SCHEDULE", key): "tests/interceptors/test_fee_schedule.py" for key in keys.FEE_SCHEDULE},
}
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


def test_a_row_names_its_key() -> None:
    """One of the two policies has it."""
    for (table, key), row in ROWS.items():
        assert f"{key}:" in row.before + row.after, (table, key)
