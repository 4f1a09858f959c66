"""What the text of an answer is looked at for: a structured answer is a call, and plain text may seem to be one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from interceptors.calls import Call, Cause, MalformedToolCall, ToolCall
from interceptors.causes import RefusalCause
from interceptors.claims import false_claims
from interceptors.receipts import Remark
from interceptors.schema import UnusableSchemaError, violation
from interceptors.strict_json import StrictJsonError, parse
from interceptors.text_calls import text_call
from policies.texts import TextCalls

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Mapping

    from interceptors.history import History
    from policies.model import Policy
    from policies.patterns import Pattern
    from proxy.wire.dialect import RequestView
    from proxy.wire.events import WholeText


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that a plain text holds. `tool` is a folded name, empty for none. With `replaces` the text stays."""

    remark: Remark
    tool: str
    replaces: bool
    detail: str = ""


@dataclass(frozen=True, slots=True)
class StructuredAnswer:
    """The tool as whose calls the texts of a request's answers are judged, and the schema that it asks for."""

    tool: str
    schema: bytes | None

    def call(self, said: WholeText | None) -> tuple[Call, RefusalCause | None]:
        """The call that a text is; with what stands against it before any rule is asked. None was never whole."""
        if said is None or said.is_cut:
            return MalformedToolCall(self.tool, Cause.CUT_OFF, "", 0), RefusalCause.SCHEMA_INVALID
        try:
            value = parse(said.text)
        except StrictJsonError as error:
            return MalformedToolCall(self.tool, error.cause, "", 0), RefusalCause.SCHEMA_INVALID
        if not isinstance(value, dict):
            return MalformedToolCall(self.tool, Cause.NOT_AN_OBJECT, "", 0), RefusalCause.SCHEMA_INVALID
        call = ToolCall(self.tool, value, said.text, "", 0)
        try:
            is_fitting = self.schema is None or violation(self.schema, value) is None
        except UnusableSchemaError:
            return call, RefusalCause.UNUSABLE_SCHEMA
        return call, None if is_fitting else RefusalCause.SCHEMA_INVALID


class TextRules(msgspec.Struct, frozen=True):
    """What holds for the text of one request's answer. `known` are the folded names of the tools there are."""

    structured: StructuredAnswer | None = None
    forbids_calls: bool = False
    claims: Mapping[str, tuple[Pattern, ...]] = msgspec.field(default_factory=dict)
    holds_claims: bool = False
    known: Container[str] = frozenset()

    @property
    def holds(self) -> bool:
        """Whether the text waits until it was looked at."""
        return self.structured is not None or self.forbids_calls or self.holds_claims

    def look(self, text: str, history: History, released: Collection[str]) -> tuple[Finding, ...]:
        """What is to be remarked on a plain text; `released` are the tools whose calls were released in its turn."""
        found = []
        if (written := text_call(text, self.known)) is not None:
            found.append(Finding(Remark.TEXT_CALL, written.tool, self.forbids_calls, written.shape.value))
        if self.claims:
            claims = false_claims(self.claims, text, history, released)
            found += [Finding(Remark.FALSE_CLAIM, claim.tool, self.holds_claims) for claim in claims]
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Known:
    """The names of two tables: few texts ask for one, so that no table of both is made for each request."""

    named: Container[str]
    declared: Container[str]

    def __contains__(self, name: object) -> bool:
        return name in self.named or name in self.declared


def text_rules(policy: Policy, identity: str | None, view: RequestView) -> TextRules:
    """What a policy says of the answer to this request."""
    who = policy.identities.get(identity) if identity is not None else None
    return TextRules(
        structured=_structured(policy, view),
        forbids_calls=policy.text_calls is TextCalls.FORBID,
        claims=policy.claims,
        holds_claims=bool(policy.claims) and who is not None and who.hold_text,
        known=_Known(policy.tools, view.tools.by_name),
    )


def _structured(policy: Policy, view: RequestView) -> StructuredAnswer | None:
    found = policy.structured.get(view.output.name) if view.output is not None else None
    if view.output is None or found is None:
        return None
    declared = view.tools.by_name.get(found.tool)
    name = declared.name if declared is not None else policy.tools[found.tool].name
    return StructuredAnswer(name, view.output.schema)
