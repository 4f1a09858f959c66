"""Requests in which closed matters are summaries, held against what was seen before: what a summary may stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from interceptors.compaction import ANSWER

if TYPE_CHECKING:
    from collections.abc import Iterator

Message = dict[str, Any]
_BEGINS = "<system-reminder>\nSummary by the gate"


def text_of(message: Message) -> str:
    """The texts of a message."""
    content = message["content"] or ""
    if isinstance(content, str):
        return content
    return "".join(block.get("text", "") for block in content)


def is_summary(message: Message) -> bool:
    return message["role"] == "user" and text_of(message).startswith(_BEGINS)


def is_words(message: Message) -> bool:
    """Whether it is a user's own text alone."""
    blocks = message["content"] if isinstance(message["content"], list) else []
    return message["role"] == "user" and not any(block.get("type") == "tool_result" for block in blocks)


def alike(was: bytes, body: bytes) -> Iterator[tuple[bytes, bool]]:
    """The request `was` with summaries where `body` has them, in each way in which that can be; and whether its last
    turn is one of them, so that the answer to it is, too. The first is `was` itself.

    A summary that was seen stays as it is. A new one stands for messages from a user's text up to another one.
    """
    yield was, False
    old, new = orjson.loads(was), orjson.loads(body)["messages"]
    if not any(map(is_summary, new)):
        return
    for messages, is_whole in _aligned(old["messages"], new, 0):
        if messages != old["messages"]:
            yield orjson.dumps({**old, "messages": messages}), is_whole


def _aligned(old: list[Message], new: list[Message], at: int) -> Iterator[tuple[list[Message], bool]]:
    while at < min(len(old), len(new)) and not (is_summary(new[at]) and new[at] != old[at]):
        at += 1
    if at >= min(len(old), len(new)):
        yield old, False
        return
    if at + 1 >= len(new) or not is_words(old[at]) or text_of(new[at + 1]) != ANSWER:
        return
    for end in range(at + 2, len(old) + 1):
        if end == len(old):
            yield [*old[:at], new[at]], True
        elif is_words(old[end]):
            yield from _aligned([*old[:at], *new[at : at + 2], *old[end:]], new, at + 2)
