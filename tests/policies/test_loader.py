"""The loader: what a policy states is in the compiled one, and what it may not state is an error that points at it."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from policies import PolicyError, load_policy, load_policy_text
from policies.documents import keys
from policies.guards import Egress, EgressList, FromResult, FromUser
from policies.model import FileSource, HttpSource, Mode, Policy, Ruling, ToolEffect, UnknownTools
from policies.values import Kind, Money, Unit

EVERY_KEY = Path(__file__).parents[2].joinpath("fixtures/policies/every_key.yaml")
HEAD = "language: 1\npolicy: p\n"


def load(text: str) -> Policy:
    return load_policy_text(HEAD + text)


def told(text: str) -> str:
    """The problems of a text; lines count from its own first one."""
    with pytest.raises(PolicyError) as caught:
        load_policy_text(text if text.startswith(("language:", "policy:")) else HEAD + text)
    return str(caught.value)


def test_the_smallest_policy_is_closed() -> None:
    """Required are language and policy; what is left out is the safe choice."""
    policy = load("")
    assert (policy.name, policy.mode, policy.unknown_tools) == ("p", Mode.ENFORCE, UnknownTools.FORBID)
    assert policy.policy_stale_seconds_max == 60
    assert policy.unknown_tool.effect is ToolEffect.WRITE
    tool = load("tools: {x: {}}").tools["x"]
    assert (tool.effect, tool.on_refusal, tool.arguments, tool.rules) == (ToolEffect.WRITE, None, None, ())


def test_every_key_is_in_the_compiled_policy() -> None:
    """Exact values, order of reading, types and defaults arrive as they were written."""
    policy = load_policy(EVERY_KEY)
    assert policy.constants == {
        "closed": False,
        "window": timedelta(days=14),
        "top": Money(Decimal("500.00"), "USD"),
        "begin": date(2026, 1, 31),
        "rate": Decimal("1000.10"),
        "codes": ("north", "south"),
        "partners": ("example.com", "*.example.org"),
    }
    pay = policy.tools["pay"]
    assert list(pay.facts) == ["order", "customer"]
    assert [rule.id for rule in pay.rules] == ["defaults.rules[0]", "pay.rules[0]", "pay.rules[1]", "pay.rules[2]"]
    assert [rule.ruling for rule in pay.rules] == [Ruling.FORBID, Ruling.FORBID, Ruling.ESCALATE, Ruling.CLARIFY]
    assert pay.arguments is not None
    amount = pay.arguments["amount"]
    assert (amount.money_unit, amount.money_currency) == (Unit.MAJOR, "USD")
    assert (amount.minimum, amount.maximum) == (Money(Decimal("0.50"), "USD"), Money(Decimal("900.00"), "USD"))
    assert pay.arguments["note"].optional
    assert pay.arguments["area"].one_of == ("north", "south", "no")
    parts = pay.arguments["parts"].element
    assert parts is not None
    assert parts.fields["price"].money_unit is Unit.MINOR
    assert parts.fields["price"].minimum is None
    order = policy.facts["order"]
    assert isinstance(order.source, HttpSource)
    assert order.source.headers["authorization"].references == ("${file:/run/secrets/orders}",)
    assert (order.timeout_seconds, order.missing) == (3.0, (Ruling.FORBID, "gone"))
    assert order.fields["customer_id"].path == ("customer", "id")
    assert order.fields["paid"].path == ("paid", "cents")
    assert order.fields["delivered_at"].timestamp
    customer = policy.facts["customer"]
    assert customer.source == FileSource(EVERY_KEY.parent / "customers.json")
    assert customer.missing == (Ruling.ESCALATE, "facts_incomplete")
    assert policy.session["since"].type.kind is Kind.DATE
    assert policy.identities["support-bot"].tools == {"look", "pay"}
    assert set(policy.reasons["late"].replies) == {"en", "de"}
    assert policy.tools["look"].escalation == policy.unknown_tool.escalation


@pytest.mark.parametrize("word", ["off", "no", "on", "Halt", "true"])
def test_a_mode_that_is_none_tells_what_is_allowed(word: str) -> None:
    """`mode: off` is not a boolean and not a mode."""
    assert "policy.yaml:3: mode: expected one of enforce, halt, got" in told(f"mode: {word}")


@pytest.mark.parametrize("key", sorted(keys.LATER))
def test_keys_of_later_parts_say_so(key: str) -> None:
    """What is not enforced is not accepted, wherever it is written."""
    message = f"`{key}` is not supported in this version"
    places = (
        f"{key}: x",
        f"tools: {{t: {{{key}: x}}}}",
        f"tools: {{t: {{arguments: {{a: {{type: string, {key}: x}}}}}}}}",
        f"tools: {{t: {{rules: [{{forbid: malformed, {key}: x}}]}}}}",
        f"identities: {{i: {{token: '${{T}}', {key}: x}}}}",
        f"facts: {{f: {{key: {{pattern: a}}, file: f.json, fields: {{}}, {key}: x}}}}",
        f"facts: {{f: {{key: {{pattern: a}}, file: f.json, fields: {{g: {{type: string, {key}: x}}}}}}}}",
        f"defaults: {{{key}: x}}",
    )
    assert all(message in told(place) for place in places)


FACT = "facts: {f: {key: {pattern: a}, file: f.json, fields: {x: string, n: integer, m: {money: USD, unit: minor}}}}\n"
TOOL = "tools: {t: {facts: {f: args.a}, arguments: {a: {pattern: a}, n: integer, s: string}, rules: [%s]}}\n"
CASES = {
    # the top
    "policy: p": "'language' is required",
    "language: 2\npolicy: p": "this version reads language 1, got the number 2",
    "language: '1'\npolicy: p": "expected a decimal number",
    "language: 1": "'policy' is required",
    "modes: halt": "unknown key 'modes', did you mean 'mode'?",
    "mode: shadow": "`shadow` is not supported in this version",
    "time_zone: Europe/Atlantis": "no time zone",
    "time_zone: ../../etc/passwd": "no time zone",
    "policy_stale_seconds_max: 1e400": "expected a decimal number",
    "policy_stale_seconds_max: -1": "must be from 0",
    "pass_types: x": "expected a list",
    # identities and session
    "identities: {i: {}}": "'token' is required",
    "identities: {i: {token: '${}'}}": "reference",
    "tools: {pay: {}}\nidentities: {i: {token: '${T}', tools: [pays]}}": "no tool 'pays', did you mean 'pay'?",
    "identities: {i: {token: '${T}'}, j: {token: '${T}'}}": "same token as 'i'",
    "session: {a: {jwt: x}, b: {hmac: y}}": "`jwt` and `hmac` cannot both be used",
    "session: {a: {jwt: x, hmac: y}}": "either `jwt` or `hmac`",
    "session: {a: {jwt: x..y}}": "no path",
    "session: {a: {jwt: x, type: money}}": "money needs its currency",
    # reasons
    "reasons: {malformed: {category: policy}}": "a `reply` and nothing else",
    "reasons: {x: {}}": "'category' is required",
    "reasons: {x: {category: polcy}}": "did you mean 'policy'?",
    "reasons: {X: {category: policy}}": "no reason code",
    "reasons: {x: {category: policy, reply: {English: hi}}}": "no language tag",
    "reasons: {x: {category: policy, reply: 'a { b'}}": "not closed",
    "reasons: {x: {category: policy, reply: '{constants.a}'}}": "no `constants` section",
    # constants
    "constants: {a: 010}": "neither a number nor clearly a text",
    "constants: {a: 1e400}": "neither a number nor clearly a text",
    "constants: {a: 500.005 USD}": "USD",
    "constants: {a: [1, x]}": "of one type",
    "constants: {a: []}": "an empty list",
    "constants: {a-b: 1}": "no name",
    # facts
    "facts: {args: {key: {pattern: a}, file: f.json, fields: {}}}": "cannot be named 'args'",
    "facts: {f: {file: f.json, fields: {}}}": "'key' is required",
    "facts: {f: {key: {}, file: f.json, fields: {}}}": "'pattern' is required",
    "facts: {f: {key: {pattern: '('}, file: f.json, fields: {}}}": "not a pattern",
    "facts: {f: {key: {pattern: a}, fields: {}}}": "either `http` or `file`",
    "facts: {f: {key: {pattern: a}, http: 'http://x/{key}', file: f.json, fields: {}}}": "either `http` or `file`",
    "facts: {f: {key: {pattern: a}, http: 'http://x/', fields: {}}}": "must hold {key}",
    "facts: {f: {key: {pattern: a}, http: 'http://{key}/', fields: {}}}": "path or the query",
    "facts: {f: {key: {pattern: a}, http: '${H}{key}', fields: {}}}": "path or the query",
    "facts: {f: {key: {pattern: a}, http: 'ftp://x/{key}', fields: {}}}": "http or https",
    "facts: {f: {key: {pattern: a}, http: 'http://u:p@x/{key}', fields: {}}}": "a user or a password",
    "facts: {f: {key: {pattern: a}, http: 'http://x/{key}/{id}', fields: {}}}": "no other braces",
    "facts: {f: {key: {pattern: a}, http: 'http://x/{key}', headers: {Host: y}, fields: {}}}": "not the policy's",
    "facts: {f: {key: {pattern: a}, http: 'http://x/{key}', headers: {A: y, a: z}, fields: {}}}": "stands here twice",
    "facts: {f: {key: {pattern: a}, http: 'http://x/{key}', timeout: 2, fields: {}}}": "quote it",
    "facts: {f: {key: {pattern: a}, http: 'http://x/{key}', timeout: 0s, fields: {}}}": "above zero",
    "facts: {f: {key: {pattern: a}, file: f.json, headers: {a: b}, fields: {}}}": "does not go with 'file'",
    "facts: {f: {key: {pattern: a}, file: f.json, missing: {forbid: nope}, fields: {}}}": "'nope' is not declared",
    "facts: {f: {key: {pattern: a}, file: f.json, missing: {allow: nope}, fields: {}}}": "unknown key 'allow'",
    "facts: {f: {key: {pattern: a}, file: f.json, fields: {m: money}}}": "money needs its currency",
    "facts: {f: {key: {pattern: a}, file: f.json, fields: {m: {money: USD}}}}": "'unit' is required",
    "facts: {f: {key: {pattern: a}, file: f.json, fields: {m: {money: XYZ, unit: minor}}}}": "unknown currency",
    "facts: {f: {key: {pattern: a}, file: f.json, fields: {m: {timestamp: unix}}}}": "expected one of iso",
    "facts: {f: {key: {pattern: a}, file: f.json, fields: {m: {type: date, timestamp: iso}}}}": "one of type, money",
    # tools
    "tools: {a_b: {}, A-B: {}}": "differ only in case, width or separators",
    "tools: {'--': {}}": "no name of a tool",
    "tools: {t: {effect: writes}}": "did you mean 'write'?",
    "tools: {t: {facts: {g: args.a}}}": "the fact 'g' is not declared",
    FACT + "tools: {t: {facts: {f: f.x}}}": "depends on itself",
    FACT + "tools: {t: {facts: {f: args.b}, arguments: {a: string}}}": "args.b",
    FACT + "tools: {t: {facts: {f: session.x}}}": "no `session` section",
    FACT + "tools: {t: {facts: {f: args.a}, arguments: {a: {list: string}}}}": "args.a[*]",
    FACT + "tools: {t: {facts: {f: args.a}, arguments: {a: boolean}}}": "this is a boolean",
    FACT + "tools: {t: {facts: {f: lower(args.a)}, arguments: {a: string}}}": "the key of a fact is a path",
    FACT + "constants: {c: x}\ntools: {t: {facts: {f: constants.c}}}": "the key of a fact is a path",
    FACT + "tools: {t: {rules: [{forbid: malformed, when: f.n > 3}]}}": "does not map this fact",
    FACT + TOOL % "{forbid: nope}": "'nope' is not declared",
    FACT + TOOL % "{when: args.n > 3}": "one of forbid, escalate, clarify",
    FACT + TOOL % "{forbid: malformed, clarify: malformed}": "one of forbid, escalate, clarify",
    FACT + TOOL % "{allow: malformed}": "unknown key 'allow'",
    FACT + TOOL % "{forbid: malformed, when: args.n}": "condition",
    FACT + TOOL % "{forbid: malformed, when: f.m > 3}": "money",
    FACT + TOOL % "{forbid: malformed, when: f.y == args.s}": "f.y",
    FACT + TOOL % "{forbid: malformed, when: args.x == args.s}": "args.x",
    FACT + TOOL % "{forbid: malformed, when: days_since(today()) > 3}": "`time_zone` is required",
    FACT + TOOL % "x": "expected a mapping",
    FACT + "defaults: {rules: [{forbid: malformed, when: f.n > 3}]}": "may read args, session and constants only",
    "defaults: {facts: {}}": "unknown key 'facts'",
    "tools: {t: {escalation: {root_cause: '{args.a}'}, arguments: {a: string}}}": "free text",
    # arguments
    "tools: {t: {arguments: {a: text}}}": "expected one of string, number",
    "tools: {t: {arguments: {a: {}}}}": "an argument needs one of",
    "tools: {t: {arguments: {a: {optional: true}}}}": "an argument needs one of",
    "tools: {t: {arguments: {a: {money: USD}}}}": "'unit' is required",
    "tools: {t: {arguments: {a: {money: USD, unit: cents}}}}": "expected one of major, minor, milli",
    "tools: {t: {arguments: {a: {money: USD, unit: major, min: 5}}}}": "money needs its currency: 5 USD",
    "tools: {t: {arguments: {a: {money: USD, unit: major, max: 5.00 EUR}}}}": "the bound in EUR",
    "tools: {t: {arguments: {a: {money: USD, unit: major, max: 0.00 USD}}}}": "above zero",
    "tools: {t: {arguments: {a: {type: integer, min: 3, max: 2}}}}": "max is less than min",
    "tools: {t: {arguments: {a: {type: integer, min: 010}}}}": "expected a decimal number",
    "tools: {t: {arguments: {a: {type: integer, min: 1.5}}}}": "expected an integer",
    "tools: {t: {arguments: {a: {type: string, min: 1}}}}": "a string has no min",
    "tools: {t: {arguments: {a: {type: string, unit: major}}}}": "'unit' does not go with 'type'",
    "tools: {t: {arguments: {a: {one_of: []}}}}": "at least one value",
    "tools: {t: {arguments: {a: {one_of: [x, x]}}}}": "stands here twice",
    "tools: {t: {arguments: {a: {one_of: [x, 1]}}}}": "quote it",
    "tools: {t: {arguments: {a: {pattern: x, type: integer}}}}": "a pattern is for a string",
    "tools: {t: {arguments: {a: {list: {type: string, optional: true}}}}}": "cannot be optional",
    "tools: {t: {arguments: {a: {type: string, optional: no}}}}": "expected true or false, got 'no'",
    "tools: {t: {arguments: {a: {object: {b: {c: d}}}}}}": "an argument needs one of",
}


@pytest.mark.parametrize("text", CASES)
def test_what_a_policy_may_not_say_is_an_error_that_tells_why(text: str) -> None:
    """Each mistake is refused, with its file, its line and the words for its author."""
    problems = told(text)
    assert CASES[text] in problems
    assert all(line.startswith("policy.yaml:") for line in problems.split("\n"))


def test_a_reply_must_fit_every_tool_that_gives_it() -> None:
    """A reply that reads what a tool has not is refused, naming the reason's place and the tool."""
    reasons = "reasons: {r: {category: policy, reply: 'about {args.n}'}}\n"
    fits = "tools: {a: {arguments: {n: integer}, rules: [{forbid: r}]}}"
    assert load(reasons + fits).reasons["r"].replies
    lacks = told(reasons + fits.replace("]}}", "]}, b: {arguments: {m: integer}, rules: [{forbid: r}]}}"))
    assert lacks.startswith("policy.yaml:3: reasons.r.reply: 'args.n' is not declared")
    assert "for the tool 'b'" in lacks
    differs = told(reasons + fits.replace("]}}", "]}, b: {arguments: {n: date}, rules: [{forbid: r}]}}"))
    assert "one type in 'a' and another in 'b'" in differs
    fact = FACT.replace("file: f.json", "file: f.json, missing: {forbid: r}")
    missing = told(reasons + fact + "tools: {t: {facts: {f: args.k}, arguments: {k: string}}}")
    assert "for the tool 't'" in missing
    system = told("reasons: {facts_incomplete: {reply: '{args.n}'}}\n" + fits.replace("forbid: r", "forbid: malformed"))
    assert "for every tool" in system


