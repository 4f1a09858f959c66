"""Reply templates: text with `{expression}` parts, in which only typed scalars may stand."""

from __future__ import annotations

from dataclasses import dataclass, field

from policies.expressions import Environment, EvaluationError, Expression, ExpressionError, Scope, compile_expression
from policies.values import Kind, Type, render

SOURCE_LENGTH_MAX = 4_000  # characters
PARTS_MAX = 50  # expressions
TEXT_LENGTH_MAX = 8_000  # characters of what is rendered

_SCALARS = frozenset({Kind.BOOLEAN, Kind.NUMBER, Kind.MONEY, Kind.DATE, Kind.TIMESTAMP, Kind.DURATION})


@dataclass(frozen=True, slots=True)
class Template:
    """`paths` are the dotted paths that its parts read, `functions` what they call. `{{` and `}}` are braces."""

    source: str
    paths: frozenset[tuple[str, ...]]
    functions: frozenset[str]
    _parts: tuple[str | Expression, ...] = field(repr=False)

    @classmethod
    def compile(cls, source: str, scope: Scope) -> Template:
        """`ExpressionError` for a bad part, and for one that could be free text, a list or a record."""
        if len(source) > SOURCE_LENGTH_MAX:
            raise ExpressionError(f"the template is longer than {SOURCE_LENGTH_MAX} characters")
        parts = tuple(_parts(source, scope))
        expressions = [part for part in parts if isinstance(part, Expression)]
        if len(expressions) > PARTS_MAX:
            raise ExpressionError(f"the template has more than {PARTS_MAX} expressions")
        return cls(
            source=source,
            paths=frozenset(path for expression in expressions for path in expression.paths),
            functions=frozenset(name for expression in expressions for name in expression.functions),
            _parts=parts,
        )

    @property
    def needs_time_zone(self) -> bool:
        """Whether a part counts days on a calendar."""
        return any(part.needs_time_zone for part in self._parts if isinstance(part, Expression))

    def render(self, environment: Environment) -> str:
        """`EvaluationError` where a part has no value, or is a string that holds what cannot be seen."""
        text = "".join(part if isinstance(part, str) else _rendered(part, environment) for part in self._parts)
        if len(text) > TEXT_LENGTH_MAX:
            raise EvaluationError(f"the text is longer than {TEXT_LENGTH_MAX} characters")
        return text


def _parts(source: str, scope: Scope) -> list[str | Expression]:
    parts: list[str | Expression] = []
    text, at = "", 0
    while at < len(source):
        if source[at : at + 2] in ("{{", "}}"):
            text, at = text + source[at], at + 2
        elif source[at] == "{":
            end = _closing(source, at)
            if text:
                parts.append(text)
            parts.append(_compiled(source[at + 1 : end], scope, at + 1))
            text, at = "", end + 1
        elif source[at] == "}":
            raise ExpressionError("a } stands alone: write }} for a brace", at + 1)
        else:
            text, at = text + source[at], at + 1
    return [*parts, text] if text else parts


def _closing(source: str, opening: int) -> int:
    """Where the part that opens here ends: the first `}` outside of its strings."""
    quote, at = "", opening + 1
    while at < len(source):
        character = source[at]
        if quote and character == "\\":
            at += 1
        elif quote:
            quote = "" if character == quote else quote
        elif character in "'\"":
            quote = character
        elif character == "}":
            return at
        at += 1
    raise ExpressionError("a { is not closed: write {{ for a brace", opening + 1)


def _compiled(source: str, scope: Scope, before: int) -> Expression:
    """`before` characters of the template stand before the expression."""
    try:
        expression = compile_expression(source, scope)
    except ExpressionError as error:
        raise ExpressionError(error.message, error.column + before) from None
    if not _may_stand(expression.type):
        raise ExpressionError(f"{source.strip()!r} may not stand in a reply: {_why_not(expression.type)}", before + 1)
    return expression


def _may_stand(type_: Type) -> bool:
    return type_.kind in _SCALARS or (type_.kind is Kind.STRING and type_.safe)


def _why_not(type_: Type) -> str:
    if type_.kind is Kind.STRING:
        return "it is free text, bound by neither a pattern nor one_of"
    if type_.kind is Kind.ANY:
        return "its type is not declared, so it could be free text"
    return f"it is a {type_.kind.value}"


def _rendered(expression: Expression, environment: Environment) -> str:
    value = expression.evaluate(environment)
    if isinstance(value, str) and not value.isprintable():
        raise EvaluationError("a string holds a character that cannot be seen")
    try:
        return render(value, environment.zone)
    except ValueError:
        raise EvaluationError("a list or a record has no text") from None
