"""What of a user's text is not the user's own: every doubt widens it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.user_text import SPANS_MAX, foreign
from policies.patterns import Pattern


def own(text: str, *patterns: str) -> str:
    """The user's own words, with `~` for what is not."""
    shown = list(text)
    for start, end in foreign(text, [Pattern.compile(pattern) for pattern in patterns]):
        shown[start:end] = "~" * (end - start)
    return "".join(shown)


@pytest.mark.parametrize(
    "text",
    [
        "> X",
        "  > X",
        "a\n>X",
        "a\r> X",
        "a\u2028> X",
        "a\n\xa0> X",
        "&gt; X",
        "```\nX\n```",
        "```X```",
        "a ```py\nX\n``` ",
        "````\n```\nX\n````",
        "~~~\nX\n~~~",
        "```\nX",
        "<document>X</document>",
        "<DOCUMENT index='1'>X</document >",
        "<document>a</document>X</document>",
        "<document><document>a</document>X</document>",
        "<document>X",
        "<system-reminder>\nX\n</system-reminder>",
        "X</document>",
        "<a><b></a>X</b>",
        "<any.name-1>X</any.name-1>",
        "-----Original Message-----\nX",
        "---------- Forwarded message ----------\nX",
        "Begin forwarded message:\n\nX",
        "Thought: a\nAction: b\nObservation: X",
        "Observation: a\nUser: X",
        "Question: a\nContext: X\nQuestion: X",
        "**Tool result:**\nX",
        "Context information is below.\n---\nX\n---\nQuery: a\nAnswer:",
        "Context information is below.\n---\nQuery: X\n---\nQuery: a\nAnswer:",
        "Use the following pieces of context to answer.\n\nX\n\nQuestion: a",
        "<document>a</document>X<document>b</document>",
        "<user_query>a</user_query><context>X</context>",
        "<context><user_query>X</user_query></context>",
    ],
)
def test_foreign_text_is_not_the_users(text: str) -> None:
    """Quoted lines, fenced and tagged sections, with ways to break out of them; forwarded messages to their end."""
    assert "X" not in own(text)


@pytest.mark.parametrize(
    "text",
    [
        "X",
        "> a\nX",
        "```a``` X",
        "X ``` a ```",
        "<document>a</document> X",
        "X <document>a</document>",
        "<user_query>X</user_query>",
        "<task>X</task>",
        "a < b and X > c",
        "<3 X",
        "X <br> a",
        "<br> X",
        "a -> X",
        "`X`",
        "-- X",
        "in this context: X",
        "Context information is below.\n---\na\n---\nQuery: X\nAnswer:",
        "Use the following pieces of context to answer.\n\na\n\nQuestion: X\nHelpful Answer:",
    ],
)
def test_the_users_own_words_are_theirs(text: str) -> None:
    """What stands beside such sections, and what only looks like one; also in the tags of known frameworks."""
    assert "X" in own(text)


def test_a_policy_can_name_more() -> None:
    """Its patterns match anywhere, each line by itself where it says so."""
    assert own("From: X\na X", "(?m)^From: .*") == "~~~~~~~\na X"
    assert own("a [note: X] b", r"\[note:[^\]]*\]") == "a ~~~~~~~~~ b"


PARTS = st.sampled_from(
    ["a", "X", " ", "\n", ">", "```", "~~~", "<d>", "</d>", "<e x>", "</e>", "<document>", "</document>", "\r", "&gt;"]
)


@given(st.lists(PARTS, max_size=20).map("".join), st.lists(st.sampled_from(["X", "a+", "(?m)^.*X", "<"]), max_size=2))
def test_more_patterns_leave_less(text: str, patterns: list[str]) -> None:
    """Adding a pattern never makes a character the user's."""
    fewer, more = own(text), own(text, *patterns)
    assert len(more) == len(text)
    assert all(kept == "~" or kept == was for was, kept in zip(fewer, more, strict=True))


@given(st.lists(PARTS, max_size=12).map("".join), st.sampled_from(["d", "document", "anything"]))
def test_nothing_inside_a_section_is_the_users(inside: str, name: str) -> None:
    """Whatever a tagged section holds, closing tags and fences among it, none of it is the user's."""
    text = f"ask <{name}>{inside}</{name}> "
    assert set(own(text)[4:-1]) == {"~"}


@given(st.text(max_size=300))
def test_any_text_has_an_answer(text: str) -> None:
    """No text raises; spans lie in order, apart, within it."""
    spans = foreign(text)
    places = [place for span in spans for place in span]
    assert places == sorted(places)
    assert all(0 <= start < end <= len(text) for start, end in spans)


def test_what_is_no_text_or_too_much_of_it_is_not_the_users() -> None:
    """A lone surrogate, or more marks than are looked at."""
    assert foreign("a \ud800") == ((0, 3),)
    text = "> a\nb\n" * (SPANS_MAX + 1)
    assert foreign(text) == ((0, len(text)),)
