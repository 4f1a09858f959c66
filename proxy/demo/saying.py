"""A scripted turn made ready to be said: ids for its calls, signatures for its thinking, counted tokens."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proxy.demo import anthropic_wire, chat_wire
from proxy.demo.thinking import signed
from proxy.demo.turns import Block, Call, Dialect, Text, Thinking, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proxy.demo.admission import Admitted
    from proxy.demo.identifiers import Identifiers
    from proxy.demo.servers import ChatServer
    from proxy.demo.turns import Document, Part, Turn

_BYTES_A_TOKEN = 4
_TOKENS_A_BLOCK = 8


@dataclass(frozen=True, slots=True)
class Said:
    """A turn as it goes out, and the assistant message that a client should make of it."""

    turn: Turn
    message: Document


def said_anthropic(turn: Turn, admitted: Admitted, request_bytes: int, identifiers: Identifiers) -> Said:
    turn = _with_ids(turn, lambda: identifiers.next("toolu_01", 22))
    if admitted.heard is not None:
        turn = signed(turn, anthropic_wire.content(turn), admitted.heard.prefix)
    turn = _with_usage(turn, request_bytes)
    return Said(turn, {"role": "assistant", "content": anthropic_wire.content(turn)})


def said_chat(turn: Turn, request_bytes: int, identifiers: Identifiers, server: ChatServer) -> Said:
    turn = _with_usage(_with_ids(turn, lambda: chat_wire.new_id(identifiers, server)), request_bytes)
    return Said(turn, chat_wire.message(turn, server))


def said(
    turn: Turn,
    admitted: Admitted,
    dialect: Dialect,
    *,
    request_bytes: int,
    identifiers: Identifiers,
    server: ChatServer,
) -> Said:
    """The turn in that dialect; `server` speaks Chat."""
    if dialect is Dialect.ANTHROPIC:
        return said_anthropic(turn, admitted, request_bytes, identifiers)
    return said_chat(turn, request_bytes, identifiers, server)


def tokens(size: int) -> int:
    """About as many tokens as a real provider would count in that many bytes."""
    return size // _BYTES_A_TOKEN + 1


def _with_ids(turn: Turn, new_id: Callable[[], str]) -> Turn:
    def named(parts: Sequence[Part]) -> tuple[Part, ...]:
        return tuple(replace(part, id=new_id()) if isinstance(part, Call) and not part.id else part for part in parts)

    return replace(turn, parts=named(turn.parts), more_choices=tuple(named(parts) for parts in turn.more_choices))


def _with_usage(turn: Turn, request_bytes: int) -> Turn:
    if turn.usage is not None:
        return turn
    output = sum(_TOKENS_A_BLOCK + tokens(_size(part)) for parts in turn.choices for part in parts)
    return replace(turn, usage=Usage(tokens(request_bytes), output))


def _size(part: Part) -> int:
    match part:
        case Text(text) | Thinking(text):
            return len(text.encode())
        case Call():
            return len(part.name) + len(part.arguments.encode())
        case Block():
            return len(str(part.whole))
