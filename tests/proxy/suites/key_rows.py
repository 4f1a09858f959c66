"""For each key of the policy language two policies that differ in it alone, and a call that is decided differently.

A row is what stands before `tools:`, the one tool `t` in its two forms, and the call with what surrounds it, in the
notation of a suite. What must differ is what a decision leaves behind: see `test_every_key_decides.py`.
"""

from __future__ import annotations

from dataclasses import dataclass

STATUS = "limits: [{forbid: r, count: true, max: 9}], result: {fields: {status: string}}"
NOT_DONE = "not_executed_when: result.status == 'no'"
AS_I = "call: t, arguments: {a: x, n: 7, m: 5.00}, identity: i"
REASONS = "reasons: {r: {category: policy}, s: {category: escalated}}\n"
CALL = "call: t, arguments: {a: x, n: 7, m: 5.00}"


@dataclass(frozen=True, slots=True)
class Row:
    """The two policies, without their first lines, and the keys of a case."""

    before: str
    after: str
    case: str = CALL


def pair(policy: str, before: str, after: str, case: str = CALL) -> Row:
    """A policy with a gap that is filled in two ways."""
    return Row(policy.replace("@", before), policy.replace("@", after), case)


def tool(before: str, after: str, case: str = CALL, head: str = REASONS) -> Row:
    """Two forms of the tool `t`."""
    return pair(f"{head}tools: {{t: {{@}}}}\n", before, after, case)


def argument(before: str, after: str, value: str) -> Row:
    """Two forms of the argument `a`, and its value."""
    return tool(
        f"arguments: {{a: {{{before}}}}}", f"arguments: {{a: {{{after}}}}}", f"call: t, arguments: {{a: {value}}}"
    )


FACT = (
    REASONS + "facts: {f: {key: {pattern: '[a-z]+'}, file: f.json, fields: {x: string}@}}\n"
    "tools: {t: {facts: {f: args.a}, rules: [{forbid: r, when: f.x == 'no'}]}}\n"
)
IS_NO = CALL + ", facts: {f/x: {x: no}}"
FIELD = (
    REASONS + "time_zone: UTC\nfacts: {f: {key: {pattern: '[a-z]+'}, file: f.json, fields: {x: {@}}}}\n"
    "tools: {t: {facts: {f: args.a}, rules: [{forbid: r, when: %s}]}}\n"
)
MONEY_ARG = (
    "arguments: {a: {type: string, optional: true}, m: {money: USD, unit: major, optional: true},"
    " n: {type: integer, optional: true}}"
)
LIMIT = (
    REASONS + "time_zone: UTC\nfacts: {f: {key: {pattern: '[a-z]+'}, file: f.json, fields:"
    " {paid: {money: USD, unit: minor}, gone: {money: USD, unit: minor}}}}\n"
    f"tools: {{t: {{facts: {{f: args.a}}, {MONEY_ARG}, limits: [{{@}}]}}}}\n"
)
RECORD = ", facts: {f/x: {paid: 700, gone: 400}}"
EARLIER = ", earlier: [{call: t, arguments: {a: y, n: 1, m: 4.00}, facts: {f/y: {paid: 900, gone: 0}}, ago: 2h}]"
SAME_N = EARLIER.replace("n: 1", "n: 7")
NONE = "forbid: r, count: true, max: 0"
SUM = "forbid: r, sum: args.m, max: 8.00 USD"
CASES = (
    "session: {case: {jwt: case}, segment: {jwt: segment}, id: {jwt: sub}}\n"
    + REASONS
    + "facts: {f: {key: {pattern: '[a-z]+'}, file: f.json, fields: {kind: string}}}\n"
    "tools:\n  classify: {effect: read, arguments: {case: {one_of: [a, b]}, other: {one_of: [a, b]}}}\n"
    "  sort: {effect: read, arguments: {case: {one_of: [a, b]}}}\n"
    "  t: {arguments: {n: {type: number}, m: {type: number}}}\ncases: {@}\n"
)
KINDS = "arguments: {a: {type: string}, n: {type: integer}, m: {money: USD, unit: major}}"
IN_A = "call: t, arguments: {n: 7, m: 5}, session: {case: a, segment: b, sub: x}, facts: {f/x: {kind: a}}"
CLASSIFIED = (
    "call: t, arguments: {n: 7, m: 5}, history: [{user: hello}, {call: classify, arguments: {case: a, other: b}},"
    " {result: {}}, {call: sort, arguments: {case: b}}, {result: {}}, {user: go on}]"
)


