"""`fee_schedule` in YAML: each key has an effect, its files are part of the policy, and what is wrong says why."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from interceptors.decisions import Decision
from interceptors.pipeline import Pipeline
from policies import PolicyError, load_policy, load_policy_text
from policies.difference import difference
from policies.documents import keys
from policies.explain import explain
from policies.fee_schedules import root_type
from policies.lint import FindingCode, lint
from tests.interceptors.builders import HEAD, context, facts, proposal
from tests.interceptors.test_fee_schedule import BOOKING, FEES, ON_TIME, POLICY, WALKS

if TYPE_CHECKING:
    from pathlib import Path

GOLDEN = WALKS.parent


def text(more: str = "", money: str = "{money: EUR, unit: major}", **changed: str | None) -> str:
    fees = {key: value for key, value in (FEES | changed).items() if value is not None}
    return HEAD + POLICY.format(
        fees=", ".join(f"{key}: {value}" for key, value in fees.items()), more=more, amount=money
    )


def refused(policy: str, folder: Path = WALKS) -> str:
    with pytest.raises(PolicyError) as caught:
        load_policy_text(policy, folder=folder)
    return str(caught.value)


TWO = "{money: EUR, unit: major}\n      other: {money: EUR, unit: major}"
INN: dict[str, str | None] = {
    "source": "gasthof-lindenau.txt",
    "candidate": "gasthof-lindenau.json",
    "departure": None,
    "price": None,
}
KILN: dict[str, str | None] = {
    "source": "kiln-workshop.txt",
    "candidate": "kiln-workshop.json",
    "departure": None,
    "price": None,
}
EFFECTS: dict[str, tuple[dict[str, str | None], dict[str, str | None]]] = {
    "source": ({}, {"source": "copy.txt", "candidate": "copy.json"}),
    "candidate": ({}, {"candidate": "renamed.json"}),
    "amount": ({}, {"amount": "args.other"}),
    "paid": ({}, {"paid": "booking.price"}),
    "price": ({}, {"price": "booking.paid"}),
    "departure": ({}, {"departure": "booking.moved_to"}),
    "arrival": (INN | {"arrival": "booking.departs_on"}, INN | {"arrival": "booking.moved_to"}),
    "event": (KILN | {"event": "booking.departs_on"}, KILN | {"event": "booking.moved_to"}),
    "cancelled_at": ({}, {"cancelled_at": "booking.asked_at"}),
    "zone": ({}, {"zone": "Pacific/Kiritimati"}),
    "forbid": ({"forbid": None, "escalate": "wrong_amount"}, {}),
    "escalate": ({}, {"forbid": None, "escalate": "wrong_amount"}),
    "inject": ({}, {"inject": "true"}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The files of several schedules, each under its own name."""
    for name in ("source.txt", "candidate.json"):
        shutil.copy(WALKS / name, tmp_path / name)
    candidate = (WALKS / "candidate.json").read_text(encoding="utf-8")
    (tmp_path / "copy.txt").write_bytes((WALKS / "source.txt").read_bytes())
    (tmp_path / "copy.json").write_text(candidate.replace('"source.txt"', '"copy.txt"'), encoding="utf-8")
    (tmp_path / "renamed.json").write_text(candidate.replace('"harbour-walks"', '"walks"'), encoding="utf-8")
    for name in ("gasthof-lindenau", "kiln-workshop"):
        (tmp_path / f"{name}.txt").write_bytes((GOLDEN / name / "source.txt").read_bytes())
        candidate = (GOLDEN / name / "candidate.json").read_text(encoding="utf-8")
        (tmp_path / f"{name}.json").write_text(candidate.replace('"source.txt"', f'"{name}.txt"'), encoding="utf-8")
    return tmp_path


def outcome(policy: str, folder: Path) -> Any:
    """What is answered to a refund of 60 and of 39, the right one, with what it rests on."""
    booking = BOOKING | {"price": 45000, "asked_at": "2026-06-02T00:00:00Z"}
    decided = Pipeline(load_policy_text(policy, folder=folder)).decide(
        proposal("refund", '{"booking_id":"B1","amount":60,"other":39}'),
        context(now=ON_TIME, subject={"sub": "c1"}),
        facts(booking__B1=booking),
    )
    assert isinstance(decided, Decision)
    return decided.ruling, decided.verdicts, decided.obligations


@pytest.mark.parametrize("key", EFFECTS)
def test_each_key_alone_changes_what_is_done(key: str, folder: Path) -> None:
    """The outcome, the amount, or what it rests on."""
    before, after = EFFECTS[key]
    assert key in {**FEES, **after}
    assert outcome(text(money=TWO, **before), folder) != outcome(text(money=TWO, **after), folder)


