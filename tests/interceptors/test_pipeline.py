"""The pipeline: stages in order, facts only for calls that may need them, and a refusal for whatever breaks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.calls import Cause, MalformedToolCall, Proposal, Proposer, ToolCall
from interceptors.causes import RefusalCause, answer
from interceptors.context import FactKey
from interceptors.decisions import Decision, Needs, Verdict
from interceptors.pipeline import Pipeline
from interceptors.results import structured_result
from interceptors.stages import INTERCEPTORS
from policies.model import Category, Ruling
from policies.system_reasons import DEFAULT_REPLIES
from tests.interceptors.builders import context, decided, declared, facts, malformed, pipeline, proposal

if TYPE_CHECKING:
    from interceptors.case import Case, Interceptor, Stage

POLICY = """\
session: {customer_id: {jwt: sub}}
reasons:
  not_yours: {category: permission}
  too_much: {category: policy, reply: {de: "Hoechstens {order.paid}.", en: "At most {order.paid}."}}
  ask: {category: validation}
  big: {category: escalated, reply: {de: "Betrag {args.amount}"}}
  silent: {category: policy, reply: {en: "Of {order.paid}"}}
facts:
  order:
    key: {pattern: '[A-Z][0-9]+'}
    http: "https://orders.example/{key}"
    fields: {customer_id: string, paid: {money: USD, unit: minor}}
tools:
  refund:
    effect: write
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]+'}
      amount: {money: USD, unit: major}
      note: {type: string, optional: true}
    rules:
      - {forbid: too_much, when: args.amount > order.paid}
      - {escalate: big, when: args.amount > 500.00 USD}
      - {clarify: ask, when: args.amount == 13.00 USD}
    escalation: {root_cause: "{order.paid} paid", never: "{args.amount - order.paid}"}
  look:
    effect: read
  echo:
    effect: read
    facts: {order: args.order_id}
    arguments: {order_id: {pattern: '[A-Z][0-9]+'}}
    rules:
      - {forbid: silent, unless: order.customer_id == "nobody"}
