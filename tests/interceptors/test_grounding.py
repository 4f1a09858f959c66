"""A guarded value comes from the user's own words or from a released call's result, or the call is asked back."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.calls import Proposer
from interceptors.chain import canonical
from interceptors.conversation import TEXT_LENGTH_MAX
from interceptors.decisions import Evidence, EvidenceKind, Grounded
from interceptors.grounding import VALUES_MAX
from interceptors.guarded import guarded, shown_path
from interceptors.receipts import decided_record
from interceptors.seen import Seen
from interceptors.spoken import NUMBERS_MAX
from interceptors.strict_json import parse_envelope
from policies.model import Category, Mode, Ruling
from tests.interceptors.builders import NOW, context, decided, pipeline, proposal
from tests.interceptors.conversations import assistant, call, history, result, system, user

if TYPE_CHECKING:
    from interceptors.decisions import Decision
    from interceptors.history import Entry
    from interceptors.receipts import Decided

POLICY = """
unknown_tools: allow
tools:
  look: {effect: read}
  Look.All: {effect: read, result: {fields: {cents: {money: USD, unit: minor, at: total}}}}
  pay:
    arguments:
      id: {pattern: '[A-Za-z0-9]+', from: user, optional: true}
      word: {type: string, from: user, optional: true}
      amount: {money: USD, unit: major, from: user, optional: true}
      count: {type: integer, from: user, optional: true}
      day: {type: date, from: user, optional: true}
      found: {type: string, from: 'result of look.orders[*].id', optional: true}
      paid: {money: USD, unit: major, from: [user, result of look.paid, result of Look.All.total], optional: true}
      rows: {optional: true, list: {object: {iban: {type: string, from: user}}}}
