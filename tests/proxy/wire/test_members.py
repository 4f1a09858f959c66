"""Words that may be spelled with escapes, and marks of seals: found alike in short bodies and in long ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.members import SHORT_BYTES, is_misspelled, may_mention
from proxy.wire.seal import SEALED, may_be_sealed

WORDS = [b"tool", b"_addition", b"\\u0074ool_addition", b"\\u00", b"\\u005f", b"\\u005F", b"\\u006", b"\\u0041"]
SEALS = [b"cg1", b".", b"CG1.", b'"redactedContent"', b"Y2cxLm", b"\xc3\xa9", b"{", b'"']
PIECES = st.sampled_from([*WORDS, *SEALS])
BODIES = st.lists(PIECES, max_size=8).map(b"".join)


@given(BODIES)
def test_how_long_a_body_is_changes_nothing(body: bytes) -> None:
    """Another search is used for a short one: it finds the same."""
    long = body + b" " * SHORT_BYTES
    assert may_mention(body, b"tool_addition") is may_mention(long, b"tool_addition")
    assert may_be_sealed(body) is may_be_sealed(long)


@pytest.mark.parametrize("padding", [0, SHORT_BYTES])
@pytest.mark.parametrize(
    ("body", "is_mentioned"),
    [
        (b'{"type":"tool_addition"}', True),
        (b'{"type":"tool\\u005faddition"}', True),
        (b'{"type":"tool\\u005Faddition"}', True),
        (b'{"type":"\\u0074ool_addition"}', True),
        (b'{"type":"tool_use","text":"caf\\u00e9"}', False),
        (b'{"type":"tool_use"}', False),
    ],
)
def test_a_word_is_found_in_each_spelling(body: bytes, is_mentioned: bool, padding: int) -> None:
    """A letter, or the line, written as an escape; other escapes say nothing."""
    assert may_mention(body + b" " * padding, b"tool_addition") is is_mentioned


@pytest.mark.parametrize("padding", [0, SHORT_BYTES])
def test_a_seal_is_found(padding: int) -> None:
    """As it stands, and as the one dialect encodes it; what only looks like one is none."""
    fill = b" " * padding
    assert may_be_sealed(f'{{"signature":"{SEALED}h1.abc"}}'.encode() + fill)
    assert may_be_sealed(b'{"redactedContent":"Y2cxLmgx"}' + fill)
    assert not may_be_sealed(b'{"signature":"cg1x","data":"Y2cxLmgx"}' + fill)


MEMBERS = st.lists(
    st.one_of(st.sampled_from(["index", "Index", "INDEX", "\u0131ndex", "index\u017f", "1", ""]), st.text())
)


@given(MEMBERS)
def test_a_name_in_another_case_is_found_beside_any_others(members: list[str]) -> None:
    """Members in small letters alone are looked at no further."""
    names = frozenset({"index", "indexs"})
    found = any(member not in names and member.casefold() in names for member in members)
    assert is_misspelled(dict.fromkeys(members), names) is found