"""
REFUND = '{"order_id":"A1","amount":20}'
ORDER = {"customer_id": "C-1", "paid": 90_000}


class Raising:
    """An interceptor that fails where it stands, with an argument in its message."""

    def __init__(self, stage: Stage, name: str = "raising", error: Exception | None = None) -> None:
        self.name = name
        self.stage = stage
        self._error = error or RuntimeError("order A1 of Ada Lovelace")

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        raise self._error


def _run(deciding: Pipeline, proposed: Proposal, **about: Any) -> tuple[Decision, bool]:
    """Both passes as the edge makes them; whether facts were asked for."""
    answer = deciding.screen(proposed, context(**about))
    if not isinstance(answer, Needs):
        return answer, False
    return decided(deciding.decide(proposed, context(**about), facts(order__A1=ORDER))), True


def _refused_by_breaking(decision: Decision) -> None:
    assert decision.ruling is Ruling.FORBID
    assert decision.reason == "internal_error"
    assert decision.category is Category.INTERNAL
    assert not decision.is_retryable
    assert decision.reply == DEFAULT_REPLIES[Category.INTERNAL]
    assert decision.message
    assert decision.next
    assert decision.policy == "test"


@pytest.mark.parametrize("position", range(len(INTERCEPTORS) + 1))
@pytest.mark.parametrize("error", [RuntimeError("A1"), RecursionError("A1"), MemoryError("A1"), AssertionError("A1")])
def test_a_raise_at_any_position_is_a_recorded_refusal(position: int, error: Exception) -> None:
    """In the pass in which it is reached; the record has the type only, and the rows of the interceptors before it."""
    stage = INTERCEPTORS[min(position, len(INTERCEPTORS) - 1)].stage
    broken: list[Interceptor] = [*INTERCEPTORS]
    broken.insert(position, Raising(stage, error=error))
    deciding = Pipeline(pipeline(POLICY).policy, broken)
    decision, asked = _run(deciding, proposal("refund", REFUND))
    _refused_by_breaking(decision)
    names = [interceptor.name for interceptor in INTERCEPTORS]
    assert asked is (position > names.index("facts"))
    unbroken, _ = _run(pipeline(POLICY), proposal("refund", REFUND))
    speaking = {row.interceptor for row in unbroken.verdicts}  # some have nothing to say of this tool
    before = [name for name in names[:position] if name in speaking]
    assert list(dict.fromkeys(row.interceptor for row in decision.verdicts)) == [*before, "raising"]
    assert decision.verdicts[-1].detail == type(error).__name__
    assert "A1" not in str(decision)
    assert decision.tool == "refund"
    assert decision.is_write


@pytest.mark.parametrize("position", range(len(INTERCEPTORS)))
def test_a_raise_in_place_of_any_interceptor_refuses_what_would_be_allowed(position: int) -> None:
    """Also where the interceptor itself is the one that breaks, in both passes."""
    replaced: list[Interceptor] = [*INTERCEPTORS]
    replaced[position] = Raising(INTERCEPTORS[position].stage)
    deciding = Pipeline(pipeline(POLICY).policy, replaced)
    asks = [interceptor.name for interceptor in INTERCEPTORS].index("facts")
    passes = [{}, facts(order__A1=ORDER)] if position <= asks else [facts(order__A1=ORDER)]
    for known in passes:
        _refused_by_breaking(decided(deciding.decide(proposal("refund", REFUND), context(), known)))


def test_a_raise_in_a_template_is_a_recorded_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    """What breaks after the interceptors, while the words are made, refuses too."""

    def broken(*_: object) -> str:
        raise ZeroDivisionError("A1")

    monkeypatch.setattr("interceptors.pipeline.reply", broken)
    decision, _ = _run(pipeline(POLICY), proposal("refund", '{"order_id":"A1","amount":1000}'))
    _refused_by_breaking(decision)
    assert decision.verdicts[-1].detail == "ZeroDivisionError"


def test_arguments_that_are_no_json_values_are_a_recorded_refusal() -> None:
    """A caller that hands over what no strict parser makes gets a refusal, not an exception and not an allow."""
    bad: list[Any] = [1.5, float("nan"), object(), {1, 2}]
    for value in bad:
        call = ToolCall("erase", {"x": value}, "", "", 0)
        deciding = pipeline("tools: {erase: {effect: write}}\n")
        assert decided(deciding.screen(Proposal(call, Proposer.MODEL), context())).ruling is Ruling.FORBID


REFUSED_BY_SCREEN = {
    "malformed": (malformed("refund"), {}),
    "another spelling": (proposal("Refund", REFUND), {}),
    "two tools of one name": (proposal("refund", REFUND), {"ambiguous": frozenset({"refund"})}),
    "unknown": (proposal("erase", REFUND), {}),
    "a missing argument": (proposal("refund", '{"order_id":"A1"}'), {}),
    "an undeclared argument": (proposal("refund", '{"order_id":"A1","amount":2,"x":1}'), {}),
    "a value of a wrong type": (proposal("refund", '{"order_id":"A1","amount":true}'), {}),
    "a violated schema": (proposal("refund", REFUND), {"declared": declared(refund=b'{"required":["x"]}')}),
    "an unusable schema": (proposal("refund", REFUND), {"declared": declared(refund=b"{")}),
    "halted": (proposal("refund", REFUND), {"halted": True}),
}


@pytest.mark.parametrize("case", REFUSED_BY_SCREEN)
def test_no_fact_is_asked_for_where_shape_or_capability_refuses(case: str) -> None:
    """No argument reaches a source of facts before the screen is passed; and the rules are not looked at."""
    proposed, about = REFUSED_BY_SCREEN[case]
    decision, asked = _run(pipeline(POLICY), proposed, **about)
    assert not asked
    assert decision.ruling is not Ruling.ALLOW
    assert {row.interceptor for row in decision.verdicts} <= {"shape", "capability"}


@pytest.mark.parametrize("case", REFUSED_BY_SCREEN)
def test_the_second_pass_leads_past_no_screen(case: str) -> None:
    """Whoever calls `decide` first, with facts at hand, gets the same refusal."""
    proposed, about = REFUSED_BY_SCREEN[case]
    deciding = pipeline(POLICY)
    assert deciding.decide(proposed, context(**about), facts(order__A1=ORDER)) == deciding.screen(
        proposed, context(**about)
    )


def test_an_identity_that_is_refused_costs_no_fact() -> None:
    """Capability stands before the facts."""
    deciding = pipeline('identities: {bot: {token: "${T}", tools: [look]}}\n' + POLICY)
    decision, asked = _run(deciding, proposal("refund", REFUND), identity="bot")
    assert (decision.reason, asked) == ("not_permitted", False)


@pytest.mark.parametrize(
    "proposed",
    [malformed("refund"), proposal("refund", "{}"), proposal("REFUND", REFUND)],
    ids=["cut", "empty", "spelled"],
)
def test_what_an_identity_may_not_use_is_never_worth_another_try(proposed: Proposal) -> None:
    """However the call is shaped: the model is not told to mend what would be refused then too."""
    for tools, reason, is_retryable in (("[look]", "not_permitted", False), ("[look, refund]", "", True)):
        deciding = pipeline(f'identities: {{bot: {{token: "${{T}}", tools: {tools}}}}}\n' + POLICY)
        decision = decided(deciding.screen(proposed, context(identity="bot")))
        assert decision.is_retryable is is_retryable
        assert decision.reason == reason or (not reason and decision.reason != "not_permitted")


def test_an_escalation_of_the_screen_ends_there() -> None:
    """An unknown tool that goes to a person is not looked at by the rules that `defaults` give to every tool."""
    head = "reasons: {stop: {category: policy}}\ndefaults: {rules: [{forbid: stop}]}\n"
    for unknown_tools, ruling, rows in (("escalate", Ruling.ESCALATE, 2), ("allow", Ruling.FORBID, 3)):
        decision = decided(pipeline(f"{head}unknown_tools: {unknown_tools}\n").screen(proposal("x"), context()))
        assert (decision.ruling, len(decision.verdicts)) == (ruling, rows)


def test_the_schema_of_a_tool_that_the_policy_does_not_name_decides_nothing() -> None:
    """What the policy lets through unnamed passes as it came (guarantee G2), broken schema or not."""
    deciding = pipeline("unknown_tools: allow\n")
    for schema in (b'{"required":["x"]}', b"{"):
        decision = decided(deciding.screen(proposal("free"), context(declared=declared(free=schema))))
        assert (decision.ruling, decision.is_write) == (Ruling.ALLOW, True)


def test_needs_name_exactly_the_facts_of_the_tool() -> None:
    """Only mapped facts with their keys; a call without facts is decided in the first pass."""
    deciding = pipeline(POLICY)
    assert deciding.screen(proposal("refund", REFUND), context()) == Needs((FactKey("order", "A1"),))
    assert decided(deciding.screen(proposal("look"), context())).ruling is Ruling.ALLOW


@pytest.mark.parametrize("cause", Cause)
def test_every_malformed_call_is_refused_with_its_cause(cause: Cause) -> None:
    """The model is told what was wrong and may try again; nothing of the call is stored but its name."""
    decision = decided(pipeline(POLICY).screen(malformed("refund", cause), context()))
    assert (decision.ruling, decision.reason, decision.is_retryable) == (Ruling.FORBID, "malformed", True)
    assert cause.value in decision.message
    assert (decision.arguments, decision.digest) == (None, "")


NEVER = """
reasons: {never: {category: policy, reply: "Not {args.n}."}, late: {category: policy}}
tools:
  drop: {arguments: {n: {type: integer}}, rules: [{forbid: never}]}
  move: {arguments: {n: {type: integer}}, rules: [{forbid: late, when: args.n > 5}]}
