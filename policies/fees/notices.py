"""What the rest of a source says about fees. It refuses nothing, and nobody should overlook it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.fees.clauses import clause
from policies.fees.evidence import states
from policies.fees.languages import LEXICONS
from policies.fees.lexicon import Construct
from policies.fees.problems import Notice, NoticeKind
from policies.fees.reader import read
from policies.fees.reading import Item, ReadConstruct

if TYPE_CHECKING:
    from collections.abc import Sequence

    from policies.fees.candidate import Candidate
    from policies.fees.text import Source, Span

_REPORTED = frozenset(
    {
        Construct.VAGUE,
        Construct.BOUNDED_FEE,
        Construct.ALTERNATIVES,
        Construct.COMPOUND,
        Construct.PER_UNIT,
        Construct.PARTIAL_CANCELLATION,
        Construct.PROMOTION,
        Construct.COUPON,
        Construct.BUSINESS_DAYS,
        Construct.CLOCK_TIME,
        Construct.TIME_ZONE,
        Construct.NO_SHOW,
        Construct.CONDITION,
    }
)


def notices(candidate: Candidate, source: Source, quoted: Sequence[Span]) -> tuple[Notice, ...]:
    """Constructs outside the clauses of the quotations, and numbers that no quotation holds, in order of place."""
    found: dict[tuple[int, int, str], Notice] = {}
    clauses = [clause(source, at) for at in quoted]
    normalised = source.normalised
    for language in dict.fromkeys(candidate.languages):
        for item in read(normalised.text, LEXICONS[language]):
            at = normalised.to_source(item.span)
            words = normalised.text[item.span.start : item.span.end]
            if any(at.meets(span) for span in (clauses if isinstance(item, ReadConstruct) else quoted)):
                continue
            notice = _notice(item, words, source, at)
            if notice is not None:
                found.setdefault((at.start, at.end, notice.detail), notice)
    return tuple(found[key] for key in sorted(found))


def _notice(item: Item, words: str, source: Source, at: Span) -> Notice | None:
    if isinstance(item, ReadConstruct) and item.construct in _REPORTED:
        return Notice(NoticeKind.CONSTRUCT, f"{item.construct.value}, {words!r}", source.place(at))
    if states(item):
        return Notice(NoticeKind.UNCITED, repr(words), source.place(at))
    return None
