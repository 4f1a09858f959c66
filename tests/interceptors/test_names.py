"""Names that a model wrote, where they are shown."""

from __future__ import annotations

import pytest

from interceptors.names import NAME_SHOWN_MAX, shown


@pytest.mark.parametrize("name", ["process_refund", "computer/left_click", "mcp__server__tool", "a" * NAME_SHOWN_MAX])
def test_a_plain_name_is_shown(name: str) -> None:
    """Usual names of tools and arguments are told as they are."""
    assert shown(name) == name


@pytest.mark.parametrize(
    "name", ["", "Ada Lovelace", "a\nb", "a" * (NAME_SHOWN_MAX + 1), "\uff50\uff41\uff59", "\x1b[31m", "a\u202eb"]
)
def test_text_in_the_place_of_a_name_is_not(name: str) -> None:
    """Free text, control characters and look-alikes are told by their length only."""
    assert shown(name) == f"<name of {len(name)} characters>"
