"""Strict YAML: one text is read in one way, and every trap of YAML is either a text or an error with its line."""

from __future__ import annotations

import contextlib
from decimal import Decimal
from enum import Enum

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.yaml_reader import BYTES_MAX, DEPTH_MAX, DocumentError, MappingNode, Node, Problems, read_yaml


def read(text: str | bytes) -> MappingNode:
    return read_yaml(text if isinstance(text, bytes) else text.encode(), "f.yaml").mapping()


def value(text: str) -> Node:
    return read(f"key: {text}\n").require("key")


def refused(text: str | bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        read(text)
    return str(caught.value)


@pytest.mark.parametrize(
    "text", ["off", "no", "yes", "on", "y", "n", "Off", "NO", "1:30", "2024-01-01", "12:30:45", "14d"]
)
def test_what_yaml_1_1_turns_into_something_else_stays_a_text(text: str) -> None:
    """`off`, `no`, sexagesimals and dates are texts."""
    assert value(text).value() == text
    assert value(text).text() == text


@pytest.mark.parametrize("text", ["off", "no", "yes", "on", "True", "FALSE", "1", "'true'"])
def test_only_true_and_false_are_booleans(text: str) -> None:
    """Nothing but the two words answers the question for a boolean."""
    assert (value("true").boolean(), value("false").boolean()) == (True, False)
    with pytest.raises(DocumentError, match="expected true or false"):
        value(text).boolean()


@pytest.mark.parametrize("text", ["0", "14", "-3", "1000.10", "0.50", "-0.1", "123456789012345678901234567890"])
def test_numbers_are_exact_and_keep_their_digits(text: str) -> None:
    """A number is the decimal that was spelled: 1000.10 is not 1000.1."""
    assert str(value(text).number()) == text
    assert isinstance(value(text).value(), Decimal)


@pytest.mark.parametrize(
    "text",
    [
        "010",
        "0x10",
        "0o17",
        "0b1",
        "1_000",
        "1,000",
        ".5",
        "5.",
        "+1",
        "1e5",
        "1e400",
        ".inf",
        "-.inf",
        ".nan",
        "NaN",
        "'14'",
    ],
)
def test_what_two_readers_read_differently_is_no_number(text: str) -> None:
    """Octal, hexadecimal, separators, exponents, infinities and quoted digits are refused where a number is wanted."""
    with pytest.raises(DocumentError, match="expected a decimal number"):
        value(text).number()


@pytest.mark.parametrize("text", ["010", "0x10", "0o17", "0b1", "1_000", "+1", ".5", "1e5", "1e400", ".inf", ".nan"])
def test_what_looks_like_a_number_is_no_free_value(text: str) -> None:
    """Where a number or a text may stand, a spelling that could be either is refused."""
    with pytest.raises(DocumentError, match="neither a number nor clearly a text"):
        value(text).value()


@pytest.mark.parametrize("text", ["true", "14", "1000.10"])
def test_a_text_is_not_a_plain_boolean_or_number(text: str) -> None:
    """What YAML does not read as a text must be quoted to be one."""
    with pytest.raises(DocumentError, match="quote it"):
        value(text).text()
    assert value(f"'{text}'").text() == text


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", 3, "stands here twice, first in line 1"),
        ("a: {b: 1, b: 2}\n", 1, "stands here twice"),
        ("a: 1\nb: &x 2\n", 2, "the anchor &x"),
        ("a: 1\nb: *x\n", 2, "the alias *x"),
        ("a: !!str 2\n", 1, "the tag"),
        ("a: !secret x\n", 1, "the tag"),
        ("a: ! x\n", 1, "the tag"),
        ("a: !!binary aGk=\n", 1, "the tag"),
        ("a:\n  <<: {b: 1}\n", 2, "a merge key"),
        ("a: 1\n---\nb: 2\n", 2, "one file holds one document"),
        ("%YAML 1.1\n---\na: 1\n", 1, "directive"),
        ("a: 1\nb:\t2\n", 2, "a tab"),
        ("a:\n\tb: 1\n", 2, "a tab"),
        (b"\xef\xbb\xbfa: 1\n", 1, "byte order mark"),
        (b"a: 1\nb: \xff\n", 2, "not UTF-8"),
        ("a: 1".encode("utf-16"), 1, "not UTF-8"),
        ("a: x\u2028b: y\n", 1, "line break"),
        ("a: x\rb: y\n", 1, "line break"),
        ("a: 'abc\u202edef'\n", 1, "mark of direction"),
        ("a: 'abc\x01'\n", 1, "control character"),
        ('a: "abc\\0"\n', 1, "control character"),
        ('a: "\\ud800"\n', 1, "half a character"),
        ("", 1, "the file is empty"),
        ("# nothing\n", 1, "the file is empty"),
        ("~\n", 1, "the file is empty"),
        ("a: 1\nb:\n", 2, "b: has no value"),
        ("a: null\n", 1, "a: has no value"),
        ("a: [x, ~]\n", 1, "has no value"),
        ("1: x\n", 1, "quote it"),
        ("true: x\n", 1, "quote it"),
        ("? [a]\n: x\n", 1, "a key must be a text"),
        ("a: b: c\n", 1, "must be in quotes"),
        ("a: 'x\n", 2, "not YAML"),
        ("a: x #y\n", 1, "a comment behind a value"),
        ("- a\n- b\n", 1, "expected a mapping, got a list"),
    ],
)
def test_traps_are_errors_with_their_line(text: str | bytes, line: int, message: str) -> None:
    """Each construct that lets one text mean two things is refused where it stands."""
    told = refused(text)
    assert message in told
    assert told.startswith(f"f.yaml:{line}:")


