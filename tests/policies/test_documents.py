"""The readers of sections: a broken entry stands as one, and hides neither its neighbours nor what reads it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.documents.facts import fact_type, read_facts
from policies.documents.replies import present
from policies.documents.scalars import dotted_path, identifier
from policies.documents.sections import read_constants, read_reasons, read_session
from policies.documents.tools import Defaults, Surroundings, default_place, read_tools
from policies.expressions import ExpressionError, Scope, compile_expression
from policies.problems import Problems
from policies.values import ANY, STRING, Kind, record_of
from policies.yaml_reader import read_yaml

if TYPE_CHECKING:
    from policies.yaml_reader import Node


def node(text: str) -> Node:
    return read_yaml(text.encode(), "f.yaml")


@given(st.text("abzAZ019_-. é", max_size=6) | st.sampled_from(["and", "or", "not", "in", "true", "false", "null"]))
def test_a_name_is_one_that_expressions_can_spell(name: str) -> None:
    """What `identifier` takes, an expression reads after a dot and as a root; it refuses by `ValueError`."""
    try:
        identifier(name)
    except ValueError:
        return
    assert compile_expression(f"args.{name}", Scope({"args": record_of({name: STRING})})).type == STRING
    assert compile_expression(f"{name}.x", Scope({name: record_of({"x": STRING})})).type == STRING


@given(st.lists(st.text("ab_-", min_size=1), min_size=1, max_size=4))
def test_a_path_is_its_steps(steps: list[str]) -> None:
    """Dots separate, nothing else does; an empty step is refused."""
    assert dotted_path(".".join(steps)) == tuple(steps)
    with pytest.raises(ValueError, match="no path"):
        dotted_path(".".join([*steps, "", *steps]))


def test_a_broken_entry_hides_no_other() -> None:
    """Each section tells all its problems, keeps what is sound, and remembers the names of what is not."""
    problems = Problems()
    constants = read_constants(node("{a: 1, b: 010, c: x, d: []}"), problems)
    session = read_session(node("{a: {jwt: x}, b: {}, c: {jwt: y}}"), problems)
    reasons = read_reasons(node("{a: {category: policy}, b: {}, c: {category: policy}}"), problems)
    facts = read_facts(node("{a: {file: x}, b: {key: {pattern: x}, file: x, fields: {}}}"), Path(), problems)

    assert [set(present(section)) for section in (constants, session, reasons, facts)] == [
        {"a", "c"},
        {"a", "c"},
        {"a", "c"},
        {"b"},
    ]
    assert list(constants) == ["a", "b", "c", "d"]
    assert len(problems) == 6


def test_what_reads_a_broken_entry_is_not_told_again() -> None:
    """A fact that could not be read is open, so that its readers are no second mistake."""
    problems = Problems()
    around = Surroundings(None, None, {"f": None}, (), has_time_zone=False)
    tools = read_tools(
        node("{t: {facts: {f: args.a}, rules: [{forbid: malformed, when: f.any > 3}]}}"), around, Defaults(), problems
    )

    assert not problems
    assert tools["t"] is not None
    text = (
        "{t: {arguments: {a: {type: integer, limits: x}, b: {}}, rules: [{forbid: malformed, when: args.b > args.a}]}}"
    )
    read_tools(node(text), around, Defaults(), problems)
    assert [problem.path for problem in problems.found] == ["t.arguments.a.limits", "t.arguments.b"]
    assert fact_type(None, many=True) == ANY


def test_what_holds_for_every_tool_reads_no_fact() -> None:
    """The place of `defaults` has open arguments, and says why a fact is not there."""
    facts = read_facts(node("{f: {key: {pattern: x}, file: x, fields: {x: string}}}"), Path(), Problems())
    place = default_place(Surroundings(record_of({"id": STRING}), None, facts, (), has_time_zone=False))

    assert place.scope.type_of(("args", "anything")).kind is Kind.ANY
    assert place.scope.type_of(("session", "id")) == STRING
    with pytest.raises(ExpressionError, match="args, session and constants only"):
        place.scope.type_of(("f", "x"))
    with pytest.raises(ExpressionError, match="no `constants` section"):
        place.scope.type_of(("constants", "x"))
