"""Secrets: references are parsed at load and expanded late; a value never shows."""

from __future__ import annotations

import traceback
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.secrets import Expandable, SecretError

if TYPE_CHECKING:
    from collections.abc import Callable

VARIABLES = {"A": "alpha", "B_2": "beta", "EMPTY": "", "NESTED": "${A}"}
FILES = {"/run/a": "from file\n", "/run/two": "x\n\n", "/run/crlf": "x\r\n", "/run/empty": "\n"}


def read(path: str) -> str:
    if path == "/run/binary":
        return b"hunter2\xff".decode()
    if path not in FILES:
        raise FileNotFoundError(2, "No such file", path)
    return FILES[path]


def expand(source: str) -> str:
    return Expandable.parse(source).expand(VARIABLES.get, read)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("${A}", "alpha"),
        ("Bearer ${A}/${B_2}!", "Bearer alpha/beta!"),
        ("${A}${A}", "alphaalpha"),
        ("${file:/run/a}", "from file"),
        ("${file:/run/two}", "x\n"),
        ("${file:/run/crlf}", "x"),
        ("$${A}", "${A}"),
        ("$$${A}", "$${A}"),
        ("$A $ {A} 5$", "$A $ {A} 5$"),
        ("a}b", "a}b"),
        ("${NESTED}", "${A}"),
        ("{key}/${A}", "{key}/alpha"),
    ],
)
def test_references_stand_for_their_values(source: str, expected: str) -> None:
    """One pass: a value that looks like a reference is not expanded again; one newline of a file is dropped."""
    assert expand(source) == expected


@pytest.mark.parametrize(
    "source",
    ["${", "${A", "x ${}", "${A B}", "${1A}", "${A:-x}", "${file:}", "${file:rel}", "${FILE:/x}", "${é}", "${${A}}"],
)
def test_a_misspelled_reference_is_a_load_error(source: str) -> None:
    """No default values, no nesting, no relative files."""
    with pytest.raises(SecretError):
        Expandable.parse(source)


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("x ${UNSET}", "${UNSET} is not set"),
        ("${EMPTY}", "${EMPTY} is empty"),
        ("${file:/run/none}", "${file:/run/none} cannot be read"),
        ("${file:/run/empty}", "${file:/run/empty} is empty"),
        ("${A} ${file:/run/binary}", "${file:/run/binary} cannot be read"),
    ],
)
def test_what_stands_for_nothing_is_named(source: str, named: str) -> None:
    """Unset, unreadable and empty are errors that name the reference, and no traceback holds a secret."""
    with pytest.raises(SecretError) as caught:
        expand(source)

    assert str(caught.value) == named
    shown = "".join(traceback.format_exception(caught.value))
    assert "alpha" not in shown
    assert "hunter2" not in shown


def test_neither_values_nor_the_text_around_them_are_printed() -> None:
    """An author may have written a secret into the literal text: only references are shown."""
    secret = Expandable.parse("hunter2 ${A} ${file:/run/a}")
    secret.expand(VARIABLES.get, read)

    assert repr(secret) == str(secret) == f"{secret}" == "Expandable(${A}, ${file:/run/a})"
    assert secret.references == ("${A}", "${file:/run/a}")


@given(st.text(alphabet="${}A:file/$", max_size=20), st.sampled_from([VARIABLES.get]))
def test_any_text_is_parsed_or_refused(source: str, lookup: Callable[[str], str | None]) -> None:
    """Parsing and expanding end in a text or a `SecretError`."""
    try:
        text = Expandable.parse(source).expand(lookup, read)
    except SecretError:
        return

    assert isinstance(text, str)


@given(st.text(max_size=30))
def test_escaping_gives_any_text_back(text: str) -> None:
    """With every `${` written `$${`, the text expands to itself."""
    assert expand(text.replace("${", "$${")) == text
