"""A body is split into its members in one reading: what is there twice is refused, however it is spelled or spaced."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire import envelope

KEYS = {'"a"': "a", '"\\u0061"': "a", '"b"': "b", '""': "", '"é"': "é", '"\\u00e9"': "é", '"\\n"': "\n", '"😀"': "😀"}
VALUES = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=4,
)
SPACE = st.sampled_from(["", "", " ", "\n", "  "])


@given(
    members=st.lists(st.tuples(st.sampled_from(sorted(KEYS)), VALUES, SPACE, SPACE), max_size=4),
    before=SPACE,
    ascii_only=st.booleans(),
)
def test_members_are_split_or_refused(
    members: list[tuple[str, object, str, str]], before: str, ascii_only: bool
) -> None:
    """Names that stand once keep the bytes of their values; a name that stands twice is refused, spaced or not."""
    dumped = [json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":")) for _, value, _, _ in members]
    text = ",".join(
        f"{one}{key}{two}:{one}{value}{two}" for (key, _, one, two), value in zip(members, dumped, strict=True)
    )
    names = [KEYS[key] for key, _, _, _ in members]
    try:
        body = f"{before}{{{text}}}".encode()
    except UnicodeEncodeError:
        return

    if len(set(names)) < len(names):
        with pytest.raises(envelope.EnvelopeError, match="twice"):
            envelope.members(body)
    else:
        assert envelope.members(body) == {name: value.encode() for name, value in zip(names, dumped, strict=True)}
