"""Conversations in every dialect's own spelling, and the histories that they become, without a network between."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import orjson

from interceptors.kinds import MoneyState
from interceptors.strict_json import digest
from policies import load_policy_text
from proxy.demo.anthropic_history import anthropic_refusal
from proxy.demo.bedrock_history import converse_refusal
from proxy.demo.chat_history import chat_refusal
from proxy.demo.gemini_history import gemini_refusal
from proxy.demo.ollama_wire import refusal as ollama_refusal
from proxy.demo.responses_history import Issued, context_of
from proxy.demo.signatures import call_signature
from proxy.demo.turns import HttpError
from proxy.history.keeper import Histories, Subject
from proxy.history.receipts import Receipts
from proxy.ledger.edits import EditVault
from proxy.ledger.hidden import Asker
from proxy.ledger.notes import NoteVault
from proxy.ledger.vault import Vault
from proxy.store import ReleasedCall, StoreError
from proxy.wire.registry import DIALECTS

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Sequence
    from pathlib import Path

    from policies.model import Policy
    from proxy.history.keeper import Upward
    from proxy.wire.dialect import Dialect

Message = dict[str, Any]
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ASKER = Asker("a-digest", "talk")
LONG = "all of this is long " * 120
POLICY = load_policy_text("""
language: 1
policy: p
compact_above: 500
tools:
  look: {effect: read}
  pay: {arguments: {order_id: {pattern: '[A-Z][0-9]'}, amount: {money: USD, unit: major}}}