"""


@pytest.mark.parametrize("spoilt", [malformed("drop"), proposal("drop", '{"n": "x"}'), proposal("DROP", '{"n": 1}')])
def test_a_call_that_is_never_allowed_invites_no_other_try(spoilt: Proposal) -> None:
    """However it is shaped: the rule that forbids each call of its tool decides, and both are in the record."""
    decision = decided(pipeline(NEVER).screen(spoilt, context()))
    assert (decision.ruling, decision.reason, decision.is_retryable) == (Ruling.FORBID, "never", False)
    assert decision.reply
    assert {one.reason for one in decision.verdicts if one.ruling is not Ruling.ALLOW} > {"never"}


def test_a_call_that_may_be_allowed_is_to_be_tried_again() -> None:
    """A rule that reads the call says nothing of one that cannot be read."""
    decision = decided(pipeline(NEVER).screen(malformed("move"), context()))
    assert (decision.reason, decision.is_retryable) == ("malformed", True)


def test_a_malformed_call_of_an_unreadable_name_is_a_write() -> None:
    """What cannot be told apart from a write is one, and free text in a name is not repeated."""
    proposed = malformed("Ada Lovelace, card 4111 1111 1111 1111")
    assert isinstance(proposed.call, MalformedToolCall)
    decision = decided(pipeline(POLICY).screen(proposed, context()))
    assert decision.is_write
    assert "4111" not in str(decision)


def test_halt_of_the_policy_and_of_the_operator_both_hold() -> None:
    """The strictest of two sources wins, for writes; reads go on under both."""
    for mode, halted in (("halt", False), ("enforce", True), ("halt", True)):
        deciding = pipeline(f"mode: {mode}\n{POLICY}")
        assert decided(deciding.screen(proposal("refund", REFUND), context(halted=halted))).reason == "halted"
        assert decided(deciding.screen(proposal("look"), context(halted=halted))).ruling is Ruling.ALLOW


def test_a_reply_without_a_value_falls_back_without_a_figure() -> None:
    """A template that reads what is not there gives way to the category's default text, and the refusal stands."""
    decision = decided(
        pipeline(POLICY).decide(
            proposal("echo", '{"order_id":"A1"}'), context(), facts(order__A1={"customer_id": "C-1"})
        )
    )
    assert (decision.ruling, decision.reason) == (Ruling.FORBID, "silent")
    assert decision.reply == DEFAULT_REPLIES[Category.POLICY]