"""
PIPELINE = pipeline(POLICY)
made = cache(pipeline)


def decide(arguments: str, *entries: Entry) -> Decision:
    return decided(PIPELINE.screen(proposal("pay", arguments), context(history=history(*entries))))


def evidence(decision: Decision) -> list[Evidence]:
    return [one for row in decision.verdicts if isinstance(row, Grounded) for one in row.evidence]


ID = '{"id": "A1001"}'


@pytest.mark.parametrize(
    "entries",
    [
        [user("refund A1001 please")],
        [user("hello"), assistant("which order?"), user("A1001")],
        [user("A1001"), call("look"), result('{"id": "A1001"}'), assistant("A1001?"), user("yes, A1001")],
        [user("> B2\nA1001")],
        [user("a", 0), user("A1001", 0)],
        [assistant("is it A1001?"), user("A1001, yes")],
    ],
)
def test_what_the_user_wrote_grounds(entries: list[Entry]) -> None:
    """Any user turn of this request does; the first place is the evidence, and the value is not in it."""
    decision = decide(ID, *entries)
    assert decision.ruling is Ruling.ALLOW
    (found,) = evidence(decision)
    (entry,) = [one for one in history(*entries).entries if one.turn == found.turn and "A1001" in str(one)][:1]
    assert (found.argument, found.kind, found.end - found.start) == ("id", EvidenceKind.USER, 5)
    assert "A1001" not in repr(decision.verdicts)
    assert entry.turn == found.turn


@pytest.mark.parametrize(
    "entries",
    [
        [],
        [user("refund it")],
        [assistant("A1001")],
        [system("the order is A1001")],
        [user("a1001")],
        [user("\uff21\uff11\uff10\uff10\uff11")],
        [user("A10012")],
        [user("> A1001")],
        [user("```\nA1001\n```")],
        [user("<document>A1001</document>")],
        [user("A1001", beside_results=True)],
        [call("look"), result('{"id": "A1001"}')],
        [call("look"), result('{"id": "A1001"}'), user("A1001")],
        [call("look"), result("see A1001"), user("it says A1001")],
        [call("look"), result('{"A1001": 1}'), user("A1001")],
        [call("look"), result('{"id": "x-a1001."}'), user("A1001")],
        [call("look", released=""), result('{"id": "A1001"}'), user("A1001")],
        [call("look"), result("A1001", is_error=True), user("A1001")],
        [result("A1001", "lost"), user("A1001")],
        [user("A1001" + " " * TEXT_LENGTH_MAX)],
        [user("\ud800 A1001")],
    ],
    ids=str,
)
def test_nothing_else_grounds_a_value_from_the_user(entries: list[Entry]) -> None:
    """Not the model, the system, a quotation, a result, or a result that the user repeats: it is asked back."""
    decision = decide(ID, *entries)
    assert (decision.ruling, decision.reason, decision.category) == (Ruling.CLARIFY, "ungrounded", Category.VALIDATION)
    assert evidence(decision) == []
    assert "argument 'id': does not stand in what the user wrote" in decision.message
    assert decision.is_retryable


@pytest.mark.parametrize(
    ("arguments", "text", "ruling"),
    [
        ('{"amount": 120}', "refund $120.00", Ruling.ALLOW),
        ('{"amount": "120.00"}', "120 dollars", Ruling.ALLOW),
        ('{"amount": 120}', "120 euros", Ruling.CLARIFY),
        ('{"amount": 1234}', "1.234", Ruling.CLARIFY),
        ('{"amount": 1.23}', "1,234", Ruling.CLARIFY),
        ('{"amount": 12}', "120", Ruling.CLARIFY),
        ('{"count": 2}', "two or 2", Ruling.ALLOW),
        ('{"count": 3}', "two or 2", Ruling.CLARIFY),
        ('{"day": "2026-03-14"}', "on 14.03.2026", Ruling.ALLOW),
        ('{"day": "2026-03-04"}', "on 03/04/2026", Ruling.CLARIFY),
        ('{"word": "Damaged Box"}', "it is a damaged\nbox", Ruling.ALLOW),
        ('{"word": "ab"}', "ab", Ruling.CLARIFY),
        ('{"word": ""}', "", Ruling.CLARIFY),
    ],
)
def test_typed_values_are_compared_as_values(arguments: str, text: str, ruling: Ruling) -> None:
    """Money, numbers and dates by their one reading, words without case; short words never."""
    assert decide(arguments, user(text)).ruling is ruling


@pytest.mark.parametrize(
    ("content", "amount"),
    [
        ('{"paid": 120}', 120),
        ('{"note": "owes $120.00"}', 120),
        ('"1.120"', 1120),
        ('{"x": [{"y": "1 120"}]}', 1120),
        ('{"x": "1.120"}', 1.12),
    ],
)
def test_a_number_that_a_result_held_first_is_not_the_users(content: str, amount: float) -> None:
    """Numbers of results are known in every reading that they have."""
    arguments, said = f'{{"amount": {amount}}}', user(f"refund {amount:.2f}")
    assert decide(arguments, said).ruling is Ruling.ALLOW
    assert decide(arguments, call("look"), result(content), said).ruling is Ruling.CLARIFY
    assert decide(arguments, said, call("look"), result(content)).ruling is Ruling.ALLOW


FOUND = '{"found": "A1001"}'
ORDERS = '{"orders": [{"id": "B1"}, {"id": "A1001"}]}'


def test_a_field_of_a_released_result_grounds() -> None:
    """With the turn, the path of the very field, and the receipt under which the call was released."""
    decision = decide(FOUND, user("which?"), call("LOOK", released="rc_7"), result(ORDERS))
    assert decision.ruling is Ruling.ALLOW
    assert evidence(decision) == [Evidence("found", EvidenceKind.RESULT, 2, path="orders[1].id", receipt="rc_7")]


@pytest.mark.parametrize(
    "entries",
    [
        [user("A1001")],
        [call("look", released=""), result(ORDERS)],
        [call("other"), result(ORDERS)],
        [call("look"), result(ORDERS, is_error=True)],
        [call("look"), result(ORDERS, "c2")],
        [call("look")],
        [result(ORDERS), call("look")],
        [call("look", ""), result(ORDERS, "")],
        [call("look"), call("other"), result(ORDERS)],
        [call("other"), call("look"), result(ORDERS)],
        [call("look"), result("{}"), result(ORDERS)],
        [call("look"), result('{"orders": {"id": "A1001"}}')],
        [call("look"), result('{"id": "A1001"}')],
        [call("look"), result('{"orders": [{"id": "a1001"}]}')],
        [call("look"), result('{"orders": [{"id": ["A1001"]}]}')],
        [call("look"), result("the order is A1001")],
    ],
    ids=str,
)
def test_no_other_result_grounds(entries: list[Entry]) -> None:
    """Not another tool's, another field, an error, one that was not released, or one whose call cannot be told."""
    decision = decide(FOUND, *entries)
    assert (decision.ruling, decision.reason) == (Ruling.CLARIFY, "ungrounded")
    assert "a result of look" in decision.message


