"""The arguments of a tool in plain English: what each may be, where its value comes from, what may not leave in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.documents.guards import nested
from policies.expressions import dotted
from policies.guards import FromText, FromUser, ResultFormat
from policies.values import Kind, render

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.allowed import Allowlist, Listed
    from policies.guards import ValueSource
    from policies.model import Argument, Policy, Tool

_NOUNS = {
    Kind.STRING: "a text",
    Kind.NUMBER: "a number",
    Kind.BOOLEAN: "true or false",
    Kind.DATE: "a date",
    Kind.TIMESTAMP: "a time",
}
_LISTS = {
    "domains": "an e-mail address in a domain",
    "urls": "a URL",
    "paths": "a path",
    "accounts": "an account",
    "values": "a text",
}
_ENTRIES_SHOWN_MAX = 8


def argument_lines(policy: Policy, tool: Tool) -> Iterator[str]:
    """The lines about the arguments, indented as lines of a tool."""
    if tool.arguments is None:
        yield "  Its arguments are checked against what the request itself declares."
    elif not tool.arguments:
        yield "  It takes no arguments; a call with one is refused."
    else:
        yield "  Its arguments; a call with any other is refused:"
        for argument in tool.arguments.values():
            yield from _argument(policy, argument, argument.name, "    ")
    yield from egress_lines(tool)
    if tool.result_format is not ResultFormat.JSON:
        yield f"  Its results are read as {tool.result_format.told}."


def egress_lines(tool: Tool) -> Iterator[str]:
    """What may not leave in the arguments of a tool."""
    if tool.egress is not None:
        version, reason = tool.egress.list.value, tool.egress.reason
        yield f"  No secret and no personal data of list {version} may leave in it: refused ({reason})."


def user_lines(policy: Policy) -> Iterator[str]:
    """What of a user's text does not count, where an argument must come from there."""
    grounded = any(
        isinstance(source, FromUser)
        for tool in policy.tools.values()
        for argument in nested(tool.arguments or {})
        for source in argument.sources
    )
    if grounded:
        more = "".join(f", nor what matches {pattern.source}" for pattern in policy.not_user)
        yield f"Quoted lines, fenced and tagged sections are not what the user wrote{more}."


def _argument(policy: Policy, argument: Argument, name: str, indent: str) -> Iterator[str]:
    optional = " (may be left out)" if argument.optional else ""
    yield f"{indent}- {name}: {_shape(argument)}{optional}"
    inner = argument
    while inner.element is not None:
        inner = inner.element
    yield from (f"{indent}  {line}" for line in _guards(policy, inner))
    for field in inner.fields.values():
        yield from _argument(policy, field, field.name, indent + "  ")


def _guards(policy: Policy, argument: Argument) -> Iterator[str]:
    if argument.sources:
        sources = " or ".join(_source(policy, source) for source in argument.sources)
        yield f"It must be {sources}; else it is asked back (ungrounded)."
    if argument.allow is not None:
        yield _allowed(argument.allow)
    if argument.is_exempt:
        yield "Secrets and personal data may leave in it."


def _source(policy: Policy, source: ValueSource) -> str:
    if isinstance(source, FromUser):
        return "in what the user wrote"
    tool = policy.tool(source.tool)
    name = source.tool if tool is None else tool.name
    field = f"{dotted(source.path)} of " if source.path else ""
    return f"in the text of {field}a result of {name}" if isinstance(source, FromText) else f"{field}a result of {name}"


def _allowed(allow: Allowlist) -> str:
    return f"It must be {', or '.join(map(_listed, allow.lists))}; else it is refused ({allow.reason})."


def _listed(one: Listed) -> str:
    noun = _LISTS[one.kind]
    if one.stands_in:
        return f"{noun} on the list {one.stands_in} (entries: {one.count})"
    if one.count > _ENTRIES_SHOWN_MAX:
        return f"{noun} on a list of {one.count}"
    return f"{noun} of these: {', '.join(one.entries)}"


def _shape(argument: Argument) -> str:
    kind = argument.type.kind
    if argument.element is not None:
        return f"a list, each item {_shape(argument.element)}"
    if kind is Kind.RECORD:
        return "an object with"
    if argument.one_of:
        return f"one of {_joined([render(value) for value in argument.one_of])}"
    if argument.pattern is not None:
        return f"a text of the form {argument.pattern.source}"
    if kind is Kind.MONEY and argument.money_unit is not None:
        noun = f"an amount in {argument.money_currency}, sent in {argument.money_unit.value} units"
        low = "above zero" if argument.minimum is None else ""
    else:
        noun, low = "a whole number" if argument.type.integral else _NOUNS.get(kind, f"a {kind.value}"), ""
    bounds = [low] if low else []
    if argument.minimum is not None:
        bounds.append(f"at least {render(argument.minimum)}")
    if argument.maximum is not None:
        bounds.append(f"at most {render(argument.maximum)}")
    return ", ".join([noun, *bounds])


def _joined(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
