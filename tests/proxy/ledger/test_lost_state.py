"""A ledger that is lost: no state at all is needed to see that thinking depends on it."""

from __future__ import annotations

import asyncio
import base64
import contextlib
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.ledger.edits import Decision, EditVault, Where
from proxy.ledger.hidden import Hidden
from proxy.ledger.keeper import Ledger
from proxy.ledger.vault import Vault
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.bedrock import BEDROCK_CONVERSE
from proxy.wire.seal import may_be_sealed

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.wire.dialect import Dialect

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ENCODED = base64.b64encode(b"cg1.hg00.\x01\x02").decode()
EDITED = base64.b64encode(b"cg1.e00.\x01\x02").decode()
THINKING = (
    (ANTHROPIC_MESSAGES, {"type": "thinking", "thinking": "t", "signature": "cg1.hg00.c2ln"}),
    (ANTHROPIC_MESSAGES, {"type": "redacted_thinking", "data": "cg1.hg00.c2ln"}),
    (BEDROCK_CONVERSE, {"reasoningContent": {"reasoningText": {"text": "t", "signature": "cg1.hg00.c2ln"}}}),
    (BEDROCK_CONVERSE, {"reasoningContent": {"redactedContent": ENCODED}}),
)


def body(*blocks: Any, typed: bool = True) -> bytes:
    said = {"type": "text", "text": "Hello."} if typed else {"text": "Hello."}
    messages: list[Any] = [{"role": "user", "content": [said]}, {"role": "assistant", "content": [*blocks, said]}]
    return orjson.dumps({"messages": [*messages, messages[0]]})


@pytest.mark.parametrize(("dialect", "block"), THINKING)
async def test_thinking_behind_a_hidden_turn_goes_with_it(tmp_path: Path, dialect: Dialect, block: Any) -> None:
    """Whatever the form of its seal, in a folder where nothing was ever kept."""
    request = body(block, typed=dialect is ANTHROPIC_MESSAGES)
    vault = await asyncio.to_thread(Vault, tmp_path, 60.0)
    with contextlib.closing(vault):
        prepared = await Ledger(vault, lambda: NOW, lambda _: None).prepare(dialect, request, "t")
    assert prepared.taken_out == 1
    assert b"hg00" not in prepared.body
    assert ENCODED.encode() not in prepared.body


def test_a_seal_is_seen_wherever_it_stands() -> None:
    """Those of hidden turns and of edits, plain and encoded; other words are none."""
    for sealed in ("cg1.hg00.c2ln", "cg1.e00.c2ln"):
        assert may_be_sealed(body({"signature": sealed}))
    for encoded in (ENCODED, EDITED):
        assert may_be_sealed(body({"redactedContent": encoded}))
    assert not may_be_sealed(body({"signature": "cg1", "redactedContent": "Y2cx"}))


def test_what_is_hidden_says_nothing_of_what_is_edited(tmp_path: Path) -> None:
    """Each is looked for only where there is some; the byte of an earlier version says both."""
    with contextlib.closing(Vault(tmp_path, 60.0)) as vault:
        edits = EditVault(vault)
        vault.put("t", "ada", Hidden("hg0", b"r", b"b", b"v", ()), NOW)
        assert (vault.is_empty(), edits.is_empty()) == (False, True)
        edits.decide(Where("t", b"p", b"r", "bob"), Decision(NOW.timestamp()), NOW)
        assert (vault.is_empty(), edits.is_empty()) == (False, False)
        vault.erase("ada")
        assert (vault.is_empty(), edits.is_empty()) == (True, False)
        vault._flag[0] = 1
        assert (vault.is_empty(), edits.is_empty()) == (False, False)
