"""What each key of the policy language says: the tables of docs/policy.md, and what an editor shows beside a key.

Which keys there are, and in which order, say `policies.documents.keys`; the words that a key may have, the models.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.reference import facts, handoff, people, rules, tools, top
from policies.reference.rows import CHOICES, Reference

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["CHOICES", "REFERENCE", "Reference"]

REFERENCE: Final[Mapping[str, Reference]] = {
    **top.REFERENCE,
    **people.REFERENCE,
    **handoff.REFERENCE,
    **facts.REFERENCE,
    **tools.REFERENCE,
    **rules.REFERENCE,
}
"""By object of the language, as `policies.documents.keys` names them."""