def cases(before: str, after: str, case: str = IN_A) -> Row:
    return pair(CASES, before, after, case)


def action(before: str, after: str) -> Row:
    return cases(*(f"case: session.case, cells: {{a: {{t: {{{keys}}}}}}}" for keys in (before, after)))


SURE = "call: t, arguments: {c: 0.7, d: 0.95}"


def confidence(before: str, after: str) -> Row:
    kinds = "arguments: {c: {type: number}, d: {type: number}}"
    return tool(f"{kinds}{before}", f"{kinds}{after}", SURE)


def allow(before: str, after: str, value: str) -> Row:
    return argument(f"type: string, allow: {{{before}}}", f"type: string, allow: {{{after}}}", value)


CARD = "call: t, arguments: {a: 'card 4111 1111 1111 1111'}"
ROWS: dict[tuple[str, str], Row] = {
    ("TOP", "policy"): Row("policy: p\ntools: {t: {}}\n", "policy: q\ntools: {t: {}}\n"),
    ("TOP", "mode"): pair("@\ntools: {t: {}}\n", "mode: enforce", "mode: halt"),
    ("TOP", "time_zone"): pair(
        "time_zone: @\nconstants: {d: 2026-12-01}\n"
        + REASONS
        + "tools: {t: {rules: [{forbid: r, when: today() == constants.d}]}}\n",
        "UTC",
        "Pacific/Auckland",
    ),
    ("TOP", "unknown_tools"): pair("@\n", "unknown_tools: forbid", "unknown_tools: allow"),
    ("TOP", "defaults"): pair(REASONS + "@\ntools: {t: {}}\n", "", "defaults: {rules: [{forbid: r}]}"),
    ("TOP", "identities"): pair(
        "@\ntools: {t: {}}\n", "", "identities: {i: {token: '${T}', tools: []}}", CALL + ", identity: i"
    ),
    ("TOP", "session"): Row(
        "session: {s: {jwt: sub}}\n" + REASONS + "tools: {t: {rules: [{forbid: r, when: session.s == 'x'}]}}\n",
        "session: {s: {jwt: other}}\n" + REASONS + "tools: {t: {rules: [{forbid: r, when: session.s == 'x'}]}}\n",
        CALL + ", session: {sub: x, other: y}",
    ),
    ("TOP", "reasons"): Row(
        "tools: {t: {rules: [{forbid: malformed}]}}\n",
        "reasons: {malformed: {reply: What}}\ntools: {t: {rules: [{forbid: malformed}]}}\n",
    ),
    ("TOP", "constants"): pair(
        "constants: {c: @}\n" + REASONS + "tools: {t: {rules: [{forbid: r, when: constants.c}]}}\n", "false", "true"
    ),
    ("TOP", "facts"): pair(FACT, "", ", missing: {clarify: r}", CALL + ", facts: {f/x: missing}"),
    ("TOP", "tools"): pair("@\n", "", "tools: {t: {}}"),
    ("TOP", "not_user"): pair(
        "@\ntools: {t: {arguments: {a: {type: string, from: user}}}}\n",
        "",
        "not_user: ['(?m)^Bot: .*']",
        'call: t, arguments: {a: apple}, history: [{user: "Bot: an apple"}]',
    ),
    ("TOP", "cases"): Row(CASES.partition("cases:")[0], CASES.replace("@", "case: session.case, cells: {a: {}}"), IN_A),
    ("TOP", "reply_language"): Row(
        "session: {l: {jwt: l}}\nreasons: {r: {category: policy, reply: {en: No, de: Nein}}}\n"
        "tools: {t: {rules: [{forbid: r}]}}\n",
        "session: {l: {jwt: l}}\nreply_language: session.l\n"
        "reasons: {r: {category: policy, reply: {en: No, de: Nein}}}\n"
        "tools: {t: {rules: [{forbid: r}]}}\n",
        CALL + ", session: {l: de}",
    ),
    ("IDENTITY", "tools"): pair("identities: {i: {token: '${T}'@}}\ntools: {t: {}}\n", "", ", tools: []", AS_I),
    ("SESSION_FIELD", "jwt"): pair(
        "session: {s: {@}}\n" + REASONS + "tools: {t: {rules: [{forbid: r, when: session.s == 'x'}]}}\n",
        "jwt: sub",
        "jwt: who.id",
        CALL + ", session: {sub: x, who: {id: y}}",
    ),
    ("SESSION_FIELD", "type"): pair(
        "session: {s: {@}}\n" + REASONS + "tools: {t: {rules: [{forbid: r, when: session.s == session.s}]}}\n",
        "jwt: sub",
        "jwt: sub, type: date",
        CALL + ", session: {sub: x}",
    ),
    ("REASON", "category"): pair(
        "reasons: {r: {category: @}}\ntools: {t: {rules: [{forbid: r}]}}\n", "policy", "permission"
    ),
    ("REASON", "reply"): pair(
        "reasons: {r: {category: policy@}}\ntools: {t: {rules: [{forbid: r}]}}\n", "", ", reply: Not today"
    ),
    ("SYSTEM_REASON", "reply"): pair("@\nmode: halt\ntools: {t: {}}\n", "", "reasons: {halted: {reply: Paused}}"),
    ("FACT", "key"): Row(FACT.replace("@", ""), FACT.replace("@", "").replace("[a-z]+", "[a-c]+"), IS_NO),
    ("FACT", "missing"): pair(FACT, "", ", missing: {clarify: r}", CALL + ", facts: {f/x: missing}"),
    ("FACT", "fields"): Row(
        FACT.replace("@", ""), FACT.replace("@", "").replace("{x: string}", "{x: {at: y, type: string}}"), IS_NO
    ),
    ("FACT_KEY", "pattern"): Row(FACT.replace("@", ""), FACT.replace("@", "").replace("[a-z]+", "[0-9]+"), IS_NO),
    ("FACT_FIELD", "at"): pair(
        FIELD % "f.x == 'no'", "type: string", "type: string, at: y", CALL + ", facts: {f/x: {x: no, y: yes}}"
    ),
    ("FACT_FIELD", "type"): pair(
        FIELD % "f.x == f.x", "type: string", "type: integer", CALL + ", facts: {f/x: {x: one}}"
    ),
    ("FACT_FIELD", "money"): pair(
        (FIELD % "f.x == f.x").replace("{category: policy}", '{category: policy, reply: "{f.x}"}', 1),
        "money: USD, unit: major",
        "money: EUR, unit: major",
        CALL + ", facts: {f/x: {x: 5.00}}",
    ),
    ("FACT_FIELD", "unit"): pair(
        FIELD % "f.x > 40.00 USD",
        "money: USD, unit: major",
        "money: USD, unit: minor",
        CALL + ", facts: {f/x: {x: 500}}",
    ),
    ("FACT_FIELD", "currency"): pair(
        (FIELD % "f.x > 40.00 USD").replace("@}", "@}, y: string"),
        "money: USD, unit: major",
        "money: USD, unit: major, currency: f.y",
        CALL + ", facts: {f/x: {x: 50, y: EUR}}",
    ),
    ("FACT_FIELD", "timestamp"): pair(
        FIELD % "f.x == f.x", "type: string", "timestamp: iso", CALL + ", facts: {f/x: {x: yesterday}}"
    ),
    ("TOOL", "effect"): tool("", "effect: read"),
    ("TOOL", "facts"): Row(
        *(
            REASONS + "facts: {f: {key: {pattern: '[a-z]+'}, file: f.json, fields: {x: string}}}\n"
            f"tools: {{t: {{facts: {{f: args.{name}}}, rules: [{{forbid: r, when: f.x == 'no'}}]}}}}\n"
            for name in ("a", "b")
        ),
        "call: t, arguments: {a: x, b: y}, facts: {f/x: {x: no}, f/y: {x: yes}}",
    ),
    ("TOOL", "arguments"): tool("", "arguments: {}"),
    ("TOOL", "rules"): tool("", "rules: [{forbid: r}]"),
    ("TOOL", "limits"): pair(LIMIT, "forbid: r, count: true, max: 9", NONE, CALL + RECORD),
    ("TOOL", "not_executed_when"): tool(
        STATUS,
        f"{STATUS}, {NOT_DONE}",
        CALL + ", result: {value: {status: no}}",
    ),
    ("TOOL", "result"): tool(
        "",
        STATUS,
        CALL + ", result: {value: gateway error}",
    ),
    ("TOOL", "settle_within"): tool(
        "limits: [{forbid: r, count: true, max: 9}]", "limits: [{forbid: r, count: true, max: 9}], settle_within: 1h"
    ),
    ("TOOL", "inject"): tool(
        "limits: [{forbid: r, once_per: args.a}]", "limits: [{forbid: r, once_per: args.a}], inject: key"
    ),
    ("TOOL", "egress"): tool("", "egress: {list: v1}", CARD),
    ("TOOL", "escalation"): tool("rules: [{escalate: s}]", "rules: [{escalate: s}], escalation: {root_cause: because}"),
    ("TOOL", "confidence"): confidence("", ", confidence: args.c"),
    ("CONFIRM", "when"): tool(
        f"{KINDS}, confirm: {{when: args.n > 9}}",
        f"{KINDS}, confirm: {{when: args.n > 3}}",
        CALL + ", history: [{user: pay}]",
    ),
    ("TOOL", "confirm"): tool(KINDS, f"{KINDS}, confirm: user", CALL + ", history: [{user: pay}]"),
    ("DEFAULTS", "effect"): pair("tools: {t: {}}\n@\n", "", "defaults: {effect: read}"),
    ("DEFAULTS", "rules"): pair(REASONS + "tools: {t: {}}\n@\n", "", "defaults: {rules: [{forbid: r}]}"),
    ("DEFAULTS", "limits"): pair(
        REASONS + "tools: {t: {}}\n@\n", "", "defaults: {limits: [{forbid: r, count: true, max: 0}]}"
    ),
    ("DEFAULTS", "settle_within"): pair(
        REASONS + "tools: {t: {limits: [{forbid: r, count: true, max: 9}]}}\n@\n", "", "defaults: {settle_within: 1h}"
    ),
    ("DEFAULTS", "egress"): pair("tools: {t: {}}\n@\n", "", "defaults: {egress: {list: v1}}", CARD),
    ("DEFAULTS", "escalation"): pair(
        REASONS + "tools: {t: {rules: [{escalate: s}]}}\n@\n", "", "defaults: {escalation: {root_cause: because}}"
    ),
    ("ARGUMENT", "type"): argument("type: string", "type: integer", "x"),
    ("ARGUMENT", "pattern"): argument("type: string", "pattern: '[0-9]+'", "x"),
    ("ARGUMENT", "one_of"): argument("type: string", "one_of: [y]", "x"),
    ("ARGUMENT", "money"): argument("money: USD, unit: major", "money: JPY, unit: major", "5.25"),
    ("ARGUMENT", "unit"): Row(
        *(
            REASONS + f"tools: {{t: {{arguments: {{a: {{money: USD, unit: {unit}}}}}, rules:"
            " [{forbid: r, when: args.a > 4.00 USD}]}}\n"
            for unit in ("major", "minor")
        ),
        "call: t, arguments: {a: 5}",
    ),
    ("ARGUMENT", "list"): argument("list: string", "list: integer", "[x]"),
    ("ARGUMENT", "object"): argument("object: {b: string}", "object: {b: integer}", "{b: x}"),
    ("ARGUMENT", "min"): argument("type: integer", "type: integer, min: 9", "5"),
    ("ARGUMENT", "max"): argument("type: integer", "type: integer, max: 2", "5"),
    ("ARGUMENT", "optional"): tool(
        "arguments: {a: {type: string}}", "arguments: {a: {type: string, optional: true}}", "call: t, arguments: {}"
    ),
    ("ARGUMENT", "from"): tool(
        "arguments: {a: {type: string}}",
        "arguments: {a: {type: string, from: user}}",
        "call: t, arguments: {a: apple}, history: [{user: a pear}]",
    ),
    ("ARGUMENT", "allow"): argument("type: string", "type: string, allow: {values: [y]}", "x"),
    ("ARGUMENT", "egress"): tool(
        "egress: {list: v1}, arguments: {a: {type: string}}",
        "egress: {list: v1}, arguments: {a: {type: string, egress: allow}}",
        CARD,
    ),
    ("ALLOW", "domains"): allow("values: [x.example]", "domains: [x.example]", "me@x.example"),
    ("ALLOW", "urls"): allow("values: ['https://x.example/a']", "urls: ['https://x.example']", "'https://x.example/b'"),
    ("ALLOW", "paths"): allow("values: [/x/y]", "paths: [/x]", "/x/z"),
    ("ALLOW", "accounts"): allow("values: ['1234567']", "accounts: ['1234567']", "'12 34 567'"),
    ("ALLOW", "values"): allow("paths: [/x]", "values: [/x]", "/x/y"),
    ("ALLOW", "forbid"): Row(
        *(
            REASONS + f"tools: {{t: {{arguments: {{a: {{type: string, allow: {{values: [y]{more}}}}}}}}}}}\n"
            for more in ("", ", forbid: r")
        ),
        "call: t, arguments: {a: x}",
    ),
    ("EGRESS", "forbid"): tool("egress: {list: v1}", "egress: {list: v1, forbid: r}", CARD),
    ("RULE", "forbid"): tool("rules: [{clarify: r}]", "rules: [{forbid: r}]"),
    ("RULE", "escalate"): tool("rules: [{forbid: r}]", "rules: [{escalate: r}]"),
    ("RULE", "clarify"): tool("rules: [{forbid: r}]", "rules: [{clarify: r}]"),
    ("RULE", "when"): tool("rules: [{forbid: r}]", "rules: [{forbid: r, when: 1 > 2}]"),
    ("RULE", "unless"): tool("rules: [{forbid: r}]", "rules: [{forbid: r, unless: 2 > 1}]"),
    ("RESULT", "fields"): tool(
        f"{STATUS}, {NOT_DONE}",
        STATUS.replace("string", "{at: x, type: string}") + f", {NOT_DONE}",
        CALL + ", result: {value: {status: no, x: yes}}",
    ),
    ("RESULT", "format"): tool(
        f"{STATUS}, {NOT_DONE}",
        f"{STATUS.replace('status: string}', 'status: string}, format: yaml')}, {NOT_DONE}",
        CALL + ", result: {value: \"status: 'no'\"}",
    ),
    ("LIMIT", "forbid"): pair(LIMIT, NONE.replace("forbid", "escalate"), NONE, CALL + RECORD),
    ("LIMIT", "escalate"): pair(LIMIT, NONE, NONE.replace("forbid", "escalate"), CALL + RECORD),
    ("LIMIT", "sum"): pair(
        LIMIT, SUM.replace("sum: args.m, max: 8.00 USD", "count: true, max: 1"), SUM.replace("8", "1"), CALL + RECORD
    ),
    ("LIMIT", "count"): pair(LIMIT, "forbid: r, sum: args.m, max: 9.00 USD", NONE, CALL + RECORD),
    ("LIMIT", "value"): pair(LIMIT, SUM, SUM.replace("sum", "value"), CALL + RECORD + EARLIER),
    ("LIMIT", "once_per"): pair(
        LIMIT,
        "forbid: r, once_per: args.a",
        "forbid: r, once_per: args.n",
        CALL + RECORD + SAME_N,
    ),
    ("LIMIT", "per"): pair(LIMIT, SUM, SUM + ", per: args.a", CALL + RECORD + EARLIER),
    ("LIMIT", "within"): pair(LIMIT, SUM, SUM + ", within: 1h", CALL + RECORD + EARLIER),
    ("LIMIT", "each"): pair(LIMIT, SUM, SUM + ", each: day", CALL + RECORD + EARLIER.replace("2h", "30h")),
    ("LIMIT", "max"): pair(LIMIT, SUM, "forbid: r, sum: args.m, max: f.paid", CALL + RECORD.replace("700", "300")),
    ("LIMIT", "fact_counts"): pair(LIMIT, SUM, SUM + ", fact_counts: f.gone", CALL + RECORD),
    ("CASES", "case"): cases("case: session.case, cells: {a: {t: {}}}", "case: session.segment, cells: {a: {t: {}}}"),
    ("CASES", "segment"): cases(
        "case: session.case, segment: session.segment, cells: {a/b: {t: {}}}",
        "case: session.case, segment: session.id, cells: {a/b: {t: {}}}",
    ),
    ("CASES", "facts"): cases(
        "case: session.case, segment: f.kind, facts: {f: session.id}, cells: {a/a: {t: {}}}",
        "case: session.case, segment: f.kind, facts: {f: session.segment}, cells: {a/a: {t: {}}}",
        IN_A.replace("f/x: {kind: a}", "f/x: {kind: a}, f/b: {kind: b}"),
    ),
    ("CASES", "ceiling"): cases(
        "case: session.case, cells: {a: {t: {value: args.n}}}",
        "case: session.case, ceiling: {t: 5}, cells: {a: {t: {value: args.n}}}",
    ),
    ("CASES", "owner_keeps"): cases(
        "case: session.case, cells: {a: {t: {}}}", "case: session.case, owner_keeps: [a], cells: {a: {t: {}}}"
    ),
    ("CASES", "cells"): cases("case: session.case, cells: {a: {t: {}}}", "case: session.case, cells: {b: {t: {}}}"),
    ("CASE_SOURCE", "tool"): cases(
        "case: {tool: classify, argument: case}, cells: {a: {t: {}}}",
        "case: {tool: sort, argument: case}, cells: {a: {t: {}}}",
        CLASSIFIED,
    ),
    ("CASE_SOURCE", "argument"): cases(
        "case: {tool: classify, argument: case}, cells: {a: {t: {}}}",
        "case: {tool: classify, argument: other}, cells: {a: {t: {}}}",
        CLASSIFIED,
    ),
    ("ACTION", "value"): action("value: args.n, max: 6", "value: args.m, max: 6"),
    ("ACTION", "max"): action("value: args.n, max: 6", "value: args.n, max: 9"),
    ("ACTION", "rules"): action("value: args.n, max: 9", "value: args.n, max: 9, rules: [{forbid: r}]"),
    ("CONFIDENCE", "value"): confidence(", confidence: {value: args.c}", ", confidence: {value: args.d}"),
    ("CONFIDENCE", "clarify_below"): confidence(
        ", confidence: {value: args.c}", ", confidence: {value: args.c, clarify_below: 0.65}"
    ),
    ("CONFIDENCE", "escalate_below"): confidence(
        ", confidence: {value: args.c}", ", confidence: {value: args.c, escalate_below: 0.75}"
    ),
}