@pytest.mark.parametrize(
    "text",
    [
        "a: {escalate: x, when: days_between(b, c) > 3}",
        "a: [max(b, c)]",
        'a: {when: b == "x, y"}',
        'a: {when: b in ["x", "y"]}',
        "a: {when: b in [x, y]}",
        "a: {when: min(b, c), unless: d}",
        "a: {b, c: d}",
        "a: {b:1}",
    ],
)
def test_a_comma_in_a_flow_style_expression_tells_to_quote_it(text: str) -> None:
    """YAML splits at the comma without a word; the reader does not."""
    assert "quotes" in refused(text)
    assert read('a: {escalate: x, when: "days_between(b, c) > 3"}').require("a").mapping().require("when").text()


def test_all_problems_of_a_file_are_told_in_order() -> None:
    """One reading tells every mistake that it can reach."""
    told = refused("a: &x 1\nb: *x\na: 2\nc: !!int 3\n")
    assert [line.split(":")[1] for line in told.split("\n")] == ["1", "2", "3", "4"]


def test_size_and_depth_are_bounded() -> None:
    """Neither a large nor a deep file is read to its end."""
    assert "larger than" in refused(b"a: " + b"x" * BYTES_MAX)
    assert "deep" in refused("a: " + "[" * (DEPTH_MAX + 10_000))
    read("a: " + "[" * (DEPTH_MAX - 1) + "]" * (DEPTH_MAX - 1))


def test_block_texts_keep_what_looks_like_comments_and_keys() -> None:
    """Within a block or quotes, # and : are text."""
    assert read("a: |\n  x #y\n  z: 1\n").require("a").text() == "x #y\nz: 1\n"
    assert read("a: 'x #y'  # comment\n").require("a").text() == "x #y"


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


def test_unknown_keys_and_values_come_with_a_suggestion() -> None:
    """A typing error is told with the name that was meant; a later key is told to be one."""
    root = read("listn: x\nlater: y\ncolour: rde\n")
    with pytest.raises(DocumentError) as caught:
        root.check_keys({"listen", "colour"}, later={"later"})
    assert str(caught.value) == (
        "f.yaml:1: listn: unknown key 'listn', did you mean 'listen'?\n"
        "f.yaml:2: later: `later` is not supported in this version"
    )
    with pytest.raises(DocumentError, match="expected one of red, blue, got 'rde'"):
        root.require("colour").choice(Colour)
    with pytest.raises(DocumentError, match="'listen' is required"):
        root.require("listen")


def test_accessors_name_the_path_and_problems_are_collected() -> None:
    """Each node knows where it stands; a collector goes on behind an error."""
    root = read("a:\n  b:\n    - {c: x}\n    - {c: 2}\n")
    problems = Problems()
    for item in root.require("a").mapping().require("b").sequence():
        with problems.collect():
            item.mapping().require("c").integer(maximum=1)
        with problems.collect():
            item.mapping().require("c").convert(int)
    assert [str(problem) for problem in problems.found] == [
        "f.yaml:3: a.b[0].c: expected a decimal number such as 14 or 1000.10, got 'x'",
        "f.yaml:3: a.b[0].c: invalid literal for int() with base 10: 'x'",
        "f.yaml:4: a.b[1].c: must be at most 1, got 2",
        "f.yaml:4: a.b[1].c: expected a text, got the number 2: quote it",
    ]


@given(st.binary(max_size=60) | st.text(alphabet="{}[]&*!|>'\"%@`#,?:-\n ab1~\\", max_size=40).map(str.encode))
def test_the_reader_is_total(data: bytes) -> None:
    """Any bytes give a tree or a `DocumentError`, nothing else."""
    with contextlib.suppress(DocumentError):
        read_yaml(data, "f.yaml")
