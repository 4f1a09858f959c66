"""The conversations that clients lead: each its own, and a turn longer with each request where an exchange says so."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from benchmarks.processes import BenchmarkError

if TYPE_CHECKING:
    from benchmarks.exchanges import Exchange

_ORDER: Final = b"order A1001?"
"""In the first message of every history; each conversation asks for another one."""
_END: Final = b"]}"  # of the messages, and of the request
_TURN: Final = (
    b',{"role":"assistant","content":[{"type":"tool_use","id":"toolu_more%d","name":"lookup_order","input":{}}]}'
    b',{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_more%d","content":"on its way"}]}'
)


class Talk:
    """One conversation: the request that begins it, where there is one, and those that go on with it."""

    def __init__(self, one: Exchange, number: int) -> None:
        self._one = one
        self._number = number
        self._turns = 0
        body = self._own(one.body)
        if one.grows and not body.endswith(_END):
            raise BenchmarkError(f"{one.name}: its messages do not stand at its end")
        self._said = bytearray(body[: -len(_END)]) if one.grows else body

    def opening(self, host: str) -> bytes | None:
        """What is sent once ahead of the others."""
        before = self._one.before
        return None if before is None else before.request(host, self._own(before.body))

    def next(self, host: str) -> bytes:
        """The next request."""
        if isinstance(self._said, bytes):
            return self._one.request(host, self._said)
        body = bytes(self._said + _END)
        self._said += _TURN % (self._turns, self._turns)
        self._turns += 1
        return self._one.request(host, body)

    def _own(self, body: bytes) -> bytes:
        return body.replace(_ORDER, b"order B%04d?" % self._number, 1) if self._one.grows else body


class Talks:
    """Those with one server, by exchange and connection."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, int], Talk] = {}

    def at(self, one: Exchange, connection: int) -> tuple[Talk, bool]:
        """The conversation of a connection, and whether it begins now."""
        begins = (one.name, connection) not in self._known
        if begins:
            self._known[one.name, connection] = Talk(one, connection)
        return self._known[one.name, connection], begins
