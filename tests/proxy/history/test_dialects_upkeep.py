"""The same result in every dialect, pruned or as the error that it is: its call and its place stay, and it keeps the
dialect's form.
"""

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
from tests.e2e.test_verdict_matrix import refusals

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from policies.model import Policy

RULES = "[{match: 'order desk is shut', as: transient}]"
POLICY = load_policy_text(
    f"language: 1\npolicy: p\ntools: {{look: {{effect: read, result: {{keep: [a], errors: {RULES}}}}}}}"
)
CAPPED = load_policy_text("language: 1\npolicy: p\ntools: {look: {effect: read, result: {max_bytes: 64}}}")
CHAT_CALL = {"id": "c", "type": "function", "function": {"name": "look", "arguments": "{}"}}


def anthropic(content: Any) -> Any:
    return {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "look", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": content}]},
        ]
    }


def chat(content: Any) -> Any:
    return {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": None, "tool_calls": [CHAT_CALL]},
            {"role": "tool", "tool_call_id": "c", "content": content},
        ]
    }


def responses(output: Any) -> Any:
    return {
        "input": [
            {"role": "user", "content": "x"},
            {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "c", "output": output},
        ]
    }


def gemini(response: Any) -> Any:
    return {
        "contents": [
            {"role": "user", "parts": [{"text": "x"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "look", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "look", "response": response}}]},
        ]
    }


def ollama(content: Any) -> Any:
    return {
        "messages": [
            {"role": "user", "content": "x"},
            {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "look", "arguments": {}}}]},
            {"role": "tool", "tool_name": "look", "content": content},
        ]
    }


def converse(content: Any) -> Any:
    return {
        "messages": [
            {"role": "user", "content": [{"text": "x"}]},
            {"role": "assistant", "content": [{"toolUse": {"toolUseId": "c", "name": "look", "input": {}}}]},
            {"role": "user", "content": [{"toolResult": {"toolUseId": "c", "content": content}}]},
        ]
    }


def text_of(value: Any) -> Any:
    return [{"type": "text", "text": value}]


FORMS: dict[str, tuple[str, Any]] = {
    "anthropic": ("anthropic-messages", anthropic),
    "anthropic, blocks": ("anthropic-messages", lambda text: anthropic(text_of(text))),
    "anthropic on vertex": ("anthropic-vertex", anthropic),
    "chat": ("openai-chat", chat),
    "chat, parts": ("openai-chat", lambda text: chat(text_of(text))),
    "responses": ("openai-responses", responses),
    "responses, parts": ("openai-responses", lambda text: responses([{"type": "input_text", "text": text}])),
    "gemini, result": ("gemini-generate", lambda text: gemini({"result": text})),
    "gemini, output": ("gemini-vertex", lambda text: gemini({"output": text})),
    "ollama": ("ollama-chat", ollama),
    "converse, text": ("bedrock-converse", lambda text: converse([{"text": text}])),
    "claude on bedrock": ("bedrock-invoke", lambda text: anthropic(text_of(text))),
}
"""A text as the result, in each form that it takes."""
OBJECTS: dict[str, tuple[str, Any]] = {
    "gemini": ("gemini-generate", gemini),
    "gemini, result": ("gemini-generate", lambda value: gemini({"result": value})),
    "converse, json": ("bedrock-converse", lambda value: converse([{"json": value}])),
}
"""An object as the result, where that is no text."""
PICTURES: dict[str, tuple[str, Any, Any]] = {
    "anthropic": (
        "anthropic-messages",
        anthropic,
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * 90}},
    ),
    "responses": (
        "openai-responses",
        responses,
        {"type": "input_image", "image_url": "data:image/png;base64," + "A" * 90},
    ),
    "converse": ("bedrock-converse", converse, {"image": {"format": "png", "source": {"bytes": "A" * 90}}}),
}


@pytest.fixture
async def vault(tmp_path: Path) -> AsyncIterator[Vault]:
    found = await asyncio.to_thread(Vault, tmp_path, 1e6)
    yield found
    await asyncio.to_thread(found.close)


async def lifted(vault: Vault, name: str, request: Any, policy: Policy = POLICY) -> Any:
    """What goes up, twice the same."""
    (dialect,) = [each for each in DIALECTS if each.name == name]
    histories = Histories(EditVault(vault), lambda: datetime.now(UTC))
    body = orjson.dumps({"model": "m", **request})
    up = await histories.lift(dialect, body, policy, Subject(str(id(policy)), NOBODY, client_body=body))
    again = await histories.lift(dialect, body, policy, Subject(str(id(policy)), NOBODY, client_body=body))
    assert again.body == up.body
    found = orjson.loads(up.body)
    assert found.pop("model") == "m"
    return found


@pytest.mark.parametrize("form", FORMS)
async def test_a_result_is_pruned_in_its_own_form(vault: Vault, form: str) -> None:
    """Numbers as they were spelled, and nothing else of the request changes; a string in a string stays one."""
    name, made = FORMS[form]
    assert await lifted(vault, name, made('{"a":1.50,"b":2}')) == made('{"a":1.50}')
    twice = orjson.dumps('{"a":1.50,"b":2}').decode()
    assert await lifted(vault, name, made(twice)) == made(orjson.dumps('{"a":1.50}').decode())


@pytest.mark.parametrize("form", OBJECTS)
async def test_an_object_is_pruned_as_one(vault: Vault, form: str) -> None:
    """And so is a list of them."""
    name, made = OBJECTS[form]
    assert await lifted(vault, name, made({"a": 1, "b": 2})) == made({"a": 1})
    many = load_policy_text("language: 1\npolicy: p\ntools: {look: {effect: read, result: {drop: ['[*].b']}}}")
    if form == "gemini, result":
        assert await lifted(vault, name, made([{"a": 1, "b": 2}]), many) == made([{"a": 1}])


DISGUISES = {
    "": "empty",
    "null": "empty",
    "<!DOCTYPE html><html><title>503 Service Unavailable</title>": "transient",
    'Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1': "permanent",
    "Error: connect ETIMEDOUT 10.0.0.1:443": "transient",
    '{"statusCode": 422, "message": "order_id is required"}': "validation",
    "HTTP 403 Forbidden": "permission",
    "Sorry, the order desk is shut until Monday.": "transient",
}


@pytest.mark.parametrize("form", FORMS)
async def test_an_error_in_disguise_is_one(vault: Vault, form: str) -> None:
    """In every form, by the built-in rules and by the policy's own."""
    name, made = FORMS[form]
    for text, category in DISGUISES.items():
        errors = [value for value in refusals(await lifted(vault, name, made(text))) if value["isError"]]
        assert [error["errorCategory"] for error in errors] == [category], text


@pytest.mark.parametrize("form", PICTURES)
async def test_a_picture_stays_unless_it_is_capped(vault: Vault, form: str) -> None:
    """Whole, or gone as a whole, and the result says so."""
    name, made, picture = PICTURES[form]
    assert await lifted(vault, name, made([picture])) == made([picture])
    said = orjson.dumps(await lifted(vault, name, made([picture]), CAPPED)).decode()
    assert "AAAA" not in said
    assert "bytes that are no text]" in said
