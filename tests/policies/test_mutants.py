"""Wrong edits of a policy: which there are for each kind of value, and that each changes one place."""

from __future__ import annotations

from pathlib import Path

import pytest

from policies.compile import PolicyError
from policies.difference.meaning import meaning
from policies.difference.tools import constant
from policies.documents import keys
from policies.files import read_snapshot
from policies.loader import compile_document, load_snapshot, read_document
from policies.mutants import edited, edits, tables
from policies.mutants.spellings import amounts, expressions, patterns
from policies.values import parse_money

ROOT = Path(__file__).parents[2]
EVERY_KEY = read_snapshot(ROOT / "fixtures/policies/every_key.yaml")
DESK = read_snapshot(ROOT / "policies/packs/refund-desk")


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


def test_the_tables_name_keys_of_the_language() -> None:
    """What is made wrong, or left alone, is a key that there is, or one that a later version brings."""
    known = {key for found in vars(keys).values() if isinstance(found, tuple) for key in found} | keys.LATER
    named = {*tables.SILENT, *tables.EXPRESSIONS, *tables.CHOICES, *tables.DROPPED, *tables.LISTS, *tables.AMOUNTS}

    assert named - known - {"constants"} == set()
    assert known >= tables.ENTRIES