def test_a_reply_that_nothing_uses_is_still_compiled() -> None:
    """It must be one that some tool could give."""
    reasons = "reasons: {r: {category: policy, reply: 'about {args.n}'}}\n"
    assert load(reasons + "tools: {a: {}, b: {arguments: {n: integer}}}")
    assert "args.n" in told(reasons + "tools: {b: {arguments: {m: integer}}}")


def test_all_problems_are_told_at_once_and_in_order() -> None:
    """One load tells every mistake, not the first one, and none twice."""
    problems = told(
        "mode: off\nconstants: {a: 010}\nreasons: {x: {category: no}}\n"
        "tools:\n  t:\n    effect: reads\n    rules:\n      - forbid: x\n        when: constants.a > 3 and args.b ==\n"
    )
    assert [line.split(": ")[0:2] for line in problems.split("\n")] == [
        ["policy.yaml:3", "mode"],
        ["policy.yaml:4", "constants.a"],
        ["policy.yaml:5", "reasons.x.category"],
        ["policy.yaml:8", "tools.t.effect"],
        ["policy.yaml:11", "tools.t.rules[0].when"],
    ]


def test_facts_are_ordered_by_what_their_keys_need() -> None:
    """A key may come from another fact in any order of writing; `[*]` makes a list of records; a cycle is refused."""
    text = (
        "facts:\n"
        "  a: {key: {pattern: x}, file: a.json, fields: {next: string}}\n"
        "  b: {key: {pattern: x}, file: b.json, fields: {next: string}}\n"
        "  c: {key: {pattern: x}, file: c.json, fields: {next: string}}\n"
        "tools: {t: {facts: {c: 'b[*].next', b: 'a[*].next', a: 'args.ids[*]'}, arguments: {ids: {list: string}},\n"
        "  rules: [{forbid: malformed, when: 'count(c[*].next) > 3'}]}}\n"
    )
    uses = load(text).tools["t"].facts
    assert list(uses) == ["a", "b", "c"]
    assert all(use.many for use in uses.values())
    cycle = told(text.replace("'args.ids[*]'", "'c[*].next'"))
    assert "the key of 'a' depends on itself" in cycle


