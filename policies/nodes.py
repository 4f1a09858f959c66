"""The tree a configuration file is read into: each node knows its line and its path, and answers typed questions.

It knows YAML's three shapes and the spelling of plain scalars; it knows no key of any file. A question a node cannot
answer raises `DocumentError`, which `Problems.collect` keeps so that a reader can go on and tell every mistake at once.
"""

from __future__ import annotations

import difflib
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum
from typing import TYPE_CHECKING, Never, TypeAlias, TypeVar

import re2

from policies.problems import DocumentError, Problem

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from policies.model import Origin

DIGITS_MAX = 30  # of one number: more than any amount of money, within the precision of the decimal context

_NUMBER = re2.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?")
_NUMBER_LIKE = re2.compile(  # spellings that one reader takes for a number and another for something else
    r"[-+]?[0-9][0-9_,]*(?:\.[0-9_]*)?(?:[eE][-+]?[0-9]+)?|[-+]?\.[0-9][0-9_]*(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?0[xX][0-9a-fA-F_]+|[-+]?0[oO][0-7_]+|[-+]?0[bB][01_]+|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"
)
_NULLS = frozenset({"", "~", "null", "Null", "NULL"})

T = TypeVar("T")
E = TypeVar("E", bound=Enum)


@dataclass(frozen=True, slots=True)
class _Located:
    origin: Origin
    path: str

    def fail(self, message: str) -> Never:
        """Raise a `DocumentError` that points here."""
        raise DocumentError((Problem(self.origin, self.path, message),))

    @property
    def described(self) -> str:
        """What stands here, for messages."""
        return "something else"

    def mapping(self) -> MappingNode:
        self.fail(f"expected a mapping, got {self.described}")

    def sequence(self) -> tuple[Node, ...]:
        """The items of a list."""
        self.fail(f"expected a list, got {self.described}")

    def value(self) -> bool | str | Decimal:
        """A scalar as its spelling says: `true`/`false`, an exact number, else a text."""
        self.fail(f"expected a single value, got {self.described}")

    def text(self) -> str:
        """A text that is not empty. A plain number, boolean or null is refused: it must be quoted to be a text."""
        self.fail(f"expected a text, got {self.described}")

    def source(self) -> str:
        """The spelling of a single value, as the text of an expression: `true` and `14` need no quotes here."""
        self.fail(f"expected an expression, got {self.described}")

    def number(self) -> Decimal:
        """An exact number as it is spelled: `1000.10` keeps its digits."""
        self.fail(f"expected a number, got {self.described}")

    def integer(self, minimum: int | None = None, maximum: int | None = None) -> int:
        number = self.number()
        if number != number.to_integral_value():
            self.fail(f"expected an integer, got {self.described}")
        value = int(number)
        if minimum is not None and value < minimum:
            self.fail(f"must be at least {minimum}, got {value}")
        if maximum is not None and value > maximum:
            self.fail(f"must be at most {maximum}, got {value}")
        return value

    def boolean(self) -> bool:
        """`true` or `false`; `yes`, `no`, `on`, `off` are texts."""
        self.fail(f"expected true or false, got {self.described}")

    def choice(self, enum: type[E], later: Collection[str] = ()) -> E:
        """A member of an enum whose values are the spellings allowed; those of `later` are told to be unsupported."""
        allowed = [str(member.value) for member in enum]
        return enum(self.one_of(allowed, later))

    def one_of(self, allowed: Collection[str], later: Collection[str] = ()) -> str:
        del later
        self.fail(f"expected one of {listed(allowed)}, got {self.described}")

    def convert(self, function: Callable[[str], T]) -> T:
        """`function` of the text; its `ValueError` becomes a problem here."""
        return self.apply(function, self.text())

    def apply(self, function: Callable[[str], T], text: str) -> T:
        """`function` of a text that belongs here, such as a key; its `ValueError` becomes a problem here."""
        try:
            return function(text)
        except DocumentError:
            raise
        except ValueError as error:
            self.fail(str(error))


