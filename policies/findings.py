"""What lint finds: a closed set of codes, each with a place and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from policies.model import Origin


class FindingCode(Enum):
    UNUSED_REASON = "unused-reason"
    UNUSED_CONSTANT = "unused-constant"
    UNUSED_FACT = "unused-fact"
    DECORATIVE_GATE = "decorative-gate"
    FACT_NOT_OWNED = "fact-not-owned"
    UNANCHORED_PATTERN = "unanchored-pattern"
    UNREACHABLE_RULE = "unreachable-rule"
    MISFIT_CATEGORY = "misfit-category"
    WRITE_WITHOUT_LIMIT = "write-without-limit"
    LIMIT_WITHOUT_CURRENCY = "limit-without-currency"
    LIMIT_PER_FREE_TEXT = "limit-per-free-text"
    HELD_FOR_NOTHING = "held-for-nothing"
    HANDOFF_WITHOUT_REPLY = "handoff-without-reply"
    HANDOFF_OF_NOBODY = "handoff-of-nobody"
    PLAIN_CREDENTIAL = "plain-credential"


@dataclass(frozen=True, slots=True)
class Finding:
    """`origin` is None only for what stands in no file."""

    origin: Origin | None
    code: FindingCode
    message: str

    def __str__(self) -> str:
        place = f"{self.origin}: " if self.origin is not None else ""
        return f"{place}{self.message} [{self.code.value}]"
