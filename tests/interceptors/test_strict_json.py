"""The strict reading of JSON: what one parser may read otherwise than another is refused."""

from __future__ import annotations

import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.calls import Cause, Json
from interceptors.strict_json import (
    DEPTH_MAX,
    DIGITS_MAX,
    EXPONENT_MAX,
    StrictJsonError,
    canonical,
    check_exact,
    digest,
    parse,
    parse_envelope,
)

REFUSED: list[tuple[str, bytes | str, Cause]] = [
    ("duplicate key", b'{"amount":1,"amount":2}', Cause.DUPLICATE_KEY),
    ("duplicate key, one escaped", b'{"amount":1,"\\u0061mount":2}', Cause.DUPLICATE_KEY),
    ("duplicate key below", b'{"a":[{"b":{"c":1,"c":1}}]}', Cause.DUPLICATE_KEY),
    ("NaN", b'{"amount":NaN}', Cause.NOT_JSON),
    ("Infinity", b'{"amount":-Infinity}', Cause.NOT_JSON),
    ("trailing document", b'{"a":1}{"a":2}', Cause.NOT_JSON),
    ("trailing text", b'{"a":1} ok', Cause.NOT_JSON),
    ("cut off", b'{"order_id":"A1001","amo', Cause.NOT_JSON),
    ("empty", b"", Cause.NOT_JSON),
    ("escaped lone surrogate", b'{"a":"\\ud800"}', Cause.NOT_JSON),
    ("escaped low surrogate", b'{"a":"\\udc00x"}', Cause.NOT_JSON),
    ("lone surrogate as a key", b'{"\\ud800":1}', Cause.NOT_JSON),
    ("surrogate bytes", b'{"a":"\xed\xa0\x80"}', Cause.NOT_JSON),
    ("surrogate in text", '{"a":"\ud800"}', Cause.NOT_JSON),
    ("invalid UTF-8", b'{"a":"\xff"}', Cause.NOT_JSON),
    ("byte order mark", b'\xef\xbb\xbf{"a":1}', Cause.NOT_JSON),
    ("comment", b'{"a":1/*2*/}', Cause.NOT_JSON),
    ("trailing comma", b'{"a":1,}', Cause.NOT_JSON),
    ("single quotes", b"{'a':1}", Cause.NOT_JSON),
    ("leading zero", b'{"a":010}', Cause.NOT_JSON),
    ("leading plus", b'{"a":+1}', Cause.NOT_JSON),
    ("hexadecimal", b'{"a":0x10}', Cause.NOT_JSON),
    ("full-width digits", '{"a":\uff11\uff10}', Cause.NOT_JSON),
    ("raw control character", b'{"a":"\x00"}', Cause.NOT_JSON),
    ("huge exponent", b'{"a":1E+999999}', Cause.INEXACT_NUMBER),
    ("past the doubles", b'{"a":1e309}', Cause.INEXACT_NUMBER),
    ("below the doubles", b'{"a":1e-400}', Cause.INEXACT_NUMBER),
    ("many digits", b'{"a":' + b"1" * 65 + b"}", Cause.INEXACT_NUMBER),
    ("many decimals", b'{"a":0.' + b"1" * 65 + b"}", Cause.INEXACT_NUMBER),
    ("more digits than are converted", b'{"a":' + b"1" * 9000 + b"}", Cause.INEXACT_NUMBER),
    ("deep", b"[" * (DEPTH_MAX + 1) + b"]" * (DEPTH_MAX + 1), Cause.TOO_DEEP),
    ("deep objects", b'{"a":' * (DEPTH_MAX + 1) + b"1" + b"}" * (DEPTH_MAX + 1), Cause.TOO_DEEP),
    ("very deep", b"[" * 100_000, Cause.TOO_DEEP),
]

INEXACT = [
    b"9007199254740993",
    b"-9007199254740993",
    b"9007199254740993.0",
    b'{"a":[{"b":18446744073709551616}]}',
    b"500.00000000000000001",
    b"0.1000000000000000055511151231257827",
]
EXACT = [
    b"9007199254740992",
    b"-9007199254740992",
    b"1000.10",
    b"0.30000000000000004",
    b"1e3",
    b"-0.0",
    b"true",
    b"null",
]


@pytest.mark.parametrize(("data", "cause"), [row[1:] for row in REFUSED], ids=[row[0] for row in REFUSED])
def test_ambiguous_text_is_refused_with_its_cause(data: bytes | str, cause: Cause) -> None:
    """Each text that some parser reads otherwise is refused, and the error names the cause and nothing of the text."""
    with pytest.raises(StrictJsonError) as caught:
        parse(data)
    assert caught.value.cause is cause
    assert str(caught.value) == cause.value
    error: BaseException = caught.value
    assert error.__context__ is None or error.__suppress_context__  # the parser's own message quotes the text


@pytest.mark.parametrize("data", INEXACT)
def test_a_number_that_doubles_cannot_hold_is_inexact(data: bytes) -> None:
    """`parse` reads it, for a read may carry it; `check_exact` refuses it, for a write may not."""
    value = parse(data)
    with pytest.raises(StrictJsonError) as caught:
        check_exact(value)
    assert caught.value.cause is Cause.INEXACT_NUMBER


