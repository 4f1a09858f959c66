"""Results that a framework writes as YAML are read as what they were made of, and nothing else is read."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from interceptors.block_scalars import BlockTextError, quoted
from interceptors.block_text import DEPTH_MAX, TEXT_LENGTH_MAX, parse_block_text

WORDS = st.sampled_from(
    [
        "it's 5: 3 #2",
        "- no\n- list",
        "a: b",
        "\n\n<b>\n sender: me\n",
        "tab\there",
        'say "x"\\',
        "é\u2028\x85 end ",
        " lead",
        "010",
        "1e6",
        "1_000",
        "yes",
        "null",
        "2026-01-31",
        "10:30",
        "x" * 90 + " y" * 60,
        "",
    ]
)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\ufeff\x00"), max_size=60) | WORDS
NAMES = st.from_regex(r"[A-Za-z_][A-Za-z0-9_ ]{0,8}[A-Za-z0-9]", fullmatch=True) | st.sampled_from(["yes", "id_", "7"])
SCALARS = TEXTS | st.booleans() | st.none() | st.integers(-(10**15), 10**15)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)
RECORDS = st.lists(VALUES, min_size=1, max_size=4) | st.dictionaries(NAMES, VALUES, min_size=1, max_size=4)


class _Apart(yaml.SafeDumper):
    """Writes what recurs again, as a framework that copies its records does."""

    def ignore_aliases(self, data: object) -> bool:
        return True


@given(RECORDS)
@example([{"body": "a\n\n b\n", "to": [], "n": {}}, []])
def test_what_a_serializer_writes_is_read_as_what_it_was(value: Any) -> None:
    """Whatever texts records hold, also line breaks, quotes and other records: none of them becomes a field."""
    assert parse_block_text(yaml.dump(value, Dumper=_Apart, default_flow_style=False)) == value


@given(st.text(max_size=200) | st.text("-: \n'\"ab[]{}\\#&", max_size=40))
def test_any_other_text_is_read_as_yaml_reads_it_or_not_at_all(text: str) -> None:
    """Total: no text raises anything else, and what is read is what a whole YAML reader reads."""
    try:
        found = parse_block_text(text)
    except BlockTextError:
        return
    assert found == yaml.load(text, yaml.BaseLoader) or _plain(found) == yaml.load(text, yaml.BaseLoader)


def _plain(value: Any) -> Any:
    """Each scalar as its text, as the base loader has it."""
    if isinstance(value, dict):
        return {name: _plain(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, bool):
        return str(value).lower()
    return "" if value is None else str(value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "words",
        "a: &x 1\nb: *x",
        "a: !!str 1",
        "a: |\n  x",
        "a: >\n  x",
        "a: [1, 2]",
        "{'a': 'b'}",
        "a: 1\na: 2",
        "a: 1\n  b: 2",
        "- a\nb: 1",
        "a: 'x\nb: 1",
        "a: 'x' y",
        'a: "\\q"',
        'a: "\\x4"',
        'a: "\\ud800"',
        'a: "x',
        "a: b: c",
        "a: b # c",
        "a: x\n---\nb: y",
        "a:\tb",
        "- a\n-- b",
        "a: 1\n\tb: 2",
    ],
)
def test_what_is_doubtful_is_not_read(text: str) -> None:
    """Anchors, tags, literal blocks, flow, comments, keys that stand twice, quotes that do not end."""
    with pytest.raises(BlockTextError):
        parse_block_text(text)


@pytest.mark.parametrize(
    ("spelled", "value"),
    [("7", 7), ("-7", -7), ("010", "010"), ("1e6", "1e6"), ("yes", "yes"), ("~", None), ("2026-01-31", "2026-01-31")],
)
def test_a_number_is_only_what_has_one_reading(spelled: str, value: object) -> None:
    """Other spellings are texts: they are no number of anything."""
    assert parse_block_text(f"a: {spelled}") == {"a": value}


def test_what_is_too_large_is_not_read() -> None:
    """Its length and its depth are bounded."""
    with pytest.raises(BlockTextError, match="too long"):
        parse_block_text("a: " + "x" * TEXT_LENGTH_MAX)
    with pytest.raises(BlockTextError, match="too deeply"):
        parse_block_text("- " * (DEPTH_MAX + 1) + "x")
    assert parse_block_text("- " * (DEPTH_MAX - 1) + "x")


def test_a_quoted_text_ends_where_its_quote_does() -> None:
    """Not at a line that looks like the next entry's, which would have to be indented less."""
    assert quoted("'a", ["", "    b'", "c: 1"], 0, 2) == ("a\nb", 2)
    with pytest.raises(BlockTextError, match="not closed before"):
        quoted("'a", ["b: 1'"], 0, 0)
