"""Where in a conversation the newest text of the user's side stands, and what it says; as the client holds it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, NamedTuple

from proxy.ledger.outline import outlined
from proxy.wire.tail import newest
from proxy.wire.transcript import Side

if TYPE_CHECKING:
    from proxy.wire.dialect import Dialect
    from proxy.wire.transcript import SideTurn


class Places(NamedTuple):
    """Names of the place behind the newest user-side turn, and behind those before it, the newest first; and behind
    what the provider keeps, where the request goes on with that. `exactly` tells all messages from any others, also by
    what is no turn of the customer's or the model's."""

    here: str
    earlier: tuple[str, ...]
    exactly: str


def text_of(dialect: Dialect, body: bytes, messages: bytes) -> str:
    """The newest user text; empty where the newest turn of the user's side holds a result. `messages` as
    `RequestView` has them. Raises `EnvelopeError`."""
    transcript = dialect.continuation.transcript
    _, came = newest(body, messages, transcript)
    if came is None:  # the client begins the answer itself: the user's turn stands before that
        turns = [turn for turn in transcript(body).turns() if turn.side is not Side.SYSTEM]
        came = turns[-2] if len(turns) > 1 else None
    return "" if came is None else _own_text(came)


def places_of(dialect: Dialect, body: bytes) -> Places:
    """Of a request with a user text. Raises `EnvelopeError`."""
    transcript = dialect.continuation.transcript(body)
    steps = outlined(transcript.turns())
    users = [step.after.hex() for step in steps if step.side is Side.USER]
    kept = [steps[0].after.hex()] if steps and steps[0].side is Side.ASSISTANT else []
    exactly = hashlib.sha256(b"\0".join(transcript.messages)).hexdigest()  # no JSON holds the byte between them
    return Places(users[-1], (*reversed(users[:-1]), *kept), exactly)


def _own_text(turn: SideTurn) -> str:
    return "" if turn.side is not Side.USER or turn.results else "\n".join(turn.texts)
