"""Lint: each finding on the smallest policy that has it, and silence on the one that is right."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies import load_policy, load_policy_text
from policies.lint import FindingCode, lint
from policies.lint_paths import paths_in

REFUND_DESK = Path(__file__).parents[2] / "fixtures/policies/refund_desk.yaml"
HEAD = "language: 1\npolicy: p\nsession: {id: {jwt: sub}}\n"
REASONS = "reasons: {no: {category: policy}, ask: {category: escalated}}\n"
FACT = "facts: {f: {key: {pattern: a}, file: f.json, fields: {owner: string, n: integer}}}\n"
IDLE_FACT = "g: {key: {pattern: a}, file: g.json, fields: {}}"
SILENT_RULES = "[{forbid: no, unless: f.owner == session.id}, {escalate: ask, when: args.n > 3}]"
TOOL = (
    "tools: {t: {facts: {f: args.a}, rules: %s,\n"
    "  arguments: {a: {pattern: a}, n: integer, s: string, d: date, ok: boolean}}}\n"
)
SILENT = REASONS + FACT + TOOL % SILENT_RULES


def found(text: str) -> list[str]:
    return [finding.code.value for finding in lint(load_policy_text(HEAD + text))]


def with_rule(rule: str, constants: str = "") -> list[str]:
    return found(constants + SILENT.replace("[{forbid: no, un", f"[{{{rule}}}, {{forbid: no, un"))


def test_a_sound_policy_has_no_finding() -> None:
    """The refund desk of the design and the smallest sound policy are silent."""
    assert lint(load_policy(REFUND_DESK)) == []
    assert found(SILENT) == []


COUNTED = "limits: [{forbid: no, count: true, max: 9}]"
READERS = (
    "rules: [{forbid: no, when: args.n > constants.c}]",
    "confirm: {when: args.n > constants.c}",
    "confidence: args.n * constants.c",
    "limits: [{forbid: no, value: args.n, max: constants.c}]",
    f"{COUNTED}, result: {{fields: {{n: number}}}}, not_executed_when: result.n > constants.c",
    'escalation: {root_cause: "{constants.c}"}',
)


@pytest.mark.parametrize("reader", READERS)
def test_a_constant_that_anything_reads_is_used(reader: str) -> None:
    """Whatever key the expression or the text stands under; nothing reads a constant by accident."""
    text = "reasons: {no: {category: policy}}\nconstants: {c: 1, d: 2}\ntools: {t: {arguments: {n: number}, %s}}\n"
    policy = load_policy_text(HEAD + text % reader)

    assert {path[1] for path in paths_in(policy) if path[0] == "constants"} == {"c"}
    assert [one.message for one in lint(policy) if one.code is FindingCode.UNUSED_CONSTANT] == [
        "nothing reads the constant 'd'"
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (SILENT.replace("{no:", "{idle: {category: policy}, no:"), FindingCode.UNUSED_REASON),
        (SILENT + "constants: {idle: 1}\n", FindingCode.UNUSED_CONSTANT),
        (
            SILENT.replace("facts: {f: {", "facts: {g: {key: {pattern: a}, file: g, fields: {}}, f: {"),
            FindingCode.UNUSED_FACT,
        ),
        (SILENT.replace("{pattern: a}, n", "{pattern: '^a$'}, n"), FindingCode.UNANCHORED_PATTERN),
        (SILENT.replace("key: {pattern: a}", "key: {pattern: .*a}"), FindingCode.UNANCHORED_PATTERN),
        (SILENT.replace("escalate: ask", "escalate: no"), FindingCode.MISFIT_CATEGORY),
        (
            SILENT.replace("s: string", "s: {type: string, allow: {values: [x], forbid: ask}}"),
            FindingCode.MISFIT_CATEGORY,
        ),
        (SILENT.replace("{t: {", "{t: {egress: {list: v1, forbid: ask}, "), FindingCode.MISFIT_CATEGORY),
        (SILENT + "identities: {i: {token: literal}}\n", FindingCode.PLAIN_CREDENTIAL),
        (SILENT.replace("unless: f.owner == session.id", "unless: f.n > 3"), FindingCode.FACT_NOT_OWNED),
    ],
)
def test_each_finding(text: str, code: FindingCode) -> None:
    """One change of the silent policy, one finding."""
    assert code.value in found(text)
    assert all(finding.origin is not None for finding in lint(load_policy_text(HEAD + text)))


@pytest.mark.parametrize(
    ("rule", "constants", "is_decorative"),
    [
        ("forbid: no, unless: args.ok", "", True),
        ('forbid: no, when: args.s == "x"', "", True),
        ("forbid: no, unless: args.d > constants.c", "constants: {c: 2026-01-31}\n", True),
        ("escalate: ask, when: args.a == args.s", "", True),
        ("forbid: no, when: args.n > constants.c", "constants: {c: 3}\n", False),
        ("escalate: ask, when: args.n > 3", "", False),
        ("forbid: no, unless: args.s in constants.c", "constants: {c: [x, y]}\n", False),
        ('forbid: no, unless: args.a == "a"', "", False),
        ("forbid: no, unless: args.s == session.id", "", False),
        ("forbid: no, unless: args.n <= f.n", "", False),
    ],
)
def test_a_decorative_gate_is_one_that_the_model_opens_by_what_it_writes(
    rule: str, constants: str, is_decorative: bool
) -> None:
    """Claims prove nothing; bounds on what the call does, allowlists and facts do."""
    assert ("decorative-gate" in with_rule(rule, constants)) is is_decorative


@pytest.mark.parametrize(
    ("rules", "unreachable"),
    [
        ("{forbid: no}, {escalate: ask, when: args.n > 3}", ["t.rules[1]"]),
        ("{escalate: ask, when: args.n > 3}, {forbid: no}", ["t.rules[0]"]),
        ("{escalate: ask}, {forbid: no, when: f.owner == session.id}", []),
        ("{escalate: ask}, {clarify: no, when: args.n > 3}", ["t.rules[1]"]),
        ("{forbid: no}, {forbid: no, when: args.n > 3}", ["t.rules[1]"]),
        ("{forbid: no, when: args.n > 3}, {escalate: ask}", []),
    ],
)
def test_a_rule_behind_one_that_always_fires_never_decides(rules: str, unreachable: list[str]) -> None:
    """All rules are judged, so what counts is the outcome; among equals, the place."""
    findings = lint(load_policy_text(HEAD + REASONS + FACT + TOOL % f"[{rules}]"))
    told = [finding.message for finding in findings if finding.code is FindingCode.UNREACHABLE_RULE]
    assert [message.split(" ")[0] for message in told] == unreachable


def test_ownership_reaches_along_the_keys_of_facts() -> None:
    """A record is owned where one that its key leads to, or the key itself, is compared with the session."""
    chain = (
        "facts:\n  f: {key: {pattern: a}, file: f, fields: {c: string}}\n"
        "  g: {key: {pattern: a}, file: g, fields: {id: string}}\n"
    )
    tool = (
        "tools: {t: {effect: %s, facts: {f: args.a, g: %s}, arguments: {a: string, b: string},\n"
        "  rules: [{forbid: no, unless: %s}]}}\n"
    )
    reasons = "reasons: {no: {category: policy}}\n"

    def is_told(effect: str, key: str, condition: str) -> int:
        return found(reasons + chain + tool % (effect, key, condition)).count("fact-not-owned")

    assert is_told("write", "f.c", "g.id == session.id") == 0
    assert is_told("write", "args.b", "g.id == session.id") == 1
    assert is_told("write", "args.b", "g.id == f.c") == 2
    assert is_told("read", "args.b", "g.id == f.c") == 0
    assert is_told("write", "f.c", "args.a == session.id") == 0


def test_a_rule_of_defaults_is_told_once() -> None:
    """It is every tool's, and one line of the file."""
    text = "reasons: {no: {category: escalated}}\ndefaults: {rules: [{forbid: no}]}\ntools: {a: {}, b: {}}\n"
    assert found(text) == ["misfit-category"]


def test_what_a_guard_uses_is_used() -> None:
    """The reason that a list or `egress` gives, and the constant in which a list stands, are no idle ones."""
    guarded = SILENT.replace("s: string", "s: {type: string, allow: {values: constants.names, forbid: idle}}")
    text = guarded.replace("{no:", "{idle: {category: policy}, no:") + "constants: {names: [x]}\n"
    assert found(text) == []
    assert found(text.replace("values: constants.names", "values: [x]")) == [FindingCode.UNUSED_CONSTANT.value]
    leak = SILENT.replace("{no:", "{leak: {category: policy}, no:")
    assert found(leak.replace("{t: {", "{t: {egress: {list: v1, forbid: leak}, ")) == []
