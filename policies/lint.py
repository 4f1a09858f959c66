"""What is allowed in a policy and still looks wrong. Lint never fails a load; `callgate check` prints it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.documents.guards import guard_reasons, nested
from policies.findings import Finding, FindingCode
from policies.lint_gates import decorative, not_owned, unreachable
from policies.lint_handoff import handoff_findings
from policies.lint_limits import limits_of, loose_limits
from policies.lint_paths import paths_in
from policies.model import Category, Origin, Ruling
from policies.system_reasons import SYSTEM_REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Origin, Policy, Tool
    from policies.patterns import Pattern

__all__ = ["Finding", "FindingCode", "lint"]


def lint(policy: Policy) -> list[Finding]:
    """All findings, in the order of the files."""
    found = [
        *_unused(policy),
        *_misfits(policy),
        *_unanchored(policy),
        *_plain_credentials(policy),
        *_held_for_nothing(policy),
        *handoff_findings(policy),
    ]
    for tool in (*policy.tools.values(), policy.unknown_tool):
        found += [*unreachable(tool), *decorative(policy, tool), *not_owned(policy, tool), *loose_limits(tool)]
    unique = dict.fromkeys(found)  # the rules of `defaults` are every tool's
    return sorted(unique, key=lambda finding: (str(finding.origin and finding.origin.file), _line(finding)))


def _line(finding: Finding) -> int:
    return finding.origin.line if finding.origin is not None else 0


def _tools(policy: Policy) -> tuple[Tool, ...]:
    return (*policy.tools.values(), policy.unknown_tool)


def _unused(policy: Policy) -> Iterator[Finding]:
    rules = [rule for tool in _tools(policy) for rule in tool.all_rules]
    reasons = {rule.reason for rule in rules} | {fact.missing[1] for fact in policy.facts.values()}
    reasons |= {reason for tool in _tools(policy) for reason in guard_reasons(tool)}
    reasons |= {limit.reason for tool in _tools(policy) for limit in limits_of(tool)}
    reasons |= {tool.fee_schedule.reason for tool in _tools(policy) if tool.fee_schedule is not None}
    for code, reason in policy.reasons.items():
        if code not in reasons and code not in SYSTEM_REASONS:
            yield Finding(reason.origin, FindingCode.UNUSED_REASON, f"nothing gives the reason {code!r}")
    read = {path[1] for path in paths_in(policy) if path[0] == "constants" and len(path) > 1}
    read |= {
        one.stands_in.removeprefix("constants.")
        for tool in policy.tools.values()
        for argument in nested(tool.arguments or {})
        if argument.allow is not None
        for one in argument.allow.lists
        if one.stands_in.startswith("constants.")
    }
    for name in policy.constants:
        if name not in read:
            origin = policy.constant_origins.get(name)
            yield Finding(origin, FindingCode.UNUSED_CONSTANT, f"nothing reads the constant {name!r}")
    mapped = {name for tool in policy.tools.values() for name in tool.facts}
    mapped |= set(policy.cases.facts) if policy.cases is not None else set()
    mapped |= set(policy.people.handoff.case.facts) if policy.people.handoff is not None else set()
    for name, fact in policy.facts.items():
        if name not in mapped:
            yield Finding(fact.origin, FindingCode.UNUSED_FACT, f"no tool maps the fact {name!r}")


def _held_for_nothing(policy: Policy) -> Iterator[Finding]:
    for one in policy.identities.values():
        if one.hold_text and not policy.claims:
            detail = f"the text of {one.name!r} is held for claims, and the policy has none"
            yield Finding(one.origin, FindingCode.HELD_FOR_NOTHING, detail)


def _misfits(policy: Policy) -> Iterator[Finding]:
    """A reason of category `escalated` is for what goes to a person, and only for that."""
    uses: list[tuple[Ruling, str, Origin | None, str]]
    uses = [(rule.ruling, rule.reason, rule.origin, rule.id) for tool in _tools(policy) for rule in tool.all_rules]
    uses += [(one.ruling, one.reason, one.origin, one.id) for tool in _tools(policy) for one in limits_of(tool)]
    fees = [tool.fee_schedule for tool in _tools(policy) if tool.fee_schedule is not None]
    uses += [(one.ruling, one.reason, one.origin, one.id) for one in fees]
    uses += [
        (Ruling.FORBID, code, tool.origin, tool.name) for tool in policy.tools.values() for code in guard_reasons(tool)
    ]
    uses += [(*fact.missing, fact.origin, f"facts.{fact.name}.missing") for fact in policy.facts.values()]
    for ruling, code, origin, place in uses:
        reason = SYSTEM_REASONS.get(code) or policy.reasons[code]
        if (ruling is Ruling.ESCALATE) is not (reason.category is Category.ESCALATED):
            message = f"{place} answers {ruling.value} with {code!r}, whose category is {reason.category.value}"
            yield Finding(origin, FindingCode.MISFIT_CATEGORY, message)


def _unanchored(policy: Policy) -> Iterator[Finding]:
    for fact in policy.facts.values():
        yield from _loose(fact.key, fact.origin, f"the key of {fact.name!r}")
    for tool in policy.tools.values():
        for argument in nested(tool.arguments or {}):
            if argument.pattern is not None:
                yield from _loose(argument.pattern, argument.origin, f"the argument {argument.name!r} of {tool.name!r}")


def _loose(pattern: Pattern, origin: Origin | None, place: str) -> Iterator[Finding]:
    source = pattern.source
    if source.startswith(("^", "\\A")) or source.endswith(("$", "\\z")):
        message = f"{place}: ^ and $ are not needed, a pattern matches the whole text"
        yield Finding(origin, FindingCode.UNANCHORED_PATTERN, message)
    if source.startswith((".*", ".+")) or source.endswith((".*", ".+")):
        message = f"{place}: {source!r} lets any text stand before or behind what it asks for"
        yield Finding(origin, FindingCode.UNANCHORED_PATTERN, message)


def _plain_credentials(policy: Policy) -> Iterator[Finding]:
    for identity in policy.identities.values():
        if not identity.token.references:
            message = f"the token of {identity.name!r} stands in the policy: use ${{NAME}} or ${{file:/path}}"
            yield Finding(identity.origin, FindingCode.PLAIN_CREDENTIAL, message)
