"""What changes from one policy to another, in sentences: its figures first, then its tools, then the rest."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Final

from policies.difference.figures import moved, one_way
from policies.difference.meaning import changed, meaning
from policies.difference.tools import tool_sentences
from policies.explain import explain_tool
from policies.explain_people import people_lines
from policies.explain_upkeep import history_lines
from policies.model import Mode, folded

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.model import Identity, Policy, Reason

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
        if name in _ELSEWHERE:
            continue
        before, after = getattr(old, name), getattr(new, name)
        match name:
            case "mode":
                yield "Every write is refused: the policy is halted." if after is Mode.HALT else "The halt is lifted."
            case "time_zone":
                zones = ("no calendar" if zone is None else zone.key for zone in (before, after))
                yield "Days are counted in {1} instead of {0}.".format(*zones)
            case "unknown_tools" | "unknown_results":
                yield f"`{name}` changes from {before.value} to {after.value}."
            case "name" | "owner":
                what = "policy" if name == "name" else "owner"
                yield f"The {what} is {after or 'nobody'} instead of {before or 'nobody'}."
            case "history":
                yield from one_way("every conversation", list(history_lines(old)), list(history_lines(new)))
            case "policy_stale_seconds_max":
                yield moved("How many seconds a broken edit may wait", before, after)
            case "people":
                yield from _people(old, new)
            case _:
                yield from _entries(name, before, after)


def _people(old: Policy, new: Policy) -> Iterator[str]:
    before, after = list(people_lines(old)), list(people_lines(new))
    yield from (f"No more: {line}" for line in before if line not in after)
    yield from (line for line in after if line not in before)
    for name in sorted(old.people.operators.keys() & new.people.operators.keys()):
        one, other = old.people.operators[name], new.people.operators[name]
        if meaning(one) != meaning(other):
            yield f"The operator {name} changes: {', '.join(changed(one, other))}."


def _entries(name: str, before: object, after: object) -> Iterator[str]:
    if not isinstance(before, dict) or not isinstance(after, dict):
        yield f"`{name}` changes."
        return
    for key in dict.fromkeys([*before, *after]):
        if key not in after:
            yield f"`{name}` has no {key} any more."
        elif key not in before:
            yield f"`{name}` has {key}, too."
        elif isinstance(after[key], Enum):
            if before[key] is not after[key]:
                yield f"`{name}` changes for {key} from {before[key].value} to {after[key].value}."
        elif meaning(before[key]) != meaning(after[key]):
            parts = ", ".join(changed(before[key], after[key])) if type(before[key]) is type(after[key]) else "all"
            yield f"`{name}` changes for {key}: {parts}."


def _constants(old: Policy, new: Policy) -> Iterator[str]:
    for name in dict.fromkeys([*old.constants, *new.constants]):
        if name not in new.constants:
            yield f"There is no constant {name} any more."
        elif name not in old.constants:
            yield f"There is a constant {name}."
        elif old.constants[name] != new.constants[name]:
            yield moved(f"The constant {name}", old.constants[name], new.constants[name])


def _tools(old: Policy, new: Policy) -> Iterator[str]:
    for key in dict.fromkeys([*old.tools, *new.tools]):
        before, after = old.tools.get(key), new.tools.get(key)
        if before is None and after is not None:
            yield f"{after.name} is a tool of the policy now.\n{explain_tool(new, after)}"
        elif after is None and before is not None:
            yield f"{before.name} is no tool of the policy any more: it is answered as any unknown tool."
        elif before is not None and after is not None:
            yield from tool_sentences(old, new, before, after, after.name)
    yield from tool_sentences(old, new, old.unknown_tool, new.unknown_tool, "any tool that the policy does not name")
    yield from _cases(old, new)


def _cases(old: Policy, new: Policy) -> Iterator[str]:
    before, after = old.cases, new.cases
    if before is None or after is None:
        if before is not after:
            yield f"There {'are no' if after is None else 'are'} `cases`{' any more' if after is None else ''}."
        return
    for word in sorted(before.owner_keeps ^ after.owner_keeps):
        yield f"A person decides {'always' if word in after.owner_keeps else 'not always any more'} in the case {word}."
    for cell in dict.fromkeys([*before.cells, *after.cells]):
        if cell not in after.cells:
            yield f"There is no cell {cell} any more: a person decides."
        elif cell not in before.cells:
            yield f"There is a cell {cell}: {', '.join(after.cells[cell]) or 'nothing may be done in it'}."
    if meaning((before.source, before.segment, before.facts)) != meaning((after.source, after.segment, after.facts)):
        yield "What says the case and the segment changes."


def _identities(old: Policy, new: Policy) -> Iterator[str]:
    for name in dict.fromkeys([*old.identities, *new.identities]):
        before, after = old.identities.get(name), new.identities.get(name)
        if after is None:
            yield f"There is no agent {name} any more."
        elif before is None:
            yield f"There is an agent {name}, who may use {_may_use(new, after)}."
        else:
            yield from _identity(old, new, before, after)
    if bool(old.identities) != bool(new.identities):
        yield "Agents must show a token now." if new.identities else "Any agent may call now: there are no identities."


def _identity(old: Policy, new: Policy, before: Identity, after: Identity) -> Iterator[str]:
    for field in changed(before, after):
        match field:
            case "tools":
                yield f"The agent {after.name} may use {_may_use(new, after)} instead of {_may_use(old, before)}."
            case "autonomous":
                who = "goes to the model" if after.autonomous else "is read by a customer"
                yield f"What is refused to the agent {after.name} {who}."
            case "hold_text":
                waits = "waits until it is known what it claims" if after.hold_text else "leaves at once"
                yield f"A text of the agent {after.name} {waits}."
            case _:
                yield f"The agent {after.name} shows another token."


def _may_use(policy: Policy, identity: Identity) -> str:
    if identity.tools is None:
        return "every tool"
    spelled = {folded(tool.name): tool.name for tool in policy.tools.values()}
    return ", ".join(sorted(spelled.get(key, key) for key in identity.tools)) or "no tool"


def _reasons(old: Policy, new: Policy) -> Iterator[str]:
    for code in dict.fromkeys([*old.reasons, *new.reasons]):
        before, after = old.reasons.get(code), new.reasons.get(code)
        if after is None:
            yield f"There is no reason {code} any more."
        elif before is None:
            yield f"There is a reason {code} ({after.category.value}).{_words(after.replies)}"
        else:
            yield from _reason(code, before, after)


def _reason(code: str, before: Reason, after: Reason) -> Iterator[str]:
    if before.category is not after.category:
        yield f"The reason {code} is {after.category.value} instead of {before.category.value}."
    if meaning(before.replies) != meaning(after.replies):
        yield f"The customer reads for {code}:{_words(after.replies) or ' the words of its category'}"


def _words(replies: Mapping[str, object]) -> str:
    texts = [str(getattr(text, "source", "")) for text in replies.values()]
    return "".join(f' "{text}"' for text in texts)
