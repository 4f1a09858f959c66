"""The JSON Schema for editors: it accepts every policy there is, knows every key, and no other."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import jsonschema_rs
import orjson
import pytest
from click.testing import CliRunner

from policies.documents import keys
from policies.json_schema import asking, json_schema, upkeep
from policies.reference import CHOICES, REFERENCE
from policies.yaml_reader import read_yaml
from proxy.cli import cli
from proxy.suites.json_values import json_text
from tests.docs.pages import page
from tests.policies.test_loader_mutations import EFFECTS, HEAD

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parents[2]
WHAT_TO_DO = (
    "give the key its row in policies/reference (what it takes, its default, what it does) and run `make docs`: it"
    " stands in docs/policy.md and in the JSON schema"
)
OBJECTS = {name: known for name, known in vars(keys).items() if isinstance(known, tuple) and name != "MERGED"}
SCHEMA = json_schema()
VALIDATOR = jsonschema_rs.validator_for(SCHEMA)
FILES = [
    path
    for folder in ("fixtures/policies", "policies/packs", "deploy/compose/policy")
    for path in sorted((ROOT / folder).rglob("*.yaml"))
    if path.name != "policy_test.yaml"
]


def document(text: str) -> Any:
    """A policy as an editor reads it."""
    return orjson.loads(json_text(read_yaml(text.encode(), "policy.yaml")))


def problems(text: str) -> list[str]:
    return [error.message for error in VALIDATOR.iter_errors(document(text))]


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_policy_is_valid(path: Path) -> None:
    """The packs, the example of the deployment and the policy with every key."""
    assert problems(path.read_text(encoding="utf-8")) == []


def test_the_examples_of_the_documentation_are_valid() -> None:
    """What loads is never underlined in an editor."""
    examples = [block.text for block in page("docs/policy.md").of("yaml") if block.title != "refused"]
    found = {text: problems(text if "language:" in text else HEAD + text) for text in examples}

    assert {text: wrong for text, wrong in found.items() if wrong} == {}


@pytest.mark.parametrize("key", EFFECTS, ids=".".join)
def test_each_key_alone_is_valid(key: tuple[str, str]) -> None:
    """The smallest policies that differ by one key are valid with and without it."""
    for text in EFFECTS[key]:
        assert problems(text if text.startswith("language") else HEAD + text) == []


def test_every_key_is_described() -> None:
    """A key of the language has its line, and what has a line is a key, or one of a later version."""
    described = {(name, key) for name, reference in REFERENCE.items() for key in reference.rows}
    known = {(name, key) for name, found in OBJECTS.items() for key in found}
    lacking = sorted(".".join(key) for key in known - described)

    assert not lacking, f"{', '.join(lacking)}: {WHAT_TO_DO}"
    assert described - known == set()
    assert all(reference.said(key) for reference in REFERENCE.values() for key in reference.rows)


def test_a_row_has_a_cell_for_each_column() -> None:
    """The tables of the reference are whole, and what an editor shows has no links of the page in it."""
    for reference in REFERENCE.values():
        for key, cells in reference.rows.items():
            assert len(cells) == len(reference.head) - 1, key
            assert "](" not in reference.said(key), key


def test_each_key_of_a_result_has_a_form() -> None:
    """Those of what is read of it, and those of what of it goes up, are one object."""
    assert upkeep.forms({"fields": {}, "format": {}})["RESULT"].keys() == set(keys.RESULT)


def test_the_words_of_a_key_are_those_of_the_model() -> None:
    """Where a key has a closed set of words, the reference takes it from there, and copies none."""
    schema = json_schema()
    for name, reference in REFERENCE.items():
        for key, form in (schema if name == "TOP" else schema["$defs"][name])["properties"].items():
            if "enum" in form and "type" in reference.head[1]:
                assert CHOICES in reference.rows[key][0], (name, key)


def _mappings(node: Any) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from _mappings(inner)


def test_an_unknown_key_is_not_valid() -> None:
    """A key more in any object of the language is an error; where names are free, its value is checked instead."""
    text = (ROOT / "fixtures/policies/every_key.yaml").read_text(encoding="utf-8")
    count = sum(1 for _ in _mappings(document(text)))
    accepted = []
    for index in range(count):
        tree = document(text)
        mapping = list(_mappings(tree))[index]
        mapping["surprise"] = {"nothing": ["like", {"this": True}]}
        if VALIDATOR.is_valid(tree):
            accepted.append(sorted(mapping))

    assert count > 40
    assert accepted == []


@pytest.mark.parametrize(
    "text",
    [
        "policy: p\n",
        "language: 2\npolicy: p\n",
        HEAD + "mode: shadow\n",
        HEAD + "tools: {t: {rules: [{when: true}]}}\n",
        HEAD + "tools: {t: {rules: [{forbid: a, escalate: b}]}}\n",
        HEAD + "reasons: {r: {reply: no}}\n",
        HEAD + "reasons: {halted: {category: policy}}\n",
        HEAD + "facts: {f: {key: {pattern: a}, fields: {}}}\n",
        HEAD + "tools: {t: {arguments: {a: money}}}\n",
        HEAD + "tools: {t: {settle_within: soon}}\n",
    ],
)
def test_what_does_not_load_is_underlined(text: str) -> None:
    """Common mistakes are seen while they are written."""
    assert problems(text)


def test_the_command_prints_it() -> None:
    """`check --schema` prints the schema and needs no policy."""
    found = CliRunner().invoke(cli, ["check", "--schema"])
    assert (found.exit_code, orjson.loads(found.stdout)) == (0, SCHEMA)
    assert not re.search(r'"description": ""', found.stdout)


def test_what_asks_has_a_form_of_its_own() -> None:
    """Each key by which a tool or a case asks people says more to an editor than that it is there."""
    assert {name: set(forms) for name, forms in asking.FORMS.items()} == {
        name: set(getattr(keys, name)) for name in ("CONFIRM", "CONFIDENCE", "APPROVALS", "OPERATOR")
    }
    assert (
        problems("language: 1\npolicy: p\ntools: {t: {arguments: {n: {type: number}}, confirm: {when: args.n > 1}}}\n")
        == []
    )
    assert problems("language: 1\npolicy: p\ntools: {t: {confirm: operator}}\n")
    assert problems("language: 1\npolicy: p\ntools: {t: {confirm: {}}}\n")
