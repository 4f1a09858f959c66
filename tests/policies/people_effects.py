"""For each key about people two policies that differ in it, and in nothing else."""

from __future__ import annotations

APPROVALS = "approvals: {%s}\n"
OPERATOR = "operators: {o: {token: '${T}'%s}}\n"
TOOL = "tools: {t: {%s}, u: {}}\n"

EFFECTS: dict[tuple[str, str], tuple[str, str]] = {
    ("TOP", "approvals"): ("", APPROVALS % "quorum: 2"),
    ("TOP", "operators"): ("", OPERATOR % ""),
    ("APPROVALS", "approvers"): (APPROVALS % "", APPROVALS % "approvers: [anna]"),
    ("APPROVALS", "quorum"): (APPROVALS % "", APPROVALS % "quorum: 2"),
    ("APPROVALS", "answer_within"): (APPROVALS % "", APPROVALS % "answer_within: 1h"),
    ("APPROVALS", "valid_for"): (APPROVALS % "", APPROVALS % "valid_for: 1h"),
    ("APPROVALS", "open_max"): (APPROVALS % "", APPROVALS % "open_max: 10"),
    ("OPERATOR", "token"): (OPERATOR % "", (OPERATOR % "").replace("{T}", "{U}")),
    ("OPERATOR", "kind"): (OPERATOR % "", OPERATOR % ", kind: customer"),
    ("OPERATOR", "tools"): (OPERATOR % "", OPERATOR % ", tools: []"),
    ("TOOL", "on_approval"): (TOOL % "", TOOL % "on_approval: inline"),
}
