"""What Anthropic refuses in a request's history, with the texts it refuses it with (as users quote them in reports).

Neighbouring turns of one role are merged before pairs are looked at, as the provider does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proxy.demo import meaning
from proxy.demo.anthropic_shapes import shape_faults
from proxy.demo.servers import CLAUDE
from proxy.demo.turns import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.servers import AnthropicServer
    from proxy.demo.turns import Document

_SERVER_CALLS = ("server_tool_use", "mcp_tool_use")
_RESULT_SUFFIX = "_tool_result"
_PREFILL = "This model does not support assistant message prefill. The conversation must end with a user message."


def anthropic_refusal(body: Document, server: AnthropicServer = CLAUDE) -> HttpError | None:
    """The first thing that Anthropic would find wrong with `messages`, thinking aside, or None."""
    text = next(_anthropic_faults(body, server), None)
    return None if text is None else HttpError(400, "invalid_request_error", text)


def _anthropic_faults(body: Document, server: AnthropicServer) -> Iterator[str]:
    yield from shape_faults(body)
    turns = _merged(body["messages"])
    yield from _identifier_faults(turns)
    for place, turn in enumerate(turns):
        before = turns[place - 1] if place else None
        after = turns[place + 1] if place + 1 < len(turns) else None
        if turn.role == "assistant":
            yield from _unanswered(turn, after)
            if after is not None:
                yield from _pending_faults(turn, after)
        else:
            yield from _unasked(turn, before)
    yield from _server_result_faults(turns)
    yield from _withdrawn_faults(turns, body.get("tools") or [])
    paused = any(_pending(turns[-1:]))
    if turns and turns[-1].role == "assistant" and not server.prefill and not paused:
        yield _PREFILL


@dataclass(slots=True)
class _Merged:
    """Neighbouring messages of one role as the one turn that the provider sees; `number` is the first of them."""

    role: str
    number: int
    blocks: list[tuple[str, Document]] = field(default_factory=list)  # each with its path

    def of_type(self, kind: str) -> list[Document]:
        return [block for _, block in self.blocks if block.get("type") == kind]


def _merged(messages: list[Any]) -> list[_Merged]:
    turns: list[_Merged] = []
    for number, message in enumerate(messages):
        if message["role"] == "system":  # it changes tools or instructions; it stands in no pair
            continue
        if not turns or turns[-1].role != message["role"]:
            turns.append(_Merged(message["role"], number))
        placed = enumerate(meaning.blocks(message["content"]))
        turns[-1].blocks += [(f"messages.{number}.content.{place}", block) for place, block in placed]
    return turns


def _identifier_faults(turns: list[_Merged]) -> Iterator[str]:
    seen: set[str] = set()
    for path, block in [placed for turn in turns for placed in turn.blocks]:
        if block.get("type") == "tool_use":
            if block["id"] in seen:
                yield f"{path}: `tool_use` ids must be unique"
            seen.add(block["id"])


def _unanswered(turn: _Merged, after: _Merged | None) -> Iterator[str]:
    answered = {block.get("tool_use_id") for block in _leading_results(after)}
    missing = [block["id"] for block in turn.of_type("tool_use") if block["id"] not in answered]
    if missing:
        yield (
            f"messages.{turn.number}: `tool_use` ids were found without `tool_result` blocks immediately after: "
            f"{', '.join(missing)}. Each `tool_use` block must have a corresponding `tool_result` block in the next "
            "message."
        )


def _server_result_faults(turns: list[_Merged]) -> Iterator[str]:
    """A server's result stands behind its call, once: in the same turn, or in one after the client's results."""
    asked: set[object] = set()
    answered: set[object] = set()
    for path, block in [placed for turn in turns if turn.role == "assistant" for placed in turn.blocks]:
        kind, identifier = str(block.get("type")), block.get("tool_use_id")
        if kind in _SERVER_CALLS:
            asked.add(block.get("id"))
        elif kind.endswith(_RESULT_SUFFIX):
            call = "mcp_tool_use" if kind == "mcp_tool_result" else "server_tool_use"
            if identifier not in asked:
                yield (
                    f"{path}: unexpected `tool_use_id` found in `{kind}` blocks: {identifier}. Each `{kind}` block "
                    f"must have a corresponding `{call}` block before it."
                )
            if identifier in answered:
                yield (
                    f"{path}: each {call} must have a single result. Found multiple `{kind}` blocks with id: "
                    f"{identifier}"
                )
            answered.add(identifier)


def _pending(turns: list[_Merged]) -> Iterator[Document]:
    """The server tools without a result in these turns: they wait for the client's results, or to be resumed."""
    placed = [block for turn in turns for _, block in turn.blocks]
    done = {block.get("tool_use_id") for block in placed if str(block.get("type")).endswith(_RESULT_SUFFIX)}
    for block in placed:
        if block.get("type") in _SERVER_CALLS and block.get("id") not in done:
            yield block


def _pending_faults(turn: _Merged, after: _Merged) -> Iterator[str]:
    """While a server tool or a program waits, only results may follow."""
    if all(block.get("type") == "tool_result" for _, block in after.blocks):
        return
    waiting = [(str(block.get("name")), block.get("id")) for block in _pending([turn])]
    waiting += [("code_execution", caller.get("tool_id")) for caller in _programs(turn)]
    for name, identifier in waiting:
        yield _without_result(name, identifier)


def _withdrawn_faults(turns: list[_Merged], tools: list[Any]) -> Iterator[str]:
    """The tool that waits must still be offered."""
    offered = {one.get("name") for one in tools}
    for block in _pending(turns):
        name = str(block.get("name"))
        family = "code_execution" if name.endswith("_code_execution") else name
        if block.get("type") == "server_tool_use" and family not in offered:
            yield f"{_without_result(name, block.get('id'))}, but no `{family}` tool was provided"


def _without_result(name: str, identifier: object) -> str:
    return f"`{name}` tool use with id `{identifier}` was found without a corresponding `{name}_tool_result` block"


def _programs(turn: _Merged) -> list[Document]:
    """The callers of calls that come from code which still runs."""
    callers = [block.get("caller") for block in turn.of_type("tool_use")]
    return [one for one in callers if isinstance(one, dict) and str(one.get("type")).startswith("code_execution")]


def _unasked(turn: _Merged, before: _Merged | None) -> Iterator[str]:
    asked = {block["id"]: block for block in before.of_type("tool_use")} if before is not None else {}
    seen: set[str] = set()
    for path, block in turn.blocks:
        if block.get("type") != "tool_result":
            continue
        identifier = str(block["tool_use_id"])
        if identifier not in asked:
            yield (
                f"{path}: unexpected `tool_use_id` found in `tool_result` blocks: {identifier}. Each `tool_result` "
                "block must have a corresponding `tool_use` block in the previous message."
            )
        elif block.get("toolset_name") != asked[identifier].get("toolset_name"):
            yield f"{path}.tool_result.toolset_name: must be the `toolset_name` of `tool_use` block {identifier}"
        if identifier in seen:
            yield (
                f"{path}: each tool_use must have a single result. Found multiple `tool_result` blocks with id: "
                f"{identifier}"
            )
        seen.add(identifier)


def _leading_results(turn: _Merged | None) -> Iterator[Document]:
    """Results count only where they stand before any other block."""
    for _, block in turn.blocks if turn is not None else ():
        if block.get("type") != "tool_result":
            return
        yield block
