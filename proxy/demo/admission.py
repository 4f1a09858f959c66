"""The provider's door: what it refuses before a script hears of the request, in the words of the real ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.demo.anthropic_history import anthropic_refusal
from proxy.demo.anthropic_thinking import Heard, heard
from proxy.demo.chat_history import chat_refusal
from proxy.demo.documents import read
from proxy.demo.encodings import decoded
from proxy.demo.turns import Dialect, HttpError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.demo.servers import AnthropicServer, ChatServer
    from proxy.demo.turns import Document


@dataclass(frozen=True, slots=True)
class Admitted:
    """A request that the provider takes; `heard` is what came of its thinking (Anthropic)."""

    body: Document
    heard: Heard | None = None


def parsed(
    headers: Mapping[str, str], raw: bytes, dialect: Dialect, *, counting: bool, model: str | None = None
) -> Document | HttpError:
    """The body, or the refusal of a request that is none whatever its history holds. `model` is one that the path
    names."""
    refusal = _unauthorised(headers, dialect)
    if refusal is not None:
        return refusal
    try:
        body = read(decoded(raw, headers.get("Content-Encoding", "")))
    except ValueError as error:
        return HttpError(400, "invalid_request_error", f"The request body is not valid JSON: {error}")
    if not isinstance(body, dict):
        return HttpError(400, "invalid_request_error", "Input should be a valid dictionary")
    if model is not None:
        body.setdefault("model", model)
    required = ("model", "max_tokens") if dialect is Dialect.ANTHROPIC else ("model",)
    for key in required:
        if key not in body and not (counting and key == "max_tokens"):
            return _missing(key, dialect)
    return body


def admitted_anthropic(body: Document, betas: str, server: AnthropicServer) -> Admitted | HttpError:
    """The request with its history checked. `betas` is the `anthropic-beta` header."""
    refusal = anthropic_refusal(body, server)
    if refusal is not None:
        return refusal
    thinking = heard(body, frozenset(one.strip() for one in betas.split(",")), server)
    return thinking if isinstance(thinking, HttpError) else Admitted(body, thinking)


def admitted_chat(body: Document, server: ChatServer) -> Admitted | HttpError:
    """The request with its history checked."""
    return chat_refusal(body, server) or Admitted(body)


def _missing(key: str, dialect: Dialect) -> HttpError:
    if dialect is Dialect.ANTHROPIC:
        return HttpError(400, "invalid_request_error", f"{key}: Field required")
    return HttpError(400, "invalid_request_error", f"you must provide a {key} parameter")


def _unauthorised(headers: Mapping[str, str], dialect: Dialect) -> HttpError | None:
    bearer = headers.get("Authorization", "").startswith("Bearer ")
    if dialect is Dialect.CHAT:
        if bearer or "api-key" in headers:
            return None
        return HttpError(401, "invalid_request_error", "You didn't provide an API key.")
    if not bearer and "x-api-key" not in headers:
        return HttpError(401, "authentication_error", "x-api-key header is required")
    if "anthropic-version" not in headers:
        return HttpError(400, "invalid_request_error", "anthropic-version: header is required")
    return None
