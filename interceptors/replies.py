"""What is said about a decision: to the customer, to the agent, and to the person who gets an escalation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.gathered import NOT_AVAILABLE, gathered
from policies.approvals import OnApproval
from policies.expressions import EvaluationError
from policies.model import Category
from policies.system_reasons import DEFAULT_REPLIES, SYSTEM_REASONS
from policies.values import Money, render

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from interceptors.case import Case
    from interceptors.decisions import Verdict
    from policies.templates import Template

LANGUAGE: Final = "en"
_TAG_LENGTH_MAX: Final = 64
_MESSAGES: Final[Mapping[Category, str]] = {
    Category.POLICY: "The policy does not allow this call.",
    Category.VALIDATION: "The call lacks something, or a value of it is not accepted.",
    Category.PERMISSION: "This call is not permitted.",
    Category.TRANSIENT: "This call cannot be decided at present.",
    Category.ESCALATED: "This call was passed to a person.",
    Category.INTERNAL: "The gate failed while it decided this call.",
}
_NEXT: Final[Mapping[Category, str]] = {
    Category.POLICY: "Do not repeat the call.",
    Category.VALIDATION: "Ask the customer for what is missing, then call the tool again.",
    Category.PERMISSION: "Do not repeat the call.",
    Category.TRANSIENT: "Try the same call again later.",
    Category.ESCALATED: "A person decides this call; do not repeat it.",
    Category.INTERNAL: "Do not repeat the call; the operator of the gate must look at it.",
}


_RESUMES: Final[Mapping[OnApproval, str]] = {
    OnApproval.NEXT_TIME: "A person decides this call. Once it is approved, make the same call again, unchanged.",
    OnApproval.INLINE: "A person decides this call. Once it is approved, make the same call again, unchanged.",
    OnApproval.DELIVER: "A person decides this call; do not repeat it. Once it is approved, it is done without you.",
}


def reply(case: Case, reason: str, category: Category) -> str:
    """What the customer reads: the reason's own template, else the category's default text, which holds no figure; or
    the question that waits for a yes.
    """
    if case.question and reason == "confirm":
        return case.question
    own = own_text(case, reason)
    return DEFAULT_REPLIES[category] if own is None else own


def message(case: Case, reason: str, category: Category, verdicts: Iterable[Verdict]) -> str:
    """What the agent is told has happened. For a validation of the system it names the arguments, never a value."""
    system = SYSTEM_REASONS.get(reason)
    if system is None:
        return own_text(case, reason) or _MESSAGES[category]
    if system.category is not Category.VALIDATION:
        return system.message
    details = sorted({verdict.detail for verdict in verdicts if verdict.reason == reason and verdict.detail})
    return f"{system.message.removesuffix('.')}: {'; '.join(details)}." if details else system.message


def next_step(reason: str, category: Category, resumes: OnApproval | None = None) -> str:
    """What the agent can do about it. `resumes`: people can approve the call, and it goes on so."""
    if resumes is not None:
        return _RESUMES[resumes]
    system = SYSTEM_REASONS.get(reason)
    return _NEXT[category] if system is None or system.category is not category else system.next


def summary(case: Case, tool: str, reason: str) -> dict[str, str]:
    """The case for a person: the tool, the reason, the amount where there is one, and what the policy adds."""
    lines = {"tool": tool, "reason": reason}
    arguments = case.environment.roots["args"]
    amount = arguments.get(case.found.money) if isinstance(arguments, dict) and case.found.money is not None else None
    if isinstance(amount, Money):
        lines["amount"] = render(amount)
    for name, template in case.found.tool.escalation.items():
        lines[name] = rendered(case, template)
    return lines | gathered(case)


def rendered(case: Case, template: Template) -> str:
    """A line of a summary."""
    return _rendered(case, template) or NOT_AVAILABLE


def own_text(case: Case, reason: str) -> str | None:
    """The policy's template for this reason, rendered; None where there is none or a part of it has no value."""
    return own_text_in(case, reason, languages(case))


def own_text_in(case: Case, reason: str, tags: Iterable[str]) -> str | None:
    """The same in the first of these languages that it has, else in the one that it names first."""
    declared = case.policy.reasons.get(reason)
    if declared is None or not declared.replies:
        return None
    replies = {tag.lower(): template for tag, template in declared.replies.items()}
    for tag in tags:
        if tag in replies:
            return _rendered(case, replies[tag])
    return _rendered(case, next(iter(declared.replies.values())))


def languages(case: Case) -> tuple[str, ...]:
    """The languages to answer in, the best one first, in lower case: `("pt-br", "pt", "en")`."""
    wanted = case.policy.reply_language
    if wanted is None:
        return (LANGUAGE,)
    tag = wanted.tag
    if wanted.field:
        session = case.environment.roots["session"]
        said = session.get(wanted.field) if isinstance(session, dict) else None
        tag = said[:_TAG_LENGTH_MAX] if isinstance(said, str) else ""
    parts = tag.replace("_", "-").lower().split("-")
    return (*("-".join(parts[:length]) for length in range(len(parts), 0, -1)), LANGUAGE)


def _rendered(case: Case, template: Template) -> str | None:
    try:
        return template.render(case.environment)
    except EvaluationError:
        return None
