"""Cancellation fees from terms in words: an untrusted candidate, a validator, and an engine that computes or refuses.

The candidate may come from a model. What it says counts only where the source text, read by a small grammar, says the
same at the quoted place. The engine then needs no language.
"""

from policies.fees.candidate import Candidate, CandidateError, ReferenceKind, candidate_schema, read_candidate
from policies.fees.engine import SUPPORTED_SCOPE, Blocked, Cancellation, Computed, Input, Result, compute
from policies.fees.problems import Notice, NoticeKind, Problem, ProblemKind
from policies.fees.schedule import Schedule
from policies.fees.sentences import account, explain
from policies.fees.text import Source
from policies.fees.validator import Refused, Validated, Validation, validate

__all__ = [
    "SUPPORTED_SCOPE",
    "Blocked",
    "Cancellation",
    "Candidate",
    "CandidateError",
    "Computed",
    "Input",
    "Notice",
    "NoticeKind",
    "Problem",
    "ProblemKind",
    "ReferenceKind",
    "Refused",
    "Result",
    "Schedule",
    "Source",
    "Validated",
    "Validation",
    "account",
    "candidate_schema",
    "compute",
    "explain",
    "read_candidate",
    "validate",
]
