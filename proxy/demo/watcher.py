"""Whether each request of a conversation extends what the provider saw before: in meaning, and in bytes.

A cached prefix ends at the first byte that differs, so elements must come back as they were written; only
`cache_control` may move.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import msgspec
import orjson

from proxy.demo import meaning
from proxy.demo.documents import read
from proxy.demo.encodings import decoded
from proxy.demo.turns import Dialect

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from proxy.demo.provider import Received
    from proxy.demo.turns import Document

_MESSAGES = "messages"
_FIXED = ("system", "tools")
_RAW = msgspec.json.Decoder(dict[str, msgspec.Raw])
_RAW_LIST = msgspec.json.Decoder(list[msgspec.Raw])


def extends(
    previous_request: bytes,
    previous_turn: Document | None,
    request: bytes,
    *,
    dialect: Dialect,
    exact: bool = True,
    thinking: bool = True,
) -> list[str]:
    """What is wrong if `request` is to be `previous_request`, then the assistant message `previous_turn`, then more.

    Bodies are raw, without content encoding. `previous_turn` None: whatever assistant message stands there will do.
    Without `exact` only the meaning counts; without `thinking` neither does any thinking block.
    """
    before, after = _RAW.decode(previous_request), _RAW.decode(request)
    problems: list[str] = []
    for key in _FIXED:
        problems += _same(key, before.get(key), after.get(key), _meaning_of(key), exact=exact)
    old, new = _elements(before), _elements(after)
    compared = _message_meaning(dialect, thinking=thinking)
    for number, (was, is_) in enumerate(zip(old, new, strict=False)):
        problems += _same(f"{_MESSAGES}.{number}", was, is_, compared, exact=exact)
    if len(new) <= len(old):
        return [*problems, f"{_MESSAGES}: {len(new)} where {len(old)} and a turn were seen"]
    return problems + _turn_problems(len(old), previous_turn, read(bytes(new[len(old)])), compared)


def retries(previous_request: bytes, request: bytes) -> bool:
    """Whether the two hold the same conversation, byte for byte."""
    before, after = _RAW.decode(previous_request), _RAW.decode(request)
    return all(_bytes(before.get(key)) == _bytes(after.get(key)) for key in (*_FIXED, _MESSAGES))


def unextended(
    received: Sequence[Received],
    conversation: Callable[[Received], Hashable],
    *,
    exact: bool = True,
    thinking: bool = True,
) -> list[str]:
    """The problems of every request that neither extends nor repeats an earlier one of its conversation.

    Requests without a turn in answer were not seen by a model, yet may be repeated. A request that continues no
    earlier one is reported against the newest.
    """
    seen: dict[Hashable, list[tuple[bytes, Document | None]]] = {}
    problems: list[str] = []
    for number, one in enumerate(received):
        if one.method != "POST" or one.refused or "count_tokens" in one.target:
            continue
        dialect = Dialect.CHAT if one.target.partition("?")[0].endswith("/completions") else Dialect.ANTHROPIC
        body = decoded(one.body, one.header("Content-Encoding") or "")
        earlier = seen.setdefault(conversation(one), [])
        if earlier and not any(retries(was, body) for was, _ in earlier):
            found: list[str] = []
            for was, turn in reversed(earlier):
                wrong = extends(was, turn, body, dialect=dialect, exact=exact, thinking=thinking)
                if not wrong:
                    break
                found = found or wrong
            else:
                problems += [f"request {number}: {problem}" for problem in found]
        earlier.append((body, one.turn))
    return problems


def _turn_problems(number: int, turn: Document | None, message: Document, compared: Callable[[Any], Any]) -> list[str]:
    where = f"{_MESSAGES}.{number}"
    if message.get("role") != "assistant":
        return [f"{where} is no assistant message"]
    if turn is None:
        return []
    first, second = compared(turn), compared(message)
    for said, came in zip(_inputs(first), _inputs(second), strict=False):
        if not isinstance(said[0].get(said[1]), dict):  # no request can carry what is no JSON: anything may stand there
            said[0][said[1]] = came[0][came[1]] = None
    return [] if first == second else [f"{where} is not the turn that was said"]


def _inputs(message: Document) -> list[tuple[Document, str]]:
    """Where the arguments of each call stand in a message's meaning, in order."""
    blocks = message.get("content")
    calls = [one for one in blocks if one.get("type") == "tool_use"] if isinstance(blocks, list) else []
    functions = [one["function"] for one in message.get("tool_calls") or [] if "function" in one]
    return [(call, "input") for call in calls] + [(function, "arguments") for function in functions]


def _same(
    where: str, was: msgspec.Raw | None, is_: msgspec.Raw | None, compared: Callable[[Any], Any], *, exact: bool
) -> list[str]:
    if _bytes(was) == _bytes(is_):
        return []
    first, second = _value(was), _value(is_)
    if compared(first) != compared(second):
        return [f"{where} has another meaning"]
    moved = _has_breakpoint(first) or _has_breakpoint(second)
    if exact and not (moved and _unmarked(first) == _unmarked(second)):
        return [f"{where} has other bytes"]
    return []


def _elements(body: dict[str, msgspec.Raw]) -> list[msgspec.Raw]:
    return _RAW_LIST.decode(body[_MESSAGES])


def _bytes(raw: msgspec.Raw | None) -> bytes:
    return b"" if raw is None else bytes(raw)


def _value(raw: msgspec.Raw | None) -> Any:
    return None if raw is None else read(bytes(raw))


def _meaning_of(key: str) -> Callable[[Any], Any]:
    if key == "system":
        return meaning.system
    return lambda tools: [meaning.tool(one) for one in tools or []]


def _message_meaning(dialect: Dialect, *, thinking: bool) -> Callable[[Any], Any]:
    if dialect is Dialect.CHAT:
        return meaning.chat_message
    return partial(meaning.anthropic_message, thinking=thinking)


def _has_breakpoint(value: Any) -> bool:
    match value:
        case dict():
            return "cache_control" in value or any(_has_breakpoint(inner) for inner in value.values())
        case list():
            return any(_has_breakpoint(inner) for inner in value)
        case _:
            return False


def _unmarked(value: Any) -> bytes:
    """The value as text, keys in their order, without its breakpoints."""
    return orjson.dumps(_without_breakpoints(value), default=str)


def _without_breakpoints(value: Any) -> Any:
    match value:
        case dict():
            return {key: _without_breakpoints(inner) for key, inner in value.items() if key != "cache_control"}
        case list():
            return [_without_breakpoints(inner) for inner in value]
        case _:
            return value
