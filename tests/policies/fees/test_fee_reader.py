"""Texts, numbers and the grammar: what is read, in two languages, and what is refused to be a number."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.fees.atoms import atoms, parse_digits
from policies.fees.candidate import Language, TimeUnit
from policies.fees.clauses import clause
from policies.fees.english import ENGLISH
from policies.fees.english_numbers import number_words as english_number
from policies.fees.german import GERMAN
from policies.fees.german_numbers import number_words as german_number
from policies.fees.languages import LEXICONS
from policies.fees.lexicon import Construct, Sign, phrase_table
from policies.fees.reader import read
from policies.fees.reading import (
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
from policies.fees.text import Source, Span, normalise
from tests.policies.fees.item_cases import ITEMS


def _bounds(text: str, language: str) -> list[str]:
    """Bounds as ">=30 day" (an inclusive end) or "<30 day" (an exclusive start); "?" for a flaw."""
    found = []
    for item in read(normalise(text).text, LEXICONS[Language(language)]):
        if isinstance(item, ReadBound):
            sign = (">" if item.side.value == "end" else "<") + ("=" if item.inclusive else "")
            found.append(f"{sign}{item.number} {item.unit.value}")
        elif isinstance(item, ReadFlaw):
            found.append("?")
    return found


@pytest.mark.parametrize(
    ("language", "text", "bounds"),
    [
        ("en", "30 days or more before departure", [">=30 day"]),
        ("en", "30 or more days before the departure", [">=30 day"]),
        ("en", "30 days before departure or earlier", [">=30 day"]),
        ("en", "at least thirty days' notice", [">=30 day"]),
        ("en", "no later than two weeks before arrival", [">=2 week"]),
        ("en", "up to and including 30 days before departure", [">=30 day"]),
        ("en", "30 days before departure at the latest", [">=30 day"]),
        ("en", "not fewer than 30 days", [">=30 day"]),
        ("en", "more than 30 days", [">30 day"]),
        ("en", "earlier than 30 days before departure", [">30 day"]),
        ("en", "fewer than thirty (30) days", ["<30 day"]),
        ("en", "later than 30 days before departure", ["<30 day"]),
        ("en", "within a week of departure", ["<=1 week"]),
        ("en", "30 days or less", ["<=30 day"]),
        ("en", "no more than 30 days", ["<=30 day"]),
        ("en", "from the 30th day before departure", ["<=30 day"]),
        ("en", "29 to 15 days before departure", ["<=29 day", ">=15 day"]),
        ("en", "15 \u2013 29 days before departure", ["<=29 day", ">=15 day"]),
        ("en", "from 3 weeks to 15 days before departure", ["<=3 week", ">=15 day"]),
        ("en", "from the 6th day before departure until the day of departure", ["<=6 day", ">=0 day"]),
        ("en", "between 14 and 7 days before arrival (both inclusive)", ["<=14 day", ">=7 day"]),
        ("en", "fewer than 30 but at least 14 days", ["<30 day", ">=14 day"]),
        ("en", "30 days or more before the day of departure", [">=30 day"]),
        ("en", "on the day of departure", ["<=0 day", ">=0 day"]),
        ("en", "the day before departure", ["<=1 day", ">=1 day"]),
        ("en", "until the day before departure", [">=1 day"]),
        ("en", "between 14 and 7 days before arrival", ["?"]),
        ("en", "30 days before departure", ["?"]),
        ("en", "from 30 days", ["?"]),
        ("en", "at least 30 days or less", ["?"]),
        ("en", "48 hours", ["?"]),
        ("de", "bis zum 30. Tag vor Reisebeginn", [">=30 day"]),
        ("de", "bis einschlie\u00dflich 30 Tage vor der Abreise", [">=30 day"]),
        ("de", "mindestens drei\u00dfig Tage vor Abreise", [">=30 day"]),
        ("de", "sp\u00e4testens zwei Wochen vor Kursbeginn", [">=2 week"]),
        ("de", "30 Tage oder mehr", [">=30 day"]),
        ("de", "mehr als 30 Tage", [">30 day"]),
        ("de", "weniger als einundzwanzig Tage", ["<21 day"]),
        ("de", "sp\u00e4ter als 30 Tage vor Abreise", ["<30 day"]),
        ("de", "ab dem drei\u00dfigsten Tag vor Abreise", ["<=30 day"]),
        ("de", "ab 30 Tage vor Abreise", ["<=30 day"]),
        ("de", "innerhalb von 30 Tagen vor Abreise", ["<=30 day"]),
        ("de", "vom 29. bis zum 22. Tag vor Reisebeginn", ["<=29 day", ">=22 day"]),
        ("de", "29. - 22. Tag vor Reisebeginn", ["<=29 day", ">=22 day"]),
        ("de", "ab 6 Tage vor Abreise bis zum Abreisetag", ["<=6 day", ">=0 day"]),
        ("de", "zwischen 14 und 7 Tagen vor Anreise, jeweils einschlie\u00dflich", ["<=14 day", ">=7 day"]),
        ("de", "weniger als 10 Tage, aber mindestens einen Tag vor Abreise", ["<10 day", ">=1 day"]),
        ("de", "am Tag der Abreise", ["<=0 day", ">=0 day"]),
        ("de", "am Tag vor der Anreise", ["<=1 day", ">=1 day"]),
        ("de", "zwischen 14 und 7 Tagen vor Anreise", ["?"]),
        ("de", "am 30. Tag vor Reisebeginn", ["?"]),
        ("de", "ab 30 Tagen", ["?"]),
    ],
)
def test_bounds(language: str, text: str, bounds: list[str]) -> None:
    """Each phrase bounds one side and says whether the day itself is in; what does not say so is a flaw."""
    assert _bounds(text, language) == bounds


def _spelled(item: Item, words: str) -> str:
    match item:
        case ReadBound():
            return f"{item.side.value} {item.number} {item.unit.value} {item.inclusive}: {words}"
        case ReadPercent():
            return f"{item.percent} %: {words}"
        case ReadAmount():
            return f"{item.amount} {item.currency}: {words}"
        case ReadFlaw():
            return f"{item.flaw.name}: {words}"
        case ReadConstruct():
            return f"{item.construct.name}: {words}"
        case ReadReference():
            return f"{item.kind.value}: {words}"
        case ReadBase():
            return f"{item.base.value}: {words}"
        case ReadMark():
            return f"{item.mark.value}: {words}"
        case ReadWord():
            return f"{'known' if item.known else 'unknown'}: {words}"


@pytest.mark.parametrize(("language", "text", "items"), ITEMS)
def test_nothing_is_passed_over(language: str, text: str, items: tuple[str, ...]) -> None:
    """Every statement, flaw, construct and word of a text, each with exactly the words it stands in."""
    normalised = normalise(text).text

    found = read(normalised, LEXICONS[Language(language)])

    assert tuple(_spelled(item, normalised[item.span.start : item.span.end]) for item in found) == items


@pytest.mark.parametrize(
    ("language", "text", "fees"),
    [
        ("en", "20 %", ["20 %"]),
        ("en", "twenty per cent of the price", ["20 %"]),
        ("en", "12.5 percent", ["12.5 %"]),
        ("en", "\u20ac50", ["50 EUR"]),
        ("en", "EUR 1,250.50", ["1250.50 EUR"]),
        ("en", "50 euros", ["50 EUR"]),
        ("en", "US$ 25.00", ["25.00 USD"]),
        ("en", "CA$25", ["25 CAD"]),
        ("en", "a $25 fee", ["25 USD"]),
        ("en", "KWD 1.500,", []),
        ("en", "HK$25", []),
        ("en", "50 cents", []),
        ("en", "EUR 50 GBP", []),
        ("en", "EUR 50 EUR", ["50 EUR"]),
        ("en", "free of charge", ["0 None"]),
        ("en", "no refund", ["100 %"]),
        ("en", "one hundred and fifty francs", ["150 CHF"]),
        ("de", "20 v. H.", ["20 %"]),
        ("de", "f\u00fcnfunddrei\u00dfig Prozent", ["35 %"]),
        ("de", "1.250,50 \u20ac", ["1250.50 EUR"]),
        ("de", "EUR 1.250", ["1250 EUR"]),
        ("en", "EUR 1.250", []),
        ("de", "1'250 CHF", []),
        ("de", "kostenlos", ["0 None"]),
        ("de", "keine Erstattung", ["100 %"]),
    ],
)
def test_fees(language: str, text: str, fees: list[str]) -> None:
    """Percent and currency forms; a number that could be read in two ways is none."""
    items = read(normalise(text).text, LEXICONS[Language(language)])
    found = [
        f"{item.percent} %" if isinstance(item, ReadPercent) else f"{item.amount} {item.currency}"
        for item in items
        if isinstance(item, ReadPercent | ReadAmount)
    ]

    assert found == fees
    if not fees:
        assert any(isinstance(item, ReadFlaw | ReadConstruct) for item in items)


_GERMAN_UNDER_20 = (
    "null ein zwei drei vier f\u00fcnf sechs sieben acht neun zehn elf zw\u00f6lf dreizehn vierzehn f\u00fcnfzehn "
    "sechzehn siebzehn achtzehn neunzehn"
)
_GERMAN_TENS = "zwanzig drei\u00dfig vierzig f\u00fcnfzig sechzig siebzig achtzig neunzig"
_ENGLISH_UNDER_20 = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen "
    "eighteen nineteen"
)
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"


def _english(number: int) -> str:
    if number >= 1000:
        rest = f" {_english(number % 1000)}" if number % 1000 else ""
        return f"{_english(number // 1000)} thousand{rest}"
    if number >= 100:
        rest = f" and {_english(number % 100)}" if number % 100 else ""
        return f"{_english(number // 100)} hundred{rest}"
    if number >= 20:
        return _ENGLISH_TENS.split()[number // 10 - 2] + (f"-{_english(number % 10)}" if number % 10 else "")
    return _ENGLISH_UNDER_20.split()[number]


def _german(number: int) -> str:
    if number >= 1000:
        return f"{_german(number // 1000)}tausend{_german(number % 1000) if number % 1000 else ''}"
    if number >= 100:
        return f"{_german(number // 100)}hundert{_german(number % 100) if number % 100 else ''}"
    if number >= 20:
        unit = f"{_german(number % 10)}und" if number % 10 else ""
        return unit + _GERMAN_TENS.split()[number // 10 - 2]
    return _GERMAN_UNDER_20.split()[number]


@given(st.integers(0, 999_999))
def test_numbers_in_words(number: int) -> None:
    """A number spelled in words, by rules of its own here, is read as itself and wholly."""
    tokens = _english(number).replace("-", " - ").split()

    assert english_number(tokens) == (number, len(tokens))
    if number % 100 != 1 and number // 1000 % 100 != 1:  # German has "ein", "eins" and "eine" for these
        assert german_number([_german(number)]) == (number, 1)


@pytest.mark.parametrize("words", ["hundred", "thousand", "ten ten", "two thousand three thousand", "twenty and five"])
def test_words_that_are_no_number(words: str) -> None:
    """A sequence that spells no number is not read as one: what follows its first number stays unread."""
    read_number = english_number(words.split())

    assert read_number is None or read_number[1] < len(words.split())


@pytest.mark.parametrize(
    ("text", "english", "german"),
    [
        ("30", "30", "30"),
        ("1.5", "1.5", None),
        ("1,5", None, "1.5"),
        ("1.250", None, "1250"),
        ("1,250", "1250", None),
        ("1,250.00", "1250.00", None),
        ("1.250,00", None, "1250.00"),
        ("1,250,000.5", "1250000.5", None),
        ("12,50,000.00", None, None),
        ("1234,567.00", None, None),
        ("123,456.00", "123456.00", None),
        (",250.00", None, None),
        ("\uff13\uff10", None, None),
        ("123456789012345", "123456789012345", "123456789012345"),
        ("1234567890123456", None, None),
        ("0.123456", "0.123456", None),
        ("0.1234567", None, None),
        ("1'250", None, None),
    ],
)
def test_digits_in_one_reading(text: str, english: str | None, german: str | None) -> None:
    """Marks are those of the language, groups are whole, and what the other language reads differently is refused."""
    for lexicon, wanted in ((ENGLISH, english), (GERMAN, german)):
        found = parse_digits(text, lexicon)
        assert (None if found is None else str(found)) == wanted


@given(st.text(st.characters(codec="utf-8"), max_size=60))
def test_normalisation_maps_back(text: str) -> None:
    """Each normalised character stands for a span of the source that normalises to it; the spans are in order."""
    found = normalise(text)

    assert len(found.text) == len(found.starts) == len(found.ends)
    assert "  " not in found.text
    assert normalise(found.text).text == found.text
    for index in range(len(found.text)):
        at = found.to_source(Span(index, index + 1))
        assert 0 <= at.start < at.end <= len(text)
        assert found.text[index] in normalise(text[at.start : at.end]).text
    assert list(found.starts) == sorted(found.starts)


@given(st.text(max_size=40), st.text(max_size=40))
def test_composition_is_unicode_nfc(before: str, after: str) -> None:
    """Cut into pieces, the text is still the NFC of the whole, white space and typography aside."""
    text = before + "e\u0301\u0323 \u1100\u1161\u11a8" + after
    plain = unicodedata.normalize("NFC", text)

    assert normalise(text).text == normalise(plain).text


@pytest.mark.parametrize(
    ("text", "composed"),
    [
        ("e\u0300", "\u00e8"),
        ("e\u0334\u0301", "\u00e9\u0334"),
        ("a\u0307\u0323", "\u1ea1\u0307"),
        ("\u1100\u1161\u11a8", "\uac01"),
    ],
)
def test_pieces_compose_as_the_whole(text: str, composed: str) -> None:
    """Marks that compose past others, that change order, and syllables: all are one character of the source's span."""
    found = normalise(f"x{text}y", 10)

    assert found.text == f"x{composed}y"
    assert found.to_source(Span(1, 1 + len(composed))) == Span(11, 11 + len(text))


