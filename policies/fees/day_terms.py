"""Days before a date: what bounds an interval, in words, with both ends where there are two.

    bound  = prefix number [unit] [before reference] | number [unit] [before reference] suffix | number suffix unit
    range  = [from] number [unit] [before reference] to number unit | between number [unit] and number unit inclusive
    point  = [prefix] (day of departure | day before departure)

Each function reads at an index and returns the index after what it took, or 0 where it took nothing.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from policies.fees.candidate import TimeUnit
from policies.fees.lexicon import DayOf, Position, Side, Sign
from policies.fees.reading import Flaw, ReadBound, ReadFlaw

if TYPE_CHECKING:
    from policies.fees.cursor import Cursor

_MARKS = ("(", ",")


def day_term(cursor: Cursor, index: int) -> int:
    """Reads one bound, range or point."""
    return (
        _between(cursor, index)
        or _range(cursor, index)
        or _pair_of_bounds(cursor, index)
        or _bound(cursor, index)
        or _point(cursor, index)
    )


def _between(cursor: Cursor, index: int) -> int:
    middle = index + 2 + (cursor.unit(index + 2) is not None)
    if cursor.content(index) is not Sign.BETWEEN or cursor.content(middle) is not Sign.AND:
        return 0
    end = cursor.reference(middle + 3)
    behind = end + (cursor.text(end) in _MARKS)
    stated = cursor.content(behind) is Sign.INCLUSIVE
    return _ends(cursor, index, (index + 1, middle + 1), behind + 1 if stated else end, stated=stated)


def _range(cursor: Cursor, index: int) -> int:
    first = index + (cursor.content(index) in (Sign.FROM, Sign.RANGE_START))
    middle = cursor.reference(first + 1 + (cursor.unit(first + 1) is not None))
    if cursor.content(middle) not in (Sign.TO, Sign.UPTO):
        return 0
    last = middle + 1
    end = last + 1 if isinstance(cursor.content(last), DayOf) else cursor.reference(last + 2)
    end += cursor.content(end) is Sign.INCLUSIVE
    return _ends(cursor, index, (first, last), end, stated=True)


def _ends(cursor: Cursor, start: int, numbers: tuple[int, int], end: int, *, stated: bool) -> int:
    """Both ends of a range, the larger number of days first in time; nothing where one is no number of days."""
    last_unit = cursor.unit(numbers[1] + 1)
    values: list[tuple[Decimal, TimeUnit]] = []
    for at in numbers:
        content = cursor.content(at)
        number, unit = cursor.number(at), cursor.unit(at + 1) or last_unit
        if isinstance(content, DayOf):
            number, unit = Decimal(content.days), TimeUnit.DAY
        if number is None or unit is None:
            return 0
        values.append((number, unit))
    span = cursor.span(start, end)
    cursor.note_references(start, end)
    if not stated:
        cursor.add(ReadFlaw(Flaw.NO_INCLUSIVITY, span))
        return end
    values.sort(key=lambda value: value[0] * (7 if value[1] is TimeUnit.WEEK else 1), reverse=True)
    for side, (number, unit) in zip((Side.START, Side.END), values, strict=True):
        cursor.add(ReadBound(side, number, unit, True, span))
    return end


def _pair_of_bounds(cursor: Cursor, index: int) -> int:
    """ "fewer than 30 but at least 14 days": two bounds that share one unit."""
    first, number = cursor.comparator(index, Position.BEFORE), cursor.number(index + 1)
    if first is None or number is None or cursor.content(index + 2) is not Sign.AND:
        return 0
    second, other = cursor.comparator(index + 3, Position.BEFORE), cursor.number(index + 4)
    unit = cursor.unit(index + 5)
    if second is None or other is None or unit is None:
        return 0
    end = cursor.reference(index + 6)
    span = cursor.span(index, end)
    cursor.note_references(index, end)
    cursor.add(ReadBound(first.side, number, unit, first.inclusive, span))
    cursor.add(ReadBound(second.side, other, unit, second.inclusive, span))
    return end


def _bound(cursor: Cursor, index: int) -> int:
    prefix = cursor.comparator(index, Position.BEFORE)
    at = index + (prefix is not None)
    number = cursor.number(at)
    if number is None:
        return 0
    inner = cursor.comparator(at + 1, Position.AFTER)
    unit_at = at + 1 + (inner is not None)
    unit = cursor.unit(unit_at)
    if unit is None:
        return 0
    end = cursor.reference(unit_at + 1)
    outer = cursor.comparator(end, Position.AFTER)
    end = cursor.reference(end + 1) if outer is not None else end
    found = [comparator for comparator in (prefix, inner, outer) if comparator is not None]
    span = cursor.span(index, end)
    cursor.note_references(index, end)
    is_vague = cursor.content(index) is Sign.FROM and end == unit_at + 1  # "from 30 days" counts up as well as down
    if len(found) == 1 and not is_vague:
        cursor.add(ReadBound(found[0].side, number, unit, found[0].inclusive, span))
    else:
        cursor.add(ReadFlaw(Flaw.NO_INCLUSIVITY, span))
    return end


def _point(cursor: Cursor, index: int) -> int:
    prefix = cursor.comparator(index, Position.BEFORE)
    at = index + (prefix is not None)
    content = cursor.content(at)
    if isinstance(content, DayOf):
        days, end = content.days, at + 1
    else:
        days, end = 1, cursor.reference(at + 1)
        if cursor.text(at) != cursor.lexicon.singular_day or end == at + 1:
            return 0
    span = cursor.span(index, end)
    cursor.note_references(index, end)
    for side in Side if prefix is None else (prefix.side,):
        included = prefix is None or prefix.inclusive
        cursor.add(ReadBound(side, Decimal(days), TimeUnit.DAY, included, span))
    return end
