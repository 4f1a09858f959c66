"""What is allowed of customers who ask for a person, and still looks wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.findings import Finding, FindingCode
from policies.handoff import REASON
from policies.handoff_words import REPLIES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy

_ANY = "und"  # the tag of a reply that names no language


def handoff_findings(policy: Policy) -> Iterator[Finding]:
    """Languages without a reply, facts that nobody reads, and customers who cannot be told apart."""
    handoff = policy.people.handoff
    if handoff is None:
        return
    own = policy.reasons.get(REASON)
    replies = {tag.lower() for tag in own.replies} if own is not None else set()
    for tag in handoff.languages if _ANY not in replies else ():
        has_own = any(part in replies for part in _parts(tag))
        if (tag in handoff.named and replies and not has_own) or (not replies and tag not in REPLIES):
            message = f"a customer who asks for a person in {tag!r} is answered in another language: give it a reply"
            yield Finding(handoff.origin, FindingCode.HANDOFF_WITHOUT_REPLY, message)
    for name in handoff.case.facts:
        if not _is_shown(name, handoff.case.upkeep.gather, policy):
            message = f"`handoff` looks the fact {name!r} up, and its case does not tell it"
            yield Finding(handoff.origin, FindingCode.UNUSED_FACT, message)
    if not policy.session:
        message = "no `session` says whose words these are: people get such a case without a name"
        yield Finding(handoff.origin, FindingCode.HANDOFF_OF_NOBODY, message)


def _parts(tag: str) -> list[str]:
    """`pt-br` and `pt`."""
    parts = tag.lower().split("-")
    return ["-".join(parts[:length]) for length in range(len(parts), 0, -1)]


def _is_shown(name: str, gather: tuple[str, ...], policy: Policy) -> bool:
    handoff = policy.people.handoff
    assert handoff is not None, "asked by handoff_findings"
    case = handoff.case
    read = {path[0] for text in case.escalation.values() for path in text.paths}
    read |= {path[0] for use in case.facts.values() for path in use.key.paths}
    return name in gather or name in read