def test_white_space_stands_for_its_whole_run() -> None:
    """A run becomes one space with the run's span, counted from the offset."""
    found = normalise("a \n\u00a0b", 10)

    assert (found.text, found.starts, found.ends) == ("a b", (10, 11, 14), (11, 14, 15))
    assert found.from_source(Span(12, 13)) == Span(1, 2)


def test_spans_that_touch_do_not_meet() -> None:
    """[0,2) and [2,4) share no character."""
    assert not Span(0, 2).meets(Span(2, 4))
    assert not Span(2, 4).meets(Span(0, 2))
    assert Span(0, 3).meets(Span(2, 4))


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("two", "two"),
        ("one", "one"),
        ("three", "three\nfour"),
        ("one\n\ntwo", "one\n\ntwo"),
        ("two\n \nthree", "two\n \nthree\nfour"),
    ],
)
def test_paragraphs_that_a_span_touches(words: str, found: str) -> None:
    """Blank lines end a paragraph; a span across one touches both."""
    text = "one\n\ntwo\n \nthree\nfour"
    at = text.index(words)

    block = Source("terms.txt", text).blocks(Span(at, at + len(words)))

    assert text[block.start : block.end] == found


@given(st.text(st.sampled_from("30 days20%\u20acor before departure, upto.the 1.;\nweek-Tag ab bis ( )"), max_size=80))
def test_reading_is_total(text: str) -> None:
    """Any text is read; every item stands in the text, and every digit of it is in some item."""
    normalised = normalise(text).text
    for lexicon in LEXICONS.values():
        items = read(normalised, lexicon)
        assert all(0 <= item.span.start < item.span.end <= len(normalised) for item in items)
        for index, character in enumerate(normalised):
            if character.isdecimal():
                assert any(item.span.start <= index < item.span.end for item in items)


