"""What guards an argument beyond its type: `from`, `allow`, `egress`; and the `egress` of a tool, and `not_user`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, NamedTuple

from policies.allowed import KINDS, Allowlist, Listed
from policies.documents import keys
from policies.expressions import EACH
from policies.guards import Egress, EgressList, FromResult, FromText, FromUser
from policies.model import folded
from policies.nodes import ScalarNode, SequenceNode, listed, suggestion
from policies.patterns import Pattern
from policies.system_reasons import SYSTEM_REASONS
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from policies.allowed import Matcher
    from policies.guards import ValueSource
    from policies.lists import Lists
    from policies.model import Argument, Tool
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems
    from policies.values import Type, Value

SOURCES_MAX: Final = 16  # of one argument
NOT_USER_MAX: Final = 64  # patterns
ALLOW: Final = "allow"  # the word that exempts a tool or an argument from `egress`

_FROM_KINDS: Final = (Kind.STRING, Kind.NUMBER, Kind.MONEY, Kind.DATE)
_RESULT: Final = "result of "
_TEXT: Final = "text of "
_CONSTANTS: Final = "constants."


@dataclass(frozen=True, slots=True)
class GuardScope:
    """What the rest of the policy offers to the guards of arguments. `tools` are folded names."""

    reasons: Collection[str] = ()
    constants: Mapping[str, Value | None] = field(default_factory=dict)
    tools: Mapping[str, str] = field(default_factory=dict)  # the policy's spelling by the folded name
    lists: Lists | None = None


class Guards(NamedTuple):
    """What guards one argument."""

    sources: tuple[ValueSource, ...] = ()
    allow: Allowlist | None = None
    is_exempt: bool = False


def read_guards(mapping: MappingNode, type_: Type, around: GuardScope, problems: Problems) -> Guards:
    """The guards of an argument of this type; what is wrong with one is among the problems."""
    sources: tuple[ValueSource, ...] = ()
    allow: Allowlist | None = None
    with problems.collect():
        if (node := mapping.get("from")) is not None:
            sources = _sources(node, type_, around)
    with problems.collect():
        if (node := mapping.get("allow")) is not None:
            allow = _allowlist(node, type_, around, problems)
    with problems.collect():
        if (node := mapping.get("egress")) is not None:
            node.one_of((ALLOW,))
    return Guards(sources, allow, "egress" in mapping)


def read_egress(node: Node, reasons: Collection[str]) -> Egress | None:
    """The `egress` of a tool or of `defaults`; None where it says `allow`."""
    if isinstance(node, ScalarNode):
        node.one_of((ALLOW,))
        return None
    mapping = node.mapping()
    mapping.check_keys(keys.EGRESS, keys.LATER)
    return Egress(mapping.require("list").choice(EgressList), _reason(mapping, "sensitive_data", reasons))


def read_not_user(node: Node, problems: Problems) -> tuple[Pattern, ...]:
    """The patterns that are well-formed. They may match anywhere in a text; one that matches nothing is refused."""
    found: list[Pattern] = []
    if len(node.sequence()) > NOT_USER_MAX:
        node.fail(f"more than {NOT_USER_MAX} patterns")
    for item in node.sequence():
        with problems.collect():
            pattern = item.convert(Pattern.compile)
            if pattern.accepts_empty:
                item.fail("the pattern matches the empty text")
            found.append(pattern)
    return tuple(found)


def guard_reasons(tool: Tool) -> list[str]:
    """The reasons that the guards of a tool and of its arguments give."""
    found = [] if tool.egress is None else [tool.egress.reason]
    return found + [one.allow.reason for one in nested(tool.arguments or {}) if one.allow is not None]


def nested(arguments: Mapping[str, Argument]) -> Iterator[Argument]:
    """Every argument, with the fields of objects and the elements of lists."""
    for argument in arguments.values():
        yield argument
        yield from nested(argument.fields)
        if argument.element is not None:
            yield from nested({"": argument.element})


def _reason(mapping: MappingNode, default: str, reasons: Collection[str]) -> str:
    node = mapping.get("forbid")
    if node is None:
        return default
    code = node.text()
    if code not in reasons and code not in SYSTEM_REASONS:
        node.fail(f"the reason {code!r} is not declared{suggestion(code, reasons)}")
    return code


def _sources(node: Node, type_: Type, around: GuardScope) -> tuple[ValueSource, ...]:
    if type_.kind not in _FROM_KINDS:
        node.fail(f"`from` is for a string, a number, money or a date, not for a {type_.kind.value}")
    items = node.sequence() if isinstance(node, SequenceNode) else (node,)
    if not items or len(items) > SOURCES_MAX:
        node.fail(f"expected one source, or a list of at most {SOURCES_MAX} of which one is enough")
    found: list[ValueSource] = []
    for item in items:
        source = _source(item, around)
        if source in found:
            item.fail("stands here twice")
        found.append(source)
    return tuple(found)


def _source(node: Node, around: GuardScope) -> ValueSource:
    text = node.text()
    if text == "user":
        return FromUser()
    kind = FromText if text.startswith(_TEXT) else FromResult
    if not text.startswith((_RESULT, _TEXT)):
        node.fail(
            "expected `user`, or `result of TOOL.FIELD` such as `result of lookup_order.items[*].sku`,"
            " or `text of TOOL`"
        )
    rest = text.removeprefix(_RESULT).removeprefix(_TEXT)
    # A tool's name may hold dots, so its end is found by the names there are.
    found = [name for name in around.tools.values() if rest.startswith((f"{name}.", f"{name}[*]"))]
    if rest in around.tools.values():
        if kind is FromText:
            return FromText(folded(rest), ())
        node.fail(f"which field of a result of {rest!r}?")
    if not found:
        name = rest.partition(".")[0].partition("[")[0]
        node.fail(f"the policy has no tool {name!r}{suggestion(name, around.tools.values())}")
    if len(found) > 1:
        node.fail(f"{rest!r} may be of the tool {' or '.join(map(repr, sorted(found)))}")
    return kind(folded(found[0]), node.apply(_result_path, rest.removeprefix(found[0])))


def _result_path(text: str) -> tuple[str, ...]:
    """`.items[*].sku` as `("items", "[*]", "sku")`. `ValueError` else."""
    steps: list[str] = []
    for part in text.replace(EACH, f".{EACH}").removeprefix(".").split("."):
        if not part or part != part.strip() or ("[" in part and part != EACH):
            raise ValueError(f"{text.removeprefix('.')!r} is no path: fields with dots between them, and [*] for each")
        steps.append(part)
    return tuple(steps)


def _allowlist(node: Node, type_: Type, around: GuardScope, problems: Problems) -> Allowlist:
    if type_.kind is not Kind.STRING:
        node.fail(f"`allow` is for a string, not for a {type_.kind.value}")
    mapping = node.mapping()
    mapping.check_keys(keys.ALLOW, keys.LATER)
    lists: list[Listed] = []
    for kind, matcher in KINDS.items():
        with problems.collect():
            if (entry := mapping.get(kind)) is not None:
                entries, stands_in = _entries(entry, around)
                lists.append(Listed(kind, _matcher(entry, matcher, entries), stands_in, entries))
    if not any(kind in mapping for kind in KINDS):
        mapping.fail(f"an allowlist has one of {listed(KINDS)}")
    return Allowlist(tuple(lists), _reason(mapping, "not_allowed", around.reasons))


def _matcher(node: Node, kind: type[Matcher], entries: tuple[str, ...]) -> Matcher:
    """The entries of a list as what they mean; each that is none of its kind is named."""
    try:
        return kind.of(entries)
    except ValueError:
        for entry in entries:
            try:
                kind.of((entry,))
            except ValueError as error:
                node.fail(f"{entry!r}: {error}")
        raise


def _entries(node: Node, around: GuardScope) -> tuple[tuple[str, ...], str]:
    """The entries of a list, and where they stand if not here."""
    if isinstance(node, SequenceNode):
        found = tuple(item.text() for item in node.items)
        if len(set(found)) < len(found):
            node.fail("an entry stands here twice")
        return found, ""
    if isinstance(node, ScalarNode):
        return _constant(node, around), node.text()
    mapping = node.mapping()
    mapping.check_keys(keys.LIST, keys.LATER)
    name = mapping.require("file")
    if around.lists is None:
        name.fail("a list in a file is not available here")
    return name.convert(around.lists.read), name.text()


def _constant(node: ScalarNode, around: GuardScope) -> tuple[str, ...]:
    text = node.text()
    name = text.removeprefix(_CONSTANTS)
    if not text.startswith(_CONSTANTS) or name not in around.constants:
        node.fail("expected a list, a constant such as constants.partners, or {file: NAME}")
    value = around.constants[name]
    values = value if isinstance(value, tuple) else (value,)
    texts = tuple(one for one in values if isinstance(one, str))
    if value is not None and len(texts) < len(values):
        node.fail(f"the constant {name!r} is no list of texts")
    return texts
