"""What OpenAI Chat Completions refuses in a request's history, with its own texts (as users quote them in reports)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import re2

from proxy.demo.servers import OPENAI
from proxy.demo.signatures import call_signature
from proxy.demo.turns import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.servers import ChatServer
    from proxy.demo.turns import Document

_CHAT_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_NINE = re2.compile(r"[a-zA-Z0-9]{9}")
_REASONING = "The `reasoning_content` in the thinking mode must be passed back to the API."


def chat_refusal(body: Document, server: ChatServer = OPENAI) -> HttpError | None:
    """The first thing that OpenAI, or a server compatible with it, would find wrong with `messages`, or None."""
    messages = body.get("messages")
    if not isinstance(messages, list):
        return _chat_error("Missing required parameter: 'messages'.", "messages", "missing_required_parameter")
    if not messages:
        text = (
            "Invalid 'messages': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        return _chat_error(text, "messages", "empty_array")
    for number, message in enumerate(messages):
        if not isinstance(message, dict):
            text = f"Invalid type for 'messages[{number}]': expected an object, but got something else instead."
            return _chat_error(text, f"messages[{number}]", "invalid_type")
    return next(_chat_faults(messages, server), None)


def _chat_faults(messages: list[Any], server: ChatServer) -> Iterator[HttpError]:
    open_ids: dict[str, bool] = {}  # the calls of the newest assistant message -> answered
    opened_at = 0
    for number, message in enumerate(messages):
        role = message.get("role")
        if role not in _CHAT_ROLES:
            supported = ", ".join(f"'{one}'" for one in _CHAT_ROLES[:-1]) + f", and '{_CHAT_ROLES[-1]}'"
            text = f"Invalid value: '{role}'. Supported values are: {supported}."
            yield _chat_error(text, f"messages[{number}].role", "invalid_value")
        if role == "tool":
            yield from _tool_message_faults(number, message, open_ids)
            continue
        yield from _chat_unanswered(opened_at, open_ids, server)
        open_ids, opened_at = {}, number
        if role == "assistant":
            yield from _assistant_faults(number, message, open_ids, server)
        elif role == "function" and not message.get("name"):
            text = "Missing parameter 'name': messages with role 'function' must have a 'name'."
            yield _chat_error(text, f"messages.[{number}].name", None)
    yield from _chat_unanswered(opened_at, open_ids, server)


def _tool_message_faults(number: int, message: Document, open_ids: dict[str, bool]) -> Iterator[HttpError]:
    identifier = message.get("tool_call_id")
    param = f"messages.[{number}].role"
    if not open_ids:
        text = (
            "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'."
        )
        yield _chat_error(text, param, None)
    elif identifier not in open_ids:
        text = f"Invalid parameter: 'tool_call_id' of '{identifier}' not found in 'tool_calls' of previous message."
        yield _chat_error(text, f"messages.[{number}].tool_call_id", None)
    elif open_ids[identifier]:
        text = f"Invalid parameter: Duplicate value for 'tool_call_id' of '{identifier}' in message."
        yield _chat_error(text, f"messages.[{number}].tool_call_id", None)
    else:
        open_ids[identifier] = True
    if message.get("content") is None:
        text = "Invalid value for 'content': expected a string, got null."
        yield _chat_error(text, f"messages.[{number}].content", None)


def _chat_unanswered(number: int, open_ids: dict[str, bool], server: ChatServer) -> Iterator[HttpError]:
    missing = [identifier for identifier, answered in open_ids.items() if not answered]
    if missing and server.counts_results:
        text = "Not the same number of function calls and responses"
        yield HttpError(400, "invalid_request_message_error", text, code="3230")
    elif missing:
        text = (
            "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
            "'tool_call_id'. The following tool_call_ids did not have response messages: " + ", ".join(missing)
        )
        yield _chat_error(text, f"messages.[{number + 1}].role", None)


def _assistant_faults(
    number: int, message: Document, open_ids: dict[str, bool], server: ChatServer
) -> Iterator[HttpError]:
    calls = message.get("tool_calls")
    if calls is None:
        if message.get("content") is None and message.get("function_call") is None and message.get("refusal") is None:
            text = "Invalid value for 'content': expected a string, got null."
            yield _chat_error(text, f"messages.[{number}].content", None)
        return
    where = f"messages[{number}].tool_calls"
    if not calls:
        text = (
            f"Invalid '{where}': empty array. Expected an array with minimum length 1, but got an empty array instead."
        )
        yield _chat_error(text, where, "empty_array")
    for place, call in enumerate(calls):
        if not isinstance(call, dict):
            text = f"Invalid type for '{where}[{place}]': expected an object, but got something else instead."
            yield _chat_error(text, f"{where}[{place}]", "invalid_type")
        yield from _chat_call_faults(f"{where}[{place}]", call, open_ids, server)
        open_ids[str(call.get("id"))] = False
    if server.reasoning and not isinstance(message.get("reasoning_content"), str):
        yield _chat_error(_REASONING, None, "invalid_request_error")
    if server.signed_calls:
        yield from _signature_faults(calls)


def _chat_call_faults(where: str, call: Document, open_ids: dict[str, bool], server: ChatServer) -> Iterator[HttpError]:
    identifier = call.get("id")
    if not isinstance(identifier, str):
        yield _chat_error(f"Missing required parameter: '{where}.id'.", f"{where}.id", "missing_required_parameter")
        return
    if server.nine_char_ids and not _NINE.fullmatch(identifier):
        text = f"Tool call id was {identifier} but must be a-z, A-Z, 0-9, with a length of 9."
        yield HttpError(400, "invalid_request_message_error", text, code="3280")
    if server.id_chars_max is not None and len(identifier) > server.id_chars_max:
        text = (
            f"Invalid '{where}.id': string too long. Expected a string with maximum length {server.id_chars_max}, "
            f"but got a string with length {len(identifier)} instead."
        )
        yield _chat_error(text, f"{where}.id", "string_above_max_length")
    if identifier in open_ids:
        yield _chat_error(f"Duplicate value for 'tool_call_id' of '{identifier}'.", f"{where}.id", None)
    arguments = call.get("function", {}).get("arguments", "")
    if not isinstance(arguments, str) and not server.object_arguments:
        text = f"Invalid type for '{where}.function.arguments': expected a string, but got an object instead."
        yield _chat_error(text, f"{where}.function.arguments", "invalid_type")


def _signature_faults(calls: list[Document]) -> Iterator[HttpError]:
    """The first call of a turn is signed; a signature stays on its call."""
    for place, call in enumerate(calls):
        function = call.get("function") or {}
        name, arguments = function.get("name"), function.get("arguments")
        signature = ((call.get("extra_content") or {}).get("google") or {}).get("thought_signature")
        if place == 0 and signature is None:
            text = (
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to "
                "work correctly, and missing thought_signature may lead to degraded model performance. Additional "
                f"data, function call `default_api:{name}` , position {place + 1}."
            )
            yield HttpError(400, "INVALID_ARGUMENT", text)
        elif signature is not None and signature != call_signature(str(name), str(arguments)):
            yield HttpError(400, "INVALID_ARGUMENT", "Corrupted thought signature.")


def _chat_error(text: str, param: str | None, code: str | None) -> HttpError:
    return HttpError(400, "invalid_request_error", text, code=code, param=param)
