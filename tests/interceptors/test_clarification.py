"""What was asked twice in vain is for a person; the rounds are those that stand in the request."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from interceptors.decisions import Decision, Needs
from interceptors.history import Author, Entry, History, PastCall, Said
from policies.model import Ruling
from tests.interceptors.builders import context, decided, pipeline, proposal

DESK = pipeline(
    """\
reasons:
  which: {category: validation, reply: {en: "Which of the two?", de: "Welches von beiden?"}}
  never: {category: policy}
  missing_parameter: {reply: "What is the number?"}
tools:
  act:
    arguments: {order: {pattern: '[A-Z][0-9]{4}'}, kind: {one_of: [a, b, unknown]}}
    rules:
      - {clarify: which, when: args.kind == "unknown"}
      - {forbid: never, when: args.order == "X0000"}
  other: {arguments: {order: {pattern: '[A-Z][0-9]{4}'}}}
"""
)
MISSING = '{"kind":"a"}'


def asked(turn: int, text: str = "What is the number?") -> Said:
    return Said(Author.ASSISTANT, text, turn)


def act(*entries: Entry, arguments: str = MISSING, tool: str = "act") -> Decision:
    return decided(DESK.decide(proposal(tool, arguments), context(history=History(entries)), {}))


def test_the_third_round_is_for_a_person() -> None:
    """Two questions are asked; after them the case goes to a person, who reads what is lacking."""
    once, twice = (asked(1),), (asked(1), Said(Author.USER, "no idea", 2), asked(3))

    assert (act().ruling, act().reason) == (Ruling.CLARIFY, "missing_parameter")
    assert act(*once).ruling is Ruling.CLARIFY
    decision = act(*twice)
    assert (decision.ruling, decision.reason) == (Ruling.ESCALATE, "asked_in_vain")
    assert decision.summary["tool"] == "act"
    assert decision.verdicts[-1].detail == "2 failed rounds, now missing_parameter"


def test_different_questions_of_one_tool_are_rounds_too() -> None:
    """The rule's own question and the system's count together, joined with other text or broken anew."""
    entries = (asked(1, "Sure!\n\nWhich of\nthe two?"), asked(3))
    assert act(*entries).reason == "asked_in_vain"


def test_the_models_rounds_are_known_by_their_calls() -> None:
    """A refusal that the model heard counts by its reason and its tool; other tools and other reasons do not."""
    call = PastCall("c", "act", {}, "", 1, reason="missing_parameter")
    again = replace(call, turn=3)
    assert act(call, again).reason == "asked_in_vain"
    assert act(call, replace(again, reason="never")).ruling is Ruling.CLARIFY
    assert act(call, replace(again, tool="other")).ruling is Ruling.CLARIFY
    assert act(call, replace(again, tool="ACT")).reason == "asked_in_vain"


def test_a_call_that_was_released_begins_anew() -> None:
    """What was lacking then was found."""
    released = PastCall("c", "act", {}, "", 4, released="rc_1")
    assert act(asked(1), asked(3), released).ruling is Ruling.CLARIFY
    assert act(asked(1), released, asked(5), asked(7)).reason == "asked_in_vain"


def test_a_forbid_stays_one() -> None:
    """Rounds escalate a question, never a no; and what may run, runs."""
    rounds = (asked(1), asked(3), asked(5))
    assert act(*rounds, arguments='{"order":"X0000","kind":"unknown"}').ruling is Ruling.FORBID
    assert act(*rounds, arguments='{"order":"A1001","kind":"a"}').ruling is Ruling.ALLOW


def test_the_history_is_read_where_a_question_would_be_asked() -> None:
    """Only then: a policy that nothing is asked under costs no look at the conversation."""
    unread = context(history=History(is_read=False))
    assert DESK.screen(proposal("act", MISSING), unread) == Needs((), history=True)
    assert DESK.screen(proposal("act", '{"order":"A1001","kind":"a"}'), unread) != Needs((), history=True)


ENTRIES = st.lists(
    st.builds(Said, st.sampled_from(Author), st.sampled_from(("What is the number?", "hello")), st.integers(0, 9))
    | st.builds(
        PastCall,
        st.just("c"),
        st.sampled_from(("act", "other")),
        st.none(),
        st.just(""),
        st.integers(0, 9),
        st.sampled_from(("", "rc_1")),
        st.sampled_from(("", "missing_parameter")),
    ),
    max_size=6,
)


@settings(max_examples=100)
@given(ENTRIES, st.sampled_from((MISSING, '{"order":"A1001","kind":"a"}', '{"order":"X0000","kind":"a"}')))
def test_no_history_widens(entries: list[Entry], arguments: str) -> None:
    """Whatever a client puts into the request: a call that is refused without it is refused with it."""
    plain, told = act(arguments=arguments), act(*entries, arguments=arguments)
    assert told.ruling is plain.ruling or (plain.ruling, told.ruling) == (Ruling.CLARIFY, Ruling.ESCALATE)
