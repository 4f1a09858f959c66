"""The items of a Responses request: whose side each belongs to, and the results of calls (WIRE.md 3.1, 8.3)."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from interceptors import strict_json
from proxy.wire import envelope
from proxy.wire.assembly import FREEFORM
from proxy.wire.responses_items import call_arguments, call_id, call_name, is_reply
from proxy.wire.responses_references import own_turn, read, shown, type_of
from proxy.wire.responses_types import (
    APPROVAL,
    COMPUTER,
    CUSTOM,
    FUNCTION,
    LOCAL_SHELL,
    MESSAGE,
    PATCH,
    REASONING,
    REFERENCE,
    SEARCH,
    SHELL,
    Kind,
    kind_of,
)
from proxy.wire.seal import SEALED, opened
from proxy.wire.transcript import CallSeen, Side, Turns, call_seen, result_seen
from proxy.wire.turn import remarked

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.transcript import HiddenResult, SideTurn

RESULTS: Final = frozenset(
    {
        "apply_patch_call_output",
        "computer_call_output",
        "custom_tool_call_output",
        "function_call_output",
        "local_shell_call_output",
        "mcp_approval_response",
        "shell_call_output",
        "tool_search_output",
    }
)
_SIDES = {"user": Side.USER, "assistant": Side.ASSISTANT, "system": Side.SYSTEM, "developer": Side.SYSTEM}
_BLANK = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY42YAAAAASUVORK5CYII="
)
"""One pixel: a computer's result is a screenshot, and there is none."""


def items_of(messages: Sequence[bytes]) -> list[bytes]:
    """Messages to items: a turn of several items is one message, a list of them; an empty message is none."""
    items: list[bytes] = []
    for message in messages:
        items += envelope.elements(message) if message.startswith(b"[") else [message] if message else []
    return items


def is_result(item: Mapping[str, Any], contained: frozenset[str]) -> bool:
    """Whether an item is the client's answer to a call. `contained` are the shell calls that ran at the provider."""
    kind = type_of(item)
    if kind == "tool_search_output" and item.get("execution") == "server":
        return False
    return kind in RESULTS and not (kind == "shell_call_output" and str(item.get("call_id")) in contained)


def answered_call(item: Mapping[str, Any]) -> str:
    """The call that a result answers."""
    kind = type_of(item)
    if kind == "mcp_approval_response":
        return str(item.get("approval_request_id") or "")
    return str(item.get("call_id") or item.get("id") or "")


def turns_of(items: Sequence[bytes], first: int = 0) -> list[SideTurn]:
    """The turns of these items, the first of which stands at the place `first`."""
    turns = Turns()
    contained: frozenset[str] = frozenset()
    for place, raw in enumerate(items, first):
        item = read(raw)
        if not isinstance(item, dict):
            raise envelope.EnvelopeError(f"input.{place} is no object")
        if type_of(item) == SHELL and kind_of(item) is Kind.OBSERVED:
            contained |= {str(item.get("call_id"))}
        _read(turns, shown(raw), item, place, contained)
        if own := own_turn(raw):
            turns.found[-1].marks.append(own)
    return turns.found


def _read(turns: Turns, raw: bytes, item: dict[str, Any], place: int, contained: frozenset[str]) -> None:
    kind = type_of(item)
    if kind == MESSAGE:
        role = item.get("role")
        if not isinstance(role, str) or role not in _SIDES:
            raise envelope.EnvelopeError(f"input.{place} has no role that is known")
        turn = turns.at(_SIDES[role], place)
        _read_content(turn, item.get("content"))
        if is_reply(item):
            turn.marks.append(mark_of(item["id"])[0])
    elif is_result(item, contained):
        turn = turns.at(Side.USER, place)
        turn.results.append(result_seen(answered_call(item), _result_text(item), is_error=_is_error(item)))
    elif kind == "additional_tools":
        turns.at(Side.SYSTEM, place)
    else:
        turn = turns.at(Side.ASSISTANT, place)
        _read_said(turn, raw, item, kind)
        if kind not in (REASONING, REFERENCE) and (mark := mark_of(str(item.get("id")))[0]):
            turn.marks.append(mark)


