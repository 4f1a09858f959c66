"""Expressions as text: what is spelled, how tightly it binds, and that every text is answered."""

from __future__ import annotations

import time
from datetime import timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies.expressions import ExpressionError
from policies.expressions.parser import DEPTH_MAX, NODES_MAX, parse
from policies.expressions.syntax import (
    Arithmetic,
    Call,
    Comparator,
    Comparison,
    Junction,
    Junctive,
    Listing,
    Literal,
    Membership,
    Negation,
    Node,
    Not,
    Operator,
    Path,
    to_source,
)
from policies.expressions.tokens import SOURCE_LENGTH_MAX
from policies.values import Money, Value


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("1000.10", Decimal("1000.10")),
        ("0", Decimal(0)),
        ("500.00 USD", Money(Decimal("500.00"), "USD")),
        ("500  EUR", Money(Decimal("500.00"), "EUR")),
        ("500 JPY", Money(Decimal(500), "JPY")),
        ("14d", timedelta(days=14)),
        ("24h", timedelta(hours=24)),
        ("15m", timedelta(minutes=15)),
        ("2s", timedelta(seconds=2)),
        ("'it'", "it"),
        ('"it\'s"', "it's"),
        (r'"a\"b\\c\n"', 'a"b\\c\n'),
        ('"ключ 钥"', "ключ 钥"),
        ("true", True),
        ("false", False),
    ],
)
def test_literals(source: str, value: Value) -> None:
    """Each literal is the exact value that it spells."""
    node = parse(source)

    assert isinstance(node, Literal)
    assert (type(node.value), node.value, str(node.value)) == (type(value), value, str(value))


@pytest.mark.parametrize(
    ("loose", "explicit"),
    [
        ("a or b and c", "a or (b and c)"),
        ("not a and b", "(not a) and b"),
        ("not a == b", "not (a == b)"),
        ("not a in b", "not (a in b)"),
        ("a not in b and c", "(a not in b) and c"),
        ("a + b < c * d", "(a + b) < (c * d)"),
        ("a - b - c", "(a - b) - c"),
        ("a / b * c", "(a / b) * c"),
        ("a + b * c", "a + (b * c)"),
        ("-a * b", "(-a) * b"),
        ("a - -b", "a - (-b)"),
        ("a or b or c", "((a or b or c))"),
        ("-a.b[*].c", "-(a.b[*].c)"),
    ],
)
def test_operators_bind_as_in_python(loose: str, explicit: str) -> None:
    """The tree without parentheses is the tree with them."""
    assert parse(loose) == parse(explicit)


@pytest.mark.parametrize(
    ("source", "steps"),
    [
        ("args.payments[*].amount", ("args", "payments", "[*]", "amount")),
        ("order[*].paid", ("order", "[*]", "paid")),
        ('args["order-id"].in', ("args", "order-id", "in")),
        ("args['straße']", ("args", "straße")),
        ("a.not.true", ("a", "not", "true")),
    ],
)
def test_paths(source: str, steps: tuple[str, ...]) -> None:
    """A field is named by a word, also one that the language uses, or by a string in brackets."""
    assert parse(source) == Path(steps)


@pytest.mark.parametrize(
    ("source", "column", "said"),
    [
        ("", 1, "expected a value, not the end"),
        ("  ", 3, "not the end"),
        ("a <", 4, "not the end"),
        ("a < b < c", 7, "do not chain"),
        ("a == b == c", 8, "do not chain"),
        ("a in b in c", 8, "do not chain"),
        ("a = b", 3, "write =="),
        ("a && b", 3, "write and"),
        ("!a", 1, "write not"),
        ("a b", 3, "does not fit"),
        ("(a", 3, "expected ')'"),
        ("a)", 2, "does not fit"),
        ("f(,)", 3, "expected a value"),
        ("f(a,)", 5, "expected a value"),
        ("[a b]", 4, "expected ','"),
        ("a.", 3, "the name of a field"),
        ("a.1", 3, "the name of a field"),
        ("a[0]", 3, "in brackets"),
        ("a['[*]']", 3, "in brackets"),
        ("a['']", 3, "in brackets"),
        ("a == not b", 6, "parentheses"),
        ("010", 1, "'010'"),
        ("x == 1e6", 6, "'1e6'"),
        ("1_000", 1, "'1_000'"),
        (".5", 1, "expected a value"),
        ("5.", 1, "'5.'"),
        ("1.2.3", 1, "'1.2.3'"),
        ("0x10", 1, "'0x10'"),
        ("5USD", 1, "'5USD'"),
        ("1.5d", 1, "'1.5d'"),
        ("1w", 1, "'1w'"),
        ("500.005 USD", 1, "more than 2 decimal digits"),
        ("0.5 JPY", 1, "more than 0 decimal digits"),
        ("500 XYZ", 1, "unknown currency 'XYZ'"),
        ("1,000 USD", 3, "'000 USD'"),
        ("99999999999999d", 1, "too long"),
        ("'a", 1, "not closed"),
        ("'a\\", 3, "escapes"),
        (r"'\x41'", 2, "escapes"),
        ("'a\nb'", 3, "cannot be seen"),
        ("'a\u202eb'", 3, "cannot be seen"),
        ("True", 1, "write true"),
        ("a == None", 6, "no null"),
        ("a == null", 6, "no null"),
        ("$a", 1, "not part of the language"),
        ("é", 1, "not part of the language"),
        ("a\x00", 2, "not part of the language"),
        ("\ud800", 1, "not part of the language"),
        ("a // b", 4, "expected a value"),
        ("a ** b", 4, "expected a value"),
        ("a % b", 3, "not part of the language"),
        ("a if b else c", 3, "does not fit"),
        ("lambda: a", 7, "not part of the language"),
        ("f(a)(b)", 5, "does not fit"),
        ("f(a).b", 5, "does not fit"),
        ("a.f(b)", 4, "does not fit"),
        ("'a'.b", 4, "does not fit"),
    ],
)
def test_errors_name_the_place(source: str, column: int, said: str) -> None:
    """What the language does not have is refused where it stands, with a word on what to write."""
    with pytest.raises(ExpressionError) as caught:
        parse(source)

    assert (caught.value.column, said in caught.value.message) == (column, True), caught.value


