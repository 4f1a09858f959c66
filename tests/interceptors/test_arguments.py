"""Typed arguments: one accepted spelling each, nothing coerced, faults that name the argument and never its value."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.arguments import FAULTS_MAX, Reading, read_arguments, reader
from interceptors.causes import RefusalCause
from interceptors.readings import ReadingError, read_field, read_money, read_value
from interceptors.redaction import redacted
from interceptors.strict_json import parse
from policies.currencies import EXPONENTS
from policies.expressions import Unreadable
from policies.model import Argument
from policies.values import (
    BOOLEAN,
    DATE,
    DURATION,
    INTEGER,
    NUMBER,
    STRING,
    TIMESTAMP,
    Money,
    Type,
    Unit,
    list_of,
    money_type,
    record_of,
)
from tests.interceptors.builders import pipeline

if TYPE_CHECKING:
    from interceptors.calls import Json

# unit, currency, the number as it stands in the JSON, the amount in major units or None where it is refused
MONEY = [
    (Unit.MAJOR, "USD", "120.50", "120.50"),
    (Unit.MAJOR, "USD", "120", "120.00"),
    (Unit.MAJOR, "USD", "120.500", "120.50"),
    (Unit.MAJOR, "USD", '"1000.00"', "1000.00"),
    (Unit.MAJOR, "USD", '"1000"', "1000.00"),
    (Unit.MAJOR, "USD", "120.505", None),
    (Unit.MAJOR, "USD", '"1,000"', None),
    (Unit.MAJOR, "USD", '"1.000,00"', None),
    (Unit.MAJOR, "USD", '"1e6"', None),
    (Unit.MAJOR, "USD", "1e6", None),
    (Unit.MAJOR, "USD", "1E+2", None),
    (Unit.MAJOR, "USD", '"\uff11\uff10\uff10\uff10"', None),
    (Unit.MAJOR, "USD", '" 5"', None),
    (Unit.MAJOR, "USD", '"+5"', None),
    (Unit.MAJOR, "USD", '"05"', None),
    (Unit.MAJOR, "USD", '"5."', None),
    (Unit.MAJOR, "USD", '".5"', None),
    (Unit.MAJOR, "USD", '"$5"', None),
    (Unit.MAJOR, "USD", '"5 USD"', None),
    (Unit.MAJOR, "USD", '""', None),
    (Unit.MAJOR, "USD", '"NaN"', None),
    (Unit.MAJOR, "USD", "true", None),
    (Unit.MAJOR, "USD", "[5]", None),
    (Unit.MAJOR, "USD", '{"amount":5}', None),
    (Unit.MAJOR, "USD", "null", None),
    (Unit.MAJOR, "USD", "1" * 60, None),
    (Unit.MINOR, "USD", "12050", "120.50"),
    (Unit.MINOR, "USD", '"12050"', "120.50"),
    (Unit.MINOR, "USD", "120.50", None),
    (Unit.MINOR, "USD", "12050.00", None),
    (Unit.MINOR, "USD", '"12050.0"', None),
    (Unit.MILLI, "USD", "120500", "120.50"),
    (Unit.MILLI, "USD", "120505", None),
    (Unit.MILLI, "KWD", "120505", "120.505"),
    (Unit.MAJOR, "JPY", "1200", "1200"),
    (Unit.MAJOR, "JPY", "1200.5", None),
    (Unit.MINOR, "JPY", "1200", "1200"),
    (Unit.MINOR, "KWD", "1200", "1.200"),
]


@pytest.mark.parametrize(("unit", "currency", "text", "amount"), MONEY)
def test_money_has_one_meaning_or_none(unit: Unit, currency: str, text: str, amount: str | None) -> None:
    """Each spelling is read exactly, in its declared unit and currency, or refused; it is never rounded or guessed."""
    value = parse(text)
    if amount is None:
        with pytest.raises(ReadingError):
            read_money(value, currency, unit)
    else:
        assert read_money(value, currency, unit) == Money(Decimal(amount), currency)


@given(st.integers(1, 10**15), st.sampled_from(sorted(EXPONENTS)))
def test_money_in_its_three_units_is_one_amount(minor: int, currency: str) -> None:
    """Cents, the number with a point and its text are the same money, for every currency."""
    digits = EXPONENTS[currency]
    major = Decimal(minor).scaleb(-digits)
    expected = read_money(minor, currency, Unit.MINOR)
    assert expected.amount == major
    assert read_money(major, currency, Unit.MAJOR) == expected
    assert read_money(f"{major:f}", currency, Unit.MAJOR) == expected


ARGUMENTS = """\
tools:
  t:
    effect: write
    arguments:
      text: string
      count: integer
      rate: number
      sure: boolean
      day: date
      kind: {one_of: [small, large]}
      level: {one_of: [1, 2], type: integer}
      id: {pattern: '[A-Z][0-9]{4}'}
      amount: {money: USD, unit: major}
      tip: {money: USD, unit: minor, min: 0.00 USD, max: 5.00 USD}
      pages: {type: integer, min: 1, max: 3}
      due: {type: date, min: "2026-01-01", max: "2026-12-31"}
      tags: {list: string}
      payments: {list: {object: {id: {pattern: 'P[0-9]+'}, amount: {money: EUR, unit: major}}}}
      address: {object: {city: string, zip: {type: string, optional: true}}}
      note: {type: string, optional: true}
