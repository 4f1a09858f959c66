"""Fields of facts that are lists: `at: items[*].sku` reads all of them, and a gap in one is a gap of all."""

from __future__ import annotations

import pytest

from interceptors.readings import read_field
from policies import load_policy_text
from policies.expressions import EACH, Unreadable
from policies.problems import DocumentError
from policies.values import STRING, list_of

POLICY = """
language: 1
policy: lists
reasons: {not_there: {category: policy}}
facts:
  order:
    key: {pattern: '[A-Z][0-9]+'}
    file: orders.json
    fields: {skus: {at: AT, type: string}, prices: {at: "lines[*].price", money: EUR, unit: minor}}
  item:
    key: {pattern: '[a-z]+'}
    file: items.json
    fields: {heavy: boolean}
tools:
  ship:
    facts: {order: args.order_id, item: "order.skus[*]"}
    arguments: {order_id: {pattern: '[A-Z][0-9]+'}}
    rules:
      - {forbid: not_there, when: "any_in(item[*].heavy, [true]) or sum(order.prices) > 5 EUR"}
"""
LINES = {"lines": [{"sku": "a", "tags": ["x", "y"]}, {"sku": "b", "tags": []}, {"sku": "a", "tags": ["z"]}]}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (("lines", EACH, "sku"), ("a", "b", "a")),
        (("lines", EACH, "tags", EACH), ("x", "y", "z")),
        (("none", EACH), None),
        (("lines", EACH, "gone"), None),
        (("lines", EACH, "sku", EACH), None),
        (("lines", EACH, "tags"), None),
    ],
)
def test_a_path_with_each_reads_a_flat_list(path: tuple[str, ...], expected: tuple[str, ...] | None) -> None:
    """Order and repetitions stay; what is missing, or no list where one should be, makes the whole unreadable."""
    found = read_field(LINES, path, list_of(STRING))

    assert isinstance(found, Unreadable) if expected is None else found == expected


def test_an_empty_list_is_a_value() -> None:
    """Nothing there is not the same as nothing known."""
    assert read_field({"lines": []}, ("lines", EACH, "sku"), list_of(STRING)) == ()


def test_a_null_in_a_list_is_a_gap() -> None:
    """A list with a hole would be shorter than what it stands for: none is read."""
    assert isinstance(read_field({"lines": [{"sku": None}]}, ("lines", EACH, "sku"), list_of(STRING)), Unreadable)


def test_a_list_field_has_a_list_type_and_may_key_another_fact() -> None:
    """`order.skus[*]` reads one record each; `order.skus` is a list in conditions."""
    policy = load_policy_text(POLICY.replace("AT", '"lines[*].sku"'))

    assert policy.facts["order"].fields["skus"].type == list_of(STRING)
    assert policy.facts["order"].fields["skus"].path == ("lines", EACH, "sku")
    assert policy.tools["ship"].facts["item"].many


@pytest.mark.parametrize("at", ['"[*].sku"', '"lines.[*]"', '"lines[*]sku"', '"lines[0].sku"', '"lines[*]..sku"'])
def test_other_spellings_are_errors(at: str) -> None:
    """Only a name with one `[*]` behind it stands for a list."""
    with pytest.raises(DocumentError, match="is no path"):
        load_policy_text(POLICY.replace("AT", at))
