"""Thinking blocks: signed when a turn is said, checked when it comes back (platform.claude.com, preserved thinking).

A block is bound to its prefix: top-level `system`, `tools`, and every message before it. Of the thinking before it,
what is left must be what stood directly before it when it was made: taking thinking out from the start, from the end
or altogether is fine, from the middle is not, nor is putting a block back that was out.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from proxy.demo import meaning, signatures
from proxy.demo.turns import Thinking

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.demo.turns import Document, Turn


class Fault(Enum):
    TAMPERED = auto()  # its own text or signature is not what was said
    ELSEWHERE = auto()  # the conversation before it is another one


@dataclass(slots=True)
class Prefix:
    """The conversation so far, as the next thinking block will be bound to it.

    Neighbouring messages of one role are one turn. A tool with `defer_loading` counts once a message before has
    named it.
    """

    body: Document
    own_turn: bool = False
    marks: list[bytes] = field(default_factory=list)
    _closed: bytes = b""
    _role: object = None
    _open: list[bytes] = field(default_factory=list)
    _named: set[str] = field(default_factory=set)
    _open_names: set[str] = field(default_factory=set)
    _roots: dict[frozenset[str], bytes] = field(default_factory=dict)

    def add(self, role: object, block: Document) -> None:
        """Go on by one block. A thinking block leaves its mark only: it is no part of the messages' meaning."""
        if meaning.is_thinking(block):
            self.marks.append(signatures.mark(block))
            return
        if role != self._role:
            self._closed, self._named = self._folded(), self._named | self._open_names
            self._role, self._open, self._open_names = role, [], set()
        self._open.append(meaning.digest(meaning.block(block)))
        self._open_names |= set(_names(block))

    def digest(self, role: object) -> bytes:
        """What a thinking block of that role is bound to, here."""
        same_turn = role == self._role
        closed = self._closed if same_turn else self._folded()
        named = self._named if same_turn else self._named | self._open_names
        parts = [self._root(frozenset(named)), closed]
        if same_turn and self.own_turn:
            parts += self._open
        return signatures.shortened(meaning.digest([part.hex() for part in parts]))

    def _folded(self) -> bytes:
        return meaning.digest([self._closed.hex(), self._role, *(one.hex() for one in self._open)])

    def _root(self, named: frozenset[str]) -> bytes:
        if named not in self._roots:
            tools = self.body.get("tools") or []
            shown = [one for one in tools if one.get("defer_loading") is not True or one.get("name") in named]
            value = [meaning.system(self.body.get("system")), [meaning.tool(one) for one in shown]]
            self._roots[named] = meaning.digest(value)
        return self._roots[named]


@dataclass(frozen=True, slots=True)
class Found:
    """A thinking block of a request, at `messages.{message}.content.{place}`, and what is wrong with it, if anything.

    `binding` is None where the double did not sign it.
    """

    message: int
    place: int
    binding: signatures.Binding | None
    fault: Fault | None

    @property
    def path(self) -> str:
        return f"messages.{self.message}.content.{self.place}"


def examined(body: Document, *, prefix_bound: bool, own_turn: bool, dropping: bool) -> tuple[list[Found], Prefix]:
    """Every thinking block of the request in order, and the conversation as the model then sees it.

    With `dropping`, the first block from elsewhere and all behind it are out: they leave no mark.
    """
    prefix = Prefix(body, own_turn)
    found: list[Found] = []
    dropped = False
    for number, message in enumerate(body["messages"]):
        role = message.get("role")
        for place, block in enumerate(meaning.blocks(message.get("content"))):
            if meaning.is_thinking(block):
                binding, fault = _judged(block, prefix, role, prefix_bound=prefix_bound)
                if dropping:
                    fault = Fault.ELSEWHERE if dropped and fault is None else fault
                    dropped = dropped or fault is Fault.ELSEWHERE
                found.append(Found(number, place, binding, fault))
                if dropped:
                    continue
            prefix.add(role, block)
    return found, prefix


def _judged(
    block: Document, prefix: Prefix, role: object, *, prefix_bound: bool
) -> tuple[signatures.Binding | None, Fault | None]:
    binding = signatures.opened(block.get("data" if block.get("type") == "redacted_thinking" else "signature"))
    if binding is None or binding.own != signatures.own(block):
        return binding, Fault.TAMPERED
    if not prefix_bound:
        return binding, None
    kept = tuple(prefix.marks)
    behind = binding.before[len(binding.before) - len(kept) :] if len(kept) <= len(binding.before) else None
    same = binding.prefix == prefix.digest(role) and behind == kept
    return binding, None if same else Fault.ELSEWHERE


def signed(turn: Turn, content: Sequence[Document], prefix: Prefix) -> Turn:
    """The turn with a signature on each thinking part that the script left without one.

    `content` are the blocks of the turn's parts, in order; `prefix` goes on to the end of the turn.
    """
    count = sum(isinstance(part, Thinking) for part in turn.parts)
    parts: list[Any] = []
    ordinal = 0
    for part, block in zip(turn.parts, content, strict=True):
        if isinstance(part, Thinking):
            said = part if part.signature else replace(part, signature=_signature(block, ordinal, count, prefix))
            ordinal += 1
            parts.append(said)
            key = "data" if said.redacted else "signature"
            prefix.add("assistant", {**block, key: said.signature})
        else:
            parts.append(part)
            prefix.add("assistant", block)
    return replace(turn, parts=tuple(parts))


def _signature(block: Document, ordinal: int, count: int, prefix: Prefix) -> str:
    binding = signatures.Binding(prefix.digest("assistant"), signatures.own(block), ordinal, count, tuple(prefix.marks))
    return signatures.sealed(binding)


def _names(block: Document) -> list[str]:
    """The tools that a block names: by a call, or by a `tool_reference` in a result."""
    if block.get("type") in ("tool_use", "tool_reference"):
        return [str(block.get("name", block.get("tool_name")))]
    content = block.get("content")
    inner = content.get("tool_references", []) if isinstance(content, dict) else content
    return [name for one in (inner if isinstance(inner, list) else []) for name in _names(one)]
