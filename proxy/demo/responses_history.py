"""What OpenAI refuses in the items of a Responses request, with the texts it refuses it with (as users quote them)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from proxy.demo.turns import HttpError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from proxy.demo.turns import Document

OUTPUTS = {
    "function_call": ("function_call_output", "function call"),
    "custom_tool_call": ("custom_tool_call_output", "custom tool call"),
    "local_shell_call": ("local_shell_call_output", "local shell call"),
    "shell_call": ("shell_call_output", "shell call"),
    "apply_patch_call": ("apply_patch_call_output", "apply patch call"),
    "computer_call": ("computer_call_output", "computer call"),
    "tool_search_call": ("tool_search_output", "tool search call"),
}
"""Each type of call, the type of what answers it, and how an error names it."""
_NAMES = dict(OUTPUTS.values())


@dataclass(slots=True)
class Issued:
    """What the provider wrote and can find again. `stored` are whole contexts, by the id of an answer."""

    stored: dict[str, list[Document]] = field(default_factory=dict)
    conversations: dict[str, list[Document]] = field(default_factory=dict)
    kept: dict[str, Document] = field(default_factory=dict)  # items of stored answers, by their ids
    unkept: set[str] = field(default_factory=set)  # ids of items of answers that were not stored
    needs: dict[str, str] = field(default_factory=dict)  # of an item the reasoning that it was written after
    sealed: dict[str, str] = field(default_factory=dict)  # the encrypted content of reasoning

    def keep(
        self, answer: str, conversation: str, context: Sequence[Document], output: list[Document], *, stored: bool
    ) -> None:
        """An answer was given."""
        reasoning = ""
        for item in output:
            if item["type"] == "reasoning":
                reasoning = item["id"]
                if "encrypted_content" in item:
                    self.sealed[item["id"]] = item["encrypted_content"]
            elif reasoning:
                self.needs[item["id"]] = reasoning
            if stored:
                self.kept[item["id"]] = item
            else:
                self.unkept.add(item["id"])
        if stored:
            self.stored[answer] = [*context, *output]
        if conversation:
            self.conversations[conversation] = [*context, *output]


def context_of(body: Document, issued: Issued) -> list[Document] | HttpError:
    """The items that a request stands for, or the refusal."""
    given = body.get("input", [])
    items: list[Any] = [{"role": "user", "content": given}] if isinstance(given, str) else given
    previous, conversation = body.get("previous_response_id"), body.get("conversation")
    name = conversation.get("id") if isinstance(conversation, dict) else conversation
    before: list[Document] = []
    if previous is not None:
        if previous not in issued.stored:
            text = f"Previous response with id '{previous}' not found."
            return HttpError(400, "invalid_request_error", text, "previous_response_not_found", "previous_response_id")
        before = issued.stored[previous]
    elif name is not None:
        before = issued.conversations.get(str(name), [])
    context = [*before, *(_resolved(item, issued) for item in items)]
    fault = next(_faults(items, context, issued), None)
    return context if fault is None else fault


def _resolved(item: Document, issued: Issued) -> Document:
    """What an item that is but an id stands for; one that is not known stays, and is refused."""
    return issued.kept.get(str(item.get("id")), item) if _is_reference(item) else item


def _is_reference(item: Document) -> bool:
    return item.get("type") == "item_reference" or (item.get("type") is None and item.keys() <= {"id", "type"})


def _faults(items: Sequence[Document], context: Sequence[Document], issued: Issued) -> Iterator[HttpError]:
    for number, item in enumerate(items):
        yield from _identity_faults(number, item, issued)
    yield from _pairs(context)
    yield from _reasoning_faults(context, issued)


def _identity_faults(number: int, item: Document, issued: Issued) -> Iterator[HttpError]:
    own, kind = item.get("id"), item.get("type", "message")
    if _is_reference(item):
        if len(item.keys() - {"type"}) != 1:
            (more, *_) = sorted(item.keys() - {"type", "id"})
            yield _error(
                f"Unknown parameter: 'input[{number}].{more}'.", f"input[{number}].{more}", "unknown_parameter"
            )
        elif own not in issued.kept:
            yield _error(_not_found(own, issued), "input", None, 404)
    elif kind == "reasoning":
        sealed = item.get("encrypted_content")
        if own in issued.unkept and not sealed:
            yield _error(_not_found(own, issued), "input", None, 404)
        elif own not in issued.unkept and own not in issued.kept:
            yield _error(f"Item with id '{own}' not found.", "input", None, 404)
        elif sealed and issued.sealed.get(str(own)) != sealed:
            yield _error("The encrypted content could not be verified.", "input", "invalid_encrypted_content")
    elif own is not None and not kind.endswith("output") and own not in issued.kept and own not in issued.unkept:
        yield _error(f"Item with id '{own}' not found.", f"input[{number}].id", None, 404)


def _not_found(own: Any, issued: Issued) -> str:
    why = (
        " Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item"
    )
    return f"Item with id '{own}' not found." + (f"{why} from your input." if own in issued.unkept else "")


def _pairs(context: Sequence[Document]) -> Iterator[HttpError]:
    asked: dict[str, str] = {}
    answered: set[str] = set()
    for item in context:
        kind = item.get("type", "message")
        if kind in OUTPUTS:
            asked[str(item["call_id"])] = kind
        elif kind == "mcp_approval_request":
            asked[str(item["id"])] = kind
        elif kind in _NAMES:
            call = str(item.get("call_id") or item.get("id"))
            if OUTPUTS.get(asked.get(call, ""), ("",))[0] != kind:
                yield _error(f"No tool call found for {_NAMES[kind]} output with call_id {call}.", "input", None)
            answered.add(call)
        elif kind == "mcp_approval_response":
            answered.add(str(item["approval_request_id"]))
    for call, kind in asked.items():
        if call not in answered and kind in OUTPUTS:
            yield _error(f"No tool output found for {OUTPUTS[kind][1]} {call}.", "input", None)


def _reasoning_faults(context: Sequence[Document], issued: Issued) -> Iterator[HttpError]:
    """The rule is keyed on the ids of items: an item without one is not missed."""
    ids = {item.get("id") for item in context if item.get("id")}
    for place, item in enumerate(context):
        own, kind = str(item.get("id")), item.get("type", "message")
        needed = issued.needs.get(own)
        if needed is not None and needed not in ids and own in issued.kept:
            text = f"Item '{own}' of type '{kind}' was provided without its required 'reasoning' item: '{needed}'."
            yield _error(text, "input", None)
        followers = {one for one, reasoning in issued.needs.items() if reasoning == own}
        rest = [one.get("id") for one in context[place + 1 :]]
        if kind == "reasoning" and followers and own in issued.kept and followers.isdisjoint(rest):
            text = f"Item '{own}' of type 'reasoning' was provided without its required following item."
            yield _error(text, "input", None)


def _error(text: str, param: str | None, code: str | None, status: int = 400) -> HttpError:
    return HttpError(status, "invalid_request_error", text, code=code, param=param)
