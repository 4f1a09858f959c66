"""Amounts of a document whose currency stands beside them: `paid: {money: USD, currency: order.currency, ...}`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from policies.expressions import EACH
from policies.nodes import MappingNode, listed
from policies.values import Kind

if TYPE_CHECKING:
    from policies.fact_fields import FactField
    from policies.problems import Problems


def with_currencies(
    section: MappingNode, fields: dict[str, FactField], root: str, problems: Problems
) -> dict[str, FactField]:
    """The fields, each amount with the place of its currency. `root` is what expressions call the document."""
    found = dict(fields)
    for name, field in fields.items():
        node = section.entries[name]
        if isinstance(node, MappingNode) and "currency" in node:
            with problems.collect():
                found[name] = _placed(node, field, fields, root)
    return found


def _placed(mapping: MappingNode, field: FactField, fields: dict[str, FactField], root: str) -> FactField:
    node = mapping.require("currency")
    if field.money_currency is None:
        node.fail("'currency' goes with 'money' only")
    start, _, name = node.text().partition(".")
    texts = [one.name for one in fields.values() if (one.type.element or one.type).kind is Kind.STRING]
    if start != root or name not in texts:
        beside = listed([f"{root}.{one}" for one in texts])
        node.fail(f"expected a text field beside it ({beside}), got {node.described}")
    sibling = fields[name]
    if (EACH in sibling.path) is not (EACH in field.path):
        node.fail("one of the two is a list, and the other is not")
    return replace(field, currency_path=sibling.path)
