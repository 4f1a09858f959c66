"""The conversation as grounding reads it: the user's own texts, settled results of released calls, in their order."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, TypeAlias

from interceptors.history import Author, PastCall, PastResult, Said
from interceptors.seen import Seen
from interceptors.structured import structured
from interceptors.user_text import foreign
from policies.model import folded

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from interceptors.calls import Json
    from interceptors.history import History
    from policies.model import Policy
    from policies.patterns import Pattern

TEXT_LENGTH_MAX: Final = 500_000
"""Characters of one user turn; a longer one grounds nothing."""


class Spoken:
    """The text of one user turn, its blocks joined by line breaks. What is not the user's own is found when asked."""

    def __init__(self, turn: int, text: str, not_user: Sequence[Pattern]) -> None:
        self.turn = turn
        self.text = text
        self._not_user = not_user

    @cached_property
    def _foreign(self) -> tuple[tuple[int, int], ...]:
        return foreign(self.text, self._not_user)

    def is_own(self, start: int, end: int) -> bool:
        """Whether no part of this span is foreign."""
        return all(end <= begun or until <= start for begun, until in self._foreign)


class Result:
    """What came back for a call. `tool` is folded; `receipt` is empty where the call was not released here, or where it
    cannot be told whose result it is, or where it is an error: then the result grounds nothing.
    """

    def __init__(self, turn: int, value: Json, tool: str | None, receipt: str, policy: Policy) -> None:
        self.turn = turn
        self.tool = "" if tool is None else folded(tool)
        self.receipt = receipt
        self._raw = value
        self._policy = policy

    @cached_property
    def value(self) -> Json:
        return structured(self._policy.tools.get(self.tool), self._raw)

    @cached_property
    def seen(self) -> Seen:
        return Seen.of(self.value)


Part: TypeAlias = "Spoken | Result"


@dataclass(frozen=True, slots=True)
class Conversation:
    """`parts` in the order of the request."""

    parts: tuple[Part, ...]

    @classmethod
    def of(cls, history: History, policy: Policy) -> Conversation:
        return cls(tuple(_parts(history, policy)))

    def results(self, tool: str) -> Iterator[Result]:
        """Those that may ground a value."""
        return (part for part in self.parts if isinstance(part, Result) and part.receipt and part.tool == tool)


def _parts(history: History, policy: Policy) -> Iterator[Part]:
    open_calls: dict[str, PastCall | None] = {}
    blocks: list[Said] = []
    for entry in history.entries:
        is_own = isinstance(entry, Said) and entry.author is Author.USER and not entry.beside_results
        if blocks and not (is_own and entry.turn == blocks[0].turn):
            yield from _spoken(blocks, policy.not_user)
            blocks = []
        if isinstance(entry, PastCall):
            # Two calls under one id, or none: whose result comes back cannot be told.
            open_calls[entry.id] = None if entry.id in open_calls or not entry.id else entry
        elif isinstance(entry, PastResult):
            call = open_calls.pop(entry.call, None)
            is_settled = call is not None and not entry.is_error
            receipt = call.released if is_settled and call else ""
            yield Result(entry.turn, entry.value, None if call is None else call.tool, receipt, policy)
        elif is_own:
            blocks.append(entry)
    yield from _spoken(blocks, policy.not_user)


def _spoken(blocks: Iterable[Said], not_user: Sequence[Pattern]) -> Iterator[Spoken]:
    blocks = list(blocks)
    text = "\n".join(block.text for block in blocks)
    if 0 < len(text) <= TEXT_LENGTH_MAX:
        yield Spoken(blocks[0].turn, text, not_user)