@pytest.mark.parametrize("data", EXACT)
def test_a_number_that_doubles_hold_is_exact(data: bytes) -> None:
    """Usual numbers, 2^53 itself and the shortest spelling of any double pass."""
    check_exact(parse(data))


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_every_double_in_its_shortest_spelling_is_exact(number: float) -> None:
    """What a sender wrote from its own double is never refused as inexact."""
    check_exact(parse_envelope(json.dumps(number)))


@given(
    st.decimals(allow_nan=False, allow_infinity=False)
    | st.decimals(-(10**9), 10**9, places=6)
    | st.integers(0, 10**17).map(lambda each: Decimal(each) / 100)
)
def test_a_short_number_is_exact_exactly_if_its_double_says_so(number: Decimal) -> None:
    """A number of few digits is not turned into a double to find out."""
    is_exact = number.is_finite() and Decimal(repr(float(number))) == number
    if is_exact:
        check_exact(number)
    else:
        with pytest.raises(StrictJsonError):
            check_exact(number)


@given(st.integers(1, 10**70), st.integers(-330, 330))
def test_digits_and_exponents_are_bounded_however_they_are_spelled(digits: int, exponent: int) -> None:
    """64 digits, and powers of ten that doubles have."""
    number = Decimal((0, tuple(map(int, str(digits))), exponent))
    for text in {f"{number:f}", str(number)}:
        value = Decimal(text)
        fits = len(value.as_tuple().digits) <= DIGITS_MAX and abs(value.adjusted()) <= EXPONENT_MAX
        if fits:
            assert parse(text) == value
        else:
            with pytest.raises(StrictJsonError):
                parse(text)


def test_numbers_keep_the_value_of_their_spelling() -> None:
    """No float is made on the way: a tenth is a tenth."""
    value = parse(b'{"a":0.1,"b":1000.10,"c":12345678901234567890,"d":1e2}')
    assert value == {"a": Decimal("0.1"), "b": Decimal("1000.10"), "c": 12345678901234567890, "d": Decimal(100)}
    assert isinstance(value, dict)
    assert [type(item) for item in value.values()] == [Decimal, Decimal, int, Decimal]


def test_depth_at_the_limit_is_read() -> None:
    """The limit itself is allowed, and a caller may set a narrower one."""
    data = b"[" * DEPTH_MAX + b"]" * DEPTH_MAX
    parse(data)
    with pytest.raises(StrictJsonError):
        parse(data, depth_max=DEPTH_MAX - 1)


def test_an_envelope_keeps_numbers_unjudged() -> None:
    """Frames carry log probabilities of any size; only their structure is strict."""
    assert parse_envelope(b'{"logprob":-1e-400}') == {"logprob": Decimal("-1e-400")}
    with pytest.raises(StrictJsonError):
        parse_envelope(b'{"a":1,"a":1}')


_json: st.SearchStrategy[Json] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**12), max_value=10**12, places=6)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
    max_leaves=12,
)


def _shuffled(value: Json) -> Json:
    if isinstance(value, dict):
        return {key: _shuffled(value[key]) for key in reversed(value)}
    if isinstance(value, list):
        return [_shuffled(item) for item in value]
    return value


@given(_json)
def test_canonical_reads_back_as_the_same_value(value: Json) -> None:
    """The canonical form loses nothing, is a fixed point and does not depend on the order of keys."""
    form = canonical(value)
    assert parse(form) == value
    assert canonical(parse(form)) == form
    assert canonical(_shuffled(value)) == form


@pytest.mark.parametrize("spelling", ["1000", "1000.0", "1000.00", "1e3", "1E+3", "1000000e-3"])
def test_equal_numbers_have_one_digest(spelling: str) -> None:
    """The same money in another spelling is the same intent."""
    assert digest(parse(f'{{"amount":{spelling}}}')) == digest({"amount": 1000})


def test_different_values_have_different_digests() -> None:
    """A number is not its text, true is not one, null is not absence."""
    values: list[Json] = [
        {"a": 1},
        {"a": "1"},
        {"a": True},
        {"a": None},
        {},
        {"a": [1]},
        {"a": Decimal("1.1")},
        {"a": 10**30},
    ]
    assert len({digest(value) for value in values}) == len(values)


@pytest.mark.parametrize(
    ("spelling", "form"),
    [
        ("1e999999999", "1E999999999"),
        ("-12.50e400", "-125E399"),
        ("1e-5000", "1E-5000"),
        ("0e999999999", "0"),
        ("1e309", "1E309"),
        ("1e308", "1" + "0" * 308),
    ],
)
def test_canonical_stays_short(spelling: str, form: str) -> None:
    """A number of a body that nobody judged keeps its exponent: thirteen bytes must not become a gigabyte of zeros."""
    assert canonical(parse_envelope(spelling)).decode() == form
    assert parse_envelope(form) == parse_envelope(spelling)


def test_equal_numbers_of_any_size_are_equal_bytes() -> None:
    """Also past the bound of arguments the spelling of a number does not count."""
    assert len({canonical(parse_envelope(text)) for text in ("1e400", "1.0e400", "10e399", "0.1E+401")}) == 1
