"""What Bedrock refuses of a Converse request, in its own words, and what Claude behind it is asked."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any, Final

import re2

from proxy.demo.turns import Asked, Dialect, HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.turns import Document

_ID: Final = re2.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_NO_TOOLS: Final = "The toolConfig field must be defined when using toolUse and toolResult content blocks."


def converse_refusal(body: Document) -> HttpError | None:
    """The first thing that the provider would not take, or None."""
    text = next(_faults(body), None)
    return None if text is None else HttpError(400, "ValidationException", text)


def _faults(body: Document) -> Iterator[str]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages:
        yield "The messages field is empty."
        return
    for place, message in enumerate(messages):
        role = "assistant" if place % 2 else "user"
        if message.get("role") != role:
            yield (
                "A conversation must start with a user message, and must alternate between user and assistant roles."
            )
        if not message.get("content"):
            yield (
                f"The content field in the Message object at messages.{place} is empty. Add a ContentBlock object to "
                "the content field and try again."
            )
        for position, block in enumerate(message.get("content") or ()):
            yield from _block_faults(f"messages.{place}.content.{position}", block)
    if "toolConfig" not in body and any(_of(message, "toolUse") for message in messages):
        yield _NO_TOOLS
    yield from _pair_faults(messages)


def _block_faults(where: str, block: Document) -> Iterator[str]:
    if len(block) != 1:
        yield f"The ContentBlock object at {where} must set one and only one of its fields."
    if "text" in block and not block["text"].strip():
        said = "is blank. Add text to the text field, and try again."
        yield f"The text field in the ContentBlock object at {where} {said}"
    for kind in ("toolUse", "toolResult"):
        if kind in block and not _ID.fullmatch(block[kind].get("toolUseId", "")):
            yield f"1 validation error detected: Value at '{where}.{kind}.toolUseId' failed to satisfy constraint"
    if "toolUse" in block and not isinstance(block["toolUse"].get("input"), dict):
        yield f"The format of the value at {where}.toolUse.input is invalid. Provide a json object for the field."


def _pair_faults(messages: list[Document]) -> Iterator[str]:
    for place, message in enumerate(messages):
        calls = [call["toolUseId"] for call in _of(message, "toolUse") if call.get("type") != "server_tool_use"]
        if len(set(calls)) != len(calls):
            yield f"messages.{place}.content: `tool_use` ids must be unique"
        behind = messages[place + 1] if place + 1 < len(messages) else {"content": []}
        answered = [result["toolUseId"] for result in _leading(behind)]
        missing = [call for call in calls if call not in answered]
        if message["role"] == "assistant" and missing:
            yield (
                f"Expected toolResult blocks at messages.{place + 1}.content for the following Ids: "
                f"{', '.join(missing)}"
            )
        if message["role"] == "assistant" and len(_of(behind, "toolResult")) > len(calls):
            yield (
                f"The number of toolResult blocks at messages.{place + 1}.content exceeds the number of toolUse blocks "
                "of previous turn."
            )


def claude_body(body: Document, model: str) -> Document:
    """The request as Claude's own API takes it: what its thinking is bound to."""
    tools = [
        {"name": tool["toolSpec"]["name"], "input_schema": tool["toolSpec"].get("inputSchema", {}).get("json")}
        for tool in (body.get("toolConfig") or {}).get("tools", ())
        if "toolSpec" in tool
    ]
    system = [{"type": "text", "text": block["text"]} for block in body.get("system") or () if "text" in block]
    messages = [
        {"role": message["role"], "content": [_claude_block(block) for block in message["content"]]}
        for message in body["messages"]
    ]
    return {"model": model, "max_tokens": 1024, "system": system, "tools": tools, "messages": messages}


def converse_asked(body: Document, model: str, *, streamed: bool) -> Asked:
    """A request as the script sees it."""
    user_text, rounds = "", 0
    results: list[str] = []
    for message in body["messages"]:
        if message["role"] == "assistant":
            rounds += 1
            continue
        answers = [_text(result["content"]) for result in _of(message, "toolResult")]
        texts = [block["text"] for block in message["content"] if "text" in block]
        if texts and not answers:
            user_text, results, rounds = "\n".join(texts), [], 0
        results += answers
    return Asked(Dialect.BEDROCK, body, model, streamed, user_text, tuple(results), rounds)


def _claude_block(block: Document) -> Document:
    ((kind, value),) = block.items()
    match kind:
        case "text":
            return {"type": "text", "text": value}
        case "toolUse":
            return {"type": "tool_use", "id": value["toolUseId"], "name": value["name"], "input": value["input"]}
        case "toolResult":
            said = {"tool_use_id": value["toolUseId"], "content": _text(value["content"])}
            return {"type": "tool_result", **said, "is_error": value.get("status") == "error"}
        case "reasoningContent" if "redactedContent" in value:
            return {"type": "redacted_thinking", "data": base64.b64decode(value["redactedContent"]).decode()}
        case "reasoningContent":
            said = value["reasoningText"]
            return {"type": "thinking", "thinking": said["text"], "signature": said.get("signature")}
        case _:
            return {"type": kind, **(value if isinstance(value, dict) else {})}


def _of(message: Document, kind: str) -> list[Document]:
    return [block[kind] for block in message.get("content") or () if kind in block]


def _leading(message: Document) -> Iterator[Document]:
    """Results count only where they stand before any other block."""
    for block in message.get("content") or ():
        if "toolResult" not in block:
            return
        yield block["toolResult"]


def _text(content: Any) -> str:
    return "\n".join(str(part.get("text", part.get("json", ""))) for part in content)
