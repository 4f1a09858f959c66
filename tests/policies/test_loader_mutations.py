"""Two claims about every key: none is accepted without effect, and no edit of a policy breaks the loader."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from policies import Policy, PolicyError, load_policy_text
from policies.documents import keys
from policies.explain import explain
from policies.expressions import Expression
from policies.lint import lint
from policies.model import Origin
from policies.secrets import Expandable
from policies.templates import Template
from tests.policies.asking_effects import EFFECTS as ASKING_EFFECTS
from tests.policies.handoff_effects import EFFECTS as HANDOFF_EFFECTS
from tests.policies.limit_effects import EFFECTS as LIMIT_EFFECTS
from tests.policies.people_effects import EFFECTS as PEOPLE_EFFECTS
from tests.policies.text_effects import EFFECTS as TEXT_EFFECTS
from tests.policies.upkeep_effects import EFFECTS as UPKEEP_EFFECTS

EVERY_KEY = Path(__file__).parents[2].joinpath("fixtures/policies/every_key.yaml").read_text(encoding="utf-8")
HEAD = "language: 1\npolicy: p\n"


def meaning(value: Any) -> Any:
    """A compiled policy without what says where it stands: lines, files, revision."""
    if isinstance(value, Expression | Template | Expandable):
        return (type(value).__name__, value.source)
    if isinstance(value, Mapping):
        return [(key, meaning(item)) for key, item in value.items()]
    if isinstance(value, tuple):
        return [meaning(item) for item in value]
    if isinstance(value, Origin):
        return None
    if dataclasses.is_dataclass(value) and not isinstance(value, Enum):
        dropped = {"files", "revision", "constant_origins"} if isinstance(value, Policy) else set()
        names = [field.name for field in dataclasses.fields(value) if field.name not in dropped]
        return [type(value).__name__, *((name, meaning(getattr(value, name))) for name in names)]
    if isinstance(value, ZoneInfo):
        return value.key
    return value


REASON = "reasons: {r: {category: policy}}\n"
FACT = "facts: {f: {key: {pattern: a}, %s fields: {x: %s}}}\n"
TOOL = "tools: {t: {%s}}\n"
ARG = "tools: {t: {arguments: {a: {%s}}}}\n"
ALLOW = ARG % "type: string, allow: {%s}"
RULE = "constants: {c: true}\ntools: {t: {rules: [{%s}]}}\n"
HTTP = FACT % ("http: 'http://x/{key}', %s", "string")

EFFECTS: dict[tuple[str, str], tuple[str, str]] = {
    ("TOP", "policy"): ("language: 1\npolicy: p\n", "language: 1\npolicy: q\n"),
    ("TOP", "owner"): ("", "owner: me\n"),
    ("TOP", "mode"): ("", "mode: halt\n"),
    ("TOP", "time_zone"): ("", "time_zone: Europe/Berlin\n"),
    ("TOP", "unknown_tools"): ("", "unknown_tools: allow\n"),
    ("TOP", "provider_tools"): ("", "provider_tools: {web_search: allow}\n"),
    ("TOP", "pass_types"): ("", "pass_types: [x]\n"),
    ("TOP", "policy_stale_seconds_max"): ("", "policy_stale_seconds_max: 5\n"),
    ("TOP", "defaults"): ("", "defaults: {effect: read}\n"),
    ("TOP", "identities"): ("", "identities: {i: {token: '${T}'}}\n"),
    ("TOP", "session"): ("", "session: {s: {jwt: sub}}\n"),
    ("TOP", "reasons"): ("", REASON),
    ("TOP", "constants"): ("", "constants: {c: 1}\n"),
    ("TOP", "facts"): ("", FACT % ("file: f.json,", "string")),
    ("TOP", "tools"): ("", TOOL % ""),
    ("TOP", "not_user"): ("", "not_user: ['(?m)^From: .*']\n"),
    ("IDENTITY", "token"): ("identities: {i: {token: '${T}'}}\n", "identities: {i: {token: '${U}'}}\n"),
    ("IDENTITY", "tools"): ("identities: {i: {token: '${T}'}}\n", "identities: {i: {token: '${T}', tools: []}}\n"),
    ("SESSION_FIELD", "jwt"): ("session: {s: {jwt: sub}}\n", "session: {s: {jwt: sub.id}}\n"),
    ("SESSION_FIELD", "hmac"): ("session: {s: {jwt: sub}}\n", "session: {s: {hmac: sub}}\n"),
    ("SESSION_FIELD", "type"): ("session: {s: {jwt: sub}}\n", "session: {s: {jwt: sub, type: date}}\n"),
    ("REASON", "category"): (REASON, REASON.replace("policy", "internal")),
    ("REASON", "reply"): (REASON, REASON.replace("policy", "policy, reply: No")),
    ("SYSTEM_REASON", "reply"): ("", "reasons: {halted: {reply: Paused}}\n"),
    ("FACT", "key"): (HTTP % "", (HTTP % "").replace("pattern: a", "pattern: b")),
    ("FACT", "http"): (HTTP % "", (HTTP % "").replace("http://", "https://")),
    ("FACT", "file"): (FACT % ("file: f.json,", "string"), FACT % ("file: g.json,", "string")),
    ("FACT", "headers"): (HTTP % "", HTTP % "headers: {a: b},"),
    ("FACT", "timeout"): (HTTP % "", HTTP % "timeout: 3s,"),
    ("FACT", "missing"): (HTTP % "", HTTP % "missing: {clarify: malformed},"),
    ("FACT", "fields"): (HTTP % "", (HTTP % "").replace("x: string", "y: string")),
    ("FACT_KEY", "pattern"): (HTTP % "", (HTTP % "").replace("pattern: a", "pattern: b")),
    ("FACT_FIELD", "at"): (FACT % ("file: f,", "{type: string}"), FACT % ("file: f,", "{type: string, at: y.z}")),
    ("FACT_FIELD", "type"): (FACT % ("file: f,", "{type: string}"), FACT % ("file: f,", "{type: integer}")),
    ("FACT_FIELD", "money"): (
        FACT % ("file: f,", "{money: USD, unit: major}"),
        FACT % ("file: f,", "{money: EUR, unit: major}"),
    ),
    ("FACT_FIELD", "unit"): (
        FACT % ("file: f,", "{money: USD, unit: major}"),
        FACT % ("file: f,", "{money: USD, unit: minor}"),
    ),
    ("FACT_FIELD", "currency"): (
        FACT % ("file: f,", "{money: USD, unit: major}, y: string"),
        FACT % ("file: f,", "{money: USD, unit: major, currency: f.y}, y: string"),
    ),
    ("FACT_FIELD", "timestamp"): (FACT % ("file: f,", "{type: string}"), FACT % ("file: f,", "{timestamp: iso}")),
    ("TOP", "unknown_results"): ("", "unknown_results: notice\n"),
    ("IDENTITY", "autonomous"): (
        "identities: {a: {token: '${T}'}}\n",
        "identities: {a: {token: '${T}', autonomous: true}}\n",
    ),
    ("TOOL", "on_refusal"): (TOOL % "on_refusal: code", TOOL % "on_refusal: model"),
    ("TOOL", "batch"): (TOOL % "", TOOL % "batch: all_or_nothing"),
    ("DEFAULTS", "on_refusal"): (TOOL % "", TOOL % "" + "defaults: {on_refusal: model}\n"),
    ("DEFAULTS", "batch"): (TOOL % "", TOOL % "" + "defaults: {batch: all_or_nothing}\n"),
    ("TOOL", "effect"): (TOOL % "", TOOL % "effect: read"),
    ("TOOL", "facts"): (
        FACT % ("file: f,", "string") + TOOL % "",
        FACT % ("file: f,", "string") + TOOL % "facts: {f: args.a}",
    ),
    ("TOOL", "arguments"): (TOOL % "", TOOL % "arguments: {}"),
    ("TOOL", "rules"): (TOOL % "", TOOL % "rules: [{forbid: malformed}]"),
    ("TOOL", "escalation"): (TOOL % "", TOOL % "escalation: {root_cause: x}"),
    ("DEFAULTS", "effect"): (TOOL % "", TOOL % "" + "defaults: {effect: read}\n"),
    ("DEFAULTS", "rules"): (TOOL % "", TOOL % "" + "defaults: {rules: [{forbid: malformed}]}\n"),
    ("DEFAULTS", "escalation"): (TOOL % "", TOOL % "" + "defaults: {escalation: {root_cause: x}}\n"),
    ("ARGUMENT", "type"): (ARG % "type: string", ARG % "type: integer"),
    ("ARGUMENT", "pattern"): (ARG % "type: string", ARG % "type: string, pattern: a"),
    ("ARGUMENT", "one_of"): (ARG % "type: string", ARG % "type: string, one_of: [a]"),
    ("ARGUMENT", "money"): (ARG % "money: USD, unit: major", ARG % "money: EUR, unit: major"),
    ("ARGUMENT", "unit"): (ARG % "money: USD, unit: major", ARG % "money: USD, unit: minor"),
    ("ARGUMENT", "list"): (ARG % "list: string", ARG % "list: integer"),
    ("ARGUMENT", "object"): (ARG % "object: {b: string}", ARG % "object: {b: integer}"),
    ("ARGUMENT", "min"): (ARG % "type: integer", ARG % "type: integer, min: 0"),
    ("ARGUMENT", "max"): (ARG % "type: integer", ARG % "type: integer, max: 0"),
    ("ARGUMENT", "optional"): (ARG % "type: integer", ARG % "type: integer, optional: true"),
    ("TOOL", "egress"): (TOOL % "", TOOL % "egress: {list: v1}"),
    ("DEFAULTS", "egress"): (TOOL % "", TOOL % "" + "defaults: {egress: {list: v1}}\n"),
    ("EGRESS", "forbid"): (TOOL % "egress: {list: v1}", TOOL % "egress: {list: v1, forbid: malformed}"),
    ("ARGUMENT", "from"): (ARG % "type: string", ARG % "type: string, from: user"),
    ("ARGUMENT", "allow"): (ARG % "type: string", ARG % "type: string, allow: {values: [x]}"),
    ("ARGUMENT", "egress"): (ARG % "type: string", ARG % "type: string, egress: allow"),
    ("ALLOW", "domains"): (ALLOW % "values: [x.example]", ALLOW % "domains: [x.example]"),
    ("ALLOW", "urls"): (ALLOW % "values: ['http://x']", ALLOW % "urls: ['http://x']"),
    ("ALLOW", "paths"): (ALLOW % "values: [/x]", ALLOW % "paths: [/x]"),
    ("ALLOW", "accounts"): (ALLOW % "values: ['1234']", ALLOW % "accounts: ['1234']"),
    ("ALLOW", "values"): (ALLOW % "paths: [/x]", ALLOW % "values: [/x]"),
    ("ALLOW", "forbid"): (ALLOW % "values: [x]", ALLOW % "values: [x], forbid: malformed"),
    ("RULE", "forbid"): (RULE % "clarify: malformed", RULE % "forbid: malformed"),
    ("RULE", "escalate"): (RULE % "forbid: malformed", RULE % "escalate: malformed"),
    ("RULE", "clarify"): (RULE % "forbid: malformed", RULE % "clarify: malformed"),
    ("RULE", "when"): (RULE % "forbid: malformed", RULE % "forbid: malformed, when: constants.c"),
    ("RULE", "unless"): (RULE % "forbid: malformed", RULE % "forbid: malformed, unless: constants.c"),
}
EFFECTS |= LIMIT_EFFECTS
EFFECTS |= ASKING_EFFECTS
EFFECTS |= TEXT_EFFECTS
EFFECTS |= PEOPLE_EFFECTS
EFFECTS |= UPKEEP_EFFECTS
EFFECTS |= HANDOFF_EFFECTS
ONE_VALUE = {("TOP", "language"), ("EGRESS", "list")}
"""Keys that have one value in this version: any other is an error."""
IN_FILES = {("LIST", "file"), ("TOOL", "fee_schedule")}
"""Keys that need a file next to the policy: `test_lists.py`, `test_fee_schedule_documents.py`."""


@pytest.mark.parametrize("key", EFFECTS, ids=".".join)
def test_each_key_alone_changes_the_compiled_policy(key: tuple[str, str]) -> None:
    """No key is accepted and then without effect."""
    before, after = (text if text.startswith("language") else HEAD + text for text in EFFECTS[key])
    assert key[1] in after
    assert meaning(load_policy_text(before)) != meaning(load_policy_text(after))


def test_the_table_of_effects_is_complete() -> None:
    """Every key that the loader accepts has its row."""
    tables = ("TOP", "IDENTITY", "SESSION_FIELD", "REASON", "SYSTEM_REASON", "FACT", "FACT_KEY", "FACT_FIELD")
    tables += ("TOOL", "DEFAULTS", "ARGUMENT", "RULE", "ALLOW", "LIST", "EGRESS", "LIMIT", "RESULT", "RESULT_ERROR")
    tables += ("APPROVALS", "OPERATOR", "ESCALATE_WITH", "HANDOFF", "PHRASES")
    tables += ("CASES", "CASE_SOURCE", "ACTION", "CONFIRM", "CONFIDENCE", "STRUCTURED")
    assert {(table, key) for table in tables for key in getattr(keys, table)} == EFFECTS.keys() | ONE_VALUE | IN_FILES
    with pytest.raises(PolicyError):
        load_policy_text("language: 2\npolicy: p\n")


def paths(node: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from paths(value, (*path, key))


def load_plain(text: str) -> Any:
    return yaml.load(text, Loader=yaml.BaseLoader)


def dumped(tree: Any) -> str:
    """As YAML with every text quoted, but for what must be plain to be a number, a boolean or money."""

    class Dumper(yaml.CSafeDumper if yaml.__with_libyaml__ else yaml.SafeDumper):
        pass

    plain = {"0", "0.5", "0.9", "1", "3", "9", "30", "20", "4096", "14", "2", "1000.10", "true", "false", "14d"}
    plain |= {"500.00 USD", "2026-01-31"}

    def scalar(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
        if text in plain:
            return yaml.ScalarNode(dumper.resolve(yaml.ScalarNode, text, (True, False)), text)
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style='"')

    Dumper.add_representer(str, scalar)
    return yaml.dump(tree, Dumper=Dumper, sort_keys=False, width=10_000, allow_unicode=True)


TREE = load_plain(EVERY_KEY)
PATHS = list(paths(TREE))
WORDS = (
    "",
    "x",
    "limits",
    "14",
    "-1",
    "true",
    "null",
    "500.00 USD",
    "{key}",
    "${X}",
    "${",
    "args.amount",
    "a and",
    "14d",
)
WORDS += (
    "14d",
    "sum(args.parts[*].price)",
    "2026-01-31",
    "order",
    "args",
    "é",
    "a b",
    "[",
    "*",
    "order.paid > constants.top",
)
ODD = st.sampled_from(WORDS) | st.text(max_size=8)
VALUES = st.one_of(ODD, st.lists(ODD, max_size=2), st.dictionaries(ODD, ODD, max_size=2))


def edited(path: tuple[str | int, ...], edit: str, odd: str, value: Any) -> Any:
    """The tree with one key deleted, renamed, given another value, or joined by another key."""
    tree = copy.deepcopy(TREE)
    parent = tree
    for step in path[:-1]:
        parent = parent[step]
    last = path[-1]
    if edit == "delete":
        del parent[last]
    elif edit == "replace" or isinstance(parent, list):
        parent[last] = value
    elif edit == "rename":
        items = [(odd if key == last else key, item) for key, item in parent.items()]
        parent.clear()
        parent.update(items)
    else:
        parent[odd] = value
    return tree


def test_the_tree_that_is_edited_is_the_policy() -> None:
    """Unedited it loads, and means the same: the edits below are edits of a valid policy."""
    assert meaning(load_policy_text(dumped(TREE))) == meaning(load_policy_text(EVERY_KEY))


def outcome(text: str) -> str:
    """What loads can also be explained and linted."""
    try:
        policy = load_policy_text(text)
    except PolicyError as error:
        told = str(error).split("\n")
        return "refused" if all(line.startswith("policy.yaml:") for line in told) else "refused without a place"
    lint(policy)
    return "loaded" if explain(policy, None) else "unexplained"


def test_every_single_deletion_is_a_policy_or_a_policy_error() -> None:
    """Taking any one key or item away never breaks the loader; most of them it notices."""
    found = [outcome(dumped(edited(path, "delete", "", ""))) for path in PATHS]
    assert {"loaded", "refused"} == set(found)


@settings(max_examples=150, deadline=None)
@given(st.sampled_from(PATHS), st.sampled_from(["rename", "replace", "add"]), ODD, VALUES)
def test_every_edit_is_a_policy_or_a_policy_error(path: tuple[str | int, ...], edit: str, odd: str, value: Any) -> None:
    """Renaming, adding or replacing at any place gives a policy or a `PolicyError`, never another exception."""
    assert outcome(dumped(edited(path, edit, odd, value))) in ("loaded", "refused")


@settings(max_examples=100, deadline=None)
@given(st.integers(0, len(EVERY_KEY) - 1), st.integers(0, 30), st.text(max_size=3))
def test_every_cut_of_the_text_is_a_policy_or_a_policy_error(start: int, length: int, put: str) -> None:
    """The same for the raw text, with any few characters put in the place of any others."""
    assert outcome(EVERY_KEY[:start] + put + EVERY_KEY[start + length :]) in ("loaded", "refused")
