"""Tokens -> tree, by recursive descent. From loose to tight: or, and, not, one comparison, + -, * /, unary minus."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from policies.expressions.errors import ExpressionError
from policies.expressions.scope import EACH
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
    walk,
)
from policies.expressions.tokens import Lexeme, Token, tokenize

if TYPE_CHECKING:
    from collections.abc import Callable

DEPTH_MAX = 32  # levels of nesting, and of the tree
NODES_MAX = 400
TREES_KEPT_MAX = 512

_COMPARATORS = {comparator.value: comparator for comparator in Comparator}
_ADDITIVE = {operator.value: operator for operator in (Operator.ADD, Operator.SUBTRACT)}
_MULTIPLICATIVE = {operator.value: operator for operator in (Operator.MULTIPLY, Operator.DIVIDE)}
_FOREIGN = {
    "True": "write true",
    "False": "write false",
    "None": "there is no null: a missing value is an error",
    "null": "there is no null: a missing value is an error",
    "AND": "write and",
    "OR": "write or",
    "NOT": "write not",
}


@lru_cache(maxsize=TREES_KEPT_MAX)
def parse(source: str) -> Node:
    """The tree of the text, its types not yet known. `ExpressionError` with the column of what does not fit.

    Trees never change, so that of a text is kept: a run over mutants reads the same few hundred texts a thousand times.
    """
    parser = _Parser(tokenize(source))
    node = parser.whole()
    for count, (part, depth) in enumerate(walk(node), start=1):
        if depth > DEPTH_MAX:
            raise ExpressionError(f"the expression is nested deeper than {DEPTH_MAX} levels", part.column)
        if count > NODES_MAX:
            raise ExpressionError(f"the expression has more than {NODES_MAX} parts", part.column)
    return node


class _Parser:
    __slots__ = ("_at", "_depth", "_lexemes")

    def __init__(self, lexemes: list[Lexeme]) -> None:
        self._lexemes = lexemes
        self._at = 0
        self._depth = 0

    def whole(self) -> Node:
        node = self._either()
        if self._here.token is not Token.END:
            raise ExpressionError(f"{_shown(self._here)} does not fit here", self._here.column)
        return node

    # --- tokens

    @property
    def _here(self) -> Lexeme:
        return self._lexemes[self._at]

    def _take(self) -> Lexeme:
        lexeme = self._here
        self._at += 1
        return lexeme

    def _is(self, *texts: str) -> bool:
        return self._here.token in (Token.KEYWORD, Token.SYMBOL) and self._here.text in texts

    def _accept(self, text: str) -> bool:
        if not self._is(text):
            return False
        self._at += 1
        return True

    def _expect(self, text: str) -> None:
        if not self._accept(text):
            raise ExpressionError(f"expected {text!r}, not {_shown(self._here)}", self._here.column)

    def _nested(self, read: Callable[[], Node]) -> Node:
        self._depth += 1
        if self._depth > DEPTH_MAX:
            raise ExpressionError(f"the expression is nested deeper than {DEPTH_MAX} levels", self._here.column)
        node = read()
        self._depth -= 1
        return node

    # --- levels

    def _either(self) -> Node:
        return self._joined(Junction.OR, self._both)

    def _both(self) -> Node:
        return self._joined(Junction.AND, self._negated)

    def _joined(self, junction: Junction, operand: Callable[[], Node]) -> Node:
        operands, column = [operand()], self._here.column
        while self._accept(junction.value):
            operands.append(operand())
        return operands[0] if len(operands) == 1 else Junctive(junction, tuple(operands), column)

    def _negated(self) -> Node:
        column = self._here.column
        if self._accept("not"):
            return Not(self._nested(self._negated), column)
        return self._compared()

    def _compared(self) -> Node:
        left = self._sum()
        node = self._comparison_with(left)
        if node is not left and self._is("in", "not", *_COMPARATORS):
            raise ExpressionError("comparisons do not chain: join two of them with and", self._here.column)
        return node

    def _comparison_with(self, left: Node) -> Node:
        column = self._here.column
        if self._accept("in"):
            return Membership(left, self._sum(), negated=False, column=column)
        if self._accept("not"):
            self._expect("in")
            return Membership(left, self._sum(), negated=True, column=column)
        if self._is(*_COMPARATORS):
            return Comparison(_COMPARATORS[self._take().text], left, self._sum(), column)
        return left

    def _sum(self) -> Node:
        return self._computed(_ADDITIVE, self._product)

    def _product(self) -> Node:
        return self._computed(_MULTIPLICATIVE, self._signed)

    def _computed(self, operators: dict[str, Operator], operand: Callable[[], Node]) -> Node:
        node = operand()
        while self._is(*operators):
            lexeme = self._take()
            node = Arithmetic(operators[lexeme.text], node, operand(), lexeme.column)
        return node

    def _signed(self) -> Node:
        column = self._here.column
        if self._accept("-"):
            return Negation(self._nested(self._signed), column)
        return self._primary()

    def _primary(self) -> Node:
        lexeme = self._take()
        if lexeme.token is Token.LITERAL:
            assert lexeme.value is not None
            return Literal(lexeme.value, lexeme.column)
        if lexeme.token is Token.NAME:
            return self._named(lexeme)
        if lexeme.token in (Token.KEYWORD, Token.SYMBOL):
            if lexeme.text in ("true", "false"):
                return Literal(lexeme.text == "true", lexeme.column)
            if lexeme.text == "(":
                node = self._nested(self._either)
                self._expect(")")
                return node
            if lexeme.text == "[":
                return Listing(self._series("]"), lexeme.column)
        hint = ": put it in parentheses" if lexeme.text == "not" else ""
        raise ExpressionError(f"expected a value, not {_shown(lexeme)}{hint}", lexeme.column)

    def _series(self, closing: str) -> tuple[Node, ...]:
        nodes: list[Node] = []
        while not self._accept(closing):
            if nodes:
                self._expect(",")
            nodes.append(self._nested(self._either))
        return tuple(nodes)

    def _named(self, name: Lexeme) -> Node:
        if name.text in _FOREIGN:
            raise ExpressionError(f"{name.text!r} is not part of the language: {_FOREIGN[name.text]}", name.column)
        if self._accept("("):
            return Call(name.text, self._series(")"), name.column)
        steps = [name.text]
        while True:
            if self._accept("."):
                steps.append(self._field_name())
            elif self._accept(EACH):
                steps.append(EACH)
            elif self._accept("["):
                steps.append(self._quoted_field())
            else:
                return Path(tuple(steps), name.column)

    def _field_name(self) -> str:
        lexeme = self._take()
        if lexeme.token not in (Token.NAME, Token.KEYWORD):
            raise ExpressionError(f"expected the name of a field, not {_shown(lexeme)}", lexeme.column)
        return lexeme.text

    def _quoted_field(self) -> str:
        lexeme = self._take()
        if lexeme.token is not Token.LITERAL or not isinstance(lexeme.value, str) or lexeme.value in ("", EACH):
            raise ExpressionError('in brackets after a path stands [*] or ["the name of a field"]', lexeme.column)
        self._expect("]")
        return lexeme.value


def _shown(lexeme: Lexeme) -> str:
    if lexeme.token is Token.END:
        return lexeme.text
    return repr(lexeme.text) if lexeme.text else "a string"
