"""Text -> tokens. A closed set of spellings; everything else is an error with its column."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING

import re2

from policies.expressions.errors import ExpressionError
from policies.spelling import parse_amount_text, parse_duration
from policies.values import Value, parse_money

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

SOURCE_LENGTH_MAX = 2_000  # characters


class Token(Enum):
    LITERAL = auto()
    NAME = auto()
    KEYWORD = auto()
    SYMBOL = auto()
    END = auto()


KEYWORDS = frozenset({"and", "or", "not", "in", "true", "false"})


@dataclass(frozen=True, slots=True)
class Lexeme:
    """`text` as spelled, but for a string literal, whose text is empty; `value` only for literals."""

    token: Token
    text: str
    column: int
    value: Value | None = None


_SPACE = re2.compile(r"[ \t\r\n]+")
_NAME = re2.compile(r"[A-Za-z_][A-Za-z0-9_]*")
# A number is read together with whatever is glued to it, so that `010`, `1e6`, `1_000` and `1.2.3` are named whole.
_NUMBER = re2.compile(r"[0-9][0-9A-Za-z_.]*")
_CURRENCY = re2.compile(r"[ \t]+([A-Z]{3})(?:[^A-Za-z0-9_]|$)")
_SYMBOLS = ("[*]", "==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", "[", "]", ",", ".")
_ESCAPES: Mapping[str, str] = {"\\": "\\", "'": "'", '"': '"', "n": "\n", "t": "\t"}
_HINTS: Mapping[str, str] = {"=": "write == to compare", "!": "write not", "&": "write and", "|": "write or"}


def tokenize(source: str) -> list[Lexeme]:
    """The tokens of the text, closed by `END`. `ExpressionError` for what the language does not spell."""
    if len(source) > SOURCE_LENGTH_MAX:
        raise ExpressionError(f"the expression is longer than {SOURCE_LENGTH_MAX} characters")
    # One character a column: the engine reads UTF-8, and only string literals may hold more than ASCII.
    plain = "".join(character if character.isascii() else "\x1a" for character in source)
    found: list[Lexeme] = []
    at = 0
    while at < len(source):
        space = _SPACE.match(plain, at)
        if space:
            at = space.end()
            continue
        lexeme, at = _next(source, plain, at)
        found.append(lexeme)
    found.append(Lexeme(Token.END, "the end", len(source) + 1))
    return found


def _next(source: str, plain: str, at: int) -> tuple[Lexeme, int]:
    column = at + 1
    if source[at] in "'\"":
        return _string(source, at)
    name = _NAME.match(plain, at)
    if name:
        token = Token.KEYWORD if name.group() in KEYWORDS else Token.NAME
        return Lexeme(token, name.group(), column), name.end()
    number = _NUMBER.match(plain, at)
    if number:
        return _number(plain, number.group(), at)
    for symbol in _SYMBOLS:
        if plain.startswith(symbol, at):
            return Lexeme(Token.SYMBOL, symbol, column), at + len(symbol)
    hint = _HINTS.get(source[at])
    raise ExpressionError(f"{source[at]!r} is not part of the language" + (f": {hint}" if hint else ""), column)


def _number(plain: str, text: str, at: int) -> tuple[Lexeme, int]:
    end = at + len(text)
    if text[-1] in "dhms":
        return _literal(text, at, parse_duration), end
    currency = _CURRENCY.match(plain, end)
    if currency:
        end = currency.end(1)
        return _literal(f"{text} {currency.group(1)}", at, parse_money), end
    return _literal(text, at, parse_amount_text), end


def _literal(text: str, at: int, parse: Callable[[str], Value]) -> Lexeme:
    try:
        return Lexeme(Token.LITERAL, text, at + 1, parse(text))
    except ValueError as error:
        raise ExpressionError(f"{text!r}: {error}", at + 1) from None


def _string(source: str, at: int) -> tuple[Lexeme, int]:
    held: list[str] = []
    quote, index = source[at], at + 1
    while index < len(source):
        character = source[index]
        if character == quote:
            return Lexeme(Token.LITERAL, "", at + 1, "".join(held)), index + 1
        if character == "\\":
            index += 1
            escaped = _ESCAPES.get(source[index : index + 1])
            if escaped is None:
                raise ExpressionError("the escapes of a string are \\\\ \\' \\\" \\n and \\t", index)
            character = escaped
        elif not character.isprintable():
            raise ExpressionError("a string holds a character that cannot be seen", index + 1)
        held.append(character)
        index += 1
    raise ExpressionError("the string is not closed", at + 1)
