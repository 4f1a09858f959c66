"""Reads fee terms: a small grammar over atoms, the same for every language.

    bound  = prefix number [unit] [before reference] | number [unit] [before reference] suffix | number suffix unit
    range  = [from] number [unit] [before reference] to number unit | between number [unit] and number unit inclusive
    point  = day of departure | day before departure
    fee    = number percent [of base] | currency number | number currency | free | full

It reads more than one rule may hold, so that nothing in a text is passed over: a number that is part of no statement is
a flaw, and a word of the lexicon that forbids a computation is a construct.
"""

from __future__ import annotations

from decimal import Decimal
from itertools import pairwise
from typing import TYPE_CHECKING

from policies.fees.atoms import Atom, Number, atoms
from policies.fees.candidate import PercentBase, ReferenceKind, TimeUnit
from policies.fees.lexicon import Comparator, Construct, Currency, DayOf, Side, Sign
from policies.fees.reading import (
    Flaw,
    Item,
    Mark,
    ReadAmount,
    ReadBase,
    ReadBound,
    ReadConstruct,
    ReadFlaw,
    ReadMark,
    ReadPercent,
    ReadReference,
    ReadWord,
)
from policies.fees.text import Span

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policies.fees.atoms import Content
    from policies.fees.lexicon import Lexicon

_PREFIXES = {Sign.FROM: Comparator(Side.START, True), Sign.UPTO: Comparator(Side.END, True)}


def read(text: str, lexicon: Lexicon) -> tuple[Item, ...]:
    """Every statement, flaw and construct of normalised text, in order."""
    return _Reader(atoms(text, lexicon), lexicon).read()


