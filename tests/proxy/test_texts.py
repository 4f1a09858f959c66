"""What the text of an answer is looked at for, and what is done about it, without a socket."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest

from interceptors.calls import Cause, MalformedToolCall, ToolCall
from interceptors.causes import RefusalCause
from interceptors.context import DeclaredTool
from interceptors.history import EMPTY, History, PastCall
from interceptors.pipeline import Pipeline
from interceptors.receipts import Remark
from policies import load_policy_text
from policies.model import Ruling
from proxy.judge import Scene
from proxy.spoken import Spoken
from proxy.texts import Finding, StructuredAnswer, TextRules, text_rules
from proxy.wire.dialect import DeclaredTools, OutputFormat, RequestView, declared_tools
from proxy.wire.events import RELEASED, Replaced, TextKey, WholeText

KEY = TextKey(0, 0)
SCHEMA = (
    b'{"type":"object","properties":{"intent":{"type":"string"}},"required":["intent"],"additionalProperties":false}'
)
POLICY = """
language: 1
policy: p
reasons:
  schema_invalid: {reply: "A colleague."}
  text_call: {reply: "Not in a text."}
  false_claim: {reply: "Not done."}
structured: {intent: {as: act}}
claims: {pay: ['(?i)i have paid']}
identities: {bot: {token: '${T}', hold_text: true}, other: {token: '${U}'}}
tools: {act: {arguments: {intent: {type: string}}}, pay: {}}
"""
WRITTEN = '<tool_call>{"name": "pay"}</tool_call>'


def view(name: str = "", *tools: str) -> RequestView:
    declared = declared_tools([DeclaredTool(tool, None) for tool in tools], ()) if tools else DeclaredTools()
    return RequestView(tools=declared, output=OutputFormat(name, SCHEMA) if name else None)


def rules(text: str = POLICY, identity: str | None = "bot", request: RequestView | None = None) -> TextRules:
    return text_rules(load_policy_text(text), identity, request or view())


@pytest.mark.parametrize(
    ("said", "cause", "against"),
    [
        (WholeText('{"intent": "x"}'), None, None),
        (WholeText(' {"intent": "x"}\n'), None, None),
        (WholeText('{"intent": "x"}', is_cut=True), Cause.CUT_OFF, RefusalCause.SCHEMA_INVALID),
        (None, Cause.CUT_OFF, RefusalCause.SCHEMA_INVALID),
        (WholeText("Sure."), Cause.NOT_JSON, RefusalCause.SCHEMA_INVALID),
        (WholeText('```json\n{"intent": "x"}\n```'), Cause.NOT_JSON, RefusalCause.SCHEMA_INVALID),
        (WholeText('{"intent": "x"} {"intent": "y"}'), Cause.NOT_JSON, RefusalCause.SCHEMA_INVALID),
        (WholeText('{"intent": "x", "intent": "y"}'), Cause.DUPLICATE_KEY, RefusalCause.SCHEMA_INVALID),
        (WholeText('["x"]'), Cause.NOT_AN_OBJECT, RefusalCause.SCHEMA_INVALID),
        (WholeText("{}"), None, RefusalCause.SCHEMA_INVALID),
        (WholeText('{"intent": "x", "more": 1}'), None, RefusalCause.SCHEMA_INVALID),
    ],
)
def test_a_structured_answer_is_a_call_or_none(
    said: WholeText | None, cause: Cause | None, against: RefusalCause | None
) -> None:
    """Its arguments are the strict JSON of the whole text, and they fit the schema that the request asks for."""
    call, found = StructuredAnswer("act", SCHEMA).call(said)
    assert found is against
    assert call.name == "act"
    assert (call.cause if isinstance(call, MalformedToolCall) else None) is cause


def test_a_schema_that_cannot_be_used_checks_nothing() -> None:
    """Neither does it let pass what it cannot check; and without one the tool's own arguments speak."""
    said = WholeText('{"intent": "x"}')
    assert StructuredAnswer("act", b'{"$ref": "http://x/y"}').call(said)[1] is RefusalCause.UNUSABLE_SCHEMA
    assert StructuredAnswer("act", None).call(said)[1] is None


def test_what_holds_for_a_request() -> None:
    """By the name of its schema, by who asks, and spelled as the request declares the tool."""
    assert rules(request=view("intent")).structured == StructuredAnswer("act", SCHEMA)
    assert rules(request=view("intent", "Act")).structured == StructuredAnswer("Act", SCHEMA)
    assert rules(request=view("Intent")).structured is None
    assert rules().holds_claims
    assert not rules(identity="other").holds_claims
    assert not rules(identity=None).holds
    assert rules(POLICY + "text_calls: forbid\n", None).holds
    known = rules(request=view("", "look_up")).known
    assert [name in known for name in ("act", "pay", "lookup", "look_up")] == [True, True, True, False]


