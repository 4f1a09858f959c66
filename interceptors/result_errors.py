"""Results that are errors and do not say so: empty ones, error pages, stack traces, time-outs, bare HTTP statuses.

A model takes what it gets for what it asked for. Where a policy says so (`result: {errors: ...}`), what is in truth an
error becomes one, in the form that refusals have (DESIGN 5), by rules that stand here in their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import re2

from interceptors import strict_json
from policies.upkeep import ResultError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.calls import Json
    from policies.upkeep import ErrorRule

LOOKED_AT_MAX: Final = 65_536
"""Characters of a result that are looked at: an error stands at its beginning, the cause of a trace at its end."""
_SHORT: Final = 400  # characters of a text that may be an error as a whole
_DETAIL_MAX: Final = 200

_EMPTY: Final = frozenset({"", "null", "None", "undefined", '""'})
_HTML: Final = re2.compile(r"(?is)^\s*(?:<\?xml[^>]*>\s*)?(?:<!--.*?-->\s*)?(?:<!doctype\s+html|<html)")
_TITLE: Final = re2.compile(r"(?is)<(?:title|h1)[^>]*>([^<]{1,200})<")
_TRACE: Final = re2.compile(
    r"(?m)^\s*Traceback \(most recent call last\):|^\s+at (?:async )?[\w$.<>/]+\s*\([^()\n]*\)\s*$"
    r"|^\s*goroutine \d+ \[running\]:"
    r"|^thread '[^'\n]*' panicked at|^Unhandled exception|^Exception in thread |^\s*File \"[^\"\n]+\", line \d+, in "
)
_TIMEOUT: Final = re2.compile(
    r"(?i)\b(?:timed? ?-?out|time-?out|deadline exceeded|ETIMEDOUT|ECONNRESET|ECONNREFUSED|EAI_AGAIN|socket hang up"
    r"|connection (?:reset|refused|aborted|closed)|temporarily unavailable|try again later)\b"
)
_STATUS_TEXT: Final = re2.compile(
    r"(?i)^\s*(?:error:?\s*)?(?:http(?:/[\d.]+)?\s*)?(?:error|status(?: code)?)?[:\s]*([45]\d\d)\b"
)
_STATUS_TITLE: Final = re2.compile(r"\b([45]\d\d)\b")
_STATUS_KEYS: Final = ("status", "statusCode", "status_code", "http_status", "httpStatus", "code")
_ERROR_KEYS: Final = ("error", "errors", "message", "detail", "title", "statusText", "description", "fault")

_MESSAGES: Final[Mapping[ResultError, str]] = {
    ResultError.EMPTY: "The tool gave nothing back.",
    ResultError.TRANSIENT: "The tool failed for the moment.",
    ResultError.PERMANENT: "The tool failed.",
    ResultError.VALIDATION: "The tool did not accept the call.",
    ResultError.PERMISSION: "The tool does not permit this call.",
}
_NEXT: Final[Mapping[ResultError, str]] = {
    ResultError.EMPTY: "Do not guess what it would have said; say that there is nothing.",
    ResultError.TRANSIENT: "The same call may be tried again later.",
    ResultError.PERMANENT: "Do not repeat the call; say that it failed.",
    ResultError.VALIDATION: "Correct the arguments before you call it again.",
    ResultError.PERMISSION: "Do not repeat the call.",
}
_UNKNOWN: Final = "It is not known whether it was done. Do not repeat the call before you have looked."


def error_in(texts: Iterable[str], rules: Iterable[ErrorRule]) -> tuple[ResultError, str] | None:
    """What kind of error a result is in truth, and a few words of it; None where it is none."""
    text = "\n".join(texts)
    if text.strip() in _EMPTY:
        return ResultError.EMPTY, ""
    seen = text if len(text) <= LOOKED_AT_MAX else text[: LOOKED_AT_MAX // 2] + text[-LOOKED_AT_MAX // 2 :]
    try:
        for rule in rules:
            if next(rule.match.spans(seen), None) is not None:
                return rule.kind, _first_line(seen)
        return _built_in(seen)
    except UnicodeEncodeError:
        return None


def structured(kind: ResultError, detail: str, *, is_write: bool) -> str:
    """The error in the form of a refusal. What a write that failed has done is not known: it invites no second try."""
    is_open = is_write and kind in (ResultError.TRANSIENT, ResultError.PERMANENT, ResultError.EMPTY)
    said: dict[str, Json] = {
        "isError": True,
        "errorCategory": kind.value,
        "isRetryable": kind in (ResultError.TRANSIENT, ResultError.VALIDATION) and not is_open,
        "message": _MESSAGES[kind],
        "next": _UNKNOWN if is_open else _NEXT[kind],
    }
    if detail:
        said["detail"] = detail[:_DETAIL_MAX]
    return strict_json.canonical(said).decode()


def missing(*, is_write: bool) -> str:
    """What stands in the place of a result that never came: the same for ever, whatever call it answers."""
    said: dict[str, Json] = {
        "isError": True,
        "errorCategory": ResultError.TRANSIENT.value,
        "isRetryable": not is_write,
        "message": "No result of this call came back.",
        "next": _UNKNOWN if is_write else "Call it again if it is still needed.",
    }
    return strict_json.canonical(said).decode()


def _built_in(text: str) -> tuple[ResultError, str] | None:
    if _HTML.search(text[:2_000]) is not None:
        return _page(text)
    if _TRACE.search(text) is not None:
        last = text.rstrip().rpartition("\n")[2].strip()
        first = _first_line(text)
        cause = last if ":" in last and not last.startswith("at ") else first
        return (ResultError.TRANSIENT if _TIMEOUT.search(cause) else ResultError.PERMANENT), cause
    stripped = text.strip()
    if stripped.startswith("{"):
        return _object(stripped)
    if len(stripped) > _SHORT or stripped.startswith("["):
        return None
    if (found := _STATUS_TEXT.search(stripped)) is not None:
        return of_status(int(found.group(1))), _first_line(stripped)
    return (ResultError.TRANSIENT, _first_line(stripped)) if _TIMEOUT.search(stripped) is not None else None


def of_status(status: int) -> ResultError:
    """What an HTTP status from 400 on says."""
    if status in (401, 403, 407, 451):
        return ResultError.PERMISSION
    if status in (400, 409, 411, 413, 415, 422):
        return ResultError.VALIDATION
    if status in (408, 423, 425, 429) or status >= 500:
        return ResultError.TRANSIENT
    return ResultError.PERMANENT


def _page(text: str) -> tuple[ResultError, str]:
    """A page in the place of data is a gateway's, whatever it says."""
    title = _TITLE.search(text)
    words = " ".join(title.group(1).split()) if title is not None else ""
    status = _STATUS_TITLE.search(words)
    return (of_status(int(status.group(1))) if status is not None else ResultError.TRANSIENT), words


def _object(text: str) -> tuple[ResultError, str] | None:
    """A status from 400 on beside words for an error, or nothing but an error that says it timed out."""
    try:
        value = strict_json.parse(text)
    except strict_json.StrictJsonError:
        return None
    if not isinstance(value, dict) or value.get("isError") is True:
        return None
    said = next((value[key] for key in _ERROR_KEYS if value.get(key)), None)
    words = said if isinstance(said, str) else ""
    for key in _STATUS_KEYS:
        status = _number(value.get(key))
        if status is not None and said is not None:
            return of_status(status), words
    inner = value.get("error")
    if isinstance(inner, dict):
        found = next((status for key in _STATUS_KEYS if (status := _number(inner.get(key))) is not None), None)
        said = inner.get("message")
        if found is not None:
            return of_status(found), said if isinstance(said, str) else ""
    if isinstance(inner, str) and len(text) <= _SHORT and _TIMEOUT.search(inner) is not None:
        return ResultError.TRANSIENT, inner
    return None


def _number(value: Json) -> int | None:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) == 3:
        value = int(value)
    is_status = isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599
    return value if is_status and isinstance(value, int) else None


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0][:_DETAIL_MAX]
