"""What Gemini refuses of a history: turns, the counts of calls and responses, signatures; in its own words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.signatures import call_signature
from proxy.demo.turns import Asked, Dialect, HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.turns import Document

_COUNTS = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the "
    "function call turn."
)
_AFTER_CALLS = "Please ensure that function response turn comes immediately after a function call turn."
_BEFORE_CALLS = (
    "Please ensure that function call turn comes immediately after a user turn or after a function response turn."
)
_UNSIGNED = (
    "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, "
    "and missing thought_signature may lead to degraded model performance. Additional data, function call "
    "`default_api:{name}` , position {place}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures "
    "for more details."
)
_ALPHABET = str.maketrans("-_", "+/")  # of base64; clients write either


def gemini_refusal(body: Document) -> HttpError | None:
    """The first thing that the provider would not take, or None."""
    text = next(_faults(body), None)
    return None if text is None else HttpError(400, "INVALID_ARGUMENT", text)


def _faults(body: Document) -> Iterator[str]:
    contents = body.get("contents")
    if not isinstance(contents, list) or not contents:
        yield "* GenerateContentRequest.contents: contents is not specified\n"
        return
    for place, content in enumerate(contents):
        if content.get("role", "user") not in ("user", "model", "function"):
            yield "Please use a valid role: user, model."
        if not content.get("parts"):
            yield f"* GenerateContentRequest.contents[{place}].parts: contents.parts must not be empty.\n"
            return
    yield from _pair_faults(contents)
    yield from _signature_faults(contents)


def _pair_faults(contents: list[Document]) -> Iterator[str]:
    calls: list[str] = []
    before = ""
    for content in contents:
        made, answered = _named(content, "functionCall"), _named(content, "functionResponse")
        if calls and len(answered) != len(calls):
            yield _COUNTS
        if answered and not calls:
            yield _AFTER_CALLS
        if calls and sorted(answered) != sorted(calls):
            yield _COUNTS
        if made and before not in ("user", "function"):
            yield _BEFORE_CALLS
        calls, before = made, content.get("role", "user")
    if calls:
        yield _COUNTS


def _signature_faults(contents: list[Document]) -> Iterator[str]:
    """Of the current turn, which begins with the newest text of the user, the first call of each step is signed; a
    signature stays on its call everywhere."""
    starts = [place for place, content in enumerate(contents) if _is_users_own(content)]
    for place, content in enumerate(contents):
        is_first = True
        for position, part in enumerate(content["parts"], 1):
            call, signature = part.get("functionCall"), part.get("thoughtSignature")
            if call is None:
                continue
            if is_first and signature is None and place > (starts[-1] if starts else -1):
                yield _UNSIGNED.format(name=call["name"], place=position)
            made = call_signature(call["name"], _text(call.get("args") or {}))
            if signature is not None and signature.translate(_ALPHABET) != made:
                yield "Corrupted thought signature."
            is_first = False


def gemini_asked(body: Document, model: str, *, streamed: bool) -> Asked:
    """A request as the script sees it."""
    user_text, rounds = "", 0
    results: list[str] = []
    for content in body["contents"]:
        if content.get("role") == "model":
            rounds += 1
            continue
        answers = [
            _text(part["functionResponse"]["response"]) for part in content["parts"] if "functionResponse" in part
        ]
        texts = [part["text"] for part in content["parts"] if "text" in part]
        if texts and not answers:
            user_text, results, rounds = "\n".join(texts), [], 0
        results += answers
    return Asked(Dialect.GEMINI, body, model, streamed, user_text, tuple(results), rounds)


def _is_users_own(content: Document) -> bool:
    return content.get("role", "user") == "user" and not _named(content, "functionResponse")


def _named(content: Document, member: str) -> list[str]:
    return [part[member]["name"] for part in content["parts"] if member in part]


def _text(value: Any) -> str:
    return orjson.dumps(value, default=str).decode()