def test_a_plain_text_is_looked_at_once_for_each_key() -> None:
    """Calls in text and claims, each with what is done about it."""
    held, passing = rules(), rules(POLICY + "text_calls: forbid\n", "other")
    text = f"I have paid. {WRITTEN}"
    written = "a tag that models write calls in"
    assert held.look(text, EMPTY, ()) == (
        Finding(Remark.TEXT_CALL, "pay", replaces=False, detail=written),
        Finding(Remark.FALSE_CLAIM, "pay", replaces=True),
    )
    assert passing.look(text, EMPTY, ("pay",)) == (Finding(Remark.TEXT_CALL, "pay", replaces=True, detail=written),)
    done = History((PastCall("c", "pay", {}, "", 1, released="rc_1"),))
    assert held.look("I have paid.", done, ()) == ()


def spoken(request: RequestView | None = None, text: str = POLICY) -> Spoken:
    policy = load_policy_text(text)
    revision: Any = SimpleNamespace(policy=policy, pipeline=Pipeline(policy))
    source = SimpleNamespace(last=lambda: SimpleNamespace(revision=revision))
    judge: Any = SimpleNamespace(policy=source, clock=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC))
    scene = Scene("ex", "openai-chat", "m", "t", "bot", "", {})
    return Spoken(text_rules(policy, "bot", request or view()), judge, scene)


def test_the_model_is_asked_once_and_then_a_person() -> None:
    """`once more, then escalate`; where it cannot be asked, at once. What the customer reads says which."""
    ones = spoken(view("intent"))
    answers = [ones.calls({KEY: WholeText("no")}, may_ask_again=True)[1][KEY][1] for _ in range(2)]
    assert [(each.ruling, each.reason) for each in answers] == [
        (Ruling.FORBID, "schema_invalid"),
        (Ruling.ESCALATE, "schema_invalid"),
    ]
    assert "try again" in answers[0].reply
    assert answers[1].reply == "A colleague."
    assert answers[1].summary["tool"] == "act"
    _, at_once = spoken(view("intent")).calls({KEY: WholeText("no")}, may_ask_again=False)
    assert at_once[KEY][1].ruling is Ruling.ESCALATE


def test_a_fitting_answer_and_calls_beside_it_are_judged_together() -> None:
    """A blank text is none of either: it says nothing."""
    ones = spoken(view("intent"))
    call = ToolCall("pay", {}, "{}", "c", 0)
    calls, refused = ones.calls({"1": call, KEY: WholeText('{"intent": "x"}')}, may_ask_again=True)
    assert (calls["1"], calls[KEY].name, refused) == (call, "act", {})
    blank = TextKey(0, 1)
    assert ones.calls({blank: WholeText(" \n")}, may_ask_again=True) == ({}, {})
    assert ones.answer(blank, ()) == RELEASED
    assert ones.remarks == []


def test_a_plain_text_is_answered_when_its_calls_are() -> None:
    """Replaced by the policy's own words, remarked with the tool's own spelling, and never kept."""
    ones = spoken()
    ones.calls({KEY: WholeText("I have paid.")}, may_ask_again=False)
    assert ones.waits(KEY)
    assert ones.answer(KEY, ()) == Replaced("Not done.")
    assert not ones.waits(KEY)
    (remark,) = ones.remarks
    assert (remark.remark, remark.tool, remark.replaced) == (Remark.FALSE_CLAIM, "pay", True)
    ones.calls({KEY: WholeText("I have paid.")}, may_ask_again=False)
    assert ones.answer(KEY, ("pay",)) == RELEASED


def test_a_limit_before_the_end_replaces_the_text() -> None:
    """Plain texts are answered, structured ones are calls that were cut off."""
    ones = spoken()
    assert ones.limited([KEY, "1"]) == [KEY]
    assert isinstance(ones.answer(KEY, ()), Replaced)
    assert [each.remark for each in ones.remarks] == [Remark.TOO_LONG]
    structured = spoken(view("intent"))
    assert structured.limited([KEY]) == []
    assert structured.as_call(KEY, None) == MalformedToolCall("act", Cause.CUT_OFF, "", 0)
    assert structured.as_call("1", None) is None


def test_what_was_only_listened_to_is_remarked_and_not_replaced() -> None:
    """The text has left: the record tells of it, and says so."""
    ones = spoken(text=POLICY.replace(", hold_text: true", ""))
    ones.listened(["I have paid.", WRITTEN, "Hello."], ())
    assert [(each.remark, each.replaced) for each in ones.remarks] == [
        (Remark.FALSE_CLAIM, False),
        (Remark.TEXT_CALL, False),
    ]
