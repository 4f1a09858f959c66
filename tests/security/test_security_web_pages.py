"""A page in a browser does not get to use the key that a gate on the loopback holds."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from proxy.demo.turns import Text, Turn, always
from proxy.headers import read_request_headers
from proxy.web_pages import is_of_foreign_page
from tests.e2e.harness import ALLOW_ALL, desk

if TYPE_CHECKING:
    from pathlib import Path

REQUEST = json.dumps({"model": "m", "max_tokens": 5, "messages": [{"role": "user", "content": "hi"}]})


async def status(folder: Path, fields: dict[str, str], key: str | None) -> tuple[int, int]:
    """The status, and how many requests the provider saw."""
    async with desk(folder, always(Turn((Text("hello"),))), ALLOW_ALL, key=key) as gate:
        headers = {"content-type": "text/plain", **fields}
        async with gate.session.post(f"{gate.url}/v1/messages", data=REQUEST, headers=headers) as response:
            return response.status, len(gate.provider.received)


@pytest.mark.parametrize(
    "fields",
    [
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"host": "evil.example:8080"},
        {"host": "127.0.0.1.evil.example"},
    ],
)
async def test_a_foreign_page_does_not_spend_the_key(tmp_path: Path, fields: dict[str, str]) -> None:
    """A form can post `text/plain` without a preflight, and a name can be rebound to 127.0.0.1."""
    assert await status(tmp_path / "gate", fields, "sk-held") == (403, 0)


@pytest.mark.parametrize(("fields", "key"), [({}, "sk-held"), ({"origin": "https://app.example"}, None)])
async def test_the_own_machine_and_a_page_with_its_own_key_pass(
    tmp_path: Path, fields: dict[str, str], key: str | None
) -> None:
    """Where the gate holds no key there is nothing to spend."""
    _, sent = await status(tmp_path / "gate", fields, key)
    assert sent == 1


@pytest.mark.parametrize(
    ("fields", "is_foreign"),
    [
        ({"host": "127.0.0.1:8080"}, False),
        ({"host": "localhost"}, False),
        ({"host": "LOCALHOST:1"}, False),
        ({"host": "[::1]:8080", "origin": "http://localhost:3000"}, False),
        ({}, False),
        ({"host": "10.0.0.1"}, True),
        ({"host": "localhost.evil.example"}, True),
        ({"host": "localhost", "origin": ""}, True),
        ({"host": "localhost@evil.example"}, True),
    ],
)
def test_the_own_machine_is_told_from_others(fields: dict[str, str], is_foreign: bool) -> None:
    """By the host's name or address alone."""
    raw = [(name.encode(), value.encode()) for name, value in fields.items()]
    assert is_of_foreign_page(read_request_headers(raw)) is is_foreign
