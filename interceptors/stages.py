"""The interceptors of a decision, in the order of their stages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.allowlists import Allowlists
from interceptors.capability import Capability
from interceptors.confidence import DeclaredConfidence
from interceptors.confirmation import Confirmation
from interceptors.egress import EgressGuard
from interceptors.facts import FactReader
from interceptors.fee_schedule import FeeSchedules
from interceptors.grounding import Grounding
from interceptors.limits import Limits
from interceptors.matrix import CaseMatrix
from interceptors.rules import Rules
from interceptors.shape import Shape

if TYPE_CHECKING:
    from interceptors.case import Interceptor

INTERCEPTORS: Final[tuple[Interceptor, ...]] = (
    Shape(),
    Capability(),
    Allowlists(),
    EgressGuard(),
    Grounding(),
    DeclaredConfidence(),
    FactReader(),
    FeeSchedules(),
    Rules(),
    CaseMatrix(),
    Limits(),
    Confirmation(),
)
"""In the order of their stages. One more is one more file and one more line here."""
