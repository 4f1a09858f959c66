"""Fees in words.

fee = number percent [of base] | currency number | number currency
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.fees.candidate import PercentBase
from policies.fees.lexicon import Comparator, Construct, Currency, Position, Sign
from policies.fees.reading import Flaw, ReadAmount, ReadBase, ReadConstruct, ReadFlaw, ReadPercent

if TYPE_CHECKING:
    from policies.fees.atoms import Content
    from policies.fees.cursor import Cursor


def fee_term(cursor: Cursor, index: int) -> int:
    """Reads a percentage or an amount of money; the index after it, or 0."""
    content = cursor.content(index)
    at = index + isinstance(content, Currency)
    number, after = cursor.number(at), cursor.content(at + 1)
    if number is None:
        return 0
    end = at + 2
    if isinstance(content, Currency):
        same = isinstance(after, Currency) and cursor.number(at + 2) is None
        if same and after != content:
            cursor.add(ReadFlaw(Flaw.TWO_CURRENCIES, cursor.span(index, at + 2)))
            return at + 2
        end = at + 1 + same
    elif not isinstance(after, Currency) and after is not Sign.PERCENT:
        return 0
    elif after is Sign.PERCENT:
        end = _percent_base(cursor, end)
    start = index
    before = cursor.content(index - 1)
    if _is_bounding(before) or cursor.comparator(end, Position.AFTER) is not None:
        start = index - 1 if _is_bounding(before) else index
        cursor.add(ReadConstruct(Construct.BOUNDED_FEE, cursor.span(start, min(end + 1, len(cursor)))))
    span = cursor.span(start, end)
    currency = content if isinstance(content, Currency) else after
    if isinstance(currency, Currency):
        cursor.add(ReadAmount(number, currency.code, span))
    else:
        cursor.add(ReadPercent(number, span))
    return end


def _percent_base(cursor: Cursor, end: int) -> int:
    base_at = end + (cursor.content(end) is Sign.OF)
    base = cursor.content(base_at)
    if not isinstance(base, PercentBase):
        if base_at < len(cursor) and (base_at > end or cursor.follows_article(base_at)):
            cursor.add(ReadFlaw(Flaw.UNKNOWN_BASE, cursor.span(end - 2, base_at + 1)))
        return end
    cursor.add(ReadBase(base, cursor.span(base_at, base_at + 1)))
    return base_at + 1


def _is_bounding(content: Content) -> bool:
    return isinstance(content, Comparator) or content in (Sign.FROM, Sign.UPTO)
