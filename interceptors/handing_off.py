"""What a customer who asked for a person reads, and what people get: decided once the facts of the case were read.

A fact that cannot be read is said so in the summary; the case opens in any case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interceptors.calls import ToolCall
from interceptors.case import Case, PreparedTool
from interceptors.decisions import Needs
from interceptors.facts import FactReader
from interceptors.gathered import gathered
from interceptors.replies import languages, own_text_in, rendered
from policies.expressions import Unreadable
from policies.handoff import REASON
from policies.handoff_words import FULL_REPLIES, REPLIES
from policies.values import render

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.context import Context, Facts
    from interceptors.decisions import FactRead
    from interceptors.person_wanted import Wanted
    from policies.handoff import Handoff
    from policies.model import Policy

FULL: Final = "queue_full"
ROOT_CAUSE: Final = "The customer asked for a person."
ACTION: Final = "Get back to the customer."
_NO_CALL: Final = ToolCall("", {}, "{}", "", 0)
_WHO_LENGTH_MAX: Final = 200


@dataclass(frozen=True, slots=True)
class HandingOff:
    """`full` is what the customer reads where people cannot take another case."""

    wanted: Wanted
    reply: str
    full: str
    summary: Mapping[str, str]
    facts: tuple[FactRead, ...]


def hand_off(policy: Policy, handoff: Handoff, wanted: Wanted, context: Context, facts: Facts) -> HandingOff | Needs:
    """The decision, or the facts that it needs first. Pure, as a decision on a call is."""
    case = Case(policy, _NO_CALL, PreparedTool.of(handoff.case, is_named=True), "", context, facts)
    case.environment  # noqa: B018 - makes the roots
    judged = FactReader(reads_on=True).judge(case)
    if isinstance(judged, Needs):
        return judged
    tags = languages(case) if policy.reply_language is not None else _tags(wanted.language)
    return HandingOff(
        wanted,
        own_text_in(case, REASON, tags) or _in(REPLIES, tags),
        own_text_in(case, FULL, tags) or _in(FULL_REPLIES, tags),
        _summary(case, wanted),
        case.reads,
    )


def _summary(case: Case, wanted: Wanted) -> dict[str, str]:
    """Who, why, what the policy adds, and what was read; nothing of what was said (DESIGN 8)."""
    lines = {"reason": REASON, "language": wanted.language}
    if who := _who(case):
        lines["who"] = who
    lines |= {"root_cause": ROOT_CAUSE, "recommended_action": ACTION}
    lines |= {name: rendered(case, text) for name, text in case.found.tool.escalation.items()}
    return lines | gathered(case)


def _who(case: Case) -> str:
    """What the application signed of the customer."""
    session = case.roots.get("session")
    known = session.items() if isinstance(session, dict) else ()
    told = [f"{name}: {render(value)}" for name, value in known if not isinstance(value, (Unreadable, dict, tuple))]
    return "; ".join(told)[:_WHO_LENGTH_MAX]


def _tags(language: str) -> tuple[str, ...]:
    parts = language.lower().split("-")
    return (*("-".join(parts[:length]) for length in range(len(parts), 0, -1)), "en")


def _in(texts: Mapping[str, str], tags: tuple[str, ...]) -> str:
    return next((texts[tag] for tag in tags if tag in texts), texts["en"])