def test_identities_may_name_unknown_tools_only_where_those_may_run() -> None:
    """With `unknown_tools: allow` a tool need not be declared to be granted."""
    text = "unknown_tools: allow\nidentities: {i: {token: '${T}', tools: [Look_Up]}}\n"
    assert load(text).identities["i"].tools == {"lookup"}
    assert "no tool" in told(text.replace("allow", "escalate"))


def test_the_traps_of_yaml_in_a_policy() -> None:
    """`no` in a closed set is a text, a plain date a date, a quoted amount a text, `1000.10` keeps its digits."""
    policy = load(
        "constants: {a: 1000.10, b: 2026-01-31, c: '500.00 USD', d: 1:30, e: off}\n"
        "tools: {t: {arguments: {x: {one_of: [yes, no, off]}}}}\n"
    )
    assert str(policy.constants["a"]) == "1000.10"
    assert policy.constants["b"] == date(2026, 1, 31)
    assert [policy.constants[name] for name in "cde"] == ["500.00 USD", "1:30", "off"]
    assert policy.tools["t"].arguments is not None
    assert policy.tools["t"].arguments["x"].one_of == ("yes", "no", "off")


def test_what_could_be_a_secret_is_never_printed() -> None:
    """A token or a header that is written out and wrong is told by its place alone."""
    header = "facts: {f: {key: {pattern: a}, http: 'http://x/{key}', headers: {a: %s}, fields: {}}}"
    for secret in ("12345678", "[hunter2]", '"hunter2\\nx"', '"${hunter2"', "hunter2(, b: c"):
        for text in (f"identities: {{i: {{token: {secret}}}}}", header % secret):
            problems = told(text)
            assert "hunter2" not in problems
            assert "1234" not in problems


