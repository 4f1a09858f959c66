"""Wrong spellings of single values: the next number, another operator, a wider pattern."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import re2

from policies.currencies import exponent
from policies.expressions import ExpressionError
from policies.expressions.tokens import Token, tokenize
from policies.spelling import DURATION, MONEY, number_text, spelled_as

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from policies.expressions.tokens import Lexeme

_OPERATORS: Final[Mapping[str, str]] = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "and": "or",
    "or": "and",
    "+": "-",
    "-": "+",
    "true": "false",
    "false": "true",
    "min": "max",
    "max": "min",
    "any_in": "all_in",
    "all_in": "any_in",
}
_NUMBER: Final = re2.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_REPEATED: Final = re2.compile(r"\{([0-9]+)(,?)([0-9]*)\}")
_CLASS: Final = re2.compile(r"\[\^?\]?(?:\\.|[^\]\\])+\]")
_FILLED_IN: Final = re2.compile(r"\{([^{}]+)\}")
ANYTHING: Final = "(?s).*"
OTHER_WORDS: Final = "Or so."


def amounts(text: str) -> Iterator[str]:
    """The nearest amounts above and below: `500.01 USD` and `499.99 USD`, `13d` and `15d`, `2.6` and `2.4`."""
    if (money := spelled_as(MONEY, text)) is not None and _NUMBER.fullmatch(money.group(1)):
        digits = exponent(money.group(2))
        yield from (f"{number} {money.group(2)}" for number in _beside(money.group(1), digits))
    elif (duration := spelled_as(DURATION, text)) is not None:
        yield from (f"{number}{duration.group(2)}" for number in _beside(duration.group(1), 0))
    elif _NUMBER.fullmatch(text):
        yield from _beside(text, 0)


def _beside(text: str, digits: int) -> Iterator[str]:
    number = Decimal(text)
    places = max(digits, -int(number.as_tuple().exponent))
    step = Decimal(1).scaleb(-places)
    for other in (number + step, number - step):
        if other >= 0 or number < 0:
            yield number_text(other) if not places else f"{other:.{places}f}"


def expressions(text: str) -> Iterator[str]:
    """The expression with one operator, function or figure that is another, or without one `not`."""
    try:
        lexemes = tokenize(text)
    except ExpressionError:
        return
    for at, lexeme in enumerate(lexemes[:-1]):
        start = lexeme.column - 1
        end = start + len(lexeme.text)
        before, after = text[:start], text[end:]
        if lexeme.token is Token.LITERAL and lexeme.text:
            yield from (f"{before}{other}{after}" for other in amounts(lexeme.text))
        elif lexeme.token is Token.KEYWORD and lexeme.text == "not":
            yield f"{before.rstrip()} {after.lstrip()}".strip()
        elif lexeme.token is Token.KEYWORD and lexeme.text == "in":
            if at and lexemes[at - 1].text != "not":
                yield f"{before}not in{after}"
        elif lexeme.text in _OPERATORS and not _is_name_of_field(lexemes, at):
            yield f"{before}{_OPERATORS[lexeme.text]}{after}"


def _is_name_of_field(lexemes: list[Lexeme], at: int) -> bool:
    """Whether a word such as `max` is a step of a path here, and no function."""
    if lexemes[at].token is not Token.NAME:
        return False
    return (at > 0 and lexemes[at - 1].text == ".") or lexemes[at + 1].text != "("


def patterns(text: str) -> Iterator[str]:
    """The pattern that matches everything, with other counts, and with a class that is any character."""
    yield ANYTHING
    for found in _REPEATED.finditer(text):
        low, comma, high = found.group(1), found.group(2), found.group(3)
        before, after = text[: found.start()], text[found.end() :]
        if high or not comma:
            yield (
                f"{before}{{{low}{comma}{int(high) + 1 if high else ''}}}{after}"
                if comma
                else (f"{before}{{{int(low) + 1}}}{after}")
            )
        if int(low) > 0:
            yield f"{before}{{{int(low) - 1}{comma}{high}}}{after}"
    for found in _CLASS.finditer(text):
        yield f"{text[: found.start()]}.{text[found.end() :]}"


def texts(text: str) -> Iterator[str]:
    """Other words, and the same words with another figure: `{days_since(order.at)}` has an expression within it."""
    yield f"{text} {OTHER_WORDS}"
    for found in _FILLED_IN.finditer(text):
        yield from (f"{text[: found.start(1)]}{other}{text[found.end(1) :]}" for other in expressions(found.group(1)))