def test_a_reply_is_english_where_there_is_english_else_the_first() -> None:
    """One language is chosen by one rule."""
    decision, _ = _run(pipeline(POLICY), proposal("refund", '{"order_id":"A1","amount":1000}'))
    assert decision.reply == "At most 900.00 USD."
    decision, _ = _run(pipeline(POLICY), proposal("refund", '{"order_id":"A1","amount":600}'))
    assert decision.reply == "Betrag 600.00 USD"


def test_an_escalation_has_a_summary_that_survives_a_bad_template() -> None:
    """Tool, reason and amount stand by themselves; the policy's lines are added, each on its own."""
    decision, _ = _run(pipeline(POLICY), proposal("refund", '{"order_id":"A1","amount":600}'))
    assert dict(decision.summary) == {
        "tool": "refund",
        "reason": "big",
        "amount": "600.00 USD",
        "root_cause": "900.00 USD paid",
        "never": "-300.00 USD",
    }
    incomplete = pipeline(POLICY).decide(
        proposal("refund", '{"order_id":"A1","amount":600}'), context(), facts(order__A1={"customer_id": "C-1"})
    )
    assert decided(incomplete).summary["root_cause"] == "not available"


def test_the_receipt_shows_what_the_rules_read_of_a_fact_and_nothing_else() -> None:
    """Fields that no rule of the tool reads are not in it, nor what the document holds besides."""
    document = ORDER | {"card": "4111111111111111"}
    decision = decided(pipeline(POLICY).decide(proposal("refund", REFUND), context(), facts(order__A1=document)))
    [read] = decision.facts
    assert (read.fact, read.key, dict(read.fields)) == ("order", "A1", {"paid": "900.00 USD"})
    assert read.as_of == context().now