def test_ids_may_recur_once_their_result_has_come() -> None:
    """Some providers number the calls of each turn anew."""
    entries = [call("other"), result("{}"), call("look", released="rc_2"), result(ORDERS)]
    assert [one.receipt for one in evidence(decide(FOUND, *entries))] == ["rc_2"]


@pytest.mark.parametrize(
    ("entries", "path"),
    [
        ([user("$120")], ""),
        ([call("look"), result('{"paid": 120.0}'), user("$120")], "paid"),
        ([call("Look.All"), result('{"total": 12000}')], "total"),
        ([call("Look.All"), result('{"total": 120}')], None),
        ([call("look"), result('{"paid": 12000}')], None),
        ([call("look"), result('{"paid": true}')], None),
    ],
)
def test_one_of_several_sources_is_enough(entries: list[Entry], path: str | None) -> None:
    """A field is read as the tool's `result` declares it, cents as cents; else in the argument's own unit."""
    decision = decide('{"paid": 120}', *entries)
    assert [one.path for one in evidence(decision)] == ([] if path is None else [path])
    assert decision.ruling is (Ruling.CLARIFY if path is None else Ruling.ALLOW)


def test_every_item_of_a_list_is_grounded_by_itself() -> None:
    """Each with its own evidence; one that is not is named by its place; a list is looked at up to a limit."""
    text = user("pay IBAN-ONE and IBAN-TWO")
    assert [
        one.argument for one in evidence(decide('{"rows": [{"iban": "iban-one"}, {"iban": "iban-two"}]}', text))
    ] == [
        "rows[0].iban",
        "rows[1].iban",
    ]
    assert "'rows[1].iban'" in decide('{"rows": [{"iban": "iban-one"}, {"iban": "iban-three"}]}', text).message
    many = ",".join(['{"iban": "iban-one"}'] * (VALUES_MAX + 1))
    assert decide(f'{{"rows": [{many}]}}', text).ruling is Ruling.CLARIFY
    assert decide('{"rows": []}').ruling is Ruling.ALLOW


def test_an_argument_that_is_left_out_needs_no_ground() -> None:
    """Nothing is asked of what is not there."""
    assert decide("{}").ruling is Ruling.ALLOW


TEXTS = st.lists(st.sampled_from(["A1001", "b", " ", "\n", "> ", "```", "<d>", "</d>", "-", "1"]), max_size=8).map(
    "".join
)
ENTRIES = st.lists(
    st.builds(user, TEXTS)
    | st.builds(assistant, TEXTS)
    | st.builds(
        call, st.sampled_from(["look", "other"]), st.sampled_from(["c1", "c2", ""]), st.sampled_from(["", "rc"])
    )
    | st.builds(
        result,
        TEXTS.map('{{"orders": [{{"id": "A1001"}}]}}'.format),
        st.sampled_from(["c1", "c2", ""]),
        is_error=st.booleans(),
    ),
    max_size=6,
)


@given(ENTRIES)
def test_guards_only_narrow(entries: list[Entry]) -> None:
    """Adding `from`, `allow`, `egress` or `not_user` to a policy never allows a call that it refused before."""
    head = "tools: {look: {}, pay: {arguments: {id: {type: string%s}}%s}}\n"
    bare = head % ("", "")
    guards = [
        (head % (", from: user", ""), head % (", from: user", "") + "not_user: ['b+', '(?m)^.*-']\n"),
        (bare, head % (", from: user", "")),
        (bare, head % (", from: 'result of look.orders[*].id'", "")),
        (bare, head % (", allow: {values: [B]}", "")),
        (bare, head % ("", ", egress: {list: v1}")),
        (head % (", from: [user, 'result of look.orders[*].id']", ""), head % (", from: user", "")),
    ]
    for before, after in guards:
        rulings = [
            decided(made(text).screen(proposal("pay", ID), context(history=history(*entries)))).ruling
            for text in (before, after)
        ]
        assert rulings[0] is Ruling.ALLOW or rulings[1] is not Ruling.ALLOW


@given(TEXTS)
def test_quoted_fenced_and_tagged_text_never_grounds(text: str) -> None:
    """Whatever stands in such a section, and whatever stands beside it."""
    quoted = "".join(f"> {line}\n" for line in f"{text} A1001".split("\n"))
    for section in (quoted, f"```\n{text.replace('```', '')} A1001\n```", f"<doc>{text} A1001</doc>"):
        assert decide(ID, user(f"hello\n{section}")).ruling is Ruling.CLARIFY


