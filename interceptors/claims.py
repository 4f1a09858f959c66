"""Claims: a text of the model that says a tool's work is done, where no call of that tool was released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from interceptors.history import PastCall
from policies.model import folded

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from interceptors.history import History
    from policies.patterns import Pattern


@dataclass(frozen=True, slots=True)
class Claim:
    """The text claims the work of `tool` (its folded name): characters `start` to `end` say so first."""

    tool: str
    start: int
    end: int


def false_claims(
    patterns: Mapping[str, tuple[Pattern, ...]], text: str, history: History, released: Collection[str] = ()
) -> tuple[Claim, ...]:
    """The tools whose work the text claims though none of their calls was released, in the order of the policy.

    `patterns` are by folded name, `released` the names of tools whose calls were released in the text's own turn.
    A call counts wherever it stands in this request's history; what came back for it does not matter here. Linear,
    total: a lone surrogate is read as a question mark.
    """
    done = {folded(name) for name in released}
    done |= {folded(entry.tool) for entry in history.entries if isinstance(entry, PastCall) and entry.released}
    sound = text if text.isascii() else text.encode("utf-8", "replace").decode()
    found = []
    for tool, own in patterns.items():
        spans = [span for pattern in own for span in _first(pattern, sound)] if tool not in done else []
        if spans:
            found.append(Claim(tool, *min(spans)))
    return tuple(found)


def _first(pattern: Pattern, text: str) -> tuple[tuple[int, int], ...]:
    span = next(iter(pattern.spans(text)), None)
    return () if span is None else (span,)