class _Reader:
    def __init__(self, found: Sequence[Atom], lexicon: Lexicon) -> None:
        self._atoms = tuple(atom for atom in found if atom.content is not Sign.ARTICLE)
        self._after_article = {after.span.start for one, after in pairwise(found) if one.content is Sign.ARTICLE}
        self._lexicon = lexicon
        self._items: list[Item] = []

    def read(self) -> tuple[Item, ...]:
        index = 0
        while index < len(self._atoms):
            index = (
                self._between(index)
                or self._range(index)
                or self._pair_of_bounds(index)
                or self._bound(index)
                or self._point(index)
                or self._fee(index)
                or self._single(index)
            )
        return tuple(self._items)

    # Each method below reads at `index` and returns the index after what it took, or 0 where it took nothing.

    def _content(self, index: int) -> Content:
        return self._atoms[index].content if index < len(self._atoms) else None

    def _number(self, index: int) -> Decimal | None:
        content = self._content(index)
        return content.value if isinstance(content, Number) else None

    def _unit(self, index: int) -> TimeUnit | None:
        content = self._content(index)
        return content if isinstance(content, TimeUnit) else None

    def _span(self, start: int, end: int) -> Span:
        return Span(self._atoms[start].span.start, self._atoms[end - 1].span.end)

    def _reference(self, index: int) -> int:
        """The index after "before departure", or `index` itself. What it names is recorded."""
        after = index + 2
        kind = self._content(index + 1)
        is_named = isinstance(kind, ReferenceKind) or (isinstance(kind, DayOf) and kind.days == 0)
        if self._content(index) in (Sign.BEFORE, Sign.OF) and is_named:
            return after
        return index

    def _note_references(self, start: int, end: int) -> None:
        for atom in self._atoms[start:end]:
            if isinstance(atom.content, ReferenceKind | DayOf):
                kind = atom.content.kind if isinstance(atom.content, DayOf) else atom.content
                self._items.append(ReadReference(kind, atom.span))

    def _comparator(self, index: int, *, after: bool) -> Comparator | None:
        content = self._content(index)
        if isinstance(content, Comparator):
            return content if content.after == after else None
        return None if after or not isinstance(content, Sign) else _PREFIXES.get(content)

    def _between(self, index: int) -> int:
        if self._content(index) is not Sign.BETWEEN:
            return 0
        middle = index + 2 + (self._unit(index + 2) is not None)
        last = middle + 1
        if self._content(middle) is not Sign.AND or self._unit(last + 1) is None:
            return 0
        end = self._reference(last + 2)
        inclusive = next(
            (i for i in range(end, min(end + 3, len(self._atoms))) if self._content(i) is Sign.INCLUSIVE), None
        )
        if inclusive is not None:
            end = inclusive + 1
        return self._ends(index, (index + 1, last), end, stated=inclusive is not None)

    def _range(self, index: int) -> int:
        opening = self._content(index) in (Sign.FROM, Sign.RANGE_START)
        first = index + opening
        if self._number(first) is None:
            return 0
        middle = first + 1 + (self._unit(first + 1) is not None)
        middle = self._reference(middle)
        if self._content(middle) not in (Sign.TO, Sign.UPTO):
            return 0
        last = middle + 1
        if isinstance(self._content(last), DayOf):
            return self._ends(index, (first, last), last + 1, stated=self._unit(first + 1) is not None)
        if self._number(last) is None or self._unit(last + 1) is None:
            return 0
        end = self._reference(last + 2)
        end += self._content(end) is Sign.INCLUSIVE
        return self._ends(index, (first, last), end, stated=True)

    def _ends(self, start: int, numbers: tuple[int, int], end: int, *, stated: bool) -> int:
        """Both ends of a range, the larger number of days first in time."""
        last_unit = self._unit(numbers[1] + 1)
        values: list[tuple[Decimal, TimeUnit]] = []
        for at in numbers:
            content = self._content(at)
            if isinstance(content, DayOf):
                values.append((Decimal(content.days), TimeUnit.DAY))
                continue
            number, unit = self._number(at), self._unit(at + 1) or last_unit
            if number is None or unit is None:
                return 0
            values.append((number, unit))
        span = self._span(start, end)
        self._note_references(start, end)
        if not stated:
            self._items.append(ReadFlaw(Flaw.NO_INCLUSIVITY, span))
            return end
        values.sort(key=lambda value: value[0] * (7 if value[1] is TimeUnit.WEEK else 1), reverse=True)
        for side, (number, unit) in zip((Side.START, Side.END), values, strict=True):
            self._items.append(ReadBound(side, number, unit, True, span))
        return end

    def _pair_of_bounds(self, index: int) -> int:
        """ "fewer than 30 but at least 14 days": two bounds that share one unit."""
        first, number = self._comparator(index, after=False), self._number(index + 1)
        if first is None or number is None or self._content(index + 2) is not Sign.AND:
            return 0
        second, other = self._comparator(index + 3, after=False), self._number(index + 4)
        unit = self._unit(index + 5)
        if second is None or other is None or unit is None:
            return 0
        end = self._reference(index + 6)
        span = self._span(index, end)
        self._note_references(index, end)
        self._items.append(ReadBound(first.side, number, unit, first.inclusive, span))
        self._items.append(ReadBound(second.side, other, unit, second.inclusive, span))
        return end

    def _bound(self, index: int) -> int:
        prefix = self._comparator(index, after=False)
        at = index + (prefix is not None)
        number = self._number(at)
        if number is None:
            return 0
        inner = self._comparator(at + 1, after=True)
        unit_at = at + 1 + (inner is not None)
        unit = self._unit(unit_at)
        if unit is None:
            return 0
        end = self._reference(unit_at + 1)
        outer = self._comparator(end, after=True)
        end = self._reference(end + 1) if outer is not None else end
        found = [comparator for comparator in (prefix, inner, outer) if comparator is not None]
        late = self._comparator(end, after=False)
        if not found and late is not None and self._number(end + 1) is None and self._content(end) not in _PREFIXES:
            found, end = [late], end + 1  # "30 days before departure at the latest"
        span = self._span(index, end)
        self._note_references(index, end)
        is_vague = self._content(index) is Sign.FROM and end == unit_at + 1  # "from 30 days" counts up as well as down
        if len(found) == 1 and not is_vague:
            self._items.append(ReadBound(found[0].side, number, unit, found[0].inclusive, span))
        else:
            self._items.append(ReadFlaw(Flaw.NO_INCLUSIVITY, span))
        return end

    def _point(self, index: int) -> int:
        content, end = self._content(index), index + 1
        days = content.days if isinstance(content, DayOf) else 1
        if not isinstance(content, DayOf):
            end = self._reference(index + 1)
            if self._atoms[index].text != self._lexicon.singular_day or end == index + 1:
                return 0
        prefix = self._comparator(index - 1, after=False) if index else None
        span = self._span(index - (prefix is not None), end)
        self._note_references(index, end)
        number = Decimal(days)
        for side in Side if prefix is None else (prefix.side,):
            self._items.append(ReadBound(side, number, TimeUnit.DAY, prefix is None or prefix.inclusive, span))
        return end

    def _fee(self, index: int) -> int:
        content = self._content(index)
        at = index + isinstance(content, Currency)
        number, after = self._number(at), self._content(at + 1)
        if number is None:
            return 0
        end = at + 2
        if isinstance(content, Currency):
            same = isinstance(after, Currency) and self._number(at + 2) is None
            if same and after != content:
                self._items.append(ReadFlaw(Flaw.TWO_CURRENCIES, self._span(index, at + 2)))
                return at + 2
            end = at + 1 + same
        elif not isinstance(after, Currency) and after is not Sign.PERCENT:
            return 0
        elif after is Sign.PERCENT:
            end = self._percent_base(end)
        start = index
        before = self._content(index - 1) if index else None
        if self._is_bounding(before) or self._comparator(end, after=True) is not None:
            start = index - 1 if self._is_bounding(before) else index
            self._items.append(ReadConstruct(Construct.BOUNDED_FEE, self._span(start, min(end + 1, len(self._atoms)))))
        span = self._span(start, end)
        currency = content if isinstance(content, Currency) else after
        if isinstance(currency, Currency):
            self._items.append(ReadAmount(number, currency.code, span))
        else:
            self._items.append(ReadPercent(number, span))
        return end

    def _percent_base(self, end: int) -> int:
        base_at = end + (self._content(end) is Sign.OF)
        base = self._content(base_at)
        if not isinstance(base, PercentBase):
            if base_at < len(self._atoms) and (base_at > end or self._atoms[base_at].span.start in self._after_article):
                self._items.append(ReadFlaw(Flaw.UNKNOWN_BASE, self._span(end - 2, base_at + 1)))
            return end
        self._items.append(ReadBase(base, self._atoms[base_at].span))
        return base_at + 1

    def _is_bounding(self, content: Content) -> bool:
        return isinstance(content, Comparator) or content in (Sign.FROM, Sign.UPTO)

    def _single(self, index: int) -> int:
        atom = self._atoms[index]
        content = atom.content
        if isinstance(content, Number):
            self._items.append(ReadFlaw(Flaw.NO_UNIT, atom.span))
        elif isinstance(content, Construct):
            self._items.append(ReadConstruct(content, atom.span))
        elif isinstance(content, ReferenceKind):
            self._items.append(ReadReference(content, atom.span))
        elif isinstance(content, PercentBase):
            self._items.append(ReadBase(content, atom.span))
        elif content is Sign.FREE:
            self._items.append(ReadAmount(Decimal(0), None, atom.span))
        elif content is Sign.FULL:
            self._items.append(ReadPercent(Decimal(100), atom.span))
            self._items.append(ReadBase(PercentBase.PAID, atom.span))
        elif content is Sign.FROM_BOOKING:
            self._items.append(ReadMark(Mark.FROM_BOOKING, atom.span))
        elif content is Sign.REMAINDER:
            self._items.append(ReadMark(Mark.REMAINDER, atom.span))
        elif content is Sign.UPTO and isinstance(self._content(index + 1), PercentBase):
            self._items.append(ReadConstruct(Construct.BOUNDED_FEE, self._span(index, index + 2)))
        elif atom.text.isalpha():
            self._items.append(ReadWord(content is not None, atom.span))
        return index + 1
