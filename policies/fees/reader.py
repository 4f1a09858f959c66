"""Reads fee terms: a small grammar over atoms, the same for every language.

It reads more than one rule may hold, so that nothing in a text is passed over: a number that is part of no statement is
a flaw, and a word of the lexicon that forbids a computation is a construct.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from policies.fees.atoms import Number, atoms
from policies.fees.candidate import PercentBase, ReferenceKind
from policies.fees.cursor import Cursor
from policies.fees.day_terms import day_term
from policies.fees.fee_terms import fee_term
from policies.fees.lexicon import Comparator, Construct, Sign
from policies.fees.reading import (
    Flaw,
    Item,
    Mark,
    ReadAmount,
    ReadBase,
    ReadConstruct,
    ReadFlaw,
    ReadMark,
    ReadPercent,
    ReadReference,
    ReadWord,
)

if TYPE_CHECKING:
    from policies.fees.lexicon import Lexicon


def read(text: str, lexicon: Lexicon) -> tuple[Item, ...]:
    """Every statement, flaw and construct of normalised text, in order."""
    cursor = Cursor(atoms(text, lexicon), lexicon)
    index = 0
    while index < len(cursor):
        index = day_term(cursor, index) or fee_term(cursor, index) or _single(cursor, index)
    return tuple(cursor.items)


def _single(cursor: Cursor, index: int) -> int:
    content, span = cursor.content(index), cursor.span(index, index + 1)
    if isinstance(content, Number):
        cursor.add(ReadFlaw(Flaw.NO_UNIT, span))
    elif isinstance(content, Construct):
        cursor.add(ReadConstruct(content, span))
    elif isinstance(content, ReferenceKind):
        cursor.add(ReadReference(content, span))
    elif isinstance(content, PercentBase):
        cursor.add(ReadBase(content, span))
    elif content is Sign.FREE:
        cursor.add(ReadAmount(Decimal(0), None, span))
    elif content is Sign.FULL:
        cursor.add(ReadPercent(Decimal(100), span))
        cursor.add(ReadBase(PercentBase.PAID, span))
    elif content is Sign.FROM_BOOKING:
        cursor.add(ReadMark(Mark.FROM_BOOKING, span))
    elif content is Sign.REMAINDER:
        cursor.add(ReadMark(Mark.REMAINDER, span))
    elif isinstance(content, Comparator) and cursor.text(index) not in cursor.lexicon.prepositions:
        cursor.add(ReadConstruct(Construct.LOOSE_BOUND, span))
    elif content is Sign.UPTO and isinstance(cursor.content(index + 1), PercentBase):
        cursor.add(ReadConstruct(Construct.BOUNDED_FEE, cursor.span(index, index + 2)))
    elif cursor.text(index).isalpha():
        cursor.add(ReadWord(content is not None, span))
    return index + 1