def test_free_text_is_not_in_the_decision() -> None:
    """The note that the model wrote is stored by its length only, while the typed values stay (guarantee G13)."""
    arguments = '{"order_id":"A1","amount":20.50,"note":"Ada lives in Lovelace Lane"}'
    decision, _ = _run(pipeline(POLICY), proposal("refund", arguments))
    assert decision.ruling is Ruling.ALLOW
    assert isinstance(decision.arguments, dict)
    assert decision.arguments["note"] == {"redacted": "text", "length": 26}
    assert str(decision.arguments["amount"]) == "20.50"
    assert "Lovelace" not in str(decision)


ORDER_OF_RULES = [
    "{forbid: stop, when: args.n > 10}",
    "{forbid: never, when: args.n > 20}",
    "{escalate: big, when: args.n > 5}",
    "{clarify: ask, when: args.n == 3}",
    "{escalate: odd, unless: args.n != 7}",
    "{forbid: stop, when: args.missing > 1}",
]
RULES_HEAD = """\
reasons:
  stop: {category: policy}
  never: {category: permission}
  big: {category: escalated}
  odd: {category: escalated}
  ask: {category: validation}
tools:
  t:
    effect: write
    rules:
"""
STRICT = [Ruling.FORBID, Ruling.ESCALATE, Ruling.CLARIFY, Ruling.ALLOW]


def _of_rules(rules: list[str], n: int) -> Decision:
    text = RULES_HEAD + "".join(f"      - {rule}\n" for rule in rules) if rules else "tools: {t: {effect: write}}\n"
    return decided(pipeline(text).screen(proposal("t", f'{{"n":{n}}}'), context()))


@given(st.permutations(ORDER_OF_RULES), st.integers(0, 6), st.integers(0, 25))
def test_the_order_of_rules_changes_nothing(rules: list[str], count: int, n: int) -> None:
    """Neither the ruling nor the reason, whatever rules there are and in which order they stand (guarantee G6)."""
    kept = rules[:count]
    one, other = _of_rules(kept, n), _of_rules(sorted(kept), n)
    assert (one.ruling, one.reason, one.reply) == (other.ruling, other.reason, other.reply)
    assert len(one.verdicts) == len(other.verdicts) == 2 + len(kept)


@given(st.lists(st.sampled_from(ORDER_OF_RULES), max_size=4), st.sampled_from(ORDER_OF_RULES), st.integers(0, 25))
def test_one_more_rule_never_widens(rules: list[str], more: str, n: int) -> None:
    """Deny overrides: a rule more makes a decision as strict as before, or stricter (guarantee G6)."""
    assert STRICT.index(_of_rules([*rules, more], n).ruling) <= STRICT.index(_of_rules(rules, n).ruling)


@pytest.mark.parametrize(
    ("rule", "arguments", "ruling", "reason"),
    [
        ("{forbid: stop}", "{}", Ruling.FORBID, "stop"),
        ("{forbid: stop, when: args.n > 1}", '{"n":2}', Ruling.FORBID, "stop"),
        ("{forbid: stop, when: args.n > 1}", '{"n":1}', Ruling.ALLOW, ""),
        ("{forbid: stop, unless: args.n > 1}", '{"n":1}', Ruling.FORBID, "stop"),
        ("{forbid: stop, unless: args.n > 1}", '{"n":2}', Ruling.ALLOW, ""),
        ("{forbid: stop, when: args.n > 1, unless: args.n > 5}", '{"n":3}', Ruling.FORBID, "stop"),
        ("{forbid: stop, when: args.n > 1, unless: args.n > 5}", '{"n":6}', Ruling.ALLOW, ""),
        ("{forbid: stop, when: args.n > 1}", "{}", Ruling.ESCALATE, "facts_incomplete"),
        ("{forbid: stop, unless: args.n > 1}", "{}", Ruling.ESCALATE, "facts_incomplete"),
        ("{clarify: ask, when: args.n > 1}", '{"n":"2"}', Ruling.ESCALATE, "facts_incomplete"),
        ("{forbid: stop, when: args.n > 1}", '{"n":true}', Ruling.ESCALATE, "facts_incomplete"),
        ("{forbid: stop, when: args.n > 1}", '{"n":null}', Ruling.ESCALATE, "facts_incomplete"),
        ("{forbid: stop, when: args.n > 1, unless: args.m > 5}", '{"n":0}', Ruling.ESCALATE, "facts_incomplete"),
        ("{forbid: stop, when: args.n > 1, unless: args.m > 5}", '{"m":9}', Ruling.ESCALATE, "facts_incomplete"),
    ],
)
def test_when_and_unless_have_one_law(rule: str, arguments: str, ruling: Ruling, reason: str) -> None:
    """An error in either makes the rule fire as escalate/facts_incomplete, whatever the other says (DESIGN 7)."""
    decision = decided(pipeline(f"{RULES_HEAD}      - {rule}\n").screen(proposal("t", arguments), context()))
    assert (decision.ruling, decision.reason) == (ruling, reason)


