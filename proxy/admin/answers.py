"""What the admin listener's answers share: how a request is read, and what an answer looks like."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from aiohttp import hdrs, web

from interceptors.strict_json import StrictJsonError, parse

if TYPE_CHECKING:
    from interceptors.calls import Json

REASON_LENGTH_MAX = 1000
PAGE_MAX = 500


class RefusedError(Exception):
    """An answer that is no success: a status, a code, and a message without a value."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code


async def json_of(request: web.Request, keys: set[str], *, optional: set[str]) -> dict[str, Json]:
    """The object of a request's body, with these keys, and perhaps the optional ones."""
    try:
        body = parse(await request.read())
    except StrictJsonError as error:
        raise RefusedError(400, "invalid", f"the body is refused: {error}") from None
    if not isinstance(body, dict) or not keys <= body.keys() <= keys | optional:
        wanted = f"{', '.join(sorted(keys))}, and perhaps {', '.join(sorted(optional))}"
        raise RefusedError(400, "invalid", f"the body must be a JSON object with {wanted}")
    return body


async def body_of(request: web.Request, keys: set[str]) -> dict[str, Json]:
    """The object of a request's body, with exactly these keys; an empty body is an empty object."""
    data = await request.read()
    try:
        body = parse(data) if data else {}
    except StrictJsonError as error:
        raise RefusedError(400, "invalid", f"the body is refused: {error}") from None
    if not isinstance(body, dict) or body.keys() != keys:
        wanted = f"a JSON object with {', '.join(sorted(keys))}" if keys else "empty"
        raise RefusedError(400, "invalid", f"the body must be {wanted}")
    return body


def text_of(body: dict[str, Json], key: str) -> str:
    """A text of a body, which says something."""
    value = body[key]
    if not isinstance(value, str) or not value.strip() or len(value) > REASON_LENGTH_MAX:
        raise RefusedError(400, "invalid", f"{key!r} must be a text of at most {REASON_LENGTH_MAX} characters")
    return value


def page_of(text: str | None) -> int:
    """The `limit` of a query."""
    if text is None:
        return 50
    if not text.isascii() or not text.isdecimal() or len(text) > 4 or not 1 <= int(text) <= PAGE_MAX:
        raise RefusedError(400, "invalid", f"'limit' is a number from 1 to {PAGE_MAX}")
    return int(text)


def answered(value: object, status: int = 200) -> web.Response:
    """A JSON answer that nobody keeps."""
    return web.Response(
        body=orjson.dumps(value),
        status=status,
        headers={hdrs.CONTENT_TYPE: "application/json", hdrs.CACHE_CONTROL: "no-store"},
    )
