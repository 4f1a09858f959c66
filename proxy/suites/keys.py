"""The keys of a suite, object by object. Whatever stands in no list here is an error."""

from __future__ import annotations

from typing import Final

SUITE: Final = ("suite", "now", "defaults", "cases", "equivalent")
AROUND: Final = ("session", "identity", "facts", "declared", "history", "halted")
DEFAULTS: Final = (*AROUND, "arguments")
CALLED: Final = ("call", "arguments", "without")
CASE: Final = (
    "name",
    "now",
    "call",
    "arguments",
    "without",
    "malformed",
    "refused",
    *AROUND,
    "asked",
    "earlier",
    "beside",
    "result",
    "expect",
)
BESIDE: Final = CALLED
EARLIER: Final = (*CALLED, "ago", "state", "facts", "session", "identity", "history")
RESULT: Final = ("value", "error")
EXPECT: Final = (
    "outcome",
    "reason",
    "category",
    "fired",
    "reply",
    "answered_by",
    "reads",
    "reserves",
    "injects",
    "summary",
    "settle_within",
    "settles",
)
EQUIVALENT: Final = ("mutant", "because")
SAID: Final = ("user", "assistant", "system")
USER: Final = ("user", "beside_results")
CALL: Final = ("call", "arguments", "id", "released", "refused")
ANSWER: Final = ("result", "of", "error")
