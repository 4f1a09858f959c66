"""Finds quotations in the source and reads them in their context: nothing a quotation leaves out may change it."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from policies.fees.atoms import Number, atoms
from policies.fees.candidate import Language, TimeUnit
from policies.fees.clauses import clause
from policies.fees.languages import LEXICONS
from policies.fees.problems import Problem, ProblemKind
from policies.fees.reader import read
from policies.fees.reading import (
    Flaw,
    Item,
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
from policies.fees.text import Normalised, Place, Source, Span, normalise

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from policies.fees.candidate import Quotation

_INVISIBLE = ("Cc", "Cf", "Co", "Cn", "Cs")


@dataclass(frozen=True, slots=True)
class Context:
    """The paragraphs around a quotation, read in its language."""

    normalised: Normalised
    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Located:
    """A quotation that stands in the source. `at` is its span there, `inside` what it states."""

    subject: str
    quotation: Quotation
    at: Span
    place: Place
    span: Span  # in the context
    context: Context
    inside: tuple[Item, ...]

    def problem(self, kind: ProblemKind, detail: str = "") -> Problem:
        return Problem(kind, self.subject, detail, self.quotation.text, self.place)

    def words(self, span: Span) -> str:
        return self.context.normalised.text[span.start : span.end]


class Contexts:
    """Reads each paragraph once a language."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._read: dict[tuple[Span, Language], Context] = {}

    def around(self, at: Span, language: Language) -> Context:
        block = self._source.blocks(at)
        context = self._read.get((block, language))
        if context is None:
            normalised = normalise(self._source.text[block.start : block.end], block.start)
            context = Context(normalised, read(normalised.text, LEXICONS[language]))
            self._read[block, language] = context
        return context


def locate(subject: str, quotation: Quotation, source: Source, contexts: Contexts) -> Located | Problem:
    """The quotation at its location, or why it does not stand there."""

    def problem(kind: ProblemKind, detail: str, place: Place | None = None) -> Problem:
        return Problem(kind, subject, detail, quotation.text, place)

    location = quotation.location
    if location.document != source.name:
        return problem(ProblemKind.UNKNOWN_DOCUMENT, repr(location.document))
    at = Span(location.start, location.end)
    if not at.start < at.end <= len(source.text):
        return problem(ProblemKind.BAD_SPAN, f"[{at.start},{at.end}) of {len(source.text)} code points")
    wanted = normalise(quotation.text).text
    found = normalise(source.text[at.start : at.end]).text
    if found != wanted or found != found.strip():
        start = source.normalised.text.find(wanted.strip())
        if start < 0 or not wanted.strip():
            return problem(ProblemKind.NOT_IN_SOURCE, "", source.place(at))
        elsewhere = source.normalised.to_source(Span(start, start + len(wanted.strip())))
        return problem(ProblemKind.ELSEWHERE, f"but at {source.place(elsewhere)}", source.place(at))
    context = contexts.around(at, quotation.language)
    span = context.normalised.from_source(at)
    inside = tuple(item for item in context.items if span.holds(item.span))
    return Located(subject, quotation, at, source.place(at), span, context, inside)


def defects(located: Located, source: Source) -> Iterator[Problem]:
    """What makes the quotation, or the clause it stands in, no ground for a rule."""
    place = located.place
    text = located.context.normalised.text
    if _cuts_word(text, located.span):
        yield located.problem(ProblemKind.CUT, "a word or number")
    around = located.context.normalised.from_source(clause(source, located.at))
    for item in located.context.items:
        if isinstance(item, ReadConstruct):
            if around.meets(item.span):
                where = source.place(located.context.normalised.to_source(item.span))
                detail = f"{item.construct.value}, {located.words(item.span)!r} at {where}"
                yield located.problem(ProblemKind.CONSTRUCT, detail)
        elif not isinstance(item, ReadWord) and located.span.meets(item.span) and not located.span.holds(item.span):
            yield located.problem(ProblemKind.CUT, repr(located.words(item.span)))
    for item in located.inside:
        if isinstance(item, ReadFlaw):
            yield located.problem(ProblemKind.FLAW, f"{item.flaw.value}, {located.words(item.span)!r}")
    for character in sorted(set(text[around.start : around.end])):
        if _is_unreadable(character):
            yield located.problem(ProblemKind.UNREADABLE, f"U+{ord(character):04X}")
    if _is_foreign(located):
        yield located.problem(ProblemKind.FOREIGN, f"{located.quotation.language.value}, at {place}")


def uncited(located: Sequence[Located], source: Source) -> Iterator[Problem]:
    """Bounds and fees beside the quotations, in their paragraphs, that no quotation holds."""
    seen: set[Span] = set()
    for one in located:
        neighbours = [other for other in located if other.context is one.context]
        for item in one.context.items:
            at = one.context.normalised.to_source(item.span)
            is_cited = any(other.at.holds(at) for other in located) or any(other.at.meets(at) for other in neighbours)
            if not states(item) or at in seen or is_cited:
                continue  # what a quotation cuts through is one of its `defects`
            seen.add(at)
            nearest = min(neighbours, key=lambda other: max(other.at.start - at.end, at.start - other.at.end))
            words = repr(one.words(item.span))
            yield Problem(ProblemKind.UNCITED, nearest.subject, words, nearest.quotation.text, source.place(at))


def states(item: Item) -> bool:
    """Whether the item is a number of a rule, also one that says too little."""
    if isinstance(item, ReadFlaw):
        return item.flaw is Flaw.NO_INCLUSIVITY
    return isinstance(item, ReadBound | ReadPercent | ReadAmount)


def _cuts_word(text: str, span: Span) -> bool:
    edges = (span.start, span.end)
    return any(0 < edge < len(text) and text[edge - 1].isalnum() and text[edge].isalnum() for edge in edges)


def _is_unreadable(character: str) -> bool:
    if character.isalpha():
        return not unicodedata.name(character, "").startswith("LATIN")
    return unicodedata.category(character) in _INVISIBLE


def _is_foreign(located: Located) -> bool:
    """Too few known words, or a number or unit of time in the words of another language."""
    unknown = sum(isinstance(item, ReadWord) and not item.known for item in located.inside)
    known = sum(_is_known(item) for item in located.inside)
    if unknown > 4 * known + 1:
        return True
    return any(
        isinstance(atom.content, Number | TimeUnit) and atom.text[0].isalpha()
        for language in Language
        if language is not located.quotation.language
        for atom in atoms(located.words(located.span), LEXICONS[language])
    )


def _is_known(item: Item) -> bool:
    if isinstance(item, ReadWord):
        return item.known
    if isinstance(item, ReadAmount):
        return item.currency is None
    return isinstance(item, ReadBound | ReadReference | ReadBase | ReadMark)
