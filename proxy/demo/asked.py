"""A provider's request as a script sees it: the newest user text, the results behind it, the rounds since it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.demo.turns import Asked, Dialect

if TYPE_CHECKING:
    from collections.abc import Iterable

    from proxy.demo.turns import Document


def anthropic_asked(body: Document) -> Asked:
    user_text, rounds = "", 0
    results: list[str] = []
    for message in body["messages"]:
        content = message["content"]
        blocks: list[Any] = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if message["role"] == "assistant":
            rounds += 1
        elif message["role"] == "user":
            answers = [_text(block.get("content", "")) for block in blocks if block.get("type") == "tool_result"]
            texts = [block["text"] for block in blocks if block.get("type") == "text"]
            if texts and not answers:
                user_text, results, rounds = "\n".join(texts), [], 0
            results += answers
    return Asked(
        dialect=Dialect.ANTHROPIC,
        body=body,
        model=str(body["model"]),
        streamed=body.get("stream") is True,
        user_text=user_text,
        results=tuple(results),
        rounds=rounds,
    )


def chat_asked(body: Document) -> Asked:
    user_text, rounds = "", 0
    results: list[str] = []
    for message in body["messages"]:
        match message["role"]:
            case "assistant":
                rounds += 1
            case "user":
                user_text, results, rounds = _text(message.get("content")), [], 0
            case "tool" | "function":
                results.append(_text(message.get("content")))
    return Asked(
        dialect=Dialect.CHAT,
        body=body,
        model=str(body["model"]),
        streamed=body.get("stream") is True,
        user_text=user_text,
        results=tuple(results),
        rounds=rounds,
    )


def _text(content: Any) -> str:
    """A content that is a text, or a list of parts of which the texts count."""
    if isinstance(content, str):
        return content
    parts: Iterable[Any] = content if isinstance(content, list) else ()
    return "\n".join(str(part.get("text", "")) for part in parts if part.get("type") == "text")
