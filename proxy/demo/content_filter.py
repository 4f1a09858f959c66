"""What Azure's content filter writes into the answers of a deployment: verdicts on the prompt and on each choice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from proxy.demo.turns import Document

_SAFE: Final = {kind: {"filtered": False, "severity": "safe"} for kind in ("hate", "self_harm", "sexual", "violence")}
_PROMPT: Final = {"prompt_filter_results": [{"prompt_index": 0, "content_filter_results": _SAFE}]}


def filtered_body(document: Document) -> Document:
    """The answer that is not streamed."""
    choices = [choice | {"content_filter_results": _SAFE} for choice in document["choices"]]
    return document | {"choices": choices} | _PROMPT


def filtered_chunks(chunks: list[Document]) -> list[Document]:
    """A stream begins with a chunk that has no choice, no id and no model."""
    first = {"choices": [], "created": 0, "id": "", "model": "", "object": "", **_PROMPT}
    return [first, *(_filtered(chunk) for chunk in chunks)]


def _filtered(chunk: Document) -> Document:
    """The verdict stands in chunks that say something."""
    verdicts = [_SAFE if choice["delta"].get("content") else {} for choice in chunk["choices"]]
    pairs = zip(chunk["choices"], verdicts, strict=True)
    return chunk | {"choices": [choice | {"content_filter_results": verdict} for choice, verdict in pairs]}
