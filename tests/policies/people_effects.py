"""For each key about people two policies that differ in it, and in nothing else."""

from __future__ import annotations

APPROVALS = "approvals: {%s}\n"
OPERATOR = "operators: {o: {token: '${T}'%s}}\n"
TAKES = "{arguments: {reason: string}}"
HANDS = f"tools: {{t: {{%s}}, h: {TAKES}, i: {TAKES}}}\n%s"
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
    ("TOOL", "escalate_with"): (HANDS % ("", ""), HANDS % ("escalate_with: h", "")),
    ("DEFAULTS", "escalate_with"): (HANDS % ("", ""), HANDS % ("", "defaults: {escalate_with: h}\n")),
    ("ESCALATE_WITH", "tool"): (
        HANDS % ("escalate_with: {tool: h}", ""),
        HANDS % ("escalate_with: {tool: i}", ""),
    ),
    ("ESCALATE_WITH", "arguments"): (
        HANDS % ("escalate_with: {tool: h}", ""),
        HANDS % ("escalate_with: {tool: h, arguments: {reason: who}}", ""),
    ),
    ("TOOL", "on_approval"): (TOOL % "", TOOL % "on_approval: inline"),
}
