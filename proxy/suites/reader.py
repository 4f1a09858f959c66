"""A suite from its text, as strictly as a policy is read: an unknown key is an error with its line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from interceptors.calls import Cause, MalformedToolCall, ToolCall
from interceptors.context import DeclaredTool, FactFailure, FactKey
from interceptors.kinds import MoneyState
from interceptors.strict_json import StrictJsonError, parse
from policies.model import folded
from policies.nodes import ScalarNode
from policies.problems import DocumentError, Problems
from policies.spelling import parse_duration, parse_timestamp
from policies.yaml_reader import read_yaml
from proxy.suites import keys
from proxy.suites.cases import Answered, Case, Circumstances, Earlier, Equivalent, Suite
from proxy.suites.conversation import read_history
from proxy.suites.expectations import fact_key, read_expected, read_refused
from proxy.suites.handoffs import AskingCase, read_asking
from proxy.suites.json_values import json_object, json_value, lacking, merged, schema_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from datetime import datetime

    from interceptors.calls import Call, Json
    from policies.nodes import MappingNode, Node

CASES_MAX: Final = 2_000
PLACEHOLDER: Final = "FILL IN"
"""How a value begins that a receipt did not keep; a suite that holds one is not run."""


@dataclass(frozen=True, slots=True)
class _Given:
    """What `defaults` say for every case: what surrounds it, and the arguments by tool."""

    around: Circumstances = field(default_factory=Circumstances)
    arguments: Mapping[str, Mapping[str, Json]] = field(default_factory=dict)


def read_suite(data: bytes, file: str) -> Suite:
    """The suite of `data`. `DocumentError` with every problem found."""
    root = read_yaml(data, file).mapping()
    problems = Problems()
    with problems.collect():
        root.check_keys(keys.SUITE)
    with problems.collect():
        _refuse_placeholders(root, problems)
    given, equivalents = _Given(), []
    cases: list[Case] = []
    asking: list[AskingCase] = []
    policy, now = "", None
    with problems.collect():
        policy = root.require("suite").text()
        now = root.require("now").convert(parse_timestamp)
        given = _given(root)
    with problems.collect():
        items = root.require("cases").sequence()
        if not items or len(items) > CASES_MAX:
            root.require("cases").fail(f"expected 1 to {CASES_MAX} cases")
        for item in items if now is not None else ():
            with problems.collect():
                if "says" in (mapping := item.mapping()):
                    asking.append(read_asking(mapping, _now(mapping, now), _around(mapping, given.around)))
                else:
                    cases.append(_case(mapping, now, given))
        _refuse_namesakes([*cases, *asking], problems)
    with problems.collect():
        node = root.get("equivalent")
        for item in node.sequence() if node is not None else ():
            with problems.collect():
                mapping = item.mapping()
                mapping.check_keys(keys.EQUIVALENT)
                mutant, because = mapping.require("mutant").text(), mapping.require("because").text()
                equivalents.append(Equivalent(mutant, because, mapping.origin))
    if problems:
        raise DocumentError(problems.found)
    return Suite(policy, tuple(cases), tuple(equivalents), tuple(asking))


def _refuse_namesakes(cases: Sequence[Case | AskingCase], problems: Problems) -> None:
    seen: set[str] = set()
    for case in cases:
        if case.name in seen:
            problems.add(case.origin, "", f"another case is named {case.name!r}")
        seen.add(case.name)


def _refuse_placeholders(node: Node, problems: Problems) -> None:
    if isinstance(node, ScalarNode):
        if node.spelling.startswith(PLACEHOLDER):
            node.fail(f"this is still to be filled in: {node.spelling.removeprefix(PLACEHOLDER).lstrip(': ')}")
        return
    inner = node.items if not hasattr(node, "entries") else node.entries.values()
    for one in inner:
        with problems.collect():
            _refuse_placeholders(one, problems)


def _given(root: MappingNode) -> _Given:
    node = root.get("defaults")
    if node is None:
        return _Given()
    mapping = node.mapping()
    mapping.check_keys(keys.DEFAULTS)
    arguments = mapping.get("arguments")
    by_tool = {} if arguments is None else {k: json_object(v) for k, v in arguments.mapping().entries.items()}
    return _Given(_around(mapping, Circumstances()), by_tool)


def _case(mapping: MappingNode, now: datetime, given: _Given) -> Case:
    mapping.check_keys(keys.CASE)
    around = _around(mapping, given.around)
    earlier = mapping.get("earlier")
    beside = mapping.get("beside")
    result = mapping.get("result")
    answered = None if result is None else _answered(result.mapping())
    expected = read_expected(mapping.require("expect").mapping())
    if (answered is None) != (expected.settles is None):
        mapping.fail("`result` and `expect.settles` go together: what comes back, and what it settles the call to")
    return Case(
        name=mapping.require("name").text(),
        now=_now(mapping, now),
        call=_call(mapping, given),
        around=around,
        earlier=() if earlier is None else tuple(_earlier(one.mapping(), around, given) for one in earlier.sequence()),
        answered=answered,
        expected=expected,
        origin=mapping.origin,
        asked=None if (node := mapping.get("asked")) is None else node.convert(parse_duration),
        refused=None if (node := mapping.get("refused")) is None else read_refused(node),
        beside=() if beside is None else tuple(_beside(one.mapping(), given) for one in beside.sequence()),
    )


def _now(mapping: MappingNode, now: datetime) -> datetime:
    return now if (node := mapping.get("now")) is None else node.convert(parse_timestamp)


def _around(mapping: MappingNode, given: Circumstances) -> Circumstances:
    """What the mapping says, over what holds anyway: the session and each fact key by key, the rest as a whole."""
    found = given
    if (node := mapping.get("session")) is not None:
        claims = merged(dict(given.session), json_object(node))
        assert isinstance(claims, dict)
        found = replace(found, session=claims)
    if (node := mapping.get("identity")) is not None:
        found = replace(found, identity=node.text())
    if (node := mapping.get("facts")) is not None:
        found = replace(found, facts=_facts(node.mapping(), given.facts))
    if (node := mapping.get("declared")) is not None:
        found = replace(found, declared=_declared(node.mapping()))
    if (node := mapping.get("history")) is not None:
        found = replace(found, history=read_history(node))
    if (node := mapping.get("halted")) is not None:
        found = replace(found, halted=node.boolean())
    for steps, item in _without(mapping):
        if steps[0] == "session":
            found = replace(found, session=lacking(found.session, steps[1:], item))
        elif steps[0] != "args":
            key = fact_key(steps[0], item)
            record = found.facts.get(key)
            if record is None or isinstance(record, FactFailure):
                item.fail(f"the case has no record {steps[0]}")
            found = replace(found, facts={**found.facts, key: lacking(record, steps[1:], item)})
    return found


def _facts(
    mapping: MappingNode, given: Mapping[FactKey, Mapping[str, Json] | FactFailure]
) -> dict[FactKey, Mapping[str, Json] | FactFailure]:
    found = dict(given)
    for name, node in mapping.entries.items():
        key = fact_key(name, node)
        if isinstance(node, ScalarNode):
            found[key] = node.choice(FactFailure)
            continue
        before = found.get(key)
        record = merged(dict(before), json_object(node)) if isinstance(before, dict) else json_object(node)
        assert isinstance(record, dict)
        found[key] = record
    return found


def _declared(mapping: MappingNode) -> dict[str, DeclaredTool]:
    return {folded(name): DeclaredTool(name, schema_text(node)) for name, node in mapping.entries.items()}


def _call(mapping: MappingNode, given: _Given) -> Call:
    tool = mapping.require("call").text()
    if "malformed" in mapping:
        return MalformedToolCall(tool, mapping.require("malformed").choice(Cause), "", 0)
    node = mapping.get("arguments")
    if isinstance(node, ScalarNode):  # the text as a model would send it, perhaps no JSON at all
        try:
            value = parse(node.spelling)
        except StrictJsonError as error:
            return MalformedToolCall(tool, error.cause, "", 0)
        if not isinstance(value, dict):
            return MalformedToolCall(tool, Cause.NOT_AN_OBJECT, "", 0)
        return ToolCall(tool, value, node.spelling, "", 0)
    arguments = merged(dict(given.arguments.get(tool, {})), {} if node is None else json_object(node))
    assert isinstance(arguments, dict)
    for steps, item in _without(mapping):
        if steps[0] == "args":
            arguments = lacking(arguments, steps[1:], item)
    return ToolCall(tool, arguments, "", "", 0)


def _without(mapping: MappingNode) -> Iterator[tuple[list[str], Node]]:
    """The places that the case leaves out: `args.amount`, `session.sub`, `order/A1001.customer.id`."""
    node = mapping.get("without")
    for item in node.sequence() if node is not None else ():
        steps = item.text().split(".")
        if len(steps) < 2 or not all(steps) or (steps[0] not in ("args", "session") and "/" not in steps[0]):
            item.fail("expected args.NAME, session.CLAIM, or FACT/KEY.FIELD")
        yield steps, item


def _beside(mapping: MappingNode, given: _Given) -> Call:
    mapping.check_keys(keys.BESIDE)
    return _call(mapping, given)


def _earlier(mapping: MappingNode, around: Circumstances, given: _Given) -> Earlier:
    mapping.check_keys(keys.EARLIER)
    ago = mapping.get("ago")
    state = mapping.get("state")
    return Earlier(
        call=_call(mapping, given),
        ago=timedelta(0) if ago is None else ago.convert(parse_duration),
        state=MoneyState.EXECUTED if state is None else state.choice(MoneyState),
        around=_around(mapping, around),
        origin=mapping.origin,
    )


def _answered(mapping: MappingNode) -> Answered:
    mapping.check_keys(keys.RESULT)
    error = mapping.get("error")
    return Answered(json_value(mapping.require("value")), error is not None and error.boolean())