def test_the_table_is_complete() -> None:
    """Every key of a fee schedule has its row."""
    assert EFFECTS.keys() == set(keys.FEE_SCHEDULE)


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"source": None}, "'source' is required"),
        ({"candidate": None}, "'candidate' is required"),
        ({"source": "none.txt"}, "'none.txt' cannot be read"),
        ({"source": "../harbour-walks/source.txt"}, "is no name of a text: a file next to the policy"),
        ({"candidate": "source.txt"}, "not strict JSON"),
        ({"candidate": "expected.json"}, "schedule: field required"),
        ({"amount": "args.refund"}, "must be an argument of money that the tool declares"),
        ({"amount": "booking.paid"}, "must be an argument of money that the tool declares"),
        ({"amount": "args.booking_id"}, "must be an argument of money that the tool declares"),
        ({"paid": None}, "'paid' is required"),
        ({"paid": "args.amount"}, "this must not read args"),
        ({"paid": "booking.departs_on"}, "must be a money, this is a date"),
        ({"price": None}, "'price' is required: the schedule takes percentages of it"),
        ({"departure": None}, "'departure' is required"),
        ({"departure": "booking.asked_at"}, "must be a date, this is a timestamp"),
        ({"arrival": "booking.departs_on"}, "the schedule counts back from the departure date, not from this"),
        ({"cancelled_at": None}, "'cancelled_at' is required"),
        ({"cancelled_at": "today()"}, "must be a timestamp, this is a date"),
        ({"zone": "Berlin"}, "is no time zone of the IANA database"),
        ({"forbid": None}, "a fee schedule has one of forbid, escalate"),
        ({"escalate": "wrong_amount"}, "a fee schedule has one of forbid, escalate"),
        ({"forbid": "wrong_mount"}, "the reason 'wrong_mount' is not declared, did you mean 'wrong_amount'?"),
        ({"inject": "perhaps"}, "true or false"),
        ({"rounding": "half_up"}, "unknown key 'rounding'"),
        ({"money": "{money: USD, unit: major}"}, "the argument is in USD and the schedule in EUR"),
        ({"money": "{money: EUR, unit: major, optional: true}"}, "so `inject: true` is needed"),
    ],
)
def test_what_makes_no_sense_says_why(changed: dict[str, Any], why: str) -> None:
    """One line with the place in the policy."""
    policy = text(**changed)
    message = refused(policy)
    assert why in message
    assert message.startswith("policy.yaml:")


def test_a_schedule_that_its_text_does_not_bear_out_is_no_policy(folder: Path) -> None:
    """Each problem of the candidate is one of the policy, with the place in the text; so is a text that was changed."""
    candidate = (folder / "candidate.json").read_text(encoding="utf-8")
    (folder / "candidate.json").write_text(candidate.replace('"percent": 50', '"percent": 40'), encoding="utf-8")
    message = refused(text(), folder)
    assert "tools.refund.fee_schedule.candidate: source.txt:7:1 [175,229): interval 2: the rule's fee is not" in message
    (folder / "candidate.json").write_text(candidate, encoding="utf-8")
    source = (folder / "source.txt").read_text(encoding="utf-8")
    (folder / "source.txt").write_text(source.replace("50 %", "60 %"), encoding="utf-8")
    assert "the quotation does not stand" in refused(text(), folder)


def test_a_schedule_of_fixed_fees_has_no_price(folder: Path) -> None:
    """What nothing reads is no key of the policy."""
    names = [name.name for name in GOLDEN.iterdir() if '"percentage"' not in (name / "candidate.json").read_text()]
    for name in names:
        shutil.copy(GOLDEN / name / "source.txt", folder / "source.txt")
        shutil.copy(GOLDEN / name / "candidate.json", folder / "candidate.json")
        value = json.loads((folder / "candidate.json").read_text(encoding="utf-8"))
        reference = {value["reference"]["kind"]: "booking.departs_on"}
        policy = text(**{"departure": None, **reference}).replace("EUR", value["currency"])
        assert "the schedule takes no percentage of a price" in refused(policy, folder)
    assert names


def test_the_files_are_part_of_the_revision(folder: Path) -> None:
    """Of the digest and of the files that are looked at before each decision."""
    (folder / "policy.yaml").write_text(text(), encoding="utf-8")
    first = load_policy(folder / "policy.yaml")
    assert {path.name for path in first.files} == {"policy.yaml", "source.txt", "candidate.json"}
    with (folder / "source.txt").open("a", encoding="utf-8") as file:
        file.write("\nThank you.\n")
    assert load_policy(folder / "policy.yaml").revision != first.revision


