"""The record of what goes up and is not what came, beside the calls and results that the gate answers for."""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import Enum
from typing import TYPE_CHECKING, ClassVar

from interceptors.kinds import Kind

if TYPE_CHECKING:
    from datetime import datetime


class Edit(Enum):
    """What was done to the history of a request. The values stand in records and in what is remembered."""

    THINKING_TAKEN_OUT = "thinking_taken_out"  # it depends on a hidden turn that is lost
    NOT_PUT_BACK = "not_put_back"  # a turn that fits hidden turns of several conversations stays as the client holds it
    PRUNED = "pruned"  # a result, to the fields that the policy keeps
    ERROR = "error"  # a result that is an error became one
    STALE = "stale"  # a result that is out of date became a notice
    NOTICE = "notice"  # the newest result says which earlier ones are out of date
    UNANSWERED = "unanswered"  # a call without a result got one
    ORPHAN = "orphan"  # a result without a call was left out
    COMPACTED = "compacted"  # a matter that is closed became a summary
    NOT_COMPACTED = "not_compacted"  # what the provider keeps cannot be summed up


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """The history of a request differs from what the provider has seen. `count`: thinking blocks, turns,
    results or stretches. `bytes_saved` is what the whole request is shorter for all edits that hold for it.
    """

    kind: ClassVar[Kind] = Kind.EDITED

    receipt: str
    time: datetime
    exchange: str
    tenant: str
    dialect: str
    model: str
    edit: Edit
    count: int
    bytes_saved: int = 0
    tokens_saved: int = 0  # as the request's tokens are estimated
    identity: str | None = None
    subject: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted(Edited):
    """Matters became summaries, `count` of them. The tokens are those of the request without these summaries and with
    them, estimated.
    """

    tokens_before: int
    tokens_after: int


def compacted(edited: Edited, before: int, after: int) -> Compacted:
    """The same record, which tells of the tokens too."""
    told = {each.name: getattr(edited, each.name) for each in fields(edited)}
    return Compacted(**told, tokens_before=before, tokens_after=after)
