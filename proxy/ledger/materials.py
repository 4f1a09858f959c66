"""What a case is delivered with once people approve it: the call as the model wrote it, for whom, and the conversation.

It is what the provider wrote, so it lies in the ledger (G13): encrypted, expiring, erasable.
"""

from __future__ import annotations

import asyncio
import secrets
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from cryptography.exceptions import InvalidTag

from interceptors.calls import Proposer, ToolCall
from interceptors.context import DeclaredTool
from interceptors.history import EMPTY, Author, History, PastCall, PastResult, Said
from interceptors.strict_json import canonical, parse_envelope
from policies.model import folded
from proxy.judge import Scene
from proxy.ledger.vault import LedgerError

if TYPE_CHECKING:
    from interceptors.calls import Json
    from interceptors.history import Entry
    from proxy.clock import Clock
    from proxy.ledger.vault import Vault

_NONCE_BYTES: Final = 12
HISTORY_BYTES_MAX: Final = 1024 * 1024
"""A longer conversation is not kept: what must come from it is then asked for, and nothing is delivered."""


@dataclass(frozen=True, slots=True)
class Material:
    """The call, and the scene in which it is decided again."""

    call: ToolCall
    scene: Scene


class Materials:
    """One for the process. What fails of the ledger is not there: a call that is not kept is not delivered."""

    def __init__(self, vault: Vault, clock: Clock) -> None:
        self._vault = vault
        self._clock = clock

    async def keep(self, escalation: str, call: ToolCall, scene: Scene) -> None:
        """Keep it, durably, in place of what was kept for the case."""
        with suppress(LedgerError, ValueError):
            await asyncio.to_thread(self._put, escalation, scene.subject, to_bytes(call, scene))

    async def find(self, escalation: str) -> Material | None:
        """What was kept for a case; None where nothing is, or it cannot be read."""
        with suppress(LedgerError, InvalidTag, ValueError, KeyError, TypeError):
            data = await asyncio.to_thread(self._get, escalation)
            return None if data is None else from_bytes(data)
        return None

    async def drop(self, escalation: str) -> None:
        """It is needed no more; what cannot be dropped now expires."""
        with suppress(LedgerError):
            await asyncio.to_thread(self._vault.delete, "DELETE FROM materials WHERE escalation = ?", escalation)

    def _put(self, escalation: str, subject: str, material: bytes) -> None:
        nonce = secrets.token_bytes(_NONCE_BYTES)
        sealed = nonce + self._vault.cipher.encrypt(nonce, material, _bound(escalation))
        row = (escalation, subject, self._clock().timestamp() + self._vault.seconds, sealed)
        with self._vault.using() as connection:
            connection.execute("INSERT OR REPLACE INTO materials VALUES (?, ?, ?, ?)", row)

    def _get(self, escalation: str) -> bytes | None:
        with self._vault.using() as connection:
            row = connection.execute("SELECT sealed FROM materials WHERE escalation = ?", (escalation,)).fetchone()
        if row is None:
            return None
        return self._vault.cipher.decrypt(row[0][:_NONCE_BYTES], row[0][_NONCE_BYTES:], _bound(escalation))


def _bound(escalation: str) -> bytes:
    """To what a material is bound: it opens as no other case's, and as no hidden turn."""
    return b"material\0" + escalation.encode()


def to_bytes(call: ToolCall, scene: Scene) -> bytes:
    """Raises `ValueError` for what has no canonical form."""
    declared = scene.declared.get(folded(call.name))
    history = canonical(_history(scene.history)) if scene.history.is_read else b"null"
    kept: dict[str, Json] = {
        "name": call.name,
        "arguments": dict(call.arguments),
        "raw": call.raw,
        "id": call.id,
        "freeform": call.freeform,
        "exchange": scene.exchange,
        "dialect": scene.dialect,
        "model": scene.model,
        "tenant": scene.tenant,
        "identity": scene.identity,
        "subject": scene.subject,
        "claims": dict(scene.claims),
        "proposer": scene.proposer.value,
        "operator": scene.operator,
        "declared": None if declared is None else declared.name,
        "schema": None if declared is None or declared.schema is None else declared.schema.decode(),
        "history": None if len(history) > HISTORY_BYTES_MAX else _history(scene.history),
    }
    return canonical(kept)


def from_bytes(data: bytes) -> Material:
    """What `to_bytes` made. Raises `ValueError`, `KeyError` or `TypeError` for anything else."""
    kept: Any = parse_envelope(data)
    schema = kept["schema"]
    name = kept["declared"]
    declared = {} if name is None else {folded(name): DeclaredTool(name, None if schema is None else schema.encode())}
    scene = Scene(
        exchange=kept["exchange"],
        dialect=kept["dialect"],
        model=kept["model"],
        tenant=kept["tenant"],
        identity=kept["identity"],
        subject=kept["subject"],
        claims=kept["claims"],
        declared=declared,
        history=EMPTY if kept["history"] is None else _read(kept["history"]),
        proposer=Proposer(kept["proposer"]),
        operator=kept["operator"],
    )
    call = ToolCall(kept["name"], kept["arguments"], kept["raw"], kept["id"], 0, kept["freeform"])
    return Material(call, scene)


def _history(history: History) -> Json:
    return {"conversation": history.conversation, "entries": [_entry(one) for one in history.entries]}


def _entry(entry: Entry) -> Json:
    match entry:
        case Said():
            return ["said", entry.author.value, entry.text, entry.turn, entry.beside_results]
        case PastCall():
            arguments: Json = None if entry.arguments is None else dict(entry.arguments)
            return ["call", entry.id, entry.tool, arguments, entry.digest, entry.turn, entry.released, entry.reason]
        case PastResult():
            return ["result", entry.call, entry.value, entry.is_error, entry.turn, entry.is_new]


def _read(kept: Any) -> History:
    entries: list[Entry] = []
    for kind, *parts in kept["entries"]:
        if kind == "said":
            author, *rest = parts
            entries.append(Said(Author(author), *rest))
        else:
            entries.append(PastCall(*parts) if kind == "call" else PastResult(*parts))
    calls = {one.id: one for one in entries if isinstance(one, PastCall)}
    return replace(EMPTY, entries=tuple(entries), conversation=kept["conversation"], calls=calls)