""")


@dataclass(frozen=True, slots=True)
class Spelling:
    """How one dialect writes a conversation. `words`, `calls`, `result` and `says` make messages."""

    words: Callable[[str], Message]
    calls: Callable[[str, str, dict[str, Any]], Message]
    result: Callable[[str, str, dict[str, Any]], Message]
    says: Callable[[str], Message]
    member: str
    refusal: Callable[[dict[str, Any]], HttpError | None]
    more: dict[str, Any] = field(default_factory=dict)


def _responses_refusal(body: dict[str, Any]) -> HttpError | None:
    found = context_of(body, Issued())
    return found if isinstance(found, HttpError) else None


def _anthropic(role: str, block: dict[str, Any]) -> Message:
    return {"role": role, "content": [block]}


_SCHEMA = {"type": "object"}
ANTHROPIC = Spelling(
    lambda text: {"role": "user", "content": text},
    lambda of, name, given: _anthropic("assistant", {"type": "tool_use", "id": of, "name": name, "input": given}),
    lambda of, _, said: _anthropic(
        "user", {"type": "tool_result", "tool_use_id": of, "content": orjson.dumps(said).decode()}
    ),
    lambda text: _anthropic("assistant", {"type": "text", "text": text}),
    "messages",
    anthropic_refusal,
    {"model": "m", "max_tokens": 99, "tools": [{"name": name, "input_schema": _SCHEMA} for name in ("look", "pay")]},
)
CHAT = Spelling(
    ANTHROPIC.words,
    lambda of, name, given: {
        "role": "assistant",
        "content": None,
        "tool_calls": [
            {"id": of, "type": "function", "function": {"name": name, "arguments": orjson.dumps(given).decode()}}
        ],
    },
    lambda of, _, said: {"role": "tool", "tool_call_id": of, "content": orjson.dumps(said).decode()},
    lambda text: {"role": "assistant", "content": text},
    "messages",
    chat_refusal,
    {"model": "m"},
)
RESPONSES = Spelling(
    ANTHROPIC.words,
    lambda of, name, given: {
        "type": "function_call",
        "call_id": of,
        "name": name,
        "arguments": orjson.dumps(given).decode(),
    },
    lambda of, _, said: {"type": "function_call_output", "call_id": of, "output": orjson.dumps(said).decode()},
    lambda text: {"role": "assistant", "content": text},
    "input",
    _responses_refusal,
    {"model": "m", "store": False},
)
GEMINI = Spelling(
    lambda text: {"role": "user", "parts": [{"text": text}]},
    lambda _, name, given: {
        "role": "model",
        "parts": [
            {
                "functionCall": {"name": name, "args": given},
                "thoughtSignature": call_signature(name, orjson.dumps(given).decode()),
            }
        ],
    },
    lambda _, name, said: {"role": "user", "parts": [{"functionResponse": {"name": name, "response": said}}]},
    lambda text: {"role": "model", "parts": [{"text": text}]},
    "contents",
    gemini_refusal,
)
OLLAMA = Spelling(
    ANTHROPIC.words,
    lambda _, name, given: {
        "role": "assistant",
        "content": "",
        "tool_calls": [{"function": {"name": name, "arguments": given}}],
    },
    lambda _, name, said: {"role": "tool", "tool_name": name, "content": orjson.dumps(said).decode()},
    CHAT.says,
    "messages",
    ollama_refusal,
    {"model": "m"},
)
CONVERSE = Spelling(
    lambda text: {"role": "user", "content": [{"text": text}]},
    lambda of, name, given: {
        "role": "assistant",
        "content": [{"toolUse": {"toolUseId": of, "name": name, "input": given}}],
    },
    lambda of, _, said: {
        "role": "user",
        "content": [{"toolResult": {"toolUseId": of, "content": [{"json": said}]}}],
    },
    lambda text: {"role": "assistant", "content": [{"text": text}]},
    "messages",
    converse_refusal,
    {"toolConfig": {"tools": [{"toolSpec": {"name": "pay", "inputSchema": {"json": _SCHEMA}}}]}},
)
SPELLINGS = {
    "anthropic-messages": ANTHROPIC,
    "anthropic-vertex": ANTHROPIC,
    "bedrock-invoke": ANTHROPIC,
    "openai-chat": CHAT,
    "openai-responses": RESPONSES,
    "gemini-generate": GEMINI,
    "gemini-vertex": GEMINI,
    "ollama-chat": OLLAMA,
    "bedrock-converse": CONVERSE,
}


@dataclass(slots=True)
class Released:
    """Stands in for the store: every call of these was released, and executed where it has a receipt."""

    rows: list[ReleasedCall] = field(default_factory=list)
    fails: bool = False

    async def released_calls(self, tenant: str, call_ids: Sequence[str]) -> dict[str, tuple[ReleasedCall, ...]]:
        assert tenant == "t"
        if self.fails:
            raise StoreError("the store cannot be read")
        return {each: tuple(row for row in self.rows if row.call_id == each) for each in call_ids}

    async def look(self, _question: Any) -> dict[str, str]:
        return {}

    def release(self, identifier: str, name: str, given: dict[str, Any], receipt: str) -> None:
        for call_id in (identifier, f"#{name}"):  # by its id, and as one that has none is kept
            row = ReleasedCall(receipt, call_id, name, digest(given), NOW, None, MoneyState.EXECUTED, "r", "a-digest")
            self.rows.append(row)


@dataclass(slots=True)
class Conversation:
    """One, as its client holds it; every request of it goes up. `sent` are the bodies."""

    name: str
    histories: Histories
    released: Released
    policy: Policy = POLICY
    messages: list[Message] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    matters: int = 0

    @property
    def spelling(self) -> Spelling:
        return SPELLINGS[self.name]

    @property
    def dialect(self) -> Dialect:
        return next(each for each in DIALECTS if each.name == self.name)

    def body(self) -> bytes:
        return orjson.dumps({**self.spelling.more, self.spelling.member: self.messages})

    def up(self, number: int = -1) -> list[Message]:
        """The messages of a request that went up."""
        found: list[Message] = orjson.loads(self.sent[number])[self.spelling.member]
        return found

    async def ask(self, *, histories: Histories | None = None) -> Upward:
        body = self.body()
        subject = Subject("t", ASKER, client_body=body)
        up = await (histories or self.histories).lift(self.dialect, body, self.policy, subject)
        self.sent.append(up.body)
        assert self.spelling.refusal(orjson.loads(up.body)) is None, up.body
        return up

    async def looks(self, words: str) -> None:
        """The user asks, and something long is read."""
        self.messages.append(self.spelling.words(words))
        await self.ask()
        self._called("look", {"order_id": f"A{self.matters}"}, {"text": LONG})
        await self.ask()

    async def settles(self, words: str) -> None:
        """And something is paid; the model says so."""
        await self.looks(words)
        given = {"order_id": f"A{self.matters}", "amount": f"{self.matters + 1}.00"}
        identifier = self._called("pay", given, {"status": "done"})
        self.released.release(identifier, "pay", given, f"rc_{self.matters}")
        self.matters += 1
        await self.ask()
        self.messages.append(self.spelling.says("It is done."))

    def _called(self, name: str, given: dict[str, Any], said: dict[str, Any]) -> str:
        identifier = f"{name}_{len(self.messages)}"
        self.messages.append(self.spelling.calls(identifier, name, given))
        self.messages.append(self.spelling.result(identifier, name, said))
        return identifier

    async def says(self, words: str) -> Upward:
        """The user says something new."""
        self.messages.append(self.spelling.words(words))
        return await self.ask()


@asynccontextmanager
async def conversation(folder: Path, name: str, policy: Policy = POLICY) -> AsyncIterator[Conversation]:
    released = Released()
    async with gate(folder, released) as histories:
        yield Conversation(name, histories, released, policy)


@asynccontextmanager
async def gate(folder: Path, released: Released, seconds: float = 1e6) -> AsyncIterator[Histories]:
    """The histories of one process on this folder."""
    vault = await asyncio.to_thread(Vault, folder, seconds)
    receipts = Receipts(released, NoteVault(vault))  # type: ignore[arg-type] # all that is asked of a store
    yield Histories(EditVault(vault), lambda: NOW, receipts)
    await asyncio.to_thread(vault.close)


def text_of(message: Message) -> str:
    """All that a message says."""
    content = message.get("content", message.get("parts"))
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)