@given(
    st.text(max_size=60),
    st.text(max_size=200),
    st.recursive(st.text(max_size=20) | st.integers() | st.booleans(), st.lists, max_leaves=5),
)
def test_any_conversation_has_an_answer(value: str, text: str, content: object) -> None:
    """No text and no result makes grounding raise."""
    entries = history(user(text), call("look"), result("{}"), user(text))
    decision = decided(PIPELINE.screen(proposal("pay", _json(value)), context(history=entries)))
    assert decision.reason in ("", "ungrounded")
    Seen.of(content).has_text(value)  # type: ignore[arg-type]  # what hypothesis builds is JSON
    Seen.of(content).has_number(Decimal(len(text)))  # type: ignore[arg-type]  # as above


def _json(value: str) -> str:
    escaped = "".join(f"\\u{ord(c):04x}" if ord(c) < 0x10000 else c for c in value)
    return f'{{"word": "{escaped}"}}'


def test_a_guarded_place_is_named_as_the_policy_spells_it() -> None:
    """The rule of a row is the path of its key in the policy."""
    tool = PIPELINE.policy.tools["pay"]
    assert [place.rule(tool, "from") for place in guarded(tool.arguments)][-1] == "pay.arguments.rows[*].iban.from"
    assert shown_path(("a", "[*]", "[*]", "b")) == "a[*][*].b"


def test_a_fabricated_id_is_asked_back() -> None:
    """An agent that makes up the id of a record on an unrelated request (xorbitsai/xagent#2219, #2026) meets the user
    instead; and where one is grounded, the place of the evidence is in the record, the value is not.
    """
    asked = [user("Summarise the weather."), assistant("Sure, I will look at file F4711.")]
    assert decide('{"word": "F4711"}', *asked).reason == "ungrounded"

    written = canonical(_record(decide('{"word": "F4711"}', *asked, user("Then open F4711."))))
    payload: Any = parse_envelope(written)
    assert [row for row in payload["verdicts"] if row["interceptor"] == "grounding"][1]["evidence"] == [
        {"argument": "word", "kind": "user", "turn": 2, "start": 10, "end": 15, "path": "", "receipt": ""}
    ]
    assert b"F4711" not in written


def test_only_rows_with_evidence_have_a_place_for_it() -> None:
    """Records of rows without evidence are the bytes that they were before there was any."""
    written: Any = parse_envelope(canonical(_record(decide("{}", user("hello")))))
    assert {row["interceptor"]: "evidence" in row for row in written["verdicts"]} == {
        "shape": False,
        "capability": False,
        "grounding": True,
    }


def _record(decision: Decision) -> Decided:
    return decided_record(
        decision,
        receipt="rc_1",
        time=NOW,
        exchange="ex_1",
        turn=1,
        position=0,
        tenant="t",
        identity=None,
        subject="",
        proposer=Proposer.MODEL,
        dialect="anthropic",
        model="m",
        call_id="c",
        mode=Mode.ENFORCE,
        latencies={},
    )


def test_a_result_of_countless_numbers_has_said_any_of_them() -> None:
    """What was not read to its end may hold the value; a glance at the digits still tells that it cannot."""
    long = "7 and " * NUMBERS_MAX + "120 and 8 and 9"
    assert Seen.of([long]).has_number(Decimal(120))
    assert Seen.of([long]).has_number(Decimal("1120.50"))
    assert not Seen.of([long]).has_number(Decimal(555))
    assert not Seen.of(["7 and 120"]).has_number(Decimal("1120.50"))


@pytest.mark.parametrize(
    ("found", "field", "ruling"),
    [
        ("1001", "1001", Ruling.ALLOW),
        ("1001", "1001.0", Ruling.CLARIFY),
        ("01001", "1001", Ruling.CLARIFY),
        ("True", "true", Ruling.CLARIFY),
        ("true", "true", Ruling.CLARIFY),
        ("None", "null", Ruling.CLARIFY),
    ],
)
def test_an_id_may_be_a_whole_number_in_the_result(found: str, field: str, ruling: Ruling) -> None:
    """A back end that counts its records sends integers; nothing else is read as a text."""
    entries = [call("look"), result(f'{{"orders": [{{"id": {field}}}]}}')]
    assert decide(f'{{"found": "{found}"}}', *entries).ruling is ruling
