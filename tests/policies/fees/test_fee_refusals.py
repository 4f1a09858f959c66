"""What is refused, and for what reason, with the place it stands at."""

from __future__ import annotations

from typing import Any

import pytest

from policies.fees import ProblemKind, Refused, Validated
from policies.fees.evidence import Contexts, defects, locate
from policies.fees.lexicon import Construct
from policies.fees.notices import rest
from policies.fees.validator import SOURCE_CODE_POINTS_MAX
from tests.policies.fees.construct_cases import CLAUSES
from tests.policies.fees.drafts import ADJOINING, PERIOD, day, draft, fixed, judge, kinds, percent, quote
from tests.policies.fees.refusals import ALL, EARLY, EARLY_RULE, LATE, LATE_RULE, TWO, Refusal

__all__ = ["Contexts", "defects", "locate", "rest"]

GERMAN = ("Bis 30 Tage vor Abreise: 20 % des Reisepreises", "weniger als 30 Tage vor Abreise: 50 % des Reisepreises")


def test_the_untampered_draft_is_valid() -> None:
    """What the table alters is sound before it is altered."""
    assert isinstance(judge(draft(TWO, EARLY_RULE, LATE_RULE), TWO), Validated)


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.id)
def test_refused_for_exactly_these_problems(case: Refusal) -> None:
    """Each tampering, contradiction, gap or cut is refused, and nothing else is held against the candidate."""
    validation = judge(case.value, case.text)

    assert kinds(validation) == case.kinds
    assert case.says in "\n".join(str(problem) for problem in validation.problems)


@pytest.mark.parametrize("inside", [True, False], ids=["quoted", "beside"])
@pytest.mark.parametrize(("language", "words", "construct"), CLAUSES)
def test_constructs_are_named(language: str, words: str, construct: Construct, inside: bool) -> None:
    """A vague or unsupported construct refuses, in the quotation and beside it in its clause, named with its place."""
    early, late = (EARLY, LATE) if language == "en" else GERMAN
    clause = f"{early}{words}" if words.startswith("*") else f"{early}, {words}"
    text = f"{clause}; {late}."
    rules = (
        (PERIOD, day(30), percent(20), clause if inside else early),
        (day(30, inclusive=False), PERIOD, percent(50), late),
    )

    validation = judge(draft(text, *rules, language=language), text)

    found = [problem for problem in validation.problems if problem.kind is ProblemKind.CONSTRUCT]
    assert any(problem.detail.startswith(construct.value) and " at terms.txt:1:" in problem.detail for problem in found)
    assert {problem.subject for problem in found} == {"interval 1"}


def test_every_construct_has_a_case() -> None:
    """No construct is left without a clause that shows it, in either language but for footnote marks."""
    shown = {name: {construct for language, _, construct in CLAUSES if language == name} for name in ("en", "de")}

    assert shown == {"en": set(Construct), "de": set(Construct) - {Construct.FOOTNOTE}}


def test_every_problem_has_a_case() -> None:
    """Each kind of problem is brought about by a row of the table, or by a test of its own below."""
    shown = {kind for case in ALL for kind in case.kinds}

    assert shown == {kind.name for kind in ProblemKind} - {"SOURCE_TOO_LARGE"}


def test_a_source_has_a_size() -> None:
    """A text above the limit is not read."""
    text = TWO.ljust(SOURCE_CODE_POINTS_MAX)

    assert kinds(judge(draft(TWO, EARLY_RULE, LATE_RULE), text)) == set()
    assert kinds(judge(draft(TWO, EARLY_RULE, LATE_RULE), text + " ")) == {"SOURCE_TOO_LARGE"}
    assert SOURCE_CODE_POINTS_MAX == 200_000


def test_a_message_names_rule_quotation_and_place() -> None:
    """One line says where, which interval, what and in which words."""
    text = f"Terms.\n\n{TWO}"
    value = draft(text, (PERIOD, day(30), percent(21), EARLY), LATE_RULE)

    (problem,) = judge(value, text).problems

    assert str(problem) == (
        "terms.txt:3:1 [8,59): interval 1: the rule's fee is not the one that its quotation states: "
        "21 percent, the quotation has 20 percent in '30 days or more before departure: 20 % of the price'"
    )


