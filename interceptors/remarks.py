"""The record of what was found in the text of a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from interceptors.kinds import Kind, Remark

if TYPE_CHECKING:
    from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Remarked:
    """Something was found in the text of a turn, which is never kept. `tool` is the policy's spelling of the tool that
    it names, empty for none; `replaced`: the customer read the policy's reply in the place of the text.
    """

    kind: ClassVar[Kind] = Kind.REMARKED

    receipt: str
    time: datetime
    exchange: str
    tenant: str
    dialect: str
    model: str
    remark: Remark
    tool: str
    replaced: bool
    policy: str
    revision: str
    detail: str = ""
    identity: str | None = None
    subject: str = ""