@dataclass(frozen=True, slots=True)
class ScalarNode(_Located):
    """One value. `spelling` is its text; `plain` tells that it stood without quotes."""

    spelling: str
    plain: bool

    @property
    def is_null(self) -> bool:
        return self.plain and self.spelling in _NULLS

    @property
    def described(self) -> str:
        if self.is_null:
            return "nothing"
        shown = repr(self.spelling if len(self.spelling) <= 60 else self.spelling[:57] + "...")
        if self.plain and self.spelling in ("true", "false"):
            return f"the boolean {self.spelling}"
        if self.plain and _NUMBER.fullmatch(self.spelling):
            return f"the number {self.spelling[:60]}"
        return shown

    def value(self) -> bool | str | Decimal:
        if self.is_null:
            self.fail("has no value")
        if self.plain and self.spelling in ("true", "false"):
            return self.spelling == "true"
        if self.plain and _NUMBER.fullmatch(self.spelling):
            return self.number()
        if self.plain and _NUMBER_LIKE.fullmatch(self.spelling):
            self.fail(f"{self.spelling!r} is neither a number nor clearly a text: write a decimal number, or quote it")
        return self.spelling

    def text(self) -> str:
        if self.is_null or not self.spelling:
            self.fail("has no value" if self.plain else "must not be empty")
        if self.plain and (self.spelling in ("true", "false") or _NUMBER.fullmatch(self.spelling)):
            self.fail(f"expected a text, got {self.described}: quote it")
        return self.spelling

    def source(self) -> str:
        if not self.spelling.strip() or self.is_null:
            self.fail("has no value")
        return self.spelling.strip()

    def number(self) -> Decimal:
        if not self.plain or not _NUMBER.fullmatch(self.spelling):
            self.fail(f"expected a decimal number such as 14 or 1000.10, got {self.described}")
        if len(self.spelling) > DIGITS_MAX + 2:
            self.fail(f"a number has at most {DIGITS_MAX} digits")
        return Decimal(self.spelling)

    def boolean(self) -> bool:
        if not self.plain or self.spelling not in ("true", "false"):
            self.fail(f"expected true or false, got {self.described}")
        return self.spelling == "true"

    def one_of(self, allowed: Collection[str], later: Collection[str] = ()) -> str:
        if self.spelling in later:
            self.fail(f"`{self.spelling}` is not supported in this version, expected one of {listed(allowed)}")
        if self.is_null or self.spelling not in allowed:
            self.fail(f"expected one of {listed(allowed)}, got {self.described}{suggestion(self.spelling, allowed)}")
        return self.spelling


@dataclass(frozen=True, slots=True)
class SequenceNode(_Located):
    items: tuple[Node, ...]

    @property
    def described(self) -> str:
        return "a list"

    def sequence(self) -> tuple[Node, ...]:
        return self.items


@dataclass(frozen=True, slots=True)
class MappingNode(_Located):
    """Keys in the order of the file. `key_origins` tells where each key stands."""

    entries: Mapping[str, Node]
    key_origins: Mapping[str, Origin] = field(default_factory=dict)

    @property
    def described(self) -> str:
        return "a mapping"

    def mapping(self) -> MappingNode:
        return self

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def get(self, key: str) -> Node | None:
        return self.entries.get(key)

    def require(self, key: str) -> Node:
        if key not in self.entries:
            self.fail(f"{key!r} is required")
        return self.entries[key]

    def origin_of(self, key: str) -> Origin:
        return self.key_origins.get(key, self.origin)

    def check_keys(self, allowed: Collection[str], later: Collection[str] = ()) -> None:
        """Refuse every key that is not allowed, all in one error; keys of `later` are told to be unsupported yet."""
        found = tuple(
            Problem(self.origin_of(key), joined(self.path, key), _unknown(key, allowed, later))
            for key in self.entries
            if key not in allowed
        )
        if found:
            raise DocumentError(found)


Node: TypeAlias = "ScalarNode | SequenceNode | MappingNode"


def _unknown(key: str, allowed: Collection[str], later: Collection[str]) -> str:
    if key in later:
        return f"`{key}` is not supported in this version"
    return f"unknown key {key!r}{suggestion(key, allowed) or f', allowed are {listed(allowed)}'}"


def joined(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def listed(names: Collection[str]) -> str:
    """`a, b, c`, for messages."""
    return ", ".join(names) if names else "nothing"


def suggestion(name: str, known: Collection[str]) -> str:
    """`, did you mean 'x'?`, or nothing where no known name is close."""
    close = difflib.get_close_matches(name, known, n=1, cutoff=0.7)
    return f", did you mean {close[0]!r}?" if close else ""
