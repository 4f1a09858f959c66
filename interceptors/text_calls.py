"""A call that is written as text: in the tags of a model's own format, or as JSON that names a known tool.

Some agents run what they find in a text. The answer is read from the text alone, in linear time; what it misses is a
call in no shape that is known here, or of no tool that is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from itertools import chain
from typing import TYPE_CHECKING, Final

import re2

from interceptors.strict_json import StrictJsonError, parse
from policies.model import folded

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator

    from interceptors.calls import Json


class CallShape(Enum):
    """How the call is written. The value stands in receipts."""

    TAG = "a tag that models write calls in"
    JSON = "JSON that names a tool"


@dataclass(frozen=True, slots=True)
class TextCall:
    """`tool` is the folded name of the tool that it names, empty where it names none that is known."""

    shape: CallShape
    tool: str = ""


NAME_LENGTH_MAX: Final = 256

# What models were trained to write, each with what follows it in a call: the tag alone is a word people explain.
_TAGGED: Final = re2.compile(
    r"(?i)<(?:antml:)?(?:tool_calls?|function_calls?|tool_use|function_calls_block)>\s*(?:[\[{<]|```)"
    r"|<(?:antml:)?invoke\s+name\s*="
    r"|<function\s*=\s*[\w./-]+\s*>"
    r"|\[TOOL_CALLS\]\s*[\[{\w]"
    r"|<\|(?:tool_calls?(?:_section)?_begin|tool_call|python_tag)\|>"
    r"|<\x{ff5c}tool\x{2581}calls?\x{2581}begin\x{ff5c}>"
)
_NAMED: Final = re2.compile(
    r'"(?:name|tool|tool_name|function|action|recipient_name)"\s*:\s*"([^"\\\n]{1,256})"'
    r"|<(?:antml:)?invoke\s+name\s*=\s*[\"']?([\w./:-]{1,256})"
    r"|<function\s*=\s*([\w./:-]{1,256})"
)
_FENCE: Final = re2.compile(r"(?m)^[ \t>*-]*(?:`{3,}|~{3,})[^\n`]*$")
_MEMBERS: Final = ("name", "tool", "tool_name", "function", "action", "recipient_name")


def text_call(text: str, known: Container[str]) -> TextCall | None:
    """The first call that the text holds, or None. `known` are folded names of tools. Total."""
    sound = text if text.isascii() else text.encode("utf-8", "replace").decode()
    tagged = _TAGGED.search(sound) if "<" in sound or "[" in sound else None  # each of its shapes begins so
    if tagged is not None:
        return TextCall(CallShape.TAG, _named(sound[tagged.start() :], known))
    for part in _objects(sound):
        if tool := _named_by(part, known):
            return TextCall(CallShape.JSON, tool)
    return None


def _objects(text: str) -> Iterable[str]:
    """What may be JSON: the text as a whole, and what stands behind the marks of fences."""
    whole = (text,) if _is_json(text) else ()
    return chain(whole, _fenced(text)) if "```" in text or "~~~" in text else whole


def _fenced(text: str) -> Iterator[str]:
    ends = [match.span() for match in _FENCE.finditer(text)]
    for (_, begun), (until, _) in zip(ends, [*ends[1:], (len(text), 0)], strict=True):
        if _is_json(part := text[begun:until]):
            yield part


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _named_by(text: str, known: Container[str]) -> str:
    """The known tool that this JSON names; what is no strict JSON is read as a lenient client might."""
    try:
        value = parse(text)
    except StrictJsonError:
        return _named(text, known)
    for item in value if isinstance(value, list) else [value]:
        for name in _names(item):
            if len(name) <= NAME_LENGTH_MAX and (key := folded(name)) in known:
                return key
    return ""


def _names(item: Json) -> Iterator[str]:
    if not isinstance(item, dict):
        return
    inner = item.get("function")
    for value in (*(item.get(member) for member in _MEMBERS), inner.get("name") if isinstance(inner, dict) else None):
        if isinstance(value, str):
            yield value


def _named(text: str, known: Container[str]) -> str:
    for match in _NAMED.finditer(text):
        name = next(filter(None, match.groups()), "")
        if (key := folded(name)) in known:
            return key
    return ""
