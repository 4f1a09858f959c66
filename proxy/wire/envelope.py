"""A JSON object split into its members without reading them: what is not edited keeps its bytes.

A body of megabytes is not parsed to learn its model and its tools; its members are found, and a member that stands
twice is refused, since two parsers would take two of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from interceptors import strict_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_MANY = 100  # elements, in one copy of which there are few bytes beside all of them
_WHITE = b" \t\r\n"
_QUOTE, _BACKSLASH, _COMMA, _COLON, _CLOSE = b'"\\,:}'

_members = msgspec.json.Decoder(dict[str, msgspec.Raw])
_elements = msgspec.json.Decoder(list[msgspec.Raw])
_encoder = msgspec.json.Encoder()


class EnvelopeError(ValueError):
    """The bytes are no JSON object with one reading. The message says why and holds no part of them; `reason` is what
    a request with them is refused for."""

    reason = "invalid_body"


def members(body: bytes) -> dict[str, bytes]:
    """The members of a JSON object, each with its bytes as they came."""
    if not body.isascii():
        try:
            body.decode()
        except UnicodeDecodeError:
            raise EnvelopeError("the body is not UTF-8") from None
    try:
        found = _members.decode(body)
    except (msgspec.DecodeError, RecursionError):
        raise EnvelopeError("the body is no JSON object") from None
    raw: dict[str, bytes] = {}
    size = 1 + 4 * len(found)  # of a compact object: braces, quotes, colons and commas
    for key, value in found.items():
        raw[key] = member = bytes(value)
        size += len(member) + (len(key) if key.isascii() else len(key.encode()))
    # A body as long as these members alone need has nothing else in it: a second member of a name, white space and an
    # escape in a name each make it longer than that.
    if size != len(body) or not raw:
        _refuse_duplicates(body, raw)
    return raw


def elements(array: bytes) -> list[bytes]:
    """The elements of a JSON array, each with its bytes."""
    try:
        return [bytes(element) for element in _elements.decode(array)]
    except (msgspec.DecodeError, RecursionError):
        raise EnvelopeError("a member that should be a list is none") from None


def list_or_none(raw: bytes) -> list[bytes]:
    """The elements of a member that may be `null`."""
    return [] if raw == b"null" else elements(raw)


def value_of(raw: bytes) -> Any:
    """One member, read strictly."""
    try:
        return strict_json.parse_envelope(raw)
    except strict_json.StrictJsonError as error:
        raise EnvelopeError(f"a member cannot be read in one way: {error}") from None


def encode(value: Any) -> bytes:
    """Compact JSON of a value of ours."""
    return _encoder.encode(value)


def join(raw: Mapping[str, bytes]) -> bytes:
    """Members back to an object."""
    parts = [b"{"]
    for key, value in raw.items():
        parts += [_encoder.encode(key), b":", value, b","]
    if raw:
        parts.pop()
    return b"".join([*parts, b"}"])  # once: of megabytes, each copy costs


def join_list(raw: Sequence[bytes]) -> bytes:
    if len(raw) < _MANY:
        return b"[" + b",".join(raw) + b"]"
    return b",".join([b"[" + raw[0], *raw[1:-1], raw[-1] + b"]"])


def edited(raw: bytes, **changes: Any) -> bytes:
    """The object with some members replaced, or taken out where the change is `REMOVED`; the rest keeps its bytes."""
    found = members(raw)
    for key, value in changes.items():
        if value is REMOVED:
            found.pop(key, None)
        else:
            found[key] = value if isinstance(value, bytes) else encode(value)
    return join(found)


class _Removed:
    """The type of `REMOVED`."""


REMOVED = _Removed()


def raw_at(body: bytes, *path: str | int) -> bytes:
    """The bytes of the value at a path of keys and positions, of a body that was read strictly before."""
    for step in path:
        body = elements(body)[step] if isinstance(step, int) else members(body)[step]
    return body


def _refuse_duplicates(body: bytes, raw: Mapping[str, bytes]) -> None:
    """Walk over the members by their known lengths: a value that is not where it should be stands there twice."""
    place = _skip_white(body, body.index(b"{") + 1)
    seen = set()
    while body[place] != _CLOSE:
        end = _end_of_string(body, place)
        key = msgspec.json.decode(body[place:end], type=str)
        place = _skip_white(body, _skip_white(body, end) + 1)  # the colon
        value = raw[key]
        if key in seen or not body.startswith(value, place):
            raise EnvelopeError("the body holds a member twice")
        seen.add(key)
        place = _skip_white(body, place + len(value))
        if body[place] == _COMMA:
            place = _skip_white(body, place + 1)


def _skip_white(body: bytes, place: int) -> int:
    while body[place] in _WHITE:
        place += 1
    return place


def _end_of_string(body: bytes, place: int) -> int:
    place += 1
    while body[place] != _QUOTE:
        place += 2 if body[place] == _BACKSLASH else 1
    return place + 1
