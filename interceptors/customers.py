"""For whom a call is made: the first field of the policy's `session`, as in receipts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.expressions import Unreadable
from policies.values import kind_of, render

if TYPE_CHECKING:
    from interceptors.case import Case


def customer(case: Case) -> str:
    """The customer's kind and value; empty where nobody is signed for."""
    session = case.environment.roots["session"]
    first = next(iter(session.values()), None) if isinstance(session, dict) else None
    if first is None or isinstance(first, Unreadable) or (kind := kind_of(first)) is None:
        return ""
    return f"{kind.value}:{render(first)}"