@pytest.mark.parametrize("beside", ["A fee may apply.", "Groups: business days.", "This is at our discretion."])
def test_constructs_in_other_clauses_are_told(beside: str) -> None:
    """A construct outside the clauses that rules rest on refuses nothing and is told."""
    text = f"{beside}\n\n{TWO} {beside}"
    value = draft(text, EARLY_RULE, LATE_RULE)

    validation = judge(value, text)

    assert isinstance(validation, Validated)
    assert len(validation.notices) == 2


def test_declared_normalisation_only() -> None:
    """Composed letters, white space, typographic quotes and dashes are one; case and everything else is not."""
    source = "Bis\u00a030 Tage\nvor Abreise \u2013 20\u2009% des  \u201eReisepreises\u201c fu\u0308r alle"
    same = 'Bis 30 Tage vor Abreise - 20 % des "Reisepreises" f\u00fcr alle'
    value = draft(source, (PERIOD, day(30), percent(20), source), language="de")

    for text, is_found in ((same, True), (same.replace("Bis", "bis"), False), (same.replace("-", ":"), False)):
        value["intervals"][0]["quotation"]["text"] = text
        assert ("NOT_IN_SOURCE" not in kinds(judge(value, source))) == is_found


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("From booking until 0 days before departure: 20 % of the price", (PERIOD, day(0), percent(20))),
        ("Up to the day of departure, 20 % of the price (EUR) is due", (PERIOD, day(0), percent(20))),
        ("Until departure: one hundred and fifty euros", (PERIOD, PERIOD, fixed(150))),
        ("Until departure: EUR 1,250.50", (PERIOD, PERIOD, fixed("1250.50"))),
        ("Until departure, no refund", (PERIOD, PERIOD, percent(100, "paid"))),
        ("Until departure, cancellation is free", (PERIOD, PERIOD, fixed(0))),
        ("Between 900 and 0 days before departure (both inclusive), 5 % of the price", (day(900), day(0), percent(5))),
    ],
)
def test_forms_that_are_read(words: str, rule: tuple[Any, Any, Any]) -> None:
    """One clause, one rule: forms of numbers, currencies, ends and fees that are accepted."""
    assert kinds(judge(draft(words, (*rule, words)), words)) <= {"GAP"}
    assert "GAP" not in kinds(judge(draft(words, (*rule, words)), words)) or rule[0] != PERIOD


@pytest.mark.parametrize(
    ("words", "rule"),
    [
        ("alpha 20 EUR, departure", (PERIOD, PERIOD, fixed(20))),
        ("alpha beta gamma delta epsilon 20 EUR departure", (PERIOD, PERIOD, fixed(20))),
        ("alpha beta gamma delta epsilon, zeta, eta, theta departure, free of charge", (PERIOD, PERIOD, fixed(0))),
        ("alpha beta gamma delta epsilon zeta eta is 20 EUR, departure", (PERIOD, PERIOD, fixed(20))),
        ("Up to departure: 100 % of the price", (PERIOD, PERIOD, percent(100))),
    ],
)
def test_unknown_words_are_no_hindrance(words: str, rule: tuple[Any, Any, Any]) -> None:
    """One known word carries four unknown ones, and one more; names and products are nowhere in a lexicon."""
    assert kinds(judge(draft(words, (*rule, words)), words)) == set()


def test_two_languages_in_one_paragraph() -> None:
    """Each quotation is read in its language, and cites its numbers for the reading of the other."""
    late = "weniger als 30 Tage vor Abreise: 50 % des Reisepreises"
    text = f"{EARLY}; {late}."
    value = draft(text, EARLY_RULE, (day(30, inclusive=False), PERIOD, percent(50), late), languages=["en", "de"])
    value["intervals"][1]["quotation"]["language"] = "de"

    assert kinds(judge(value, text)) == set()


def test_paragraph_numbers_that_state_nothing() -> None:
    """Numbers without a unit beside the quotations are no rules."""
    text = f"\u00a7 5, version 3.\n{TWO}"

    assert kinds(judge(draft(text, EARLY_RULE, LATE_RULE), text)) == set()


def test_a_misplaced_quotation_is_the_only_problem() -> None:
    """What it was to cite, in its own paragraph and in others, is not told a second time as uncited."""
    text = f"{EARLY}.\n\n{LATE}."
    value = draft(text, EARLY_RULE, LATE_RULE)
    assert kinds(judge(value, text)) == set()

    value["intervals"][1]["quotation"]["text"] = "something else"

    assert kinds(judge(value, text)) == {"NOT_IN_SOURCE"}


