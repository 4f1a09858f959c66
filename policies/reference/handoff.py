"""Customers who ask for a person."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.reference.rows import Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

REFERENCE: Final[Mapping[str, Reference]] = {
    "HANDOFF": Reference(
        ("key of `handoff`", "type", "default", "what it says"),
        {
            "languages": (
                "list of `en`, `de`, `fr`, `es`, `it`, `nl`",
                "all of them",
                "whose usual words count, in the order in which they are looked for",
            ),
            "phrases": (
                "mapping from language to phrases",
                "none",
                "phrases that count beside the usual words; of any language",
            ),
            "facts": (
                "mapping from fact to `session` path",
                "none",
                "facts that are read for the case, by what the application signed, or by a field of another such fact",
            ),
            "escalation": (
                "mapping",
                "none",
                "what the person reads, as [of a tool](#tools); `gather` names facts whose fields are told",
            ),
        },
    ),
    "PHRASES": Reference(
        ("key of a language", "type", "default", "what it says"),
        {"only": ("list of phrases", "required", "these phrases, and none of the usual words of the language")},
    ),
}
