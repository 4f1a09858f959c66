"""What the rest of a source says about fees: a rule that nobody cites is a problem, all else a notice."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.fees.candidate import Language
from policies.fees.clauses import clause
from policies.fees.evidence import states
from policies.fees.languages import LEXICONS
from policies.fees.lexicon import Construct
from policies.fees.problems import Notice, NoticeKind, Problem, ProblemKind
from policies.fees.reader import read
from policies.fees.reading import Item, ReadBound, ReadConstruct, ReadFlaw, ReadReference

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from policies.fees.candidate import Candidate
    from policies.fees.text import Source, Span

# Words too common to report from the paragraphs that no rule rests on.
_COMMON = frozenset(
    {
        Construct.NEGATION,
        Construct.OTHER_ANCHOR,
        Construct.NUMBER_FORM,
        Construct.REFUND_SHARE,
        Construct.CALENDAR_UNIT,
        Construct.FOOTNOTE,
    }
)


def rest(candidate: Candidate, source: Source, quoted: Sequence[Span]) -> tuple[list[Problem], tuple[Notice, ...]]:
    """What stands outside the quotations: uncited rules, and notices in order of place."""
    problems: dict[Span, Problem] = {}
    notices: dict[tuple[int, int, str], Notice] = {}
    clauses = [clause(source, at) for at in quoted]
    blocks = [source.blocks(at) for at in quoted]
    for at, item, words, is_rule in _items(candidate, source):
        if any(at.meets(span) for span in clauses):
            continue
        in_block = any(at.meets(span) for span in blocks)
        if is_rule and not in_block:
            problem = Problem(ProblemKind.UNCITED_RULE, "schedule", repr(words), place=source.place(at))
            problems.setdefault(at, problem)
        elif isinstance(item, ReadConstruct) and (in_block or item.construct not in _COMMON):
            detail = f"{item.construct.value}, {words!r}"
            notices.setdefault((at.start, at.end, detail), Notice(NoticeKind.CONSTRUCT, detail, source.place(at)))
        elif states(item) and not in_block:
            notices.setdefault((at.start, at.end, words), Notice(NoticeKind.UNCITED, repr(words), source.place(at)))
    return [problems[at] for at in sorted(problems)], tuple(notices[key] for key in sorted(notices))


def _items(candidate: Candidate, source: Source) -> Iterator[tuple[Span, Item, str, bool]]:
    """Each item of the whole source, its words, and whether it counts back from a reference date.

    Of a language that the candidate does not declare only the latter.
    """
    normalised = source.normalised
    for language in Language:
        items = read(normalised.text, LEXICONS[language])
        references = [item.span for item in items if isinstance(item, ReadReference)]
        for item in items:
            is_rule = isinstance(item, ReadBound | ReadFlaw) and any(item.span.holds(span) for span in references)
            if language not in candidate.languages and not is_rule:
                continue
            words = normalised.text[item.span.start : item.span.end]
            yield normalised.to_source(item.span), item, words, is_rule
