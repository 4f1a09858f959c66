"""Short ways to make proposals, contexts, facts and pipelines from texts."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from interceptors.calls import Cause, MalformedToolCall, Proposal, Proposer, ToolCall
from interceptors.context import Context, DeclaredTool, FactDocument, FactFailed, FactFailure, FactKey
from interceptors.decisions import Decision, Needs
from interceptors.pipeline import Pipeline
from interceptors.strict_json import parse
from policies import load_policy_text
from policies.model import folded

if TYPE_CHECKING:
    from collections.abc import Mapping

    from interceptors.context import FactResult

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)

HEAD = """\
language: 1
policy: test
owner: owner@example.com
time_zone: UTC
"""


def pipeline(text: str) -> Pipeline:
    """The pipeline of a policy without its head."""
    return Pipeline(load_policy_text(HEAD + text))


def proposal(name: str, arguments: str = "{}") -> Proposal:
    given = parse(arguments)
    assert isinstance(given, dict)
    return Proposal(ToolCall(name, given, arguments, "call_1", 0), Proposer.MODEL)


def malformed(name: str, cause: Cause = Cause.CUT_OFF) -> Proposal:
    return Proposal(MalformedToolCall(name, cause, "call_1", 0), Proposer.MODEL)


def declared(**schemas: bytes | None) -> dict[str, DeclaredTool]:
    return {folded(name): DeclaredTool(name, schema) for name, schema in schemas.items()}


def context(**fields: Any) -> Context:
    return Context(**({"now": NOW, "tenant": "tenant"} | fields))


def facts(**documents: Mapping[str, Any] | str) -> dict[FactKey, FactResult]:
    """`order__A1001={...}`, or the name of a failure in its place."""
    found: dict[FactKey, FactResult] = {}
    for name, document in documents.items():
        fact, _, key = name.partition("__")
        result: FactResult = (
            FactFailed(FactFailure(document), NOW) if isinstance(document, str) else FactDocument(document, NOW)
        )
        found[FactKey(fact, key)] = result
    return found


def decided(answer: Decision | Needs) -> Decision:
    assert isinstance(answer, Decision), answer
    return answer
