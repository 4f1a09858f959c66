"""Which text of a request is the customer's newest, and the names of its places; what is decided of it."""

from __future__ import annotations

from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import orjson
import pytest

from interceptors.context import Context
from interceptors.decisions import Needs
from interceptors.handing_off import ACTION, ROOT_CAUSE, HandingOff, hand_off
from interceptors.kinds import Kind
from interceptors.person_wanted import Wanted
from policies import load_policy_text
from proxy.answers_told import AnswersTold
from proxy.downstream import ClientLostError, Downstream
from proxy.handoff import _outcome
from proxy.handoff_places import places_of, text_of
from proxy.passage import Passage
from proxy.store import EscalationDraft
from proxy.store.handoffs import Handed
from proxy.summary import Ending
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.openai_responses import OPENAI_RESPONSES

NOW = datetime(2026, 11, 30, tzinfo=UTC)
USER, MODEL = {"role": "user", "content": "one"}, {"role": "assistant", "content": "two"}
CALL = {
    "role": "assistant",
    "tool_calls": [{"id": "c", "type": "function", "function": {"name": "t", "arguments": "{}"}}],
}
RESULT = {"role": "tool", "tool_call_id": "c", "content": "one"}
SYSTEM = {"role": "system", "content": "three"}


def text(*messages: Any) -> str:
    body = orjson.dumps({"messages": messages})
    found = {text_of(OPENAI_CHAT, body, member) for member in (b"", orjson.dumps(messages))}
    assert len(found) == 1, "the member alone says the same"
    return found.pop()


@pytest.mark.parametrize(
    ("messages", "said"),
    [
        ((USER,), "one"),
        ((SYSTEM, USER), "one"),
        ((USER, MODEL), "one"),
        ((USER, MODEL, {"role": "user", "content": "last"}), "last"),
        ((USER, {"role": "user", "content": "more"}), "one\nmore"),
        ((USER, SYSTEM), "one"),
        ((USER, CALL, RESULT), ""),
        ((USER, CALL, RESULT, USER), ""),
        ((USER, CALL, RESULT, MODEL), ""),
        ((SYSTEM,), ""),
        ((MODEL,), ""),
        ((), ""),
    ],
)
def test_the_newest_text_of_the_users_side(messages: tuple[Any, ...], said: str) -> None:
    """Nothing of the model's, the system's or a tool's, and no turn in which a result stands."""
    assert text(*messages) == said


def test_a_document_beside_the_text_is_none_of_it() -> None:
    """Only text blocks count; a result in the same message takes the text away."""
    document = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "I want a human"}}
    result = {"type": "tool_result", "tool_use_id": "c", "content": "x"}
    words = {"type": "text", "text": "Hello"}
    for blocks, said in (([document, words], "Hello"), ([result, words], "")):
        body = orjson.dumps({"messages": [{"role": "user", "content": blocks}]})
        assert text_of(ANTHROPIC_MESSAGES, body, b"") == said


def test_places_are_named_by_what_was_said_before() -> None:
    """The same words behind another history stand elsewhere; spelling and white space name nothing."""

    def places(*messages: Any) -> Any:
        return places_of(OPENAI_CHAT, orjson.dumps({"messages": messages}))

    first, second = places(USER), places(USER, MODEL, USER)
    assert first.earlier == ()
    assert second.earlier == (first.here,)
    assert second.here != first.here
    assert places(SYSTEM, {"content": [{"type": "text", "text": " o ne"}], "role": "user"}).here == first.here
    assert places(USER, {"role": "assistant", "content": "other"}, USER).here != second.here
    body = b'{"previous_response_id":"resp_1","input":"one"}'
    assert len(places_of(OPENAI_RESPONSES, body).earlier) == 1, "what the provider keeps"


POLICY = load_policy_text("""
language: 1
policy: p
session: {customer_id: {jwt: sub}, since: {jwt: since, type: date}, gone: {jwt: gone}}
facts: {a: {key: {pattern: '[a-z]+'}, file: f.json, fields: {x: string}}}
handoff: {facts: {a: session.customer_id}, escalation: {gather: [a], since: "{session.since}"}}
""")


def test_a_case_says_who_and_why_and_holds_no_word_of_the_customers() -> None:
    """Signed fields that are there, the usual cause and action where the policy has none, its own lines."""
    section = POLICY.people.handoff
    assert section is not None
    context = Context(datetime(2026, 11, 30, tzinfo=UTC), "t", subject={"sub": "ada", "since": "2020-01-31"})
    needs = hand_off(POLICY, section, Wanted("en"), context, {})
    assert isinstance(needs, Needs)
    assert [(key.fact, key.key) for key in needs.facts] == [("a", "ada")]
    nobody = hand_off(POLICY, section, Wanted("en"), Context(context.now, "t"), {})
    assert isinstance(nobody, HandingOff)
    assert dict(nobody.summary) == {
        "reason": "handoff",
        "language": "en",
        "root_cause": ROOT_CAUSE,
        "recommended_action": ACTION,
        "since": "not available",
        "a": "not available",
    }


def draft(case: str) -> EscalationDraft:
    about = {"tenant": "t", "subject": "", "tool": "", "argument_digest": case, "summary": {}, "reason": "handoff"}
    return EscalationDraft(id=case, receipt="rc_1", created=NOW, **about)  # type: ignore[arg-type] # by name


@pytest.mark.parametrize(
    ("handed", "word"),
    [
        (Handed("esc_1", "x", NOW), "opened"),
        (Handed("esc_0", "x", NOW), "joined"),
        (Handed("esc_1", "x", NOW, is_repeated=True), "repeated"),
        (Handed(None, "x", NOW), "full"),
    ],
)
def test_what_became_of_it_is_one_word_for_the_metric(handed: Handed, word: str) -> None:
    """A case of its own, one that was open, an answer again, or nobody who could take it."""
    assert _outcome(handed, draft("esc_1")) == word


@pytest.mark.parametrize("is_lost", [False, True])
async def test_what_left_is_told_and_what_did_not(is_lost: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """One record behind that of the decision, under its receipt: the reply left, or its client was gone."""

    async def send(down: Downstream, status: int, _: Any) -> None:
        left.append(status)
        if is_lost:
            raise ClientLostError

    left: list[int] = []
    monkeypatch.setattr(Downstream, "send", send)
    told: list[Any] = []
    judge = SimpleNamespace(clock=lambda: NOW, outcomes=SimpleNamespace(add=told.extend))
    services = cast("Any", SimpleNamespace(judge=judge, store=SimpleNamespace(name=lambda _: "0" * 64)))
    passage = Passage("ex_1", "POST", 0.0, OPENAI_CHAT)
    answers = AnswersTold(services, OPENAI_CHAT, passage)
    request = cast("Any", SimpleNamespace(answer=None))
    await answers.send(request, b"{}", Handed("esc_1", "Wait.", NOW), "place", "rc_1")
    (record,) = told
    assert (left, record.receipt) == ([200], "rc_1")
    assert record.kind is (Kind.ABORTED if is_lost else Kind.SUBSTITUTED)
    assert passage.summary.ending is (Ending.CLIENT_LOST if is_lost else Ending.COMPLETE)
