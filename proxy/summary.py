"""What the log and the metrics say of an exchange."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interceptors.receipts import Remarked
    from proxy.judge import Judgment


class Ending(Enum):
    """How an exchange ended, for the log."""

    COMPLETE = "complete"
    LIMIT = "limit"
    BROKEN = "broken"
    CLIENT_LOST = "client_lost"
    UPSTREAM_LOST = "upstream_lost"
    INTERNAL = "internal"


@dataclass(slots=True)
class Summary:
    """What the log and the metrics say of an exchange. It never holds an argument."""

    status: int = 0
    bytes_down: int = 0
    ending: Ending = Ending.COMPLETE
    breach: str = ""
    judgments: Sequence[Judgment] = ()
    observed: list[str] = field(default_factory=list)
    remarks: Sequence[Remarked] = ()

    @property
    def hold_ms(self) -> int:
        """The longest time that a completed call was held."""
        return max((judgment.hold_ms for judgment in self.judgments), default=0)
