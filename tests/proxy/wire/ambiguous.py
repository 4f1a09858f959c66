"""Streams and bodies that two clients read differently, by what makes them so."""

from __future__ import annotations

from typing import Any

A, B = "call_a", "call_b"
REFUND = '{"order": "A1", "amount": 5}'
EVIL = '{"order": "A1", "amount": 999}'


# --- Anthropic


def start(index: int, name: str = "refund", call_id: str = "toolu_a", **more: Any) -> dict[str, Any]:
    block = {"type": "tool_use", "id": call_id, "name": name, "input": {}, **more}
    return {"type": "content_block_start", "index": index, "content_block": block}


def part(index: int, text: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "input_json_delta", "partial_json": text}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


def server(index: int) -> dict[str, Any]:
    block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    return {"type": "content_block_start", "index": index, "content_block": block}


def text(index: int) -> list[dict[str, Any]]:
    delta = {"type": "text_delta", "text": "hi"}
    return [
        {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": index, "delta": delta},
        stop(index),
    ]


MESSAGE = {
    "id": "m",
    "type": "message",
    "role": "assistant",
    "model": "m",
    "content": [],
    "usage": {"input_tokens": 1, "output_tokens": 1},
}
OPENING: dict[str, Any] = {"type": "message_start", "message": MESSAGE}
DELTA = {
    "type": "message_delta",
    "delta": {"stop_reason": "tool_use", "stop_sequence": None},
    "usage": {"output_tokens": 9},
}
CLOSING: list[dict[str, Any]] = [DELTA, {"type": "message_stop"}]
WHOLE = [start(0), part(0, REFUND), stop(0)]
PROGRAM = {"type": "tool_use", "id": "toolu_a", "name": "refund", "input": {"amount": 5}}

ANTHROPIC_STREAMS = {
    "a delta after the stop replaces the input": [OPENING, *WHOLE, part(0, EVIL), *CLOSING],
    "a call after message_stop": [OPENING, *text(0), *CLOSING, start(1), part(1, REFUND), stop(1)],
    "a call after message_delta": [OPENING, *text(0), DELTA, start(1), part(1, REFUND), stop(1), CLOSING[1]],
    "a second message_start": [OPENING, *WHOLE, *CLOSING, OPENING, *WHOLE, *CLOSING],
    "calls in message_start": [{**OPENING, "message": {**MESSAGE, "content": [PROGRAM]}}, *CLOSING],
    "calls in message_start, then blocks": [
        {**OPENING, "message": {**MESSAGE, "content": [PROGRAM]}},
        *text(0),
        start(1),
        part(1, "{}"),
        stop(1),
        *CLOSING,
    ],
    "a gap before the first index": [OPENING, start(1), part(1, REFUND), stop(1), *CLOSING],
    "a gap that points one block at another": [
        OPENING,
        start(1),
        start(2, "lookup", "toolu_b"),
        part(1, EVIL),
        stop(1),
        stop(2),
        *CLOSING,
    ],
    "indexes out of order": [OPENING, server(1), start(0), part(0, REFUND), stop(0), part(1, EVIL), stop(1), *CLOSING],
    "an index below zero is the last block": [
        OPENING,
        server(-1),
        start(1),
        part(1, REFUND),
        stop(1),
        part(-1, EVIL),
        *CLOSING,
    ],
    "a server tool's deltas on no block": [OPENING, *WHOLE, part(7, EVIL), *CLOSING],
    "interleaved blocks": [
        OPENING,
        start(0),
        start(1, "lookup", "toolu_b"),
        part(1, '{"id": 7}'),
        part(0, REFUND),
        stop(1),
        stop(0),
        *CLOSING,
    ],
    "an index used again": [OPENING, *text(0), *WHOLE, *CLOSING],
    "an index used again by a call": [OPENING, *WHOLE, *WHOLE, *CLOSING],
    "an input at the start and other deltas": [
        OPENING,
        start(0, input={"amount": 1}),
        part(0, REFUND),
        stop(0),
        *CLOSING,
    ],
    "an input at the start alone": [OPENING, start(0, input={"amount": 1}), stop(0), *CLOSING],
    "an input that is null": [OPENING, start(0, input=None), stop(0), *CLOSING],
    "lenient JSON": [OPENING, start(0), part(0, '{"amount": 5} x'), stop(0), *CLOSING],
    "a key twice": [OPENING, start(0), part(0, '{"amount": 5, "amount": 999}'), stop(0), *CLOSING],
    "cut by the end of the stream": [OPENING, start(0), part(0, '{"amount": 5')],
    "huge indexes": [OPENING, start(10**30), part(10**30, REFUND), stop(10**30), *CLOSING],
    "an error in the middle": [
        OPENING,
        *WHOLE,
        {"type": "error", "error": {"type": "overloaded_error", "message": "x"}},
    ],
}


# --- Chat


def chunk(delta: dict[str, Any], reason: str | None = None, index: int = 0, **more: Any) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": reason}
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice], **more}


