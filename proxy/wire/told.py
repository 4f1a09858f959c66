"""A whole answer of ours, where a request did not go up: nothing but a text, as the model's turn would end with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

if TYPE_CHECKING:
    from proxy.wire.standing import Named


class Told(NamedTuple):
    """`name` tells this answer from every other one (32 hex digits), `created` is when it was first given (Unix
    seconds): the same answer has the same bytes. `request` is the body that it answers."""

    text: str
    model: str
    name: str
    created: int
    request: bytes


class KeptAnswer(NamedTuple):
    """An answer of ours that later requests may name: by which names, and its item with the item's own id."""

    named: Named
    item_id: str
    item: bytes


@runtime_checkable
class KeepsAnswers(Protocol):
    """A dialect whose provider keeps answers, and so knows nothing of one of ours."""

    def kept(self, told: Told) -> KeptAnswer | None:
        """None where the request says that the answer is not to be kept."""
        ...
