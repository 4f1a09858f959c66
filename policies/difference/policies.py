"""What changes from one policy to another, in sentences: its figures first, then its tools, then the rest."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from policies.difference.cases import told_cases
from policies.difference.facts import told_facts, told_session
from policies.difference.figures import moved, names_of_both, one_way, told
from policies.difference.meaning import changed, meaning
from policies.difference.people import may_use, told_people
from policies.difference.spoken import (
    told_claims,
    told_language,
    told_not_user,
    told_pass_types,
    told_provider_tools,
    told_structured,
    told_text_calls,
)
from policies.difference.tools import tool_sentences
from policies.difference.words import UNNAMED
from policies.documents.sections import PLAIN_REPLY
from policies.explain import explain_tool
from policies.explain_upkeep import history_lines
from policies.model import Mode
from policies.system_reasons import SYSTEM_REASONS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from zoneinfo import ZoneInfo

    from policies.model import Identity, Policy
    from policies.templates import Template

_ELSEWHERE: Final = frozenset({"constants", "tools", "unknown_tool", "identities", "reasons", "cases"})


def difference(old: Policy, new: Policy) -> list[str]:
    """One sentence a difference, or several; empty for two policies that decide alike and say the same words."""
    found = [*_settings(old, new), *_constants(old, new), *_tools(old, new), *_identities(old, new)]
    found += _reasons(old, new)
    if not found and meaning(old) != meaning(new):  # nothing may pass without a word
        found = [f"`{name}` changes." for name in changed(old, new)]
    return list(dict.fromkeys(found))


def _settings(old: Policy, new: Policy) -> Iterator[str]:
    for name in changed(old, new):
        if name not in _ELSEWHERE:
            yield from _setting(name, old, new)


def _setting(name: str, old: Policy, new: Policy) -> Iterator[str]:
    before, after = getattr(old, name), getattr(new, name)
    telling: dict[str, Callable[[], Iterator[str]]] = {
        "mode": lambda: iter([_mode(after)]),
        "time_zone": lambda: iter([f"Days are counted in {_zone(after)} instead of {_zone(before)}."]),
        "name": lambda: iter([f"The policy is {after} instead of {before}."]),
        "owner": lambda: iter([f"The owner is {after or 'nobody'} instead of {before or 'nobody'}."]),
        "history": lambda: one_way("every conversation", list(history_lines(old)), list(history_lines(new))),
        "policy_stale_seconds_max": lambda: iter([moved("How many seconds a broken edit may wait", before, after)]),
        "people": lambda: told_people(old, new),
        "facts": lambda: told_facts(before, after),
        "session": lambda: told_session(before, after),
        "pass_types": lambda: told_pass_types(before, after),
        "not_user": lambda: told_not_user(before, after),
        "structured": lambda: told_structured(old, new),
        "claims": lambda: told_claims(old, new),
        "provider_tools": lambda: told_provider_tools(before, after),
        "text_calls": lambda: iter([told_text_calls(before, after)]),
        "reply_language": lambda: iter([told_language(before, after)]),
    }
    if name in telling:
        yield from telling[name]()
    elif isinstance(before, Enum):
        yield f"`{name}` changes from {before.value} to {after.value}."
    else:  # nothing may pass without a word
        yield f"`{name}` changes."


def _mode(after: Mode) -> str:
    return "Every write is refused: the policy is halted." if after is Mode.HALT else "The halt is lifted."


def _zone(zone: ZoneInfo | None) -> str:
    return "no calendar" if zone is None else zone.key


def _constants(old: Policy, new: Policy) -> Iterator[str]:
    for name in names_of_both(old.constants, new.constants):
        if name not in new.constants:
            yield f"There is no constant {name} any more; it was {told(old.constants[name])}."
        elif name not in old.constants:
            yield f"There is a constant {name}: {told(new.constants[name])}."
        elif old.constants[name] != new.constants[name]:
            yield moved(f"The constant {name}", old.constants[name], new.constants[name])


def _tools(old: Policy, new: Policy) -> Iterator[str]:
    for key in names_of_both(old.tools, new.tools):
        before, after = old.tools.get(key), new.tools.get(key)
        if before is None and after is not None:
            yield f"{after.name} is a tool of the policy now.\n{explain_tool(new, after)}"
        elif after is None and before is not None:
            yield f"{before.name} is no tool of the policy any more: it is answered as any unknown tool."
        elif before is not None and after is not None:
            yield from tool_sentences(old, new, before, after, after.name)
    yield from tool_sentences(old, new, old.unknown_tool, new.unknown_tool, UNNAMED)
    yield from told_cases(old, new)


def _identities(old: Policy, new: Policy) -> Iterator[str]:
    for name in names_of_both(old.identities, new.identities):
        before, after = old.identities.get(name), new.identities.get(name)
        if after is None:
            yield f"There is no agent {name} any more."
        elif before is None:
            yield f"There is an agent {name}, who may use {may_use(new, after.tools)}."
        else:
            yield from _identity(old, new, before, after)
    if bool(old.identities) != bool(new.identities):
        yield "Agents must show a token now." if new.identities else "Any agent may call now: there are no identities."


def _identity(old: Policy, new: Policy, before: Identity, after: Identity) -> Iterator[str]:
    for field in changed(before, after):
        match field:
            case "tools":
                now, then = may_use(new, after.tools), may_use(old, before.tools)
                yield f"The agent {after.name} may use {now} instead of {then}."
            case "autonomous":
                who = "goes to the model" if after.autonomous else "is read by a customer"
                yield f"What is refused to the agent {after.name} {who}."
            case "hold_text":
                waits = "waits until it is known what it claims" if after.hold_text else "leaves at once"
                yield f"A text of the agent {after.name} {waits}."
            case _:
                yield f"The agent {after.name} shows another token."


def _reasons(old: Policy, new: Policy) -> Iterator[str]:
    for code in names_of_both(old.reasons, new.reasons):
        before, after = old.reasons.get(code), new.reasons.get(code)
        if code in SYSTEM_REASONS:
            yield from _replies(code, before.replies if before else {}, after.replies if after else {})
        elif after is None and before is not None:
            yield f"There is no reason {code} any more; it was {before.category.value}."
        elif before is None and after is not None:
            yield f"There is a reason {code} ({after.category.value})."
            yield from _replies(code, {}, after.replies)
        elif before is not None and after is not None:
            if before.category is not after.category:
                yield f"The reason {code} is {after.category.value} instead of {before.category.value}."
            yield from _replies(code, before.replies, after.replies)


def _replies(code: str, before: Mapping[str, Template], after: Mapping[str, Template]) -> Iterator[str]:
    for tag in names_of_both(before, after):
        then, now = (_words(replies.get(tag)) for replies in (before, after))
        if then != now:
            language = "" if tag == PLAIN_REPLY else f" ({tag})"
            yield f"The customer reads for {code}{language} {now} instead of {then}."


def _words(reply: Template | None) -> str:
    return "the words of another language, or of its category" if reply is None else f'"{reply.source}"'
