"""What Anthropic says to a request's thinking blocks: refusals with its texts, or what it leaves out and reports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.demo import meaning
from proxy.demo.thinking import Fault, Found, Prefix, examined
from proxy.demo.turns import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.demo.servers import AnthropicServer
    from proxy.demo.turns import Document

BINDING_BETA = "thinking-binding-controls-2026-08-01"

_BEHAVIOURS = (None, "error", "drop_block")
_UNMODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)
_ELSEWHERE = (
    "The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
_FIRST = (
    "When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost "
    "set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To "
    "avoid this requirement, disable `thinking`."
)


@dataclass(frozen=True, slots=True)
class Heard:
    """A request as the model gets it: the conversation to bind new thinking to, and what was said of old thinking.

    `transformations` is None where the client did not ask for the report.
    """

    prefix: Prefix
    transformations: list[Document] | None = None


def heard(body: Document, betas: frozenset[str], server: AnthropicServer) -> Heard | HttpError:
    """Check the thinking of a request whose shapes and pairs are right.

    A block that fails, and all behind it, are dropped where the request says so under the beta header; without the
    header the key is an unknown one.
    """
    asked = body.get("thinking") or {}
    control = asked.get("block_binding")
    if control is not None and BINDING_BETA not in betas:
        return _refusal("thinking.block_binding: Extra inputs are not permitted")
    behaviour = (control or {}).get("prefix_mismatch_behavior")
    if behaviour not in _BEHAVIOURS:
        return _refusal("thinking.block_binding.prefix_mismatch_behavior: Input should be 'error' or 'drop_block'")
    enforced = server.enforced_by_default or control is not None
    dropping = behaviour == "drop_block"
    found, prefix = examined(body, prefix_bound=server.prefix_bound, own_turn=server.own_turn_bound, dropping=dropping)
    text = next(_faults(body, found, server, enforced=enforced and not dropping), None)
    if text is not None:
        return _refusal(text)
    kind = "thinking_dropped" if dropping else "thinking_mismatch_allowed"
    changes = [
        {"type": kind, "path": one.path, "reason": "prefix_binding_mismatch"}
        for one in found
        if one.fault is Fault.ELSEWHERE
    ]
    return Heard(prefix, changes if BINDING_BETA in betas else None)


def _faults(body: Document, found: list[Found], server: AnthropicServer, *, enforced: bool) -> Iterator[str]:
    if server.latest_fixed:
        shown = [one for one in found if enforced or one.fault is not Fault.ELSEWHERE]
        yield from _latest_faults(_latest(body, shown), server)
    for one in found:
        where = f"{one.path}: Invalid `signature` in `thinking` block"
        if one.fault is Fault.TAMPERED:
            yield where
        elif one.fault is Fault.ELSEWHERE and enforced:
            yield f"{where}. {_ELSEWHERE}"
    asked = body.get("thinking") or {}
    if server.thinking_first and asked.get("type") == "enabled":
        yield from _first_faults(body)


def _latest(body: Document, found: list[Found]) -> list[Found]:
    """The thinking blocks of the newest assistant turn."""
    assistants = [number for number, one in enumerate(body["messages"]) if one["role"] == "assistant"]
    if not assistants:
        return []
    start = assistants[-1]
    while start and body["messages"][start - 1]["role"] == "assistant":
        start -= 1
    return [one for one in found if start <= one.message <= assistants[-1]]


def _latest_faults(latest: list[Found], server: AnthropicServer) -> Iterator[str]:
    """The blocks of each response in it: untouched, in order, none missing between.

    Where blocks are bound to their prefix, ends may be missing: the newer rule allows that.
    """
    expected: dict[bytes, int] = {}
    for one in latest:
        if one.fault is Fault.TAMPERED or one.binding is None:
            yield f"{one.path}: {_UNMODIFIED}"
            return
        response = one.binding.prefix
        first = one.binding.ordinal if server.prefix_bound else 0
        if one.binding.ordinal != expected.get(response, first):
            yield f"{one.path}: {_UNMODIFIED}"
        expected[response] = one.binding.ordinal + 1
    if not server.prefix_bound:
        for one in latest:
            if one.binding is not None and expected[one.binding.prefix] != one.binding.count:
                yield f"{one.path}: {_UNMODIFIED}"


def _first_faults(body: Document) -> Iterator[str]:
    """In a tool loop the last assistant turn starts with its thinking."""
    messages = body["messages"]
    number = len(messages) - 1
    if messages[number]["role"] != "user" or not any(
        block.get("type") == "tool_result" for block in meaning.blocks(messages[number]["content"])
    ):
        return
    while number and messages[number]["role"] != "assistant":
        number -= 1
    while number and messages[number - 1]["role"] == "assistant":
        number -= 1
    first = meaning.blocks(messages[number]["content"])[0]
    if not meaning.is_thinking(first):
        yield (
            f"messages.{number}.content.0.type: Expected `thinking` or `redacted_thinking`, but found "
            f"`{first.get('type')}`. {_FIRST}"
        )


def _refusal(text: str) -> HttpError:
    return HttpError(400, "invalid_request_error", text)