@pytest.mark.parametrize(
    "source",
    [
        "(" * 1_000,
        "(" * 900 + "a" + ")" * 900,
        "[" * 900 + "]" * 900,
        "-" * 1_900 + "a",
        "not " * 400 + "a",
        "f(" * 600,
        "a+" * 900 + "a",
        "a or " * 399 + "a",
        "a" + "[*]" * 600 + "]",
        "a," * 900,
        "x" * (SOURCE_LENGTH_MAX + 1),
    ],
)
def test_hostile_texts_are_refused_at_once(source: str) -> None:
    """Neither nesting nor length exhausts the stack or the time."""
    begin = time.perf_counter()

    with pytest.raises(ExpressionError):
        parse(source)
    assert time.perf_counter() - begin < 5


def test_the_bounds_themselves_are_allowed() -> None:
    """The last size that fits is read, the next is refused by name."""
    deepest = "(" * DEPTH_MAX + "a" + ")" * DEPTH_MAX
    widest = "[" + "1," * (NODES_MAX - 2) + "1]"

    assert parse(deepest) == Path(("a",))
    assert isinstance(parse(widest), Listing)
    with pytest.raises(ExpressionError, match="nested deeper"):
        parse(f"({deepest})")
    with pytest.raises(ExpressionError, match="more than 400 parts"):
        parse(widest[:-1] + ",1]")
    with pytest.raises(ExpressionError, match="nested deeper"):
        parse("1" + "+1" * DEPTH_MAX)


names = st.text("abcxyz_09", min_size=1, max_size=4).map(lambda text: f"n{text}")
fields = names | st.just("[*]") | st.text(min_size=1, max_size=4).filter(lambda text: text.isprintable())
values: st.SearchStrategy[Value] = st.one_of(
    st.booleans(),
    st.text(st.characters(blacklist_categories=["C", "Z"]) | st.sampled_from("\n\t \"'\\"), max_size=8),
    st.decimals(0, 10**12, places=3),
    st.decimals(0, 10**9, places=2).map(lambda amount: Money(amount, "USD")),
    st.integers(0, 10**6).map(lambda seconds: timedelta(seconds=seconds)),
)


def _grow(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    few = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(Listing, few),
        st.builds(Not, inner),
        st.builds(Negation, inner),
        st.builds(Junctive, st.sampled_from(Junction), st.lists(inner, min_size=2, max_size=3).map(tuple)),
        st.builds(Comparison, st.sampled_from(Comparator), inner, inner),
        st.builds(Membership, inner, inner, st.booleans()),
        st.builds(Arithmetic, st.sampled_from(Operator), inner, inner),
        st.builds(Call, names, few),
    )


nodes: st.SearchStrategy[Node] = st.recursive(
    st.builds(Literal, values) | st.builds(lambda root, rest: Path((root, *rest)), names, st.lists(fields, max_size=3)),
    _grow,
    max_leaves=12,
)


@given(nodes)
def test_a_tree_is_the_tree_of_its_text(node: Node) -> None:
    """Printing and parsing give the same tree: what `explain` shows is what decides."""
    try:
        parsed = parse(to_source(node))
    except ExpressionError as error:
        assert "longer" in error.message or "deeper" in error.message or "more than" in error.message  # noqa: PT017 - too large a tree is a good end
        return

    assert parsed == node


fragments = st.sampled_from(
    [
        *("a", "args.x", "[*]", ".", "not", "in", "and", "or", "(", ")", "[", "]", ",", "+", "-", "*", "/", "==", "<="),
        *(
            "1",
            "010",
            "5.5",
            "USD",
            "14d",
            "'s'",
            '"',
            "'",
            "\\",
            "true",
            "sum(",
            "days_since(",
            " ",
            "\n",
            "é",
            "\x00",
        ),
    ]
)


@given(st.lists(fragments, max_size=30).map(" ".join) | st.lists(fragments, max_size=30).map("".join) | st.text())
def test_any_text_is_a_tree_or_an_error_with_a_column(source: str) -> None:
    """The parser raises nothing else, and its column lies in the text or right behind it."""
    try:
        parse(source)
    except ExpressionError as error:
        assert 1 <= error.column <= len(source) + 1  # noqa: PT017 - an error is one of two good ends
