"""Places of quotations, counted by code."""

from __future__ import annotations

from typing import Any

import pytest

from policies.fees import Source
from policies.fees.placing import placed

PROPOSED = {"text": "one", "location": "said"}


@pytest.mark.parametrize(
    ("text", "location"),
    [
        ("two days", {"document": "t.txt", "start": 4, "end": 13}),
        ("for two days", {"document": "t.txt", "start": 0, "end": 13}),
        ("five days", "as it was"),
        ("days", "as it was"),
        ("", "as it was"),
    ],
)
def test_only_what_stands_once_is_placed(text: str, location: Any) -> None:
    """White space is normalised as the validator does it; what is not there, or twice, keeps what was said of it."""
    found: Any = placed({"a": [{"text": text, "location": "as it was"}]}, Source("t.txt", "for two \ndays, not days"))
    assert found["a"][0] == {"text": text, "location": location}


def test_nothing_else_is_touched() -> None:
    """Texts without a location, numbers and empty values stay; a quotation is found at any depth."""
    value: Any = {
        "a": {"text": "one"},
        "b": [1, None, True, "one"],
        "c": [[{"d": PROPOSED}]],
        "e": {"text": 1, "location": 2},
    }
    found: Any = placed(value, Source("t.txt", "just one"))
    assert found == value | {"c": [[{"d": {"text": "one", "location": {"document": "t.txt", "start": 5, "end": 8}}}]]}
    assert PROPOSED == {"text": "one", "location": "said"}, "what was given is left as it was"


def test_nothing_stands_in_an_empty_source() -> None:
    """Not even nothing."""
    assert placed({"text": "", "location": 1}, Source("t.txt", "")) == {"text": "", "location": 1}
