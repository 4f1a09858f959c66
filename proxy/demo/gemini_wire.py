"""A turn in the grammar of Gemini's `generateContent`: the chunks of a stream, the body, errors.

The grammar is the provider's own: a chunk is a whole answer with a part of the parts, lines end with CRLF, the reason
comes with the last part, calls come whole and bear no id, and the first call of a turn is signed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import orjson

from proxy.demo.anthropic_wire import fragments
from proxy.demo.signatures import call_signature
from proxy.demo.turns import Call, Document, HttpError, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.demo.identifiers import Identifiers
    from proxy.demo.turns import Part

STREAM_TYPE: Final = "text/event-stream"
_STOPS: Final = {Stop.LENGTH: "MAX_TOKENS", Stop.REFUSAL: "SAFETY"}


def events(turn: Turn, model: str, identifiers: Identifiers, fragment_chars: int) -> list[bytes]:
    """The frames of a streamed turn, in order."""
    identifier = identifiers.next("", 22)
    pieces = _parts(turn.parts, fragment_chars) or [b'{"text":""}']
    return [
        b"data: " + _answer(turn, model, identifier, [piece], is_last=place == len(pieces)) + b"\r\n\r\n"
        for place, piece in enumerate(pieces, 1)
    ]


def body(turn: Turn, model: str, identifiers: Identifiers) -> bytes:
    """The answer that is not streamed."""
    return _answer(turn, model, identifiers.next("", 22), _parts(turn.parts, 0), is_last=True) + b"\n"


def message(turn: Turn) -> Document:
    """The content of the model, as a client reads it; argument texts that are no JSON are left out."""
    parts = [orjson.loads(part) for part in _parts(turn.parts, 0)]
    return {"role": "model", "parts": parts}


def error_body(error: HttpError) -> bytes:
    fields = {"code": error.status, "message": error.message, "status": error.type}
    return orjson.dumps({"error": fields}, option=orjson.OPT_INDENT_2) + b"\n"


def _answer(turn: Turn, model: str, identifier: str, parts: Sequence[bytes], *, is_last: bool) -> bytes:
    counted = turn.counted
    usage: Document = {"promptTokenCount": counted.input_tokens, "totalTokenCount": counted.input_tokens}
    reason = b""
    if is_last:
        usage |= {
            "candidatesTokenCount": counted.output_tokens,
            "totalTokenCount": counted.input_tokens + counted.output_tokens,
        }
        reason = b',"finishReason":"%s"' % _STOPS.get(turn.stop or Stop.END, "STOP").encode()
    return (
        b'{"candidates":[{"content":{"parts":['
        + b",".join(parts)
        + b'],"role":"model"}'
        + reason
        + b',"index":0}],"usageMetadata":'
        + orjson.dumps(usage)
        + b',"modelVersion":'
        + orjson.dumps(model)
        + b',"responseId":'
        + orjson.dumps(identifier)
        + b"}"
    )


def _parts(parts: Sequence[Part], fragment_chars: int) -> list[bytes]:
    """The parts as JSON; a script's argument text stands in them as it is."""
    found: list[bytes] = []
    is_signed = False
    for part in parts:
        match part:
            case Text(text) | Thinking(text):
                thought = {"thought": True} if isinstance(part, Thinking) else {}
                pieces = fragments(text, fragment_chars) if fragment_chars else [text]
                found += [orjson.dumps({"text": piece, **thought}) for piece in pieces]
            case Call(name, arguments):
                call = b'{"functionCall":{"name":' + orjson.dumps(name) + b',"args":' + (arguments or "{}").encode()
                signature = b"" if is_signed else b',"thoughtSignature":"%s"' % call_signature(name, arguments).encode()
                found.append(call + b"}" + signature + b"}")
                is_signed = True
            case _:
                found.append(orjson.dumps(part.whole))
    return found
