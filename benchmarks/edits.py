"""A long conversation of which three results go up pruned, and the policy that says so."""

from __future__ import annotations

import json
from dataclasses import replace

from benchmarks.exchanges import POLICY, Answer, Dialect, Exchange, exchange

PRUNING_POLICY = POLICY.replace("peek: {effect: read,", "peek: {effect: read, result: {max_bytes: 64},")
_CALLS = [
    {"type": "tool_use", "id": f"toolu_peek{n}", "name": "peek", "input": {"order_id": "A1001"}} for n in range(3)
]


def edited_exchange(name: str, body_bytes: int) -> Exchange:
    """The request; its `before` is the one that brought the three results, where the edits are decided."""
    plain = exchange(name, Dialect.ANTHROPIC, streamed=False, call=False, body_bytes=body_bytes, grows=True)
    request = json.loads(plain.body)
    opening, *rest = request["messages"]
    results = [{"type": "tool_result", "tool_use_id": call["id"], "content": "a long field " * 20} for call in _CALLS]
    early = [opening, {"role": "assistant", "content": _CALLS}, {"role": "user", "content": results}]
    said = json.loads(plain.answer.body)
    first = Exchange(
        f"{name}, its first results",
        plain.path,
        plain.headers,
        _body({**request, "messages": early}),
        Answer("application/json", (_body(said),), streamed=False),
    )
    return replace(plain, body=_body({**request, "messages": [*early, *rest]}), before=first)


def _body(value: object) -> bytes:
    return json.dumps(value, separators=(",", ":")).encode()
