"""Stage 1: is this one readable call of a known tool, spelled as declared, with arguments of the declared shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.calls import Cause, MalformedToolCall, ToolCall
from interceptors.capability import is_permitted
from interceptors.case import Stage
from interceptors.causes import RefusalCause
from interceptors.decisions import Verdict
from interceptors.schema import UnusableSchemaError, violation
from interceptors.strict_json import StrictJsonError, check_exact
from policies.model import Ruling, folded

if TYPE_CHECKING:
    from interceptors.case import Case
    from policies.model import Rule

_NAME: Final = "shape"
_PASSED: Final = (Verdict(_NAME, Ruling.ALLOW),)


class Shape:
    """Refuses what could be read in two ways, what no tool of the policy is, and what does not fit its tool."""

    name = _NAME
    stage = Stage.SHAPE

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        call = case.call
        if isinstance(call, MalformedToolCall):
            return (case.verdict(_NAME, RefusalCause.MALFORMED, detail=call.cause.value), *_in_vain(case))
        against = _name(case, call) or _content(case, call)
        if not against:
            return _PASSED
        asks_people = any(verdict.ruling is Ruling.ESCALATE for verdict in against)  # which ends the screen (DESIGN 4)
        return against if asks_people else (*against, *_in_vain(case))


def _in_vain(case: Case) -> tuple[Verdict, ...]:
    """What forbids every call of the tool, however it is shaped: none is worth another try."""
    always = tuple(prepared.fired for prepared in case.found.rules if _is_always(prepared.rule))
    if case.found.is_named and not is_permitted(case):
        return (*always, case.verdict(_NAME, RefusalCause.NOT_PERMITTED))
    return always


def _is_always(rule: Rule) -> bool:
    return rule.ruling is Ruling.FORBID and rule.when is None and rule.unless is None


def _name(case: Case, call: ToolCall) -> tuple[Verdict, ...]:
    """What stands against the name: nothing, or one verdict."""
    if case.key in case.context.ambiguous:
        return (case.verdict(_NAME, RefusalCause.AMBIGUOUS_TOOL),)
    declared = case.context.declared.get(case.key)
    spelled = declared.name if declared is not None else case.found.tool.name if case.found.is_named else call.name
    if call.name != spelled or _is_disguised(case, call):
        return (case.verdict(_NAME, RefusalCause.MALFORMED, detail=Cause.NAME_SPELLING.value),)
    if not case.found.is_named:
        verdict = case.verdict(_NAME, RefusalCause.UNKNOWN_TOOL)
        return () if verdict.ruling is Ruling.ALLOW else (verdict,)
    return ()


def _is_disguised(case: Case, call: ToolCall) -> bool:
    """Whether a client that does not look at the toolset would run another tool: one of the request, or, where this one
    is unknown, one that the policy names."""
    toolset, slash, member = call.name.rpartition("/")
    if not (toolset and slash) or case.key in case.context.declared:
        return False
    key = folded(member)
    return key in case.context.declared or (not case.found.is_named and key in case.policy.tools)


def _content(case: Case, call: ToolCall) -> tuple[Verdict, ...]:
    """What stands against the arguments: nothing, or a verdict for each fault."""
    if case.found.is_write:
        try:
            check_exact(dict(call.arguments))
        except StrictJsonError as error:
            return (case.verdict(_NAME, RefusalCause.MALFORMED, detail=error.cause.value),)
    against = _schema(case, call) if case.found.is_named else ()
    reading = case.reading
    if reading is not None and reading.faults:
        against += tuple(case.verdict(_NAME, fault.cause, detail=str(fault)) for fault in reading.faults)
    return against


def _schema(case: Case, call: ToolCall) -> tuple[Verdict, ...]:
    """What the request's own schema says. A tool that the policy does not name passes unchecked (guarantee G2)."""
    declared = case.context.declared.get(case.key)
    if declared is None or declared.schema is None:
        return ()
    try:
        found = violation(declared.schema, call.arguments)
    except UnusableSchemaError as error:
        return (case.verdict(_NAME, RefusalCause.UNUSABLE_SCHEMA, detail=str(error)),)
    if found is None:
        return ()
    cause = RefusalCause.MISSING_PARAMETER if found.is_missing else RefusalCause.SCHEMA_VIOLATED
    return (case.verdict(_NAME, cause, detail=str(found)),)
