"""Patterns: anchored, linear, bounded."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.patterns import SOURCE_LENGTH_MAX, TEXT_LENGTH_MAX, Pattern, PatternError


@pytest.mark.parametrize(
    ("text", "matches"),
    [
        ("A1234", True),
        ("A12345", False),
        ("xA1234", False),
        ("A1234\n", False),
        ("\nA1234", False),
        ("A1234\nA1234", False),
        ("A\uff11\uff12\uff13\uff14", False),
        ("A1234\x00", False),
        ("", False),
        ("\ud800", False),
    ],
)
def test_the_whole_text_matches_or_it_does_not(text: str, matches: bool) -> None:
    """No newline at the end, no line of its own, no digit of another script passes."""
    assert Pattern.compile("[A-Z][0-9]{4}").matches(text) is matches


@pytest.mark.parametrize("source", ["^A$", "(?m)^A$", "A|B", "A$", r"\AA\z", "(?s)A"])
def test_anchors_of_its_own_widen_nothing(source: str) -> None:
    """Neither multi-line mode nor an alternative reaches past the anchors that are always there."""
    pattern = Pattern.compile(source)

    assert pattern.matches("A")
    assert not any(pattern.matches(text) for text in ("A\n", "A\nB", "xA", "Ax", "\nA"))


@pytest.mark.parametrize("source", ["(a+)+$", "(a|a)*b", "(.*)*x", "a{0,500}a{0,500}b"])
def test_time_is_linear(source: str) -> None:
    """Patterns that backtrack for ever elsewhere take milliseconds on a long text."""
    pattern = Pattern.compile(source)
    begin = time.perf_counter()

    assert not pattern.matches("a" * 20_000 + "!")
    assert time.perf_counter() - begin < 10


@pytest.mark.parametrize(
    "source",
    ["(", "[", "*a", r"(a)\1", "(?=a)", "(?<!a)b", "a{2000}", "((a{100}){100}){100}", "(?P<n>a", "\ud800", "\\"],
)
def test_a_text_that_is_no_pattern_is_refused(source: str) -> None:
    """Syntax errors, look-around, back-references and explosions are load errors."""
    with pytest.raises(PatternError):
        Pattern.compile(source)


def test_a_pattern_has_a_greatest_length() -> None:
    """The bound itself is allowed, one more is not."""
    assert Pattern.compile("a" * SOURCE_LENGTH_MAX).source == "a" * SOURCE_LENGTH_MAX
    with pytest.raises(PatternError, match="longer than"):
        Pattern.compile("a" * (SOURCE_LENGTH_MAX + 1))


def test_a_text_past_the_bound_matches_nothing() -> None:
    """Fail closed: what is not looked at does not match."""
    pattern = Pattern.compile("a*")

    assert pattern.matches("a" * TEXT_LENGTH_MAX)
    assert not pattern.matches("a" * (TEXT_LENGTH_MAX + 1))


@pytest.mark.parametrize(("source", "empty"), [("a*", True), ("", True), ("(a|)", True), ("a+", False), ("^$", True)])
def test_a_pattern_knows_whether_it_accepts_nothing(source: str, empty: bool) -> None:
    """What goes into a URL must not be empty."""
    assert Pattern.compile(source).accepts_empty is empty


def test_patterns_are_their_source() -> None:
    """Equal sources are equal patterns, and nothing but the source is printed."""
    assert Pattern.compile("a+") == Pattern.compile("a+") != Pattern.compile("a*")
    assert "re2" not in repr(Pattern.compile("a+"))


@given(st.text(max_size=30), st.text(max_size=30))
def test_any_source_and_any_text_end_in_an_answer(source: str, text: str) -> None:
    """A pattern or a `PatternError`; true or false; nothing else."""
    try:
        pattern = Pattern.compile(source)
    except PatternError:
        return

    assert pattern.matches(text) in (True, False)
