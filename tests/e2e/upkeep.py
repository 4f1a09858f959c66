"""A talk under a policy about its history, with a clock of its own."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import orjson

from proxy.demo.turns import Dialect

if TYPE_CHECKING:
    from tests.e2e.told import Told

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


class Clock:
    """The time by which results go out of date."""

    def __init__(self) -> None:
        self.now = NOW

    def __call__(self) -> datetime:
        return self.now

    def passes(self, **units: float) -> None:
        self.now += timedelta(**units)

    def rules(self, one: Told) -> None:
        """Let the gate's history go by this clock."""
        one.desk.services.histories._clock = self


def results(one: Told, *texts: str) -> None:
    """The results of the newest turn's calls, in their order."""
    ids = one.talk.calls()
    assert len(ids) == len(texts)
    if one.talk.dialect is Dialect.CHAT:
        rows = zip(ids, texts, strict=True)
        one.talk.messages += [{"role": "tool", "tool_call_id": each, "content": text} for each, text in rows]
        return
    blocks = [
        {"type": "tool_result", "tool_use_id": each, "content": text} for each, text in zip(ids, texts, strict=True)
    ]
    one.talk.messages.append({"role": "user", "content": blocks})


def seen(one: Told, number: int = -1) -> list[str]:
    """The texts of all results that went up with a request."""
    found: list[str] = []
    for message in one.messages(number):
        if message["role"] == "tool":
            found.append(message["content"])
        elif message["role"] == "user" and isinstance(message["content"], list):
            found += [_text(block["content"]) for block in message["content"] if block["type"] == "tool_result"]
    return found


def _text(content: Any) -> str:
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def document(**fields: Any) -> str:
    return orjson.dumps(fields).decode()
