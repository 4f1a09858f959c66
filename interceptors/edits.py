"""The record of what goes up and is not what came, beside the calls and results that the gate answers for."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from interceptors.kinds import Kind

if TYPE_CHECKING:
    from datetime import datetime


class Edit(Enum):
    """What was done to the history of a request."""

    THINKING_TAKEN_OUT = "thinking_taken_out"  # it depends on a hidden turn that is lost
    NOT_PUT_BACK = "not_put_back"  # a turn that fits hidden turns of several conversations stays as the client holds it


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The history of a request differs from what the provider has seen. `count`: thinking blocks, or turns."""

    kind: ClassVar[Kind] = Kind.EDITED

    receipt: str
    time: datetime
    exchange: str
    tenant: str
    dialect: str
    model: str
    edit: Edit
    count: int
    identity: str | None = None
    subject: str = ""