@pytest.mark.parametrize(
    ("text", "words", "found"),
    [
        ("one; two; three", "two", "two;"),
        ("one;two;three", "two;", "two;"),
        ("one;two;three", "two", "two;"),
        ("one; two; three; four", "two; three", "two; three;"),
        ("One more. Then once. Three", "Then once", "Then once."),
        ("One more. Then once. Three", "Then once.", "Then once."),
        ("One more! Then two? Three", "Then two", "Then two?"),
        ("Ab dem 30. Tag zwei. Drei", "zwei", "Ab dem 30. Tag zwei."),
        ("Drei ca. EUR zwei", "zwei", "Drei ca. EUR zwei"),
        ("Drei zzgl. EUR zwei", "zwei", "Drei zzgl. EUR zwei"),
        ("Drei EUR. Zwei", "Zwei", "Zwei"),
        ("abcd. Zwei", "Zwei", "Zwei"),
        ("abc. Zwei", "Zwei", "abc. Zwei"),
        ("Four words. then two", "two", "Four words. then two"),
        ("Four words.Then two", "two", "Four words.Then two"),
        ("Four words (then). Two", "Two", "Two"),
        ("20 %. Two", "Two", "Two"),
        ("Four words . Two", "Two", "Four words . Two"),
        ("9. Two", "Two", "9. Two"),
        ("One\n- two\n- three", "two", "- two"),
        ("One\n  \u2022 two\n  * three", "two", "\u2022 two"),
        ("One\ntwo\nthree", "two", "One\ntwo\nthree"),
        ("One;\n\ntwo\n\nthree;", "two", "two"),
        ("A sentence." + " " * 70 + "Two", "Two", "Two"),
    ],
)
def test_clauses_are_rather_too_large(text: str, words: str, found: str) -> None:
    """A semicolon, a sentence and a bullet end a clause; a full stop after a digit or an abbreviation does not."""
    at = text.index(words)

    around = clause(Source("terms.txt", text), Span(at, at + len(words)))

    assert text[around.start : around.end].strip() == found


def test_a_table_has_no_phrase_with_two_meanings() -> None:
    """A mistake in a language's table is found when it is made."""
    with pytest.raises(ValueError, match="two meanings"):
        phrase_table(((Sign.FREE, "free"), (Construct.VAGUE, "free")))


def test_units_are_those_of_the_lexicon() -> None:
    """Each language names a day and a week."""
    for lexicon in LEXICONS.values():
        assert set(TimeUnit) <= set(lexicon.phrases.values())
        assert atoms("", lexicon) == ()
