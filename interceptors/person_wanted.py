"""Whether a customer asks for a person, in their own words (DESIGN 6): whole words, and no negation of them.

A text is cut into sentences and clauses; what is not the user's own words ends a sentence. In a clause words that ask
stand beside words for a person (`policies.handoff_words`); then it is looked at what negates them. A clause that could
be read both ways asks for nothing, but for one in which nobody would negate it so.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Final, NamedTuple

from interceptors.clauses import clauses_of
from interceptors.phrases import language, phrases
from interceptors.user_text import foreign

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from interceptors.clauses import Clause, Tokens
    from interceptors.phrases import Language
    from policies.handoff import Handoff
    from policies.patterns import Pattern

TEXT_LENGTH_MAX: Final = 20_000
"""Characters of the newest user text; a longer one is a document, and asks for nobody."""
_BESIDE_MAX: Final = 6  # words between what asks and the person
_FILLERS_MAX: Final = 3
_GAP_MAX: Final = 4  # words between a person and what asks behind it
_NEGATED_MACHINE_MAX: Final = 4  # words from a negation to the machine that it is about
_NEGATED_MAX: Final = 100  # words from what asks to what negates it, or to its condition
_BREAK: Final = "\n.\n"


class Wanted(NamedTuple):
    """The language in which a person was asked for, and the policy's phrase, empty for built-in words."""

    language: str
    phrase: str = ""


class _Before(NamedTuple):
    """Whether a clause before ends in a negation, so that what it negates stands behind a comma; and whether one
    begins with a condition, also `and if ...`."""

    is_open: bool = False
    is_conditional: bool = False

    def with_clause(self, tokens: Tokens, words: Language) -> _Before:
        is_open = 0 < words.no.ending_at(tokens, len(tokens)) < len(tokens)
        conditions = (_is_condition(tokens, place, words) for place in range(2))
        return _Before(self.is_open or is_open, self.is_conditional or any(conditions))


def person_wanted(text: str, handoff: Handoff, not_user: Sequence[Pattern] = ()) -> Wanted | None:
    """The first place at which this text of a user asks for a person; None for none. Total, and linear in the text."""
    if not text or _is_document(text):
        return None
    sentences = clauses_of(_own(text, not_user))
    said = {token for sentence in sentences for clause in sentence for token in clause.tokens}
    for tag, spoken in handoff.languages.items():
        built_in = language(tag) if spoken.built_in else None
        if not spoken.phrases and (built_in is None or said.isdisjoint(built_in.signs)):
            continue
        for sentence, behind in zip(sentences, [*sentences[1:], []], strict=False):
            found = _in_sentence(sentence, behind[:1], tag, spoken.phrases, built_in)
            if found is not None:
                return found
        if built_in is not None and _is_person_alone(sentences, built_in):
            return Wanted(tag)
    return None


def _is_document(text: str) -> bool:
    """By its length also as its words are compared: one letter may be many there."""
    return len(text) > TEXT_LENGTH_MAX or len(unicodedata.normalize("NFKC", text)) > TEXT_LENGTH_MAX


def _own(text: str, not_user: Sequence[Pattern]) -> str:
    """The text without what is not the user's own; a sentence ends where that stood."""
    parts, at = [], 0
    for start, end in foreign(text, not_user):
        parts.append(text[at:start])
        at = end
    return _BREAK.join([*parts, text[at:]])


def _in_sentence(
    sentence: Sequence[Clause], behind: Sequence[Clause], tag: str, own: Sequence[str], built_in: Language | None
) -> Wanted | None:
    """`behind` is the first clause of the next sentence, if there is one."""
    before = _Before()
    for clause, following in zip(sentence, [*sentence[1:], *behind, None], strict=False):
        found = _in_clause(clause, tag, own, built_in, before)
        if found is not None and not (built_in and following and _is_no(following.tokens, built_in)):
            return found
        before = before if built_in is None else before.with_clause(clause.tokens, built_in)
    return None


def _in_clause(
    clause: Clause, tag: str, own: Sequence[str], built_in: Language | None, before: _Before
) -> Wanted | None:
    tokens = clause.tokens
    for phrase in own:
        for place in range(len(tokens)):
            if (size := phrases(phrase).at(tokens, place)) and (
                built_in is None or not _is_negated(clause, place, place + size, built_in, before)
            ):
                return Wanted(tag, phrase)
    if built_in is None:
        return None
    for start, end in _requests(tokens, built_in):
        if not _is_negated(clause, start, end, built_in, before):
            return Wanted(tag)
    return Wanted(tag) if _is_bare(tokens, built_in, surely=True) else None


def _requests(tokens: Tokens, words: Language) -> Iterator[tuple[int, int]]:
    """Where words that ask stand beside a person."""
    for place in range(len(tokens)):
        if size := words.whole.at(tokens, place):
            yield place, place + size
        for size in words.talk.all_at(tokens, place):
            if (person := _person(tokens, _behind_fillers(tokens, place + size, words), words)) is not None:
                yield place, person[0]
        for size in words.want.all_at(tokens, place):
            if (person := _person(tokens, place + size, words)) is not None and person[1]:
                yield place, person[0]
        is_begun = place > 0 and tokens[place - 1] in words.beside
        person = _person(tokens, place, words) if words.words.behind and not is_begun else None
        if person is not None:
            for gap in range(person[0], min(person[0] + _GAP_MAX + 1, len(tokens))):
                if words.machines.at(tokens, gap) or words.no.at(tokens, gap):
                    break
                if size := words.behind.at(tokens, gap):
                    yield place, gap + size
                    break


