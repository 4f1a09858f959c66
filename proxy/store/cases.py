"""Cases for people, as they are handed to the store and as it gives them out, and what people answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from interceptors.calls import Proposer
from policies.approvals import OnApproval

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from interceptors.grants import Asks, Binding


class EscalationStatus(Enum):
    """What became of a case. Only an open one can be answered; all but it and `APPROVED` are final."""

    OPEN = "open"
    APPROVED = "approved"  # people said yes, and the call was not made again yet
    REJECTED = "rejected"
    USED = "used"  # the call ran on the approval
    VOID = "void"  # what the approval rested on has changed, so that it holds no longer
    EXPIRED = "expired"  # nobody answered in time, or the approval was not used in time
    CLOSED = "closed"  # a person has dealt with it: there was no call to decide


@dataclass(frozen=True, slots=True, kw_only=True)
class EscalationDraft:
    """A case for a person. Of (tenant, subject, tool, argument digest) one case is open: a second draft joins it.

    Without a tool it is that of a customer who asked for a person.
    """

    id: str
    tenant: str
    subject: str  # a keyed digest, or empty
    tool: str
    argument_digest: str
    summary: Mapping[str, str]
    reason: str
    receipt: str
    created: datetime
    policy: str = ""
    proposer: Proposer = Proposer.MODEL
    proposed_by: str = ""  # the operator's name; empty for a model
    asks: Asks | None = None  # None: no approval would let the call run
    answer_by: datetime | None = None
    on_approval: OnApproval = OnApproval.NEXT_TIME
    tells: bool = False  # somebody else is to hear of it
    open_max: int | None = None  # of this policy's open cases: beyond it `Entry.when_full` is written


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalation:
    """A case as stored. `created` is UTC text; `receipt` is that of the first refusal."""

    id: str
    tenant: str
    subject: str
    tool: str
    argument_digest: str
    summary: Mapping[str, str]
    reason: str
    receipt: str
    created: str
    status: EscalationStatus
    policy: str = ""
    proposer: Proposer = Proposer.MODEL
    proposed_by: str = ""
    asks: Binding | None = None  # what an approval is bound to; None: none would let the call run
    answer_by: str = ""
    on_approval: OnApproval = OnApproval.NEXT_TIME
    closed_at: str | None = None
    note: str = ""
    valid_until: str | None = None  # of an approval

    @property
    def is_call(self) -> bool:
        """Whether it is about a call; else a customer asked for a person, and people close it."""
        return bool(self.tool)

    @property
    def can_be_approved(self) -> bool:
        """Whether an approval would let the call run; else a person deals with it otherwise, and closes the case."""
        return self.asks is not None


@dataclass(frozen=True, slots=True)
class Vote:
    """What a person said of a case. `time` is UTC text."""

    person: str
    approves: bool
    reason: str
    time: str


class Unanswerable(Enum):
    """Why a person's answer was not taken. The value is a code for clients."""

    NOT_FOUND = "not_found"
    CLOSED = "closed"  # somebody was faster, or the case is over
    EXPIRED = "expired"
    ALREADY = "already_answered"  # by the same person
    OWN = "own_proposal"  # who proposed it does not approve it
    NO_APPROVAL = "cannot_be_approved"  # no approval would let the call run
    NO_CALL = "no_call"  # there is no call to approve or to refuse
    IS_CALL = "is_call"  # a call is approved or refused, not closed


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """A person's answer to a case, with the law of the policy in force: `quorum` approvals make a grant. `closes`: the
    case is about no call, and dealt with."""

    escalation: str
    by: str
    approves: bool
    reason: str
    at: datetime
    quorum: int
    valid_for: timedelta
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """`case` is as it stands now; None where there is none. `problem`: nothing was written. `missing`: approvals."""

    case: Escalation | None
    problem: Unanswerable | None = None
    receipt: str = ""
    missing: int = 0
