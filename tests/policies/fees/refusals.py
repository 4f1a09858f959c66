"""Texts and candidates that must be refused, and for what: one table, read by the tests and by the mutation run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tests.policies.fees.drafts import ADJOINING, PERIOD, day, draft, fixed, percent, quote

EARLY = "30 days or more before departure: 20 % of the price"
LATE = "fewer than 30 days before departure: 50 % of the price"
TWO = f"{EARLY}; {LATE}."
EARLY_RULE = (PERIOD, day(30), percent(20), EARLY)
LATE_RULE = (day(30, inclusive=False), PERIOD, percent(50), LATE)


@dataclass(frozen=True)
class Refusal:
    """`kinds` are all the problems that must be found, `says` a part of one of their messages."""

    id: str
    text: str
    value: Any
    kinds: frozenset[str]
    says: str = ""


def _refusal(id_: str, text: str, value: Any, kinds: str, says: str = "") -> Refusal:
    return Refusal(id_, text, value, frozenset(kinds.split()), says)


def _one(id_: str, words: str, rule: tuple[Any, Any, Any], kinds: str, says: str = "", **more: Any) -> Refusal:
    """A text of one clause, all of it quoted."""
    return _refusal(id_, words, draft(words, (*rule, words), **more), kinds, says)


def _two(
    id_: str, kinds: str, says: str = "", text: str = TWO, early: Any = EARLY_RULE, late: Any = LATE_RULE
) -> Refusal:
    return _refusal(id_, text, draft(text, early, late), kinds, says)


def _edited(id_: str, kinds: str, says: str = "", **edits: Any) -> Refusal:
    """The sound draft with entries of its first quotation or its top level replaced."""
    value = draft(TWO, EARLY_RULE, LATE_RULE)
    for key, edit in edits.items():
        if key in ("text", "language"):
            value["intervals"][0]["quotation"][key] = edit
        elif key in ("document", "start", "end"):
            value["intervals"][0]["quotation"]["location"][key] = edit
        else:
            value[key] = edit
    return _refusal(id_, TWO, value, kinds, says)


WHOLE = (PERIOD, PERIOD, percent(20))

LOCATION = (
    _edited("tampered number", "NOT_IN_SOURCE", text=EARLY.replace("30", "31")),
    _edited("tampered word", "NOT_IN_SOURCE", text=EARLY.replace("or more", "or less")),
    _edited("shifted start", "ELSEWHERE", "but at terms.txt:1:1 [0,51)", start=1),
    _edited("shifted end", "ELSEWHERE", end=50),
    _edited("end too far", "ELSEWHERE", end=52),
    _edited("span past the text", "BAD_SPAN", "[0,999) of", end=999),
    _edited("empty span", "BAD_SPAN", start=51),
    _edited("other document", "UNKNOWN_DOCUMENT", "'other.txt'", document="other.txt"),
    _edited("white space at the edge", "ELSEWHERE", text=f"{EARLY};".replace(";", " ")),
    _edited("language not declared", "UNDECLARED_LANGUAGE", languages=["de"]),
    _edited("currency unknown", "UNSUPPORTED_CURRENCY", "XXA", currency="XXA"),
)

RULES = (
    _two("other bound", "BOUND_NOT_QUOTED BOUND_NOT_IN_RULE OVERLAP", early=(PERIOD, day(29), percent(20), EARLY)),
    _two(
        "both bounds flipped",
        "BOUND_NOT_QUOTED BOUND_NOT_IN_RULE",
        "end 30 day, not included",
        early=(PERIOD, day(30, inclusive=False), percent(20), EARLY),
        late=(day(30), PERIOD, percent(50), LATE),
    ),
    _two(
        "inclusivity of the end",
        "BOUND_NOT_QUOTED BOUND_NOT_IN_RULE GAP",
        early=(PERIOD, day(30, inclusive=False), percent(20), EARLY),
    ),
    _two(
        "inclusivity of the start",
        "BOUND_NOT_QUOTED BOUND_NOT_IN_RULE OVERLAP",
        late=(day(30), PERIOD, percent(50), LATE),
    ),
    _two(
        "weeks for days",
        "BOUND_NOT_QUOTED BOUND_NOT_IN_RULE WEEKS_NOT_STATED",
        early=(PERIOD, day(30, unit="week"), percent(20), EARLY),
    ),
    _two("bound left out", "BOUND_NOT_IN_RULE", early=(PERIOD, ADJOINING, percent(20), EARLY)),
    _two(
        "other percentage",
        "FEE_NOT_QUOTED",
        "21 percent, the quotation has 20 percent",
        early=(PERIOD, day(30), percent(21), EARLY),
    ),
    _two(
        "fees exchanged",
        "FEE_NOT_QUOTED",
        early=(PERIOD, day(30), percent(50), EARLY),
        late=(day(30, inclusive=False), PERIOD, percent(20), LATE),
    ),
    _two("fixed for percentage", "FEE_NOT_QUOTED", early=(PERIOD, day(30), fixed(20), EARLY)),
    _two("other base", "WRONG_BASE", early=(PERIOD, day(30), percent(20, "paid"), EARLY)),
    _one(
        "other currency than quoted",
        "A fee of 20 USD is due up to departure",
        (PERIOD, PERIOD, fixed(20)),
        "FEE_NOT_QUOTED",
        "20 EUR, the quotation has 20 USD",
    ),
    _one(
        "other currency than the schedule's",
        "A fee of 20 USD is due up to departure",
        (PERIOD, PERIOD, fixed(20, "USD")),
        "OTHER_CURRENCY",
    ),
    _one(
        "percentage for money",
        "A fee of 20 EUR is due up to departure",
        (PERIOD, PERIOD, percent(20)),
        "FEE_NOT_QUOTED BASE_NOT_STATED",
    ),
    _one("above 100", "Up to departure: 101 % of the price", (PERIOD, PERIOD, percent(101)), "PERCENT_TOO_HIGH", "101"),
    _one("finer than a cent", "Up to departure: 1.005000 EUR", (PERIOD, PERIOD, fixed("1.005")), "TOO_FINE"),
    _one(
        "up to a base",
        "Up to departure, up to the full price is due",
        (PERIOD, PERIOD, percent(100)),
        "CONSTRUCT NO_FEE",
        "'up to the full price' at terms.txt:1:18 [17,37)",
    ),
    _one("no base", "Up to departure: 20 %", WHOLE, "BASE_NOT_STATED"),
    _one("no fee", "Cancellation up to departure", WHOLE, "NO_FEE BASE_NOT_STATED"),
    _one("two fees", "Up to departure: 20 % or 30 % of the price", WHOLE, "SEVERAL_FEES", "20 percent, 30 percent"),
    _one("two kinds of fee", "Up to departure: 20 % of the price or EUR 30", WHOLE, "SEVERAL_FEES"),
    _one("a range of fees", "Up to departure: 20 to 30 % of the price", (PERIOD, PERIOD, percent(30)), "FLAW"),
    _one(
        "a second bound",
        f"{EARLY}, 14 days or more before departure",
        (PERIOD, day(30), percent(20)),
        "BOUND_NOT_IN_RULE GAP",
    ),
    _one("a number without unit", "Up to departure, group 7: 20 % of the price", WHOLE, "FLAW", "'7'"),
    _one(
        "no side stated",
        "30 days before departure: 20 % of the price",
        (PERIOD, day(30), percent(20)),
        "FLAW BOUND_NOT_QUOTED GAP",
    ),
    _one(
        "from, without the reference",
        "From 30 days on, before departure: 20 % of the price",
        (day(30), PERIOD, percent(20)),
        "FLAW BOUND_NOT_QUOTED GAP",
    ),
    _one(
        "between without inclusivity",
        "Between 30 and 0 days before departure: 20 % of the price",
        (day(30), day(0), percent(20)),
        "FLAW BOUND_NOT_QUOTED GAP",
    ),
    _one(
        "words that differ from digits",
        "Thirty (31) days or more before departure: 20 % of the price",
        (PERIOD, day(30), percent(20)),
        "CONSTRUCT BOUND_NOT_QUOTED GAP",
    ),
    _one("reference of another kind", "Up to arrival: 20 % of the price", WHOLE, "WRONG_REFERENCE", "arrival"),
    _one("reference nowhere", "The cancellation fee is 20 % of the price", WHOLE, "REFERENCE_NOT_STATED"),
    _one(
        "fraction of a day",
        "At least 1.5 days before departure: 20 % of the price",
        (PERIOD, day("1.5"), percent(20)),
        "NOT_WHOLE_DAYS",
    ),
    _one(
        "weeks without the rule",
        "Two weeks or more before departure: 20 % of the price",
        (PERIOD, day(2, unit="week"), percent(20)),
        "WEEKS_NOT_STATED",
    ),
    _one(
        "days for weeks",
        "Two weeks or more before departure: 20 % of the price",
        (PERIOD, day(14), percent(20)),
        "BOUND_NOT_QUOTED BOUND_NOT_IN_RULE GAP",
    ),
    _one(
        "booking said, not ruled",
        "From booking until 30 days before departure: 20 % of the price",
        (ADJOINING, day(30), percent(20)),
        "BOOKING_NOT_START NO_NEIGHBOUR",
    ),
)


def _steps(id_: str, steps: list[tuple[Any, Any, str]], kinds: str, says: str = "", **more: Any) -> Refusal:
    """A text of one clause a step, each quoted: (start, end, words) at 20 % of the price."""
    text = "; ".join(f"{words}: 20 % of the price" for _, _, words in steps)
    rules = [(start, end, percent(20), f"{words}: 20 % of the price") for start, end, words in steps]
    return _refusal(id_, text, draft(text, *rules, **more), kinds, says)


_OVER_29 = (PERIOD, day(30), "30 days or more before departure")
_TO_15 = (day(29), day(15), "29 to 15 days before departure")
_UNDER_15 = (day(15, inclusive=False), PERIOD, "fewer than 15 days before departure")

COVERAGE = (
    _steps("gap at the end", [_OVER_29, _TO_15], "GAP", "expected to 0 days before, found to 15 days before"),
    _steps("gap at the start", [_TO_15, _UNDER_15], "GAP", "expected from the booking, found from 29 days before"),
    _steps("gap between", [_OVER_29, _UNDER_15], "GAP", "expected from 29 days before, found from 14 days before"),
    _steps("gap of one day", [_OVER_29, (day(28), day(15), "28 to 15 days before departure"), _UNDER_15], "GAP"),
    _steps(
        "overlap of one day", [_OVER_29, (day(30), day(15), "30 to 15 days before departure"), _UNDER_15], "OVERLAP"
    ),
    _steps("overlap at the end", [_OVER_29, _TO_15, (day(15), PERIOD, "within 15 days before departure")], "OVERLAP"),
    _steps("out of order", [_TO_15, _OVER_29, _UNDER_15], "GAP OVERLAP"),
    _steps("the same twice", [_OVER_29, (*_OVER_29[:2], "at least 30 days before departure")], "OVERLAP GAP"),
    _steps(
        "an empty interval",
        [(day(15, inclusive=False), day(15), "fewer than 15 but at least 15 days before departure")],
        "EMPTY",
        "interval 1: the interval holds no day: from 14 to 15 days before",
    ),
    _steps(
        "the last adjoins nothing",
        [
            (PERIOD, day(15), "15 days or more before departure"),
            (day(14), ADJOINING, "within 14 days before departure"),
        ],
        "NO_NEIGHBOUR",
        "interval 2: an end adjoins a neighbour that states none: end",
    ),
    _steps(
        "the first adjoins nothing",
        [
            (ADJOINING, day(15), "15 days or more before departure"),
            (day(14), PERIOD, "within 14 days before departure"),
        ],
        "NO_NEIGHBOUR",
        "interval 1: an end adjoins a neighbour that states none: start",
    ),
    _steps(
        "both ends adjoin",
        [(PERIOD, ADJOINING, "earlier, before departure"), (ADJOINING, PERIOD, "later")],
        "NO_NEIGHBOUR",
    ),
    _steps(
        "no words for the rest", [_OVER_29, (ADJOINING, PERIOD, "of cancellations, up to departure")], "EDGE_NOT_STATED"
    ),
    _steps("too many days", [(PERIOD, day(3661), "3661 days or more before departure")], "NOT_WHOLE_DAYS"),
)

_HIDING = f"{EARLY}.\n{LATE}.\n6 days or less before departure: 90 % of the price."

CONTEXT = (
    _refusal(
        "cut in a word",
        f"Cancelled {TWO}",
        draft(f"Cancelled {TWO}", (PERIOD, day(30), percent(20), f"ancelled {EARLY}"), LATE_RULE),
        "CUT",
        "a word or number",
    ),
    _refusal(
        "cut at the end of a word",
        f"{EARLY}, flat; {LATE}",
        draft(f"{EARLY}, flat; {LATE}", (PERIOD, day(30), percent(20), f"{EARLY}, fla"), LATE_RULE),
        "CUT",
        "a word or number",
    ),
    _refusal(
        "days beside that say no side",
        f"28 days before departure we call. {TWO}",
        draft(f"28 days before departure we call. {TWO}", EARLY_RULE, LATE_RULE),
        "UNCITED",
        "'28 days before departure'",
    ),
    _one(
        "a number in another language",
        "Up to departure, zwanzig, the fee is 20 EUR",
        (PERIOD, PERIOD, fixed(20)),
        "FOREIGN",
    ),
    _one(
        "a unit in another language", "Up to departure, Tage, the fee is 20 EUR", (PERIOD, PERIOD, fixed(20)), "FOREIGN"
    ),
    _one("no word of the language", "alpha beta 20 EUR", (PERIOD, PERIOD, fixed(20)), "FOREIGN REFERENCE_NOT_STATED"),
    _one(
        "a word of the language in seven",
        "alpha beta gamma delta epsilon zeta 20 EUR departure",
        (PERIOD, PERIOD, fixed(20)),
        "FOREIGN",
    ),
    _one(
        "not free",
        "Up to departure, cancellation is free",
        (PERIOD, PERIOD, fixed(5)),
        "FEE_NOT_QUOTED",
        "5 EUR, the quotation has no fee",
    ),
    _refusal(
        "cut before the number",
        "A fee of 120 % of the price is due up to departure",
        draft(
            "A fee of 120 % of the price is due up to departure",
            (PERIOD, PERIOD, percent(20), "20 % of the price is due up to departure"),
        ),
        "CUT NO_FEE",
    ),
    _refusal(
        "cut before a negation",
        f"Not {LATE}",
        draft(f"Not {LATE}", (day(30, inclusive=False), PERIOD, percent(50), LATE)),
        "CUT BOUND_NOT_QUOTED GAP",
    ),
    _refusal(
        "cut after the number",
        f"{EARLY}; {LATE}",
        draft(TWO, (PERIOD, day(30), percent(20), "30 days or more before departure: 20 %"), LATE_RULE, base=None),
        "CUT NO_FEE BASE_NOT_STATED",
    ),
    _refusal(
        "cut before a bound",
        f"Up to {EARLY[:-13]} 50 % of the price",
        draft(f"Up to {EARLY[:-13]} 50 % of the price", (PERIOD, PERIOD, percent(50), "50 % of the price")),
        "UNCITED REFERENCE_NOT_STATED",
    ),
    _refusal(
        "a third rule beside",
        _HIDING,
        draft(_HIDING, EARLY_RULE, LATE_RULE),
        "UNCITED",
        "terms.txt:3:1 [109,140): interval 2: the paragraph states a number that no rule cites",
    ),
    _refusal(
        "a rule in another paragraph",
        f"{TWO}\n\nwithin 5 days before departure\n\n90 %",
        draft(f"{TWO}\n\nwithin 5 days before departure\n\n90 %", EARLY_RULE, LATE_RULE),
        "UNCITED_RULE",
        "terms.txt:3:1 [110,140): schedule",
    ),
    _one("a share of something else", "Up to departure: 20 % of the tax", WHOLE, "FLAW BASE_NOT_STATED"),
    _refusal(
        "a second fee beside",
        f"{EARLY} or EUR 80; {LATE}",
        draft(f"{EARLY} or EUR 80; {LATE}", EARLY_RULE, LATE_RULE),
        "UNCITED",
        "EUR 80",
    ),
    _refusal(
        "a statement that hides a rule",
        TWO,
        draft(
            TWO,
            EARLY_RULE,
            (ADJOINING, PERIOD, percent(50), "50 % of the price"),
            base={"of": "price", "quotation": quote(TWO, LATE)},
        ),
        "STATEMENT_WITH_RULE EDGE_NOT_STATED",
        "base",
    ),
    _refusal(
        "a base that says another",
        f"Percent of the amount paid.\n\n{TWO.replace(' of the price', '')}",
        draft(
            f"Percent of the amount paid.\n\n{TWO.replace(' of the price', '')}",
            (PERIOD, day(30), percent(20), EARLY.replace(" of the price", "")),
            (day(30, inclusive=False), PERIOD, percent(50), LATE.replace(" of the price", "")),
            base={
                "of": "price",
                "quotation": quote(f"Percent of the amount paid.\n\n{TWO}", "Percent of the amount paid"),
            },
        ),
        "WRONG_BASE",
    ),
    _refusal(
        "the declared language is another",
        "Bis 30 Tage vor Abreise: 20 % des Reisepreises",
        draft(
            "Bis 30 Tage vor Abreise: 20 % des Reisepreises",
            (PERIOD, PERIOD, percent(20), "Bis 30 Tage vor Abreise: 20 % des Reisepreises"),
        ),
        "FOREIGN FLAW BASE_NOT_STATED REFERENCE_NOT_STATED",
    ),
    _refusal(
        "a language that is not read",
        "Annulation jusqu'à trente jours avant le départ, frais 20 %",
        draft(
            "Annulation jusqu'à trente jours avant le départ, frais 20 %",
            (PERIOD, PERIOD, percent(20), "Annulation jusqu'à trente jours avant le départ, frais 20 %"),
        ),
        "FOREIGN BASE_NOT_STATED REFERENCE_NOT_STATED",
    ),
    _one(
        "a letter of another script", "Up to departure: 20 % of the price, r\u0435ally", WHOLE, "UNREADABLE", "U+0435"
    ),
    _one(
        "an invisible character",
        "Up to departure: 2\u200b0 % of the price",
        (PERIOD, PERIOD, percent(0)),
        "UNREADABLE FLAW",
        "U+200B",
    ),
    _one(
        "a number that reads in two ways",
        "Up to departure: 1.250 EUR",
        (PERIOD, PERIOD, fixed(1250)),
        "CONSTRUCT NO_FEE",
    ),
    _one("digits of another script", "Up to departure: \uff12\uff10 % of the price", WHOLE, "CONSTRUCT NO_FEE"),
)

_FLAT = "The fee for a cancellation is 20 EUR"
_FLAT_RULE = (PERIOD, PERIOD, fixed(20), _FLAT)


def _flat(id_: str, beside: str, kinds: str, says: str = "", **more: Any) -> Refusal:
    """One fee for the whole period; the reference date stands in another paragraph."""
    text = f"{beside}\n\n{_FLAT}."
    statement = more.pop("statement", beside)
    reference = {"kind": "departure", "quotation": quote(text, statement)}
    return _refusal(id_, text, draft(text, _FLAT_RULE, **{"reference": reference, **more}), kinds, says)


def _misplaced(words: str) -> Any:
    return {**quote(TWO, LATE), "text": words}


STATEMENTS = (
    _flat("the reference is another", "Cancellation before arrival", "WRONG_REFERENCE", "reference: "),
    _flat("the reference is not named", "Cancellation", "REFERENCE_NOT_STATED"),
    _edited(
        "the reference misplaced",
        "NOT_IN_SOURCE",
        "reference: ",
        reference={"kind": "departure", "quotation": _misplaced("x")},
    ),
    _edited("the base misplaced", "NOT_IN_SOURCE", "base: ", base={"of": "price", "quotation": _misplaced("x")}),
    _edited(
        "a limit misplaced",
        "NOT_IN_SOURCE",
        "period end: ",
        period={"start": "booking", "end": {"bound": day(2), "quotation": _misplaced("x")}},
    ),
    _flat(
        "the base is not named",
        "Before departure we charge",
        "BASE_NOT_STATED",
        "base: ",
        base={"of": "price", "quotation": quote("Before departure we charge", "we charge")},
    ),
    _refusal(
        "the base is the schedule's other",
        "The percentages are of the price.\n\nUp to departure: 20 %",
        draft(
            "The percentages are of the price.\n\nUp to departure: 20 %",
            (PERIOD, PERIOD, percent(20, "paid"), "Up to departure: 20 %"),
            base={"of": "price", "quotation": quote("The percentages are of the price", "of the price")},
        ),
        "WRONG_BASE",
        "the schedule takes percentages of the price",
    ),
)
ALL = (*LOCATION, *RULES, *COVERAGE, *CONTEXT, *STATEMENTS)
