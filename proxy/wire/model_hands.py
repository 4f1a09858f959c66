"""Models that act by themselves, whatever tools a request declares: their names say so (WIRE.md 2, compatible servers).

Such a model searches or runs code at its provider before its answer can be read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import re2

from proxy.wire import envelope
from proxy.wire.kept import kept

if TYPE_CHECKING:
    from collections.abc import Mapping

ONLINE: Final = "online"
"""OpenRouter's suffix for its plug-in that searches, behind a colon, among others in any order."""
ACTING: Final = (
    (re2.compile(r"(?:groq/)?compound(?:-beta)?(?:-mini)?"), "compound"),  # Groq's systems of models and tools
    (
        re2.compile(r"(?:perplexity/)?sonar(?:-pro|-reasoning|-deep-research|-search)*"),
        "web_search",
    ),
    (re2.compile(r"(?:openai/)?gpt-[a-z0-9.-]*search-(?:preview|api)(?:-[0-9-]+)?"), "web_search"),
)
"""By the whole of a model's name in small letters, without what stands behind a colon."""


def model_hands(raw: Mapping[str, bytes]) -> tuple[str, ...]:
    """The tools that the models of a request bring, those included that stand in only if another fails (`models`).

    `raw` are the members of the request.
    """
    return _hands(raw.get("model", b"null"), raw.get("models", b"null"))


@kept
def _hands(model: bytes, more: bytes) -> tuple[str, ...]:
    named = [envelope.value_of(one) for one in (model, *envelope.list_or_none(more))]
    return tuple(dict.fromkeys(hand for name in named if isinstance(name, str) for hand in _of(name.lower())))


def _of(name: str) -> list[str]:
    base, *suffixes = name.split(":")
    found = [hand for pattern, hand in ACTING if pattern.fullmatch(base)]
    return [*found, "plugins/web"] if ONLINE in suffixes else found
