"""The record of what a person said of a case. It shares the receipt of what opened the case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from interceptors.kinds import Kind

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """`by` said yes or no, and why. `grant` is the approval that this answer made whole, empty where it made none.

    `expires` is when that approval ends. Of a case without a call a no says that it is dealt with.
    """

    kind: ClassVar[Kind] = Kind.ANSWERED

    receipt: str
    time: datetime
    escalation: str
    by: str
    approves: bool
    reason: str
    grant: str = ""
    expires: datetime | None = None
    subject: str = ""
