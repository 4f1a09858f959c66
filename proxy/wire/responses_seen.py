"""What both readers of a Responses answer know of its output: its calls, and what the provider did itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire.members import is_misspelled
from proxy.wire.responses_calls import LooseKey, ResponsesCalls, WrongShapeError
from proxy.wire.responses_types import EXECUTED, NAMES, Kind, kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from proxy.wire.events import WireEvent


def _observed_name(item: Mapping[str, Any]) -> str:
    if item.get("type") == "mcp_call":
        return f"mcp/{item.get('server_label')}"
    return str(item.get("type"))


class Output:
    """What both readers know of the output: its calls, and what the provider did itself."""

    def __init__(self, pass_types: frozenset[str]) -> None:
        self.pass_types = pass_types
        self.calls = ResponsesCalls()
        self._loose = 0

    @property
    def binds(self) -> bool:
        return self.calls.binds

    def classified(self, item: Any) -> tuple[str, Kind | None]:
        """The type of an item, and who executes it; None for a call of an unknown tool."""
        kind = item.get("type") if isinstance(item, dict) else None
        if not isinstance(kind, str) or is_misspelled(item, NAMES):
            raise WrongShapeError
        found = kind_of(item)
        if found is None and kind in self.pass_types:
            return kind, Kind.TEXT
        return kind, found

    def noted(self, item: Mapping[str, Any], kind: Kind | None) -> list[WireEvent]:
        if kind is Kind.OBSERVED and item.get("type") in EXECUTED:
            return self.calls.observe(_observed_name(item))
        if item.get("type") in self.pass_types and kind_of(item) is None:
            return self.calls.observe(str(item.get("type")), once=True)
        return []

    def loose_key(self) -> LooseKey:
        self._loose += 1
        return LooseKey(self._loose)
