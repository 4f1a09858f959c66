"""The history of a case, in a notation that knows no dialect:

    - {user: "Please refund order A1001"}
    - {assistant: "One moment."}
    - {call: lookup_order, arguments: {order_id: A1001}}        # released, unless `released: false`
    - {result: {status: delivered}}                             # of the last call, unless `of: ID`

An entry is a message of its own, but calls share the assistant's, and results share one with each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from interceptors.history import Author, Entry, History, PastCall, PastResult, Said
from interceptors.strict_json import digest
from policies.nodes import ScalarNode
from proxy.suites import keys
from proxy.suites.json_values import json_object, json_value

if TYPE_CHECKING:
    from policies.nodes import MappingNode, Node

RECEIPT: Final = "rc_suite_"


def read_history(node: Node) -> History:
    """The conversation that the list tells. `DocumentError` for what is none."""
    reading = _Reading()
    for item in node.sequence():
        reading.read(item.mapping())
    last = max((one.turn for one in reading.entries if _is_assistants(one)), default=-1)
    entries = tuple(
        PastResult(one.call, one.value, one.is_error, one.turn, one.turn > last) if isinstance(one, PastResult) else one
        for one in reading.entries
    )
    return History(entries, calls={one.id: one for one in entries if isinstance(one, PastCall)})


def _is_assistants(entry: Entry) -> bool:
    return isinstance(entry, PastCall) or (isinstance(entry, Said) and entry.author is Author.ASSISTANT)


@dataclass(slots=True)
class _Reading:
    entries: list[Entry] = field(default_factory=list)

    def read(self, mapping: MappingNode) -> None:
        if "call" in mapping:
            self._call(mapping)
        elif "result" in mapping:
            self._result(mapping)
        else:
            self._said(mapping)

    def _said(self, mapping: MappingNode) -> None:
        named = [key for key in keys.SAID if key in mapping]
        if len(named) != 1:
            mapping.fail("an entry is one of user, assistant, system, call, result")
        mapping.check_keys(keys.USER if named[0] == "user" else (named[0],))
        node = mapping.get("beside_results")
        beside = node is not None and node.boolean()
        self.entries.append(
            Said(Author(named[0]), _text(mapping.require(named[0])), self._turn(PastResult if beside else ()), beside)
        )

    def _call(self, mapping: MappingNode) -> None:
        mapping.check_keys(keys.CALL)
        node, refused = mapping.get("arguments"), mapping.get("refused")
        arguments = {} if node is None else json_object(node)
        released = mapping.get("released")
        is_released = refused is None if released is None else released.boolean()
        count = sum(isinstance(entry, PastCall) for entry in self.entries) + 1
        name = f"call_{count}" if (given := mapping.get("id")) is None else given.text()
        with_text = (PastCall, Said) if self.entries and _is_assistants(self.entries[-1]) else PastCall
        self.entries.append(
            PastCall(
                name,
                mapping.require("call").text(),
                arguments,
                digest(dict(arguments)),
                self._turn(with_text),
                f"{RECEIPT}{count}" if is_released else "",
                "" if refused is None else refused.text(),
            )
        )

    def _result(self, mapping: MappingNode) -> None:
        mapping.check_keys(keys.ANSWER)
        calls = [entry.id for entry in self.entries if isinstance(entry, PastCall)]
        node, error = mapping.get("of"), mapping.get("error")
        if node is None and not calls:
            mapping.fail("no call stands before this result")
        name = calls[-1] if node is None else node.text()
        if name not in calls:
            mapping.require("of").fail(f"no call {name!r} stands before this result")
        is_error = error is not None and error.boolean()
        turn = self._turn(PastResult)
        self.entries.append(PastResult(name, json_value(mapping.require("result")), is_error, turn))

    def _turn(self, shared_with: type | tuple[type, ...]) -> int:
        """The message that the next entry stands in: that of the last one, if it is of these."""
        if not self.entries:
            return 0
        return self.entries[-1].turn + (0 if isinstance(self.entries[-1], shared_with) else 1)


def _text(node: Node) -> str:
    """What was said, which may be nothing and may look like a number."""
    if not isinstance(node, ScalarNode):
        node.fail(f"expected a text, got {node.described}")
    return "" if node.is_null else node.spelling
