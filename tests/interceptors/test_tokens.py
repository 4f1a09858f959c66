"""A token stands whole or not at all."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.tokens import occurrences, plain, stands_in


def found(token: str, text: str, *, is_exact: bool = False) -> list[str]:
    return [text[start:end] for start, end in occurrences(token, text, is_exact=is_exact)]


WHOLE = [
    ("A1001", "A1001"),
    ("A1001", "(A1001)."),
    ("A1001", "order:A1001, please"),
    ("A1001", "**A1001** and _A1001_"),
    ("A1001", "#A1001's box"),
    ("A1001", "订单A1001号"),
    ("A1001", "A1001을"),
    ("東京都", "東京都へ行きたい"),
    ("東京都", "今日は東京都です"),
    ("ホテルオークラ", "私はホテルオークラに泊まる"),
    ("さくら", "桜さくら桜"),
    ("東京タワー前", "あの東京タワー前で"),
    ("anna", "@anna"),
    ("bob@example.com", "write bob@example.com."),
    ("/srv/x", "see /srv/x/"),
    ("DE89 3704", "DE89\n  3704"),
    ("Ä. Müller", "frau ä. MÜLLER"),
    ("a-b", "a-b"),
    ("C++", "C++ or"),
]
PART = [
    ("東京都", "東京都庁へ"),
    ("東京都", "新東京都へ"),
    ("天安门", "我要去北京天安门吧"),
    ("ホテル", "ホテルー"),
    ("ホテル", "ビジネスホテルに"),
    ("서울시", "서울시에서"),
    ("東京", "東京へ"),
    ("さくら", "さくらーめん"),
    ("東京都", "東京都\u3099へ"),
    ("A1001", "A10012"),
    ("A1001", "XA1001"),
    ("A1001", "A1001-B"),
    ("A1001", "X-A1001"),
    ("A1001", "A1001_2"),
    ("A1001", "A1001.5"),
    ("A1001", "A1001/B2000"),
    ("A1001", "A1001\u0301"),
    ("A1001", "A1001\u2010B"),
    ("A1001", "éA1001"),
    ("example.com", "bob@example.com"),
    ("example.com", "example.com.evil.net"),
    ("/srv", "/srv/x"),
    ("srv/x", "/srv/x"),
    ("env", ".env"),
    ("49123", "+49123"),
    ("500", "-500"),
    ("ab", "ab"),
    ("...", "..."),
    ("", "anything"),
]


@pytest.mark.parametrize(("token", "text"), WHOLE)
def test_a_token_is_found_amid_sentences(token: str, text: str) -> None:
    """Punctuation, markup, possessives and scripts without spaces end a token."""
    assert found(token, text)


@pytest.mark.parametrize(("token", "text"), PART)
def test_a_part_of_something_longer_is_not_found(token: str, text: str) -> None:
    """Letters, digits, marks and what joins words make it another token; so does being too short to be one."""
    assert not found(token, text)
    assert not found(token, text, is_exact=True)


def test_case_and_width_count_where_a_token_is_exact() -> None:
    """An id is compared character by character, a word is not."""
    assert found("A1001", "a1001 \uff21\uff11\uff10\uff10\uff11") == ["a1001", "\uff21\uff11\uff10\uff10\uff11"]
    assert found("A1001", "a1001 \uff21\uff11\uff10\uff10\uff11", is_exact=True) == []
    assert found("straße", "STRASSE ﬁn") == ["STRASSE"]
    assert found("fin", "ﬁn") == ["ﬁn"]
    assert found("Zoe\u0308", "Zoë!") == ["Zoë"]


@given(st.text(" abA1-.\u0301ß", min_size=1, max_size=6), st.text(" abA1-.\u0301ß\n", max_size=30), st.booleans())
def test_what_is_found_is_the_token(token: str, text: str, is_exact: bool) -> None:
    """Each place holds the token as tokens are compared; and what stands whole also counts as having been seen."""
    for start, end in occurrences(token, text, is_exact=is_exact):
        assert text[start:end] == token if is_exact else plain(text[start:end]) == plain(token)
        assert stands_in(plain(token), plain(text))


@given(st.text(max_size=50), st.text(max_size=200), st.booleans())
def test_any_two_texts_have_an_answer(token: str, text: str, is_exact: bool) -> None:
    """No text raises; all places lie within it, from the left."""
    places = list(occurrences(token, text, is_exact=is_exact))
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in places)


def test_seen_is_wider_than_found() -> None:
    """Where it is asked whether something was there before, what joins words parts them."""
    for text in ("A1001-B", "x/A1001", "a_a1001_b", "订单A1001号", "A1001.5"):
        assert stands_in("a1001", plain(text))
    assert not stands_in("a1001", plain("A10012"))
