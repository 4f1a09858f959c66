"""Words that several kinds of differences share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.model import Ruling

if TYPE_CHECKING:
    from policies.fact_fields import FactField

OUTCOMES: Final = {Ruling.FORBID: "refused", Ruling.ESCALATE: "passed to a person", Ruling.CLARIFY: "asked back"}
UNNAMED: Final = "any tool that the policy does not name"


def read_as(field: FactField) -> str:
    """`money in USD (minor) at paid.cents`"""
    kind = "a point in time" if field.timestamp else field.type.kind.value
    if field.type.integral:
        kind = "whole number"
    unit = "" if field.money_unit is None else f" in {field.money_currency} ({field.money_unit.value})"
    checked = f", in the currency at {'.'.join(field.currency_path)} only" if field.currency_path else ""
    return f"{kind}{unit} at {'.'.join(field.path)}{checked}"