"""
SOUND = {
    "text": '"free"',
    "count": "3",
    "rate": "0.1",
    "sure": "false",
    "day": '"2026-02-28"',
    "kind": '"small"',
    "level": "2",
    "id": '"A1001"',
    "amount": "0.01",
    "tip": "0",
    "pages": "3",
    "due": '"2026-12-31"',
    "tags": '["a", ""]',
    "payments": '[{"id": "P1", "amount": 5}, {"id": "P2", "amount": "5.50"}]',
    "address": '{"city": "Berlin"}',
}


def _declared() -> dict[str, Argument]:
    tool = pipeline(ARGUMENTS).policy.tools["t"]
    assert tool.arguments is not None
    return dict(tool.arguments)


DECLARED = _declared()


def _given(**changes: str | None) -> dict[str, Json]:
    texts = {name: text for name, text in (SOUND | changes).items() if text is not None}
    value = parse("{" + ",".join(f'"{name}":{text}' for name, text in texts.items()) + "}")
    assert isinstance(value, dict)
    return value


def _read(**changes: str | None) -> Reading:
    return read_arguments(DECLARED, _given(**changes))


def test_sound_arguments_become_typed_values() -> None:
    """Numbers are exact, money has its currency, lists and objects are read through."""
    reading = _read()
    assert reading.faults == ()
    assert reading.values["rate"] == Decimal("0.1")
    assert reading.values["amount"] == Money(Decimal("0.01"), "USD")
    assert reading.values["tip"] == Money(Decimal("0.00"), "USD")
    payments = reading.values["payments"]
    assert isinstance(payments, tuple)
    assert payments[1] == {"id": "P2", "amount": Money(Decimal("5.50"), "EUR")}
    assert reading.values["address"] == {"city": "Berlin"}
    assert "note" not in reading.values


INVALID = [
    ("text", "1"),
    ("text", '["free"]'),
    ("count", "3.0"),
    ("count", "true"),
    ("count", '"3"'),
    ("rate", '"0.1"'),
    ("rate", "false"),
    ("sure", "0"),
    ("sure", '"false"'),
    ("day", '"2026-02-29"'),
    ("day", '"20260228"'),
    ("day", '"2026-W09-6"'),
    ("day", '"2026-02-28T00:00:00Z"'),
    ("day", "20260228"),
    ("kind", '"Small"'),
    ("kind", '"small "'),
    ("level", "3"),
    ("level", "true"),
    ("level", '"1"'),
    ("id", '"A10011"'),
    ("id", '"xA1001"'),
    ("id", '"A1001\\n"'),
    ("id", "1001"),
    ("amount", "0"),
    ("amount", "-5"),
    ("amount", "-0.0"),
    ("tip", "-1"),
    ("tip", "501"),
    ("pages", "0"),
    ("pages", "4"),
    ("due", '"2025-12-31"'),
    ("due", '"2027-01-01"'),
    ("tags", '"a"'),
    ("tags", '["a", 1]'),
    ("tags", '["a", null]'),
    ("payments", '{"id": "P1", "amount": 5}'),
    ("payments", '[{"id": "Q1", "amount": 5}]'),
    ("payments", '[{"id": "P1", "amount": 0}]'),
    ("address", '"Berlin"'),
    ("address", '{"city": 1}'),
]


@pytest.mark.parametrize(("name", "text"), INVALID)
def test_a_value_of_another_kind_is_a_fault_that_names_its_argument(name: str, text: str) -> None:
    """Nothing is coerced: no number out of a text, no truth out of a number, no trimming, no case folding."""
    [fault] = _read(**{name: text}).faults
    assert fault.cause is RefusalCause.INVALID_PARAMETER
    assert fault.path.startswith(name)


@pytest.mark.parametrize("name", SOUND)
@pytest.mark.parametrize("text", [None, "null"])
def test_a_missing_argument_is_a_fault_and_null_is_missing(name: str, text: str | None) -> None:
    """What is left out and what is null are one; a required argument is asked for by its name."""
    [fault] = _read(**{name: text}).faults
    assert (fault.cause, fault.path) == (RefusalCause.MISSING_PARAMETER, name)


@pytest.mark.parametrize("text", [None, "null"])
def test_an_optional_argument_may_be_missing(text: str | None) -> None:
    """It is then not in the values, so that a rule that reads it has an error, not a guess."""
    reading = _read(note=text)
    assert reading.faults == ()
    assert "note" not in reading.values
    assert _read(note='"x"').values["note"] == "x"
    [fault] = _read(note="1").faults
    assert fault.path == "note"


def test_faults_name_the_place_inside_lists_and_objects() -> None:
    """The path leads to the element and the field."""
    assert _read(payments='[{"id": "P1", "amount": 5}, {"id": "P2"}]').faults[0].path == "payments[1].amount"
    assert _read(address='{"city": "Berlin", "zip": 5}').faults[0].path == "address.zip"


@pytest.mark.parametrize(
    ("changes", "path"),
    [
        ({"extra": "1"}, "extra"),
        ({"extra": "null"}, "extra"),
        ({"Text": '"free"'}, "Text"),
        ({"address": '{"city": "Berlin", "country": "DE"}'}, "address.country"),
        ({"payments": '[{"id": "P1", "amount": 5, "memo": ""}]'}, "payments[0].memo"),
    ],
)
def test_an_undeclared_argument_is_a_fault_at_any_depth(changes: dict[str, str], path: str) -> None:
    """Also when its value is null, or its name differs in case only."""
    [fault] = _read(**changes).faults
    assert (fault.cause, fault.path) == (RefusalCause.UNDECLARED_PARAMETER, path)


@given(st.text(min_size=8, alphabet=st.characters(min_codepoint=0x3B1, max_codepoint=0x3C9)))
def test_no_fault_repeats_a_value_or_a_name_that_is_text(text: str) -> None:
    """Messages go to logs and receipts: they hold kinds and declared names, not what the model wrote."""
    quoted = f'"{text}"'
    for name in ("count", "day", "kind", "id", "amount", "tags", "payments", "address"):
        assert text not in str(_read(**{name: quoted}).faults)
    assert text not in str(read_arguments(DECLARED, {text: 1}).faults)


_texts = st.sampled_from(
    [
        *("null", "true", "0", "3", "-1", "2.5", "120.50", "120.505", "1e2", "1E+2", "1e-2", "1" * 45, "0." + "1" * 45),
        *("0.001e3", "-0.0", '""', '"free"', '"small"', '"A1001"', '"A1001x"', '"120.50"', '"0"', '"2026-02-28"'),
        *('"\\u00e9"', "[]", '["a"]', '["a",null]', '[{"id":"P1","amount":5}]', '[{"id":"P1","amount":0}]', "{}"),
        *('{"city":"Berlin"}', '{"city":"Berlin","zip":null}', '{"city":"Berlin","more":1}'),
    ]
)


@given(st.dictionaries(st.sampled_from([*DECLARED, "extra"]), st.none() | _texts, max_size=3))
def test_what_is_read_in_one_pass_is_what_is_read_one_by_one(changes: dict[str, str | None]) -> None:
    """The same values and the same faults, whatever is given, missing or too much."""
    given = _given(**changes)
    quick, slow = reader(DECLARED)(given), read_arguments(DECLARED, given)
    assert repr(quick) == repr(slow)  # 5 and 5.00 are equal, and not the same text


@given(st.sampled_from(MONEY))
def test_an_amount_is_read_the_same_in_one_pass(row: tuple[Unit, str, str, str | None]) -> None:
    """Each spelling, in each unit."""
    unit, currency, text, _ = row
    declared = {"amount": Argument("amount", money_type(currency), money_unit=unit)}
    given: dict[str, Json] = {"amount": parse(text)}
    assert repr(reader(declared)(given)) == repr(read_arguments(declared, given))


def test_the_number_of_faults_is_bounded() -> None:
    """A call of a thousand undeclared arguments has a short message."""
    assert len(read_arguments({}, {f"a{index}": 1 for index in range(1_000)}).faults) == FAULTS_MAX


def test_what_is_stored_is_what_the_policy_bounds() -> None:
    """Typed scalars, closed sets and patterned ids stay; free strings go, whether declared, nested or undeclared."""
    stored = redacted(DECLARED, _given(extra='"secret"', payments='[{"id": "P1", "amount": 5, "memo": "secret"}]'))
    assert stored == {
        "text": {"redacted": "text", "length": 4},
        "count": 3,
        "rate": Decimal("0.1"),
        "sure": False,
        "day": "2026-02-28",
        "kind": "small",
        "level": 2,
        "id": "A1001",
        "amount": Decimal("0.01"),
        "tip": 0,
        "pages": 3,
        "due": "2026-12-31",
        "tags": [{"redacted": "text", "length": 1}, {"redacted": "text", "length": 0}],
        "payments": [{"id": "P1", "amount": 5, "memo": {"redacted": "text", "length": 6}}],
        "address": {"city": {"redacted": "text", "length": 6}},
        "extra": {"redacted": "text", "length": 6},
    }


@pytest.mark.parametrize(("name", "text"), [row for row in INVALID if row[1].startswith('"')])
def test_a_text_that_its_argument_does_not_accept_is_not_stored(name: str, text: str) -> None:
    """A type bounds only what is of it: a secret in the place of a date is still a secret."""
    stored = redacted(DECLARED, _given(**{name: text}))
    assert isinstance(stored, dict)
    assert stored[name] == {"redacted": "text", "length": len(str(parse(text)))}


def test_without_declarations_only_truth_values_and_shapes_are_stored() -> None:
    """Numbers can be card numbers, names of keys can be text."""
    given_: dict[str, Json] = {"card": 4111111111111111, "ok": True, "none": None, "Ada Lovelace": [1], "o": {"x": "y"}}
    assert redacted(None, given_) == {
        "card": {"redacted": "number"},
        "ok": True,
        "none": None,
        "<name of 12 characters>": {"redacted": "list", "length": 1},
        "o": {"x": {"redacted": "text", "length": 1}},
    }


@given(st.text(min_size=6, alphabet="xyzXYZ"))
def test_marking_what_was_read_changes_nothing_of_what_is_stored(text: str) -> None:
    """The short way for arguments that were read without a fault stores the same as the long one."""
    sound = _given(text=f'"{text}"')
    assert redacted(DECLARED, sound, is_read=True) == redacted(DECLARED, sound)
    assert text not in str(redacted(DECLARED, sound, is_read=True))


@pytest.mark.parametrize(
    ("type_", "text", "ok"),
    [
        (STRING, '"a"', True),
        (STRING, "1", False),
        (BOOLEAN, "true", True),
        (BOOLEAN, "1", False),
        (BOOLEAN, '"yes"', False),
        (NUMBER, "1.5", True),
        (NUMBER, "true", False),
        (INTEGER, "1.0", False),
        (DATE, '"2026-01-31"', True),
        (TIMESTAMP, '"2026-01-31T09:30:00+01:00"', True),
        (TIMESTAMP, '"2026-01-31T09:30:00"', False),
        (TIMESTAMP, '"2026-01-31"', False),
        (TIMESTAMP, "1769851800", False),
        (DURATION, '"14d"', False),
        (list_of(STRING), '["a"]', True),
        (list_of(STRING), "[1]", False),
        (list_of(STRING), '"a"', False),
        (record_of({"a": STRING}), '{"a": "x", "b": 1}', True),
        (record_of({"a": STRING}), '{"a": 1}', False),
        (record_of({"a": STRING}), "[]", False),
    ],
)
def test_a_field_of_a_fact_is_of_its_type_or_unreadable(type_: Type, text: str, ok: bool) -> None:
    """Facts are read as strictly as arguments; what is not of the type is a mark that makes its readers fire."""
    document = {"at": {"here": parse(text)}}
    read = read_field(document, ("at", "here"), type_)
    assert isinstance(read, Unreadable) is not ok


@pytest.mark.parametrize("document", [{}, {"at": None}, {"at": {}}, {"at": {"here": None}}, {"at": [1]}, {"at": "x"}])
def test_a_field_that_is_not_there_is_unreadable(document: dict[str, Json]) -> None:
    """At any depth, and through whatever stands in the way."""
    assert read_field(document, ("at", "here"), STRING) == Unreadable("is missing")


def test_null_is_no_value_of_any_type() -> None:
    """Not even of an open one."""
    for type_ in (STRING, NUMBER, list_of(), record_of({})):
        with pytest.raises(ReadingError):
            read_value(None, type_)