def _read_said(turn: SideTurn, raw: bytes, item: dict[str, Any], kind: str) -> None:
    """What the model, or the provider for it, did. Of the provider's doings clients keep what they like."""
    if kind == REASONING:
        own = item.get("id")
        turn.marks.append(mark_of(own)[0] if isinstance(own, str) else "")
    elif kind == CUSTOM:
        text = str(item.get("input") or "")
        digest = strict_json.digest({"input": text})
        turn.calls.append(CallSeen(call_id(item), call_name(item), {"input": text}, digest, FREEFORM))
    elif kind_of(item) is Kind.CALL:
        seen = call_seen(call_id(item), call_name(item), call_arguments(raw, item)[0])
        wants = kind in CALL_KINDS and kind != APPROVAL  # what asks for an approval may wait
        turn.calls.append(replace(seen, kind=kind, wants_result=wants))
    elif kind == REFERENCE:  # of an item that the gate has not shown: what it says is not known
        own = str(item.get("id"))
        turn.marks += [mark_of(own)[0]] if own.startswith(_SEALABLE) else []
    elif kind_of(item) is None:
        turn.other.append(hashlib.sha256(strict_json.canonical(item)).hexdigest())


def _read_content(turn: SideTurn, content: Any) -> None:
    if isinstance(content, str):
        turn.texts.append(content)
        return
    for part in content if isinstance(content, list) else ():
        if not isinstance(part, dict):
            continue
        text = part.get("text", part.get("refusal"))
        if isinstance(text, str) and part.get("type") in ("input_text", "output_text", "text", "refusal"):
            turn.texts.append(text)
        else:
            turn.other.append(hashlib.sha256(strict_json.canonical(part)).hexdigest())


def _result_text(item: Mapping[str, Any]) -> str:
    """The text of a result; of what is no text its JSON."""
    if type_of(item) == "mcp_approval_response":
        return envelope.encode({"approve": item.get("approve") is True}).decode()
    output = item.get("output", item.get("tools"))
    if isinstance(output, list):
        texts = [part.get("text") if isinstance(part, dict) else None for part in output]
        if texts and all(isinstance(text, str) for text in texts):
            return "".join(str(text) for text in texts)
    if output is None or isinstance(output, str):
        return output or ""
    return strict_json.canonical(output).decode()


def _is_error(item: Mapping[str, Any]) -> bool:
    return item.get("status") in ("failed", "incomplete")


_SEALABLE = ("rs_", f"msg_{SEALED}")
"""How ids of items begin that bear a mark, an empty one included."""


def mark_of(item_id: str) -> tuple[str, str]:
    """The mark of an item's id, empty where it has none, and the provider's own id."""
    sealed = item_id.partition("_")[2]
    return opened(sealed) if sealed.startswith(SEALED) else ("", item_id)


def result_items(result: HiddenResult) -> list[bytes]:
    """A refusal as the result of its call, of the kind that the call asks for; nothing where there is no such kind."""
    output: dict[str, Any]
    told = False
    match result.kind:
        case "function_call":
            output = {"type": "function_call_output", "call_id": result.call, "output": result.content}
        case "custom":
            output = {"type": "custom_tool_call_output", "call_id": result.call, "output": result.content}
        case "local_shell_call":
            output = {"type": "local_shell_call_output", "id": result.call, "output": result.content}
        case "shell_call":
            failed = {"stdout": "", "stderr": result.content, "outcome": {"type": "exit", "exit_code": 1}}
            output = {"type": "shell_call_output", "call_id": result.call, "output": [failed]}
        case "apply_patch_call":
            output = {"type": "apply_patch_call_output", "call_id": result.call, "status": "failed"}
            output["output"] = result.content
        case "mcp_approval_request":
            output = {"type": "mcp_approval_response", "approval_request_id": result.call, "approve": False}
            output["reason"] = result.content
        case "computer_call":
            told = True
            screen = {"type": "computer_screenshot", "image_url": _BLANK}
            output = {"type": "computer_call_output", "call_id": result.call, "output": screen}
        case "tool_search_call":
            told = True
            output = {"type": "tool_search_output", "call_id": result.call, "execution": "client", "tools": []}
            output["status"] = "completed"
        case _:
            return []
    said = {"role": "user", "content": remarked(result.content)}
    return [envelope.encode(output), *([envelope.encode(said)] if told else [])]


CALL_KINDS = frozenset({FUNCTION, FREEFORM, LOCAL_SHELL, SHELL, PATCH, COMPUTER, SEARCH, APPROVAL})
"""Kinds of calls that have a kind of result."""