def test_the_guards_of_arguments_are_in_the_compiled_policy() -> None:
    """Sources, lists, exemptions and what may not leave arrive as they were written, and `defaults` stand for tools."""
    policy = load_policy(EVERY_KEY)
    pay = policy.tools["pay"].arguments
    assert pay is not None
    assert pay["account"].sources == (FromUser(), FromResult("look", ("accounts", "[*]", "iban")))
    assert pay["account"].allow is not None
    assert [one.kind for one in pay["file"].allow.lists] == ["paths", "values"] if pay["file"].allow else False
    assert pay["mail"].allow is not None
    assert (pay["mail"].allow.reason, pay["mail"].allow.lists[0].stands_in) == ("far", "constants.partners")
    assert [name for name, argument in pay.items() if argument.is_exempt] == ["note"]
    assert policy.tools["pay"].egress == Egress(EgressList.V1, "closed")
    assert (policy.tools["look"].egress, policy.unknown_tool.egress) == (None, None)
    assert [pattern.source for pattern in policy.not_user] == ["(?m)^From: .*"]
    text = "defaults: {egress: {list: v1}}\ntools: {a: {}, b: {egress: allow}}"
    assert load(text).tools["a"].egress == load(text).unknown_tool.egress == Egress(EgressList.V1, "sensitive_data")
    assert load(text).tools["b"].egress is None


