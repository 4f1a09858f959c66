"""What the model is told of its own text stands in a section that no reader takes for a user's words."""

from __future__ import annotations

import pytest

from interceptors.user_text import TO_THE_END
from proxy.wire.events import TextKey
from proxy.wire.turn import NOTHING, remarked


def test_a_remark_stands_in_a_tag_of_the_frameworks() -> None:
    """The tag is one of those whose content grounds nothing, opened before the content and closed behind it."""
    tag = remarked("x").partition(">")[0].removeprefix("<")
    assert tag in TO_THE_END
    assert remarked("line one\nline two") == f"<{tag}>\nline one\nline two\n</{tag}>"


def test_nothing_stays_nothing() -> None:
    """The default of many parameters cannot be filled by one of its readers."""
    with pytest.raises(TypeError):
        NOTHING[TextKey(0, 0)] = "x"  # type: ignore[index] # that it has no such method is the claim
    assert not NOTHING