def test_a_reference_may_be_named_elsewhere() -> None:
    """The date that days are counted from may stand in a statement of its own."""
    text = "Cancellation before departure.\n\nThe fee is 20 EUR."
    reference = {"kind": "departure", "quotation": quote(text, "before departure")}
    rule = (PERIOD, PERIOD, fixed(20), "The fee is 20 EUR")

    assert kinds(judge(draft(text, rule), text)) == {"REFERENCE_NOT_STATED"}
    assert kinds(judge(draft(text, rule, reference=reference), text)) == set()


def test_common_words_are_told_beside_the_rules_only() -> None:
    """A negation in the paragraph of any rule is told; far from all rules it would be noise."""
    text = f"{EARLY}. It is not due twice.\n\n{LATE}.\n\nDogs are not allowed."

    validation = judge(draft(text, EARLY_RULE, LATE_RULE), text)

    assert isinstance(validation, Validated)
    assert [notice.detail for notice in validation.notices] == [
        "a negation, 'not'",
        "a form of number that is not read, 'twice'",
    ]


def test_what_is_told_and_what_is_not() -> None:
    """Notices are of the declared languages, of other clauses, and never of what a quotation or a problem holds."""
    text = (
        f"After the holiday, 40 EUR for a suitcase.\n\n{TWO.replace('; ', ', plus taxes; ')} It is not refunded."
        "\n\nNach Ermessen, as a voucher."
    )
    value = draft(text, EARLY_RULE, LATE_RULE)

    validation = judge(value, text)

    assert kinds(validation) == {"CONSTRUCT"}
    assert [(notice.kind.name, notice.detail) for notice in validation.notices] == [
        ("UNCITED", "'40 EUR'"),
        ("CONSTRUCT", "a negation, 'not'"),
        ("CONSTRUCT", "an amount given back instead of a fee, 'refunded'"),
        ("CONSTRUCT", "a coupon, voucher or credit, 'voucher'"),
    ]


def test_the_remainder_follows_its_neighbour() -> None:
    """ "Later" starts where the neighbour's stated end is, on the day after it."""
    text = "Up to 7 days before departure: 20 % of the price; later: 50 % of the price."
    early, late = "Up to 7 days before departure: 20 % of the price", "later: 50 % of the price"
    value = draft(text, (PERIOD, day(7), percent(20), early), (ADJOINING, PERIOD, percent(50), late))

    validation = judge(value, text)

    assert isinstance(validation, Validated)
    assert [(one.days.first, one.days.last) for one in validation.schedule.intervals] == [(None, 7), (6, 0)]


def test_a_period_may_end_where_the_source_says() -> None:
    """A period's own end is quoted too, and its quotation may hold no fee."""
    text = "Up to 2 days before departure: 20 % of the price."
    rule = (PERIOD, day(2), percent(20), text[:-1])
    limit = {"bound": day(2), "quotation": quote(text, "Up to 2 days before departure")}
    whole = {"bound": day(2), "quotation": quote(text, text[:-1])}
    other = {"bound": day(2, inclusive=False), "quotation": limit["quotation"]}
    start = {"bound": day(2), "quotation": limit["quotation"]}

    assert kinds(judge(draft(text, rule), text)) == {"GAP"}
    assert kinds(judge(draft(text, rule, period={"start": "booking", "end": limit}), text)) == set()
    assert kinds(judge(draft(text, rule, period={"start": "booking", "end": whole}), text)) == {"STATEMENT_WITH_RULE"}
    differs = {"BOUND_NOT_QUOTED", "BOUND_NOT_IN_RULE"}
    assert kinds(judge(draft(text, rule, period={"start": "booking", "end": other}), text)) == differs | {"OVERLAP"}
    assert kinds(judge(draft(text, rule, period={"start": start, "end": limit}), text)) == differs


def test_refusing_is_deterministic() -> None:
    """The same candidate and source give the same problems in the same order."""
    for case in ALL:
        first, second = judge(case.value, case.text), judge(case.value, case.text)
        assert isinstance(first, Refused)
        assert first == second
