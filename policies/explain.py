"""A policy in plain English, told from the compiled tree that decides: what the owner of the money reads and signs."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from policies.explain_arguments import argument_lines, egress_lines, user_lines
from policies.explain_asking import asking_lines, language_lines
from policies.explain_cases import case_lines
from policies.explain_fees import fee_lines
from policies.explain_foreign import provider_lines
from policies.explain_handoff import handoff_lines
from policies.explain_limits import limit_sentence, once_sentence, settlement_lines
from policies.explain_people import people_lines, tool_people_lines
from policies.explain_texts import text_lines, tool_text_lines
from policies.explain_upkeep import gather_line, history_lines, upkeep_lines
from policies.expressions import dotted, sentence
from policies.model import FileSource, Mode, Policy, Ruling, SessionSource, ToolEffect, UnknownTools, folded
from policies.system_reasons import DEFAULT_REPLIES, SYSTEM_REASONS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.limits import Limit, OncePer
    from policies.model import Fact, FactUse, HttpSource, Rule, SessionField, Tool

_OUTCOMES = {Ruling.FORBID: "Refused", Ruling.ESCALATE: "Passed to a person", Ruling.CLARIFY: "Asked back"}


def explain(policy: Policy, tool_name: str | None) -> str:
    """The sentences for one tool, or for the whole policy. A tool that the policy does not name is told as such."""
    if tool_name is None:
        parts = [_head(policy), *(explain_tool(policy, tool) for tool in policy.tools.values()), _others(policy)]
    else:
        tool = policy.tool(tool_name)
        parts = [_head(policy), explain_tool(policy, tool) if tool is not None else _unnamed(policy, tool_name)]
    return "\n\n".join(parts) + "\n"


def _head(policy: Policy) -> str:
    owner = f", owned by {policy.owner}" if policy.owner else ""
    lines = [f"Policy {policy.name}{owner}, revision {policy.revision[:12]}."]
    lines += [f"session.{one.name} is signed by the application: {_claim(one)}." for one in policy.session.values()]
    if policy.mode is Mode.HALT:
        lines.append("It is halted: every tool that changes something is refused.")
    if policy.time_zone is not None:
        lines.append(f"Days are counted in {policy.time_zone.key}.")
    lines += user_lines(policy)
    lines += language_lines(policy)
    lines += text_lines(policy)
    lines += people_lines(policy)
    lines += handoff_lines(policy)
    lines += history_lines(policy)
    return "\n".join(lines)


def _claim(field: SessionField) -> str:
    what = "the claim" if field.source is SessionSource.JWT else "the field"
    return f"{what} {'.'.join(field.at)} of its {'token' if field.source is SessionSource.JWT else 'signed header'}"


def explain_tool(policy: Policy, tool: Tool) -> str:
    """The sentences of one tool that the policy names."""
    effect = "it only reads" if tool.effect is ToolEffect.READ else "it changes something"
    lines = [f"{tool.name} ({effect})", f"  {_callers(policy, tool)}", *tool_text_lines(policy, tool)]
    if tool.facts:
        lines.append("  Looked up afresh at each decision:")
        lines += [f"    - {_fact(policy.facts[name], use)}" for name, use in tool.facts.items()]
    lines += argument_lines(policy, tool)
    if (fees := tool.fee_schedule) is not None:
        lines += fee_lines(policy, fees, f"{_OUTCOMES[fees.ruling]} ({fees.reason})")
        lines.append(f"    The customer reads: {_reply(policy, fees.reason)}")
    lines += _rules(policy, tool)
    lines += _limits(policy, tool)
    lines += asking_lines(policy, tool)
    lines += tool_people_lines(policy, tool)
    lines += upkeep_lines(tool)
    if tool.escalation or tool.upkeep.gather:
        lines.append("  Where it is passed to a person, that person reads:")
        lines += [f'    - {name.replace("_", " ")}: "{text.source}"' for name, text in tool.escalation.items()]
        lines += gather_line(tool)
    return "\n".join(lines)


def _callers(policy: Policy, tool: Tool) -> str:
    if not policy.identities:
        return "Any agent may call it."
    key = folded(tool.name)
    names = [name for name, one in policy.identities.items() if one.tools is None or key in one.tools]
    return f"Only {_joined(names, 'and')} may call it." if names else "No agent may call it."


def _fact(fact: Fact, use: FactUse) -> str:
    key = dotted(next(iter(use.key.paths)))
    many = ", one record for each" if use.many else ""
    missing = f"{_OUTCOMES[fact.missing[0]].lower()} ({fact.missing[1]})"
    return f"{fact.name}: from {_source(fact.source)}, by {key}{many}. Where there is no such record: {missing}."


def _source(source: HttpSource | FileSource) -> str:
    if isinstance(source, FileSource):
        return f"the file {source.path.name}"
    return source.url.source.partition("?")[0]  # a query may hold a credential


def _rules(policy: Policy, tool: Tool) -> Iterator[str]:
    if tool.matrix is not None:
        yield from case_lines(policy, tool.matrix, lambda rule: rule_sentence(policy, rule))
    if not tool.rules and tool.matrix is not None:
        return
    if not tool.rules:
        yield "  No rule: it is allowed." if not tool.limits and tool.once_per is None else "  No rule but its limits."
        return
    yield "  Its rules:"
    for number, rule in enumerate(tool.rules, 1):
        yield f"    {number}. {rule_sentence(policy, rule)}"
        yield f"       The customer reads: {_reply(policy, rule.reason)}"
    yield "  Where no rule says so, it is allowed. A refusal wins over a person's decision, and that over asking back."
    yield "  Where a rule cannot be judged, since a value is missing or wrong: passed to a person (facts_incomplete)."


def _limits(policy: Policy, tool: Tool) -> Iterator[str]:
    told: list[tuple[Limit | OncePer, str]] = [(limit, limit_sentence(policy, limit)) for limit in tool.limits]
    if tool.once_per is not None:
        told.append((tool.once_per, once_sentence(policy, tool.once_per)))
    if told:
        yield "  Its limits:"
    for number, (limit, words) in enumerate(told, 1):
        yield f"    {number}. {_OUTCOMES[limit.ruling]} ({limit.reason}) {words}."
        yield f"       The customer reads: {_reply(policy, limit.reason)}"
    yield from settlement_lines(policy, tool)


def rule_sentence(policy: Policy, rule: Rule) -> str:
    """`Refused (over_limit) when args.amount is more than 500.00 USD.`"""
    words = f"{_OUTCOMES[rule.ruling]} ({rule.reason})"
    when = sentence(rule.when, policy.constants) if rule.when is not None else ""
    unless = sentence(rule.unless, policy.constants) if rule.unless is not None else ""
    if when and unless:
        return f"{words} when {when}, unless {unless}."
    if when:
        return f"{words} when {when}."
    return f"{words} unless {unless}." if unless else f"{words} always."


def _reply(policy: Policy, code: str) -> str:
    reason = policy.reasons.get(code)
    if reason is not None and reason.replies:
        several = len(reason.replies) > 1
        return "; ".join(
            f'{tag}: "{text.source}"' if several else f'"{text.source}"' for tag, text in reason.replies.items()
        )
    category = reason.category if reason is not None else SYSTEM_REASONS[code].category
    return f'"{DEFAULT_REPLIES[category]}"'


def _others(policy: Policy) -> str:
    return "\n".join([f"Any other tool\n  {_unknown(policy)}", *provider_lines(policy)])


def _unnamed(policy: Policy, name: str) -> str:
    return f"{name} (the policy does not name it)\n  {_unknown(policy)}"


def _unknown(policy: Policy) -> str:
    match policy.unknown_tools:
        case UnknownTools.FORBID:
            return "Refused (unknown_tool)."
        case UnknownTools.ESCALATE:
            return "Passed to a person (unknown_tool)."
        case UnknownTools.ALLOW:
            if not policy.unknown_tool.rules and not policy.unknown_tool.limits and policy.unknown_tool.matrix is None:
                return "\n".join(["Allowed.", *egress_lines(policy.unknown_tool)])
            return "\n".join(
                [
                    "Allowed, within these rules.",
                    *egress_lines(policy.unknown_tool),
                    *_rules(policy, policy.unknown_tool),
                    *_limits(policy, policy.unknown_tool),
                ]
            )
    assert_never(policy.unknown_tools)


def _joined(names: list[str], word: str) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"
