"""What people answered about a call, and what their answer is bound to (DESIGN 8). Data only."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


@dataclass(frozen=True, slots=True)
class Binding:
    """Beside tenant, subject, tool and arguments. `rows` are the verdicts that passed the call on (`Verdict.row`).

    `facts` holds, by the path that those rules read, the digest of what was read; `rules` is the digest of what judges
    the tool.
    """

    rows: tuple[str, ...]
    facts: Mapping[str, str]
    rules: str


@dataclass(frozen=True, slots=True)
class Asks:
    """What a case asks people for. `name` says whose call it is, of which tool, with what arguments."""

    name: str
    binding: Binding


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """An answer as the store gives it out: its seal was checked, and it was not used yet. `approves`: else it says no.

    `by` are the persons who gave it, in order.
    """

    id: str
    escalation: str
    approves: bool
    binding: Binding
    by: tuple[str, ...]
    expires: datetime
