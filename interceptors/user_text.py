"""What of a user's text is not the user's own words: quoted lines, fenced and tagged sections, forwarded messages.

Agents and frameworks paste documents, results and instructions into user turns; people quote others. The answer is a
set of spans, read from the text alone, and every doubt widens it: what lies in a span grounds nothing.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Final

import re2

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from policies.patterns import Pattern

TRANSPARENT: Final = frozenset({"user_query", "user_message", "task", "feedback"})
"""Tags in which frameworks wrap what the user wrote: they end nothing, only the tags themselves are not the user's."""
TO_THE_END: Final = frozenset(
    {
        "attachment",
        "context",
        "document",
        "documents",
        "environment_context",
        "environment_details",
        "file",
        "file_content",
        "function_results",
        "search_results",
        "system",
        "system-reminder",
        "tool_result",
        "untrusted",
        "user_instructions",
    }
)
"""Tags of known frameworks: where one is opened and never closed, all that follows is not the user's."""
SPANS_MAX: Final = 5_000
"""Quoted lines, fences and tags of one text; with more, nothing of it is the user's."""

# Every break that a reader may see as one begins a line; the lengths stay, so that places do.
_BREAKS: Final = str.maketrans(dict.fromkeys("\r\x0b\x0c\x85\u2028\u2029", "\n"))
_QUOTED: Final = re2.compile(r"(?m)^[\s\x{a0}]*(?:>|\x{ff1e}|&gt;)[^\n]*")
_FORWARDED: Final = re2.compile(
    r"(?im)^[ \t]*-{2,}[ \t]*(?:original message|forwarded message|urspr\x{fc}ngliche nachricht"
    r"|weitergeleitete nachricht|message d'origine|mensaje original)[ \t]*-{2,}|^begin forwarded message:"
)
# Text agents put what tools answered, and retrieval what it found, behind a label: to the end, for what stands there
# may hold any other label.
_LABELLED: Final = re2.compile(
    r"(?im)^[ \t*#]*(?:observation|context|(?:tool|function)(?: call)? (?:result|output|response))s?[ \t*]*:"
)
_TEMPLATES: Final = (
    # LlamaIndex and LangChain, their templates for answering a question from what was retrieved.
    (re2.compile(r"(?i)context information is below"), re2.compile(r"(?im)^query:")),
    (re2.compile(r"(?i)use the following (?:pieces of )?(?:retrieved )?context"), re2.compile(r"(?im)^question:")),
)
_FENCE: Final = re2.compile(r"(?m)`{3,}|^[ \t]*~{3,}")
_TAG: Final = re2.compile(r"<(/?)([A-Za-z_][A-Za-z0-9_:.-]*)([^<>]*)>")


def foreign(text: str, more: Iterable[Pattern] = ()) -> tuple[tuple[int, int], ...]:
    """The spans that are not the user's own, in their order, apart from each other. `more` are the policy's patterns.

    Linear in the text; total: a text that is no Unicode is no user's.
    """
    lines = text.translate(_BREAKS)
    try:
        spans = list(islice(_spans(lines, more), SPANS_MAX + 1))
    except UnicodeEncodeError:
        return ((0, len(text)),)
    return tuple(_joined(spans)) if len(spans) <= SPANS_MAX else ((0, len(text)),)


def _spans(text: str, more: Iterable[Pattern]) -> Iterator[tuple[int, int]]:
    yield from (match.span() for match in _QUOTED.finditer(text))
    yield from ((match.start(), len(text)) for match in islice(_FORWARDED.finditer(text), 1))
    yield from ((match.start(), len(text)) for match in islice(_LABELLED.finditer(text), 1))
    yield from _templated(text)
    yield from _fenced(text)
    yield from _tagged(text)
    for pattern in more:
        yield from pattern.spans(text)


def _templated(text: str) -> Iterator[tuple[int, int]]:
    """From the beginning of a known template to the last mark behind which it puts the user's question."""
    for beginning, question in _TEMPLATES:
        for match in islice(beginning.finditer(text), 1):
            ends = [mark.end() for mark in question.finditer(text) if mark.start() > match.start()]
            yield match.start(), ends[-1] if ends else len(text)


def _fenced(text: str) -> Iterator[tuple[int, int]]:
    """From a fence to the next one of its kind that is at least as long; without one, to the end."""
    mark, start, length = "", 0, 0
    for match in _FENCE.finditer(text):
        fence = match.group().strip()
        if not mark:
            mark, start, length = fence[0], match.start(), len(fence)
        elif fence[0] == mark and len(fence) >= length:
            yield start, match.end()
            mark = ""
    if mark:
        yield start, len(text)


def _tagged(text: str) -> Iterator[tuple[int, int]]:
    """From the first opening tag of a name to its last closing one: what stands between may hold a closing tag of its
    own, to break out. Before a closing tag that was never opened nothing is the user's; of an opening one that is never
    closed the tag itself is not, and what follows where frameworks use it.
    """
    opened: dict[str, int] = {}
    closed: dict[str, int] = {}
    for match in _TAG.finditer(text):
        name = match.group(2).casefold()
        yield match.span()
        if name in TRANSPARENT:
            continue
        if not match.group(1):
            opened.setdefault(name, match.start())
        else:
            closed[name] = match.end()
            if name not in opened:
                yield 0, match.end()
    for name, start in opened.items():
        if closed.get(name, 0) > start:
            yield start, closed[name]
        elif name in TO_THE_END:
            yield start, len(text)


def _joined(spans: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    begun, until = -1, -1
    for start, end in sorted(spans):
        if start > until:
            if begun >= 0:
                yield begun, until
            begun, until = start, end
        else:
            until = max(until, end)
    if begun >= 0:
        yield begun, until
