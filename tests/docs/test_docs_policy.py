"""docs/policy.md is the language: its examples load, its keys are the code's, its functions give what it says."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from policies import load_policy_text
from policies.documents import keys
from policies.expressions import Environment, Scope, compile_expression
from policies.problems import DocumentError
from policies.values import record_of, render, type_of_value
from tests.docs.pages import ROOT, Block, code, page
from tests.docs.readers import keys_read

POLICY = page("docs/policy.md")
HEAD = "language: 1\npolicy: example\n"
LISTS = ROOT / "fixtures" / "policies"  # the folder of the examples
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OBJECTS = {
    name: known
    for name, known in vars(keys).items()
    if isinstance(known, tuple) and name not in ("MERGED", "LIMIT_RULINGS")
}


def _text(block: Block) -> str:
    return block.text if "language:" in block.text else HEAD + block.text


@pytest.mark.parametrize("section", OBJECTS)
def test_every_key_of_the_policy_is_documented(section: str) -> None:
    """docs/policy.md has a row for each key of each object of the language, in some order, and no other row."""
    assert sorted(POLICY.names(section)) == sorted(OBJECTS[section])


@pytest.mark.parametrize("block", POLICY.of("yaml"), ids=str)
def test_an_example_of_the_policy_page_loads(block: Block) -> None:
    """Each example is a policy that loads, or is refused with what its first line says."""
    if block.title != "refused":
        load_policy_text(_text(block), folder=LISTS)
        return
    message = block.text.split("\n")[0].removeprefix("# refused: ")
    with pytest.raises(DocumentError, match=re.escape(message)):
        load_policy_text(_text(block), folder=LISTS)


def test_every_key_of_the_policy_has_an_example() -> None:
    """Each key of each object of the language stands in an example that loads."""
    used = {known: set[str]() for known in OBJECTS.values()}
    with keys_read() as found:
        for block in POLICY.of("yaml"):
            if block.title != "refused":
                load_policy_text(_text(block), folder=LISTS)
    for read in found:
        used[read.allowed] |= read.present

    unused = {name: set(known) - used[known] for name, known in OBJECTS.items()}
    assert {name: missing for name, missing in unused.items() if missing} == {}


def test_the_defaults_that_are_told_hold() -> None:
    """What the tables say of a missing key is what a policy without it has."""
    text = "facts: {f: {key: {pattern: x}, file: f.json, fields: {a: string}}}\ntools: {t: {}}\n"
    policy = load_policy_text(HEAD + text)
    (fact,), (tool,) = policy.facts.values(), policy.tools.values()
    told = {
        (section, code(row[0])): code(row[2])
        for section in ("TOP", "FACT", "TOOL", "DEFAULTS")
        for row in POLICY.tables[section]
    }

    assert told["TOP", "mode"] == policy.mode.value
    assert told["TOP", "unknown_tools"] == policy.unknown_tools.value
    assert told["TOP", "policy_stale_seconds_max"] == str(policy.policy_stale_seconds_max)
    assert told["FACT", "timeout"] == f"{fact.timeout_seconds:.0f}s"
    assert told["FACT", "missing"] == f"{{{fact.missing[0].value}: {fact.missing[1]}}}"
    assert told["TOOL", "effect"] == told["DEFAULTS", "effect"] == tool.effect.value
    assert told["TOOL", "on_refusal"] == told["DEFAULTS", "on_refusal"] == tool.answers(autonomous=False).value


@pytest.mark.parametrize("row", POLICY.tables["functions"], ids=lambda row: code(row[0]))
def test_a_function_gives_what_its_example_says(row: list[str]) -> None:
    """Each function's example calls it and has the value that stands beside it."""
    name, _, example, value = row
    (block,) = POLICY.of("yaml", "example")
    policy = load_policy_text(HEAD + block.text)
    types = {constant: type_of_value(each) for constant, each in policy.constants.items()}
    expression = compile_expression(code(example), Scope({"constants": record_of(types)}))

    found = expression.evaluate(Environment({"constants": policy.constants}, NOW, policy.time_zone))

    assert code(name) in expression.functions
    assert render(found, policy.time_zone) == code(value)


@pytest.mark.parametrize("row", POLICY.tables["spellings"], ids=lambda row: row[0])
def test_a_spelling_is_read_as_the_page_says(row: list[str]) -> None:
    """Each trap of YAML is what the page says: a value of a kind, or an error with a message."""
    spelling, told = code(row[0]), row[1]
    text = f"{HEAD}constants:\n  it: {spelling}\n"
    if told.startswith("an error: "):
        with pytest.raises(DocumentError, match=re.escape(told.removeprefix("an error: "))):
            load_policy_text(text)
        return
    value = load_policy_text(text).constants["it"]

    kind = type_of_value(value).kind.value.replace("string", "text")
    assert told == f"the {kind} `{render(value)}`"


def test_what_is_told_to_be_missing_is_refused() -> None:
    """Each value that the page says this version does not enforce is an error when a policy is loaded."""
    (told,) = re.findall(r"^So (?:is|are) (.+)\.$", POLICY.text, re.MULTILINE)
    values = re.findall(r"`(\w+: \w+)`", told)

    assert values
    for value in values:
        text = value if value.startswith("mode") else f"tools: {{t: {{{value}}}}}"
        with pytest.raises(DocumentError, match="not supported in this version"):
            load_policy_text(f"{HEAD}{text}\n")
