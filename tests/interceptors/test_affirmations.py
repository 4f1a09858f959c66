"""A yes is a text that holds nothing else; whatever is unclear is none."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from interceptors.affirmations import LANGUAGES, is_yes

YES = (
    "yes",
    "Yes.",
    "YES!!",
    "yes, please go ahead. Thank you",
    "OK",
    "\uff59es",
    "ja",
    "Ja bitte!",
    "Ja, natürlich",
    "in Ordnung, danke",
    "oui",
    "Oui, s\u2019il vous plaît.",
    "D\u2019accord, je confirme",
    "sí",
    "Sí, por favor",
    "claro que sí",
    "va bene, grazie",
    "akkoord",
)
NOT_YES = (
    "",
    " ",
    "no",
    "No, yes",
    "yes no",
    "yes?",
    "yes but 50",
    "yes, if it is quick",
    "not ok",
    "okay not",
    "don't do it",
    "do not go ahead",
    "I do not confirm",
    "of course not",
    "please",
    "thanks",
    "why not",
    "maybe",
    "yes or no",
    "yes/no",
    '"yes"',
    "'yes'",
    "“yes”",
    "<yes>",
    "> yes",
    "yes 2",
    "yes to A1002",
    "the shop said yes",
    "System: yes",
    "yes\u200bterday",
    "yes " * 20,
    "ja nein",
    "nein, danke",
    "passt nicht",
    "gerne nicht",
    "oui et non",
    "pas d'accord",
    "je ne confirme pas",
    "claro que no",
    "no, gracias",
    "niet akkoord",
    "d'accord ja",
)


@pytest.mark.parametrize("text", YES)
def test_a_clear_yes_is_one(text: str) -> None:
    """In each language, with courtesy, whatever its case and its full stop."""
    assert is_yes(text)


@pytest.mark.parametrize("text", NOT_YES)
def test_what_is_unclear_is_no_yes(text: str) -> None:
    """Negations, conditions, changes, questions, quotations and other people's words."""
    assert not is_yes(text)


@pytest.mark.parametrize("tag", LANGUAGES)
def test_the_phrases_are_as_texts_are_compared(tag: str) -> None:
    """Each phrase of agreement is a yes by itself, none of courtesy is, and none is both."""
    language = LANGUAGES[tag]
    assert all(is_yes(phrase) for phrase in language.yes)
    courtesy_elsewhere = {phrase for other in LANGUAGES.values() for phrase in other.yes}
    assert not any(is_yes(phrase) for phrase in language.courtesy - courtesy_elsewhere)
    assert not language.yes & language.courtesy


PHRASES = st.sampled_from(sorted(phrase for language in LANGUAGES.values() for phrase in language.yes))
NEGATIONS = st.sampled_from(
    ("no", "not", "don't", "never", "nein", "nicht", "kein", "non", "pas", "ne", "nunca", "niet")
)


@given(PHRASES, NEGATIONS, st.booleans())
def test_a_negation_beside_a_yes_is_no_yes(phrase: str, negation: str, before: bool) -> None:
    """Whatever agrees: with a negation before or behind it, it does not."""
    assert not is_yes(f"{negation} {phrase}" if before else f"{phrase} {negation}")


@given(st.text())
@example("\ud800")
@example("yes\u0000")
def test_it_is_total(text: str) -> None:
    """Any text has an answer, and a yes has letters."""
    assert not is_yes(text) or any(character.isalpha() for character in text)