def piece(index: int | None, call_id: str = "", name: str = "", arguments: Any = "", **more: Any) -> dict[str, Any]:
    head: dict[str, Any] = {} if index is None else {"index": index}
    head |= {"id": call_id, "type": "function"} if call_id else {}
    body = {**({"name": name} if name else {}), "arguments": arguments}
    return {"tool_calls": [{**head, "function": body, **more}]}


END = chunk({}, "tool_calls")
BEGIN = chunk({"role": "assistant", "content": None})
FIRST = [chunk(piece(0, A, "refund")), chunk(piece(0, arguments=REFUND))]
OTHER = {"type": "custom", "custom": {"name": "lookup", "input": "x"}}

CHAT_STREAMS = {
    "no index": [BEGIN, chunk(piece(None, A, "refund", REFUND)), chunk(piece(None, B, "lookup", "{}")), END],
    "several ids on one index": [BEGIN, chunk(piece(0, A, "refund", REFUND)), chunk(piece(0, B, "lookup", "{}")), END],
    "one id on several indexes": [
        BEGIN,
        chunk(piece(0, A, "refund", REFUND)),
        chunk(piece(1, A, "refund", REFUND)),
        END,
    ],
    "one id, two calls": [BEGIN, chunk(piece(0, A, "refund", REFUND)), chunk(piece(1, A, "refund", EVIL)), END],
    "a name in two fragments": [BEGIN, chunk(piece(0, A, "ref")), chunk(piece(0, name="und", arguments=REFUND)), END],
    "a name that is repeated": [BEGIN, chunk(piece(0, A, "refund")), chunk(piece(0, A, "refund", REFUND)), END],
    "a gap before the first index": [BEGIN, chunk(piece(1, A, "refund", REFUND)), END],
    "a negative index": [BEGIN, chunk(piece(0, A, "refund", REFUND)), chunk(piece(-1, B, "lookup", "{}")), END],
    "a huge index": [BEGIN, chunk(piece(10**30, A, "refund", REFUND)), END],
    "function_call beside tool_calls": [
        BEGIN,
        *FIRST,
        chunk({"function_call": {"name": "lookup", "arguments": "{}"}}),
        END,
    ],
    "both in one delta": [
        BEGIN,
        chunk({**piece(0, A, "refund", REFUND), "function_call": {"name": "lookup", "arguments": "{}"}}),
        END,
    ],
    "a call after the finish": [BEGIN, *FIRST, END, chunk(piece(1, B, "lookup", "{}")), END],
    "a fragment after the finish": [BEGIN, *FIRST, END, chunk(piece(0, arguments="1"))],
    "a chunk of no object": [BEGIN, {**FIRST[0], "object": None}, FIRST[1], END],
    "a chunk of an empty object": [BEGIN, {**FIRST[0], "object": ""}, FIRST[1], END],
    "a chunk of another object": [BEGIN, FIRST[0], {**FIRST[1], "object": "x"}, chunk(piece(0, arguments="")), END],
    "arguments as an object": [BEGIN, chunk(piece(0, A, "refund", {"amount": 5})), END],
    "arguments as an object and as text": [
        BEGIN,
        chunk(piece(0, A, "refund", {"amount": 5})),
        chunk(piece(0, arguments=REFUND)),
        END,
    ],
    "two bodies in one call": [
        BEGIN,
        chunk(piece(0, A, "refund", REFUND, custom={"name": "lookup", "input": "x"})),
        END,
    ],
    "two bodies and no type": [
        BEGIN,
        chunk(
            {
                "tool_calls": [
                    {
                        "index": 0,
                        "id": A,
                        "function": {"name": "refund", "arguments": REFUND},
                        "custom": {"name": "lookup", "input": "x"},
                    }
                ]
            }
        ),
        END,
    ],
    "a type nobody knows over a function": [
        BEGIN,
        chunk(
            {
                "tool_calls": [
                    {"index": 0, "id": A, "type": "lookup", "function": {"name": "refund", "arguments": REFUND}}
                ]
            }
        ),
        END,
    ],
    "a function that goes on as custom": [BEGIN, FIRST[0], chunk({"tool_calls": [{"index": 0, **OTHER}]}), END],
    "no finish, no end": [BEGIN, *FIRST],
    "the usage with the finish": [
        BEGIN,
        *FIRST,
        {**END, "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}},
    ],
    "an empty finish reason on each chunk": [
        chunk({"role": "assistant"}, ""),
        chunk(piece(0, A, "refund"), ""),
        chunk(piece(0, arguments=REFUND), ""),
        END,
    ],
    "two choices, turn about": [
        BEGIN,
        chunk({"role": "assistant"}, index=1),
        chunk(piece(0, A, "refund")),
        chunk(piece(0, B, "lookup"), index=1),
        chunk(piece(0, arguments=REFUND)),
        chunk(piece(0, arguments="{}"), index=1),
        chunk({}, "tool_calls", 1),
        END,
    ],
    "a negative choice is the last one": [
        BEGIN,
        FIRST[0],
        chunk(piece(0, arguments=EVIL), index=-1),
        chunk(piece(0, arguments=REFUND)),
        END,
    ],
    "a choice in a message of the stream": [
        BEGIN,
        {
            **END,
            "choices": [
                {"index": 0, "delta": {}, "message": piece(0, A, "refund", REFUND), "finish_reason": "tool_calls"}
            ],
        },
    ],
    "choices that are no objects": [BEGIN, {**END, "choices": [None]}],
    "choices that are no list": [BEGIN, {**END, "choices": {"0": {}}}],
    "a delta that is null": [
        BEGIN,
        *FIRST,
        {**END, "choices": [{"index": 0, "delta": None, "finish_reason": "tool_calls"}]},
    ],
}


BODIES: dict[str, Any] = {
    "a choice without an index": [
        {"message": m, "finish_reason": "tool_calls"}
        for m in (piece(None, A, "refund", REFUND), piece(None, B, "lookup", "{}"))
    ],
    "an index twice": [
        {"index": 0, "message": m, "finish_reason": "tool_calls"}
        for m in (piece(None, A, "refund", REFUND), piece(None, B, "lookup", "{}"))
    ],
    "a delta in a body": [
        {
            "index": 0,
            "message": {"role": "assistant", "content": "x"},
            "delta": piece(None, A, "refund", REFUND),
            "finish_reason": "stop",
        }
    ],
    "both kinds of call": [
        {
            "index": 0,
            "message": {**piece(None, A, "refund", REFUND), "function_call": {"name": "lookup", "arguments": "{}"}},
            "finish_reason": "tool_calls",
        }
    ],
}
