"""The same result, pruned in every dialect: its call and its place stay, and it keeps the dialect's form."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from policies import load_policy_text
from proxy.history.keeper import Histories, Subject
from proxy.ledger.edits import EditVault
from proxy.ledger.hidden import NOBODY
from proxy.ledger.vault import Vault
from proxy.wire.registry import DIALECTS

if TYPE_CHECKING:
    from pathlib import Path

POLICY = load_policy_text(
    "language: 1\npolicy: p\ntools: {look: {effect: read, result: {keep: [a], errors: standard}}}"
)
CHAT_CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}
FORMS: dict[str, Any] = {
    "openai-chat": lambda text: {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            {"role": "tool", "tool_call_id": "c", "content": text},
        ]
    },
    "openai-responses": lambda text: {
        "input": [
            {"role": "user", "content": "x"},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": text},
        ]
    },
    "gemini-generate": lambda text: {
        "contents": [
            {"role": "user", "parts": [{"text": "x"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": orjson.loads(text)}}]},
        ]
    },
    "ollama": lambda text: {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]},
            {"role": "tool", "tool_name": "look", "content": text},
        ]
    },
}


@pytest.mark.parametrize("name", FORMS)
async def test_a_result_is_pruned_in_its_own_form(tmp_path: Path, name: str) -> None:
    """Nothing else of the request changes."""
    (dialect,) = [each for each in DIALECTS if each.name.startswith(name)]
    vault = await asyncio.to_thread(Vault, tmp_path, 1e6)
    histories = Histories(EditVault(vault), lambda: datetime.now(UTC))
    body = orjson.dumps({"model": "m", **FORMS[name]('{"a":1,"b":2}')})
    up = await histories.lift(dialect, body, POLICY, Subject("t", NOBODY))
    assert orjson.loads(up.body) == {"model": "m", **FORMS[name]('{"a":1}')}
    again = await histories.lift(dialect, body, POLICY, Subject("t", NOBODY))
    assert again.body == up.body
    await asyncio.to_thread(vault.close)