def test_a_structured_result_has_the_fields_of_the_design() -> None:
    """DESIGN 5, in its order; the escalation only where there is one; nothing for an allowed call."""
    decision, _ = _run(pipeline(POLICY), proposal("refund", '{"order_id":"A1","amount":600}'))
    assert structured_result(decision, "rc_1", "esc_1") == {
        "isError": True,
        "errorCategory": "escalated",
        "isRetryable": False,
        "reason": "big",
        "message": "Betrag 600.00 USD",
        "next": "A person decides this call. Once it is approved, make the same call again, unchanged.",
        "receipt": "rc_1",
        "escalation": "esc_1",
    }
    missing, _ = _run(pipeline(POLICY), proposal("refund", '{"order_id":"A1"}'))
    result = structured_result(missing, "rc_2")
    assert (result["errorCategory"], result["isRetryable"], "escalation" in result) == ("validation", True, False)
    allowed, _ = _run(pipeline(POLICY), proposal("refund", REFUND))
    with pytest.raises(ValueError, match="an allowed call has no refusal"):
        structured_result(allowed, "rc_3")


def test_the_same_question_has_the_same_answer() -> None:
    """Nothing is kept between decisions that a later one could see."""
    deciding = pipeline(POLICY)
    first = [deciding.decide(proposal("refund", REFUND), context(), facts(order__A1=ORDER)) for _ in range(2)]
    deciding.decide(proposal("refund", '{"order_id":"A1","amount":1000}'), context(), facts(order__A1={}))
    first.append(deciding.decide(proposal("refund", REFUND), context(), facts(order__A1=ORDER)))
    assert first[0] == first[1] == first[2]


OUTSIDE = [RefusalCause.STORE_DOWN, RefusalCause.REPEATED, RefusalCause.RAISED, RefusalCause.HALTED]


@pytest.mark.parametrize("cause", OUTSIDE)
def test_what_lies_outside_a_call_is_answered_in_the_policys_words(cause: RefusalCause) -> None:
    """A reply that the policy gives to a reason of the system is used, also where the gate itself refuses."""
    text = f"reasons:\n  {answer(cause).reason}: {{reply: Not now.}}\n"
    deciding = pipeline(POLICY.replace("reasons:\n", text))
    assert deciding.refuse(proposal("refund", REFUND), cause).reply == "Not now."


def test_words_that_tell_the_time_need_to_know_it() -> None:
    """Where it is not known who asks and when, a reply with a time is not guessed."""
    deciding = pipeline(POLICY.replace("reasons:\n", "reasons:\n  repeated: {reply: 'Since {now()}.'}\n"))
    default = pipeline(POLICY).refuse(proposal("refund", REFUND), RefusalCause.REPEATED).reply
    assert deciding.refuse(proposal("refund", REFUND), RefusalCause.REPEATED).reply == default
    assert deciding.refuse(proposal("refund", REFUND), RefusalCause.REPEATED, context()).reply.startswith("Since ")
