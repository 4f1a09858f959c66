"""Wrong edits of a policy: which there are for each kind of value, and that each changes one place."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from policies.compile import PolicyError
from policies.difference.figures import constant
from policies.difference.meaning import meaning
from policies.documents import keys
from policies.files import Snapshot, read_snapshot
from policies.loader import compile_document, load_snapshot, read_document
from policies.mutants import edited, edits, tables
from policies.mutants.reasons import categories
from policies.mutants.siblings import siblings
from policies.mutants.spellings import amounts, expressions, patterns, texts
from policies.nodes import MappingNode
from policies.values import parse_money
from tests.docs.pages import page
from tests.docs.readers import keys_read
from tests.proxy.suites.key_rows import ROWS

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
EVERY_KEY = read_snapshot(ROOT / "fixtures/policies/every_key.yaml")
DESK = read_snapshot(ROOT / "policies/packs/refund-desk")
SNAPSHOTS = [EVERY_KEY, DESK, read_snapshot(ROOT / "policies/packs/package-travel")]
WHAT_TO_DO = (
    "say in policies/mutants/tables.py how a wrong edit of it looks (CHOICES, OTHERS, AMOUNTS, EXPRESSIONS, LISTS,"
    " ENTRIES, DROPPED), or in UNSEEN there why no case of a suite can show one"
)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("500.00 USD", ["500.01 USD", "499.99 USD"]),
        ("500 JPY", ["501 JPY", "499 JPY"]),
        ("14", ["15", "13"]),
        ("0", ["1"]),
        ("2.50", ["2.51", "2.49"]),
        ("24h", ["25h", "23h"]),
        ("red", []),
    ],
)
def test_the_next_figures(text: str, wrong: list[str]) -> None:
    """A figure is wrong by the least step of its kind, in both directions."""
    assert list(amounts(text)) == wrong


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a >= b", ["a > b"]),
        ("a == b and c", ["a != b and c", "a == b or c"]),
        ("not a", ["a"]),
        ("a not in b", ["a in b"]),
        ("a in b", ["a not in b"]),
        ("days_since(a) <= 14", ["days_since(a) < 14", "days_since(a) <= 15", "days_since(a) <= 13"]),
        ("max(a.max, b)", ["min(a.max, b)"]),
        ("a == 'x >= y'", ["a != 'x >= y'"]),
        ("a + 1.00 USD", ["a - 1.00 USD", "a + 1.01 USD", "a + 0.99 USD"]),
    ],
)
def test_the_other_operators(text: str, wrong: list[str]) -> None:
    """One operator, function or figure at a time; nothing within a text or a path."""
    assert list(expressions(text)) == wrong


def test_wider_and_narrower_patterns() -> None:
    """Everything, other counts, and any character for a class."""
    assert list(patterns("[A-Z][0-9]{4}")) == ["(?s).*", "[A-Z][0-9]{5}", "[A-Z][0-9]{3}", ".[0-9]{4}", "[A-Z].{4}"]
    assert list(patterns("a{2,}")) == ["(?s).*", "a{1,}"]
    assert list(patterns("a{0,2}")) == ["(?s).*", "a{0,3}"]


def test_other_words_and_other_figures_in_them() -> None:
    """The words of a reply are other ones, and each expression in it another, one place at a time."""
    assert list(texts("Up to {constants.top + 1}.")) == [
        "Up to {constants.top + 1}. Or so.",
        "Up to {constants.top - 1}.",
        "Up to {constants.top + 2}.",
        "Up to {constants.top + 0}.",
    ]


def test_a_category_is_wrong_where_it_shows() -> None:
    """That of a reason which some rule forbids with; what is passed on or asked back has its category anyway."""
    text = (
        "language: 1\npolicy: p\nreasons: {a: {category: policy}, b: {category: permission}, c: {category: policy}}\n"
    )
    text += "tools: {t: {rules: [{forbid: a}, {escalate: b}], limits: [{forbid: c, count: true, max: 1}]}}\n"
    found = categories(read_document(Snapshot((("p", text.encode()),), (), ROOT, ())))

    assert [edit.name for edit in found] == [
        "reasons.a.category: policy -> validation",
        "reasons.c.category: policy -> validation",
    ]


def test_what_stands_beside_the_right_path() -> None:
    """Another argument of the tool, field of the fact or of the session; never one of another tool."""
    text = "language: 1\npolicy: p\nsession: {who: {jwt: sub}, until: {jwt: exp}}\n"
    text += "facts: {f: {key: {pattern: a}, file: f.json, fields: {x: string, y: string}}}\n"
    text += "tools:\n  t:\n    arguments: {a: {money: USD, unit: major}, b: string}\n    facts: {f: session.who}\n"
    text += "    limits: [{forbid: malformed, sum: args.a, max: 5.00 USD}]\n  u: {arguments: {c: string}}\n"
    text += "cases: {case: {tool: t, argument: b}, segment: f.x, facts: {f: session.who}, cells: {k/l: {}}}\n"

    assert [edit.name for edit in siblings(read_document(Snapshot((("p", text.encode()),), (), ROOT, ())))] == [
        "tools.t.facts.f: session.who -> session.until",
        "tools.t.limits[0].sum: args.a -> args.b",
        "cases.case.tool: t -> u",
        "cases.case.argument: b -> a",
        "cases.segment: f.x -> f.y",
        "cases.facts.f: session.who -> session.until",
    ]


@pytest.mark.parametrize("snapshot", [EVERY_KEY, DESK], ids=["every key", "refund-desk"])
def test_an_edit_is_another_policy_or_none(snapshot) -> None:
    """Each edit has a name of its own, leaves the document as it was, and what loads means something else."""
    root, policy = read_document(snapshot), load_snapshot(snapshot)
    before = meaning(policy)
    names, loaded = [], 0
    for edit in edits(root):
        names.append(edit.name)
        try:
            mutant = compile_document(edited(root, edit), snapshot)
        except PolicyError:
            continue
        loaded += 1
        assert meaning(mutant) != before, edit.name

    assert len(set(names)) == len(names)
    assert loaded > 50
    assert meaning(compile_document(root, snapshot)) == before


def test_a_bound_of_constants_is_known() -> None:
    """What reads constants only has its value without a decision."""
    policy = load_snapshot(DESK)
    paid, daily = policy.tools["processrefund"].limits

    assert constant(policy, daily.maximum) == parse_money("1000.00 USD")
    assert constant(policy, paid.maximum) is None


def _rows() -> Iterator[Snapshot]:
    """The examples of every key, and the small policies that show what each decides."""
    for block in page("docs/policy.md").of("yaml"):
        if block.title != "refused":
            text = block.text if "language:" in block.text else f"language: 1\npolicy: p\n{block.text}"
            yield Snapshot((("policy.yaml", text.encode()),), (), ROOT / "fixtures/policies", ())
    for row in ROWS.values():
        for text in {row.before, row.after}:
            head = "" if text.startswith("policy:") else "policy: p\n"
            yield Snapshot((("policy.yaml", f"language: 1\n{head}{text}".encode()),), (), ROOT, ())


def _objects() -> dict[tuple[str, ...], str]:
    lists = ("MERGED", "LIMIT_RULINGS", "LATER")
    return {found: name for name, found in vars(keys).items() if isinstance(found, tuple) and name not in lists}


def _touched(root: MappingNode, read: dict[str, tuple[str, ...]]) -> Iterator[tuple[str, str]]:
    """The keys of the language, by their objects, whose values the edits of this document change."""
    objects = _objects()
    for edit in edits(root):
        node, steps = root, list(edit.steps)
        while steps:
            step = steps.pop(0)
            allowed = read.get(node.path, ()) if isinstance(node, MappingNode) else ()
            if allowed in objects and step in allowed:
                yield objects[allowed], step
                yield objects[allowed], edit.key or step
            node = node.entries[step] if isinstance(node, MappingNode) else node.items[step]


def test_every_key_is_made_wrong_or_has_a_reason_not_to_be() -> None:
    """Those of the loader: an edit changes the key's value, or the table of what no suite can see names it."""
    found: set[tuple[str, str]] = set()
    objects = _objects()
    for snapshot in (*SNAPSHOTS, *_rows()):
        with keys_read() as read:
            root = read_document(snapshot)
            compile_document(root, snapshot)
        found |= set(_touched(root, {one.path: one.allowed for one in read}))
        below = [one for one in read if any(step in tables.UNSEEN for step in re.split(r"[.\[]", one.path))]
        found |= {(objects[one.allowed], key) for one in below if one.allowed in objects for key in one.allowed}
    known = {(name, key) for allowed, name in _objects().items() for key in allowed}
    left = sorted(f"{name}.{key}" for name, key in known - found if key not in tables.UNSEEN)

    assert not left, f"{', '.join(left)}: {WHAT_TO_DO}"


def test_the_tables_name_keys_of_the_language() -> None:
    """What is made wrong, or left alone, is a key that there is, or one that a later version brings."""
    known = {key for found in vars(keys).values() if isinstance(found, tuple) for key in found} | keys.LATER
    named = {*tables.UNSEEN, *tables.EXPRESSIONS, *tables.CHOICES, *tables.DROPPED, *tables.LISTS, *tables.AMOUNTS}

    assert (named | set(tables.OTHERS)) - known - {"constants", "gather"} == set()
    assert known >= tables.ENTRIES