def test_the_inputs_of_a_schedule_are_known(folder: Path) -> None:
    """The facts that it reads, and every expression: what lint, receipts and a fact that fails go by."""
    declared = load_policy_text(text(price="constants.deposit", more="constants: {deposit: 1.00 EUR}\n"), folder=folder)
    tool = declared.tools["refund"]
    assert tool.fee_schedule is not None
    assert tool.fee_schedule.facts == {"booking"}
    sources = {one.source for one in tool.fee_schedule.expressions}
    assert sources == {"booking.paid", "constants.deposit", "booking.departs_on", "now()"}
    assert root_type("EUR").fields["refund"].currency == "EUR"
    assert root_type(None).fields.keys() == root_type("EUR").fields.keys()


def test_a_fact_cannot_take_the_name_of_what_is_computed() -> None:
    """`fee_schedule` is a root of expressions."""
    assert "a fact cannot be named 'fee_schedule'" in refused(text().replace("  booking:\n", "  fee_schedule:\n"))


def test_a_tool_without_a_schedule_computes_nothing() -> None:
    """Its expressions cannot read what is not there, and nor can a reply that it may give."""
    without = "\n".join(line for line in text().split("\n") if "fee_schedule: {" not in line)
    rule = without + "    rules: [{forbid: full, when: fee_schedule.refund > 1.00 EUR}]\n"
    assert "'fee_schedule' is not declared" in refused(rule)
    reply = without + "    rules: [{forbid: wrong_amount}]\n"
    assert "'fee_schedule' is not declared" in refused(reply)


def test_lint_knows_what_a_schedule_uses() -> None:
    """Its reason and the constants it reads are used; a reason that does not fit its outcome is told."""
    more = "constants: {deposit: 399.00 EUR}\n"
    found = lint(load_policy_text(text(more, paid="constants.deposit"), folder=WALKS))
    unused = {one.message for one in found if one.code in (FindingCode.UNUSED_REASON, FindingCode.UNUSED_CONSTANT)}
    assert not any("wrong_amount" in message or "deposit" in message for message in unused)
    misfit = lint(load_policy_text(text(forbid=None, escalate="wrong_amount"), folder=WALKS))
    assert any(
        one.code is FindingCode.MISFIT_CATEGORY and one.message.startswith("refund.fee_schedule answers escalate")
        for one in misfit
    )


@pytest.mark.parametrize(
    ("inject", "says"),
    [(None, "Refused (wrong_amount) where args.amount is not"), ("true", "Whatever the model writes, args.amount is")],
)
def test_explain_tells_the_schedule_in_sentences(inject: str | None, says: str) -> None:
    """The inputs, the outcome, each interval with its words, and what is not supported."""
    policy = load_policy_text(text(inject=inject), folder=WALKS)
    told = explain(policy, "refund")
    assert says in told
    assert "booking.departs_on" in told
    assert "Europe/Berlin" in told
    assert "cancelled 30 days or more before the departure date: a fee of 20 % of the price" in told
    assert "not supported: business days" in told


SAID = {
    "source": ("source.txt", "copy.txt"),
    "candidate": ("instead of harbour-walks", "is called walks"),
    "amount": ("args.amount", "args.other"),
    "paid": ("what was paid is booking.paid", "what was paid is booking.price"),
    "price": ("the price is booking.price", "the price is booking.paid"),
    "departure": ("the departure date is booking.departs_on", "the departure date is booking.moved_to"),
    "arrival": ("the arrival date is booking.departs_on", "the arrival date is booking.moved_to"),
    "event": ("the event date is booking.departs_on", "the event date is booking.moved_to"),
    "cancelled_at": ("the time of the cancellation is now", "the time of the cancellation is booking.asked_at"),
    "zone": ("days are counted in Europe/Berlin", "days are counted in Pacific/Kiritimati"),
    "forbid": ("escalate (wrong_amount)", "forbid (wrong_amount)"),
    "escalate": ("forbid (wrong_amount)", "escalate (wrong_amount)"),
    "inject": ("is not the refund that its fee schedule gives", "Whatever the model writes, args.amount is the refund"),
}


@pytest.mark.parametrize("key", EFFECTS)
def test_each_key_that_changes_is_told_with_both_values(key: str, folder: Path) -> None:
    """What finance reads in `callgate check --diff` has the old and the new words."""
    before, after = (load_policy_text(text(money=TWO, **fees), folder=folder) for fees in EFFECTS[key])
    then, now = SAID[key]
    found = difference(before, after)

    assert any(
        then in line for line in found if line.startswith(("No more for refund: ", "The fee schedule of refund"))
    )
    assert any(now in line for line in found if line.startswith(("More for refund: ", "The fee schedule of refund")))