def _behind_fillers(tokens: Tokens, place: int, words: Language) -> int:
    """The place behind words that may stand between what asks and the person: `connect me, please, with a person`."""
    end = min(place + _FILLERS_MAX, len(tokens))
    while place < end and tokens[place] in words.alone and tokens[place] not in words.beside:
        place += 1
    return place


def _person(tokens: Tokens, place: int, words: Language) -> tuple[int, bool] | None:
    """Where the words for a person that begin here end, and whether they are surely that; None where there are none."""
    best: tuple[int, bool] | None = None
    is_sure = False
    for at in range(place, min(place + _BESIDE_MAX, len(tokens))):
        for size in words.people.all_at(tokens, at):
            if not words.not_behind.at(tokens, at + size):
                best = (at + size, is_sure or size in words.sure.all_at(tokens, at))
                break
        if tokens[at] not in words.beside:
            break
        is_sure = is_sure or tokens[at] in words.sure_beside
    return best


def _is_bare(tokens: Tokens, words: Language, *, surely: bool) -> bool:
    """Whether nothing is said but a person: `a human, please`."""
    place, has_person = 0, False
    while place < len(tokens):
        person = _person(tokens, place, words)
        lone = 0 if surely else words.lone.at(tokens, place)
        if person is not None and person[1]:
            place, has_person = person[0], True
        elif lone:
            place, has_person = place + lone, True
        elif tokens[place] in words.alone:
            place += 1
        else:
            return False
    return has_person


def _is_person_alone(sentences: Sequence[Sequence[Clause]], words: Language) -> bool:
    """Whether the whole text is a person of any kind: `Agent!`."""
    tokens = tuple(token for sentence in sentences for clause in sentence for token in clause.tokens)
    return len(tokens) <= _BESIDE_MAX and _is_bare(tokens, words, surely=False)


def _is_no(said: Tokens, words: Language) -> bool:
    """Whether the next clause takes back what was said: `A human? No, thanks.`"""
    size = words.answer.at(said, 0)
    return size > 0 and all(token in words.alone for token in said[size:]) and len(said) <= _GAP_MAX


def _is_negated(clause: Clause, start: int, end: int, words: Language, before: _Before) -> bool:
    tokens = clause.tokens
    begun, is_subject = _beginning(tokens, start, words)
    if any(words.doubts.ending_at(tokens, at) for at in range(begun, start + 1)):
        return True
    last = min(end + _NEGATED_MAX, len(tokens))
    if before.is_conditional or any(_is_condition(tokens, place, words) for place in range(end, last)):
        return True
    joined = words.joins.ending_at(tokens, begun) > 0
    forgives = clause.is_question and bool(words.asks_not.at(tokens, 0))
    if words.words.negates_behind and _negation_in(tokens, end, last, words, forgives=forgives):
        return True
    if is_subject and not joined:
        return False
    is_order = words.orders.at(tokens, begun) > 0
    if (is_order or words.words.negates_next) and not joined:
        size = words.no.ending_at(tokens, begun)
        is_answer = is_order and begun == size and words.answer.at(tokens, 0) == size
        return size > 0 and not is_answer and not forgives
    return before.is_open or _negation_in(tokens, max(0, begun - _NEGATED_MAX), begun, words, forgives=forgives)


def _is_condition(tokens: Tokens, place: int, words: Language) -> bool:
    """Whether something begins here that it depends on: `a human if you cannot help`."""
    return words.conditions.at(tokens, place) > 0 and not words.polite.at(tokens, place)


def _beginning(tokens: Tokens, start: int, words: Language) -> tuple[int, bool]:
    """Where the request begins that these words belong to, and whether it names who asks."""
    place, is_subject = start, words.subjects.at(tokens, start) > 0
    while place > 0:
        if size := words.subjects.ending_at(tokens, place):
            place, is_subject = place - size, True
        elif words.carries.ending_at(tokens, place):
            place -= 1
        elif (size := words.asks_not.ending_at(tokens, place)) and words.subjects.at(tokens, place):
            place -= size  # "can't I talk to ..."
        else:
            break
    return place, is_subject


def _negation_in(tokens: Tokens, first: int, last: int, words: Language, *, forgives: bool) -> bool:
    """Whether something between these places negates, and not a machine. In a question some negate nothing."""
    place = first
    while place < last:
        size = words.no.at(tokens, place)
        if not size:
            place += 1
            continue
        behind = range(place + size, min(place + size + _NEGATED_MACHINE_MAX, len(tokens)))
        about_machine = any(words.machines.at(tokens, at) for at in behind)
        is_answer = place == 0 and words.answer.at(tokens, 0) == size and last > size
        is_forgiven = forgives and not tokens[place].startswith(("kein", "geen", "aucun"))
        if not (about_machine or is_forgiven or (is_answer and not words.words.negates_next)):
            return True
        place += size
    return False