ARGUMENT = "tools: {t: {arguments: {a: {%s}}}, u.v: {}, u: {}}"


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("type: boolean, from: user", "`from` is for a string, a number, money or a date, not for a boolean"),
        ("list: string, from: user", "`from` is for a string, a number, money or a date, not for a list"),
        ("type: string, from: users", "expected `user`, or `result of TOOL.FIELD`"),
        ("type: string, from: []", "expected one source, or a list of at most 16"),
        ("type: string, from: [user, user]", "stands here twice"),
        ("type: string, from: result of x.y", "the policy has no tool 'x'"),
        ("type: string, from: result of t", "which field of a result of 't'?"),
        ("type: string, from: result of t.", "'' is no path"),
        ("type: string, from: text of x", "the policy has no tool 'x'"),
        ("type: string, from: text of t.", "'' is no path"),
        ("type: string, from: text of user", "the policy has no tool 'user'"),
        ("type: string, from: 'result of t.a[0]'", "'a[0]' is no path"),
        ("type: string, from: result of u.v.w", "'u.v.w' may be of the tool 'u' or 'u.v'"),
        ("type: integer, allow: {values: ['1']}", "`allow` is for a string, not for a number"),
        ("type: string, allow: {}", "an allowlist has one of domains, urls, paths, accounts, values"),
        ("type: string, allow: {hosts: [a]}", "unknown key 'hosts'"),
        ("type: string, allow: {domains: [a b]}", "'a b': not a host name"),
        ("type: string, allow: {domains: ['*.com']}", "'*.com': this allows a whole top-level domain"),
        ("type: string, allow: {domains: [a.example, a.example]}", "an entry stands here twice"),
        ("type: string, allow: {urls: ['ftp://a']}", "the scheme of a URL is http, https, ws or wss"),
        ("type: string, allow: {urls: ['http://a/?b']}", "a list looks at no query and no fragment"),
        ("type: string, allow: {urls: ['http://*.com']}", "this allows a whole top-level domain"),
        ("type: string, allow: {paths: [/a/../b]}", "a path holds no `..`, and"),
        ("type: string, allow: {accounts: [DE89370400440532013001]}", "neither an IBAN with its checksum nor"),
        ("type: string, allow: {values: constants.x}", "expected a list, a constant such as constants.partners"),
        ("type: string, allow: {values: [a], forbid: nope}", "the reason 'nope' is not declared"),
        ("type: string, egress: forbid", "expected one of allow"),
    ],
)
def test_a_guard_that_means_nothing_is_an_error(argument: str, message: str) -> None:
    """What a guard cannot check, or a list cannot mean, is told where it stands."""
    assert f"tools.t.arguments.a.{argument.partition(', ')[2].partition(':')[0]}" in told(ARGUMENT % argument)
    assert message in told(ARGUMENT % argument)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not_user: ['a*']", "the pattern matches the empty text"),
        ("not_user: ['(']", "is not a pattern"),
        ("tools: {t: {egress: {}}}", "'list' is required"),
        ("tools: {t: {egress: {list: v2}}}", "expected one of v1"),
        ("defaults: {egress: {list: v1, forbid: nope}}", "the reason 'nope' is not declared"),
        (
            "constants: {n: 3}\ntools: {t: {arguments: {a: {type: string, allow: {values: constants.n}}}}}",
            "no list of texts",
        ),
    ],
)
def test_what_guards_everything_is_checked_too(text: str, message: str) -> None:
    """The same for the keys that are no argument's."""
    assert message in told(text)
