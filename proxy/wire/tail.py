"""The end of a request's messages, without splitting all of them: what is new costs what is new.

A history of megabytes comes with every request, and only its last turns are new.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from proxy.wire import envelope
from proxy.wire.transcript import part_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from proxy.wire.transcript import ResultSeen, SideTurn, Transcript

_START = b'{"role"'
_BETWEEN = b" \t\r\n,"
ASSISTANT = b'{"role":"assistant"'
PLAIN = tuple(b'{"role":"%s"' % role for role in (b"user", b"tool", b"system", b"developer", b"function"))
_SHORT_BYTES = 32 * 1024
_FIRST_MESSAGES = 3  # an assistant's turn, a user's, and one before them that says where the first begins


def is_short(messages: bytes) -> bool:
    """Whether the last messages are so few bytes that they are read at once."""
    begins = max(0, len(messages) - _SHORT_BYTES)
    return messages.startswith(b"[") and (begins == 0 or messages.count(_START, begins) > _FIRST_MESSAGES)


def results(messages: bytes, read: Callable[[bytes], Transcript]) -> list[ResultSeen]:
    """The results in the newest turn, if that is the user's side; what the call was that each answers is not read.

    Raises `EnvelopeError`.
    """
    found: list[bytes] = []
    for message in backwards(messages):
        is_plain = message.startswith(PLAIN)  # the role is the first member, and not written with escapes
        if message.startswith(ASSISTANT) or (not is_plain and read(_request([message])).newest()[0] is not None):
            break
        found.append(message)
    came = read(_request(found)).newest()[1] if found else None
    return came.results if came is not None else []


class _Block(msgspec.Struct):
    type: str = ""
    tool_use_id: str = ""


class _Message(msgspec.Struct):
    role: str = ""
    content: list[_Block] | str | None = None
    tool_call_id: str = ""


_message = msgspec.json.Decoder(_Message)


def result_ids(messages: bytes, read: Callable[[bytes], Transcript]) -> list[str]:
    """The calls that `results` says are answered, without reading what was answered: enough to look them up.

    Raises `EnvelopeError`.
    """
    found: list[str] = []
    try:
        for message in backwards(messages):
            if message.startswith(ASSISTANT):
                return found[::-1]
            if not message.startswith(PLAIN):
                break
            seen = _message.decode(message)
            if seen.role == "tool" and not seen.tool_call_id:
                break  # a dialect whose results bear no ids
            answered = [seen.tool_call_id] if seen.tool_call_id else _answered(seen.content)
            if answered is None:
                break
            found += answered[::-1]
        else:
            return found[::-1]
    except msgspec.DecodeError:
        pass  # another shape than the one that is read quickly
    return [result.call for result in results(messages, read)]


def _answered(content: list[_Block] | str | None) -> list[str] | None:
    """None where a block does not say its type: a dialect that names the kinds of its blocks in another way."""
    found: list[str] = []
    for block in content if isinstance(content, list) else ():
        if not block.type:
            return None
        if block.type == "tool_result":
            found.append(block.tool_use_id)
    return found


def newest(
    body: bytes, messages: bytes, read: Callable[[bytes], Transcript]
) -> tuple[SideTurn | None, SideTurn | None]:
    """What `Transcript.newest` of `body` says, but for the places of the turns. `messages` is the member as it stands
    in the body, empty where the dialect does not say; `read` reads a body of the dialect.

    Raises `EnvelopeError`.
    """
    if not messages.startswith(b"["):
        return read(body).newest()
    found: list[bytes] = []
    wanted = _FIRST_MESSAGES
    for message in backwards(messages):
        found.append(message)
        if len(found) == wanted:
            turns = read(_request(found)).newest()
            if turns[0] is not None and turns[0].first > 0:
                return turns
            wanted *= 2
    return read(_request(found)).newest()


def backwards(array: bytes) -> Iterator[bytes]:
    """The elements of a JSON array, the last one first.

    Where an element begins is guessed and then proved: in valid JSON these bytes begin an object, never a part of a
    string, and what reaches from an object further down to the array's end closes more than it opens.
    """
    end = len(array.rstrip(_BETWEEN)) - 1  # the bracket
    while (start := array.rfind(_START, 0, end)) > 0:
        try:
            some = envelope.elements(b"[" + array[start:end].rstrip(_BETWEEN) + b"]")
        except envelope.EnvelopeError:
            break
        yield from reversed(some)
        end = start
    yield from reversed(envelope.elements(array[:end].rstrip(_BETWEEN) + b"]"))


def _request(found: list[bytes]) -> bytes:
    return part_of(found[::-1])
