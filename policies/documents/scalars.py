"""Names and small values that several sections share."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import re2

from policies.currencies import exponent
from policies.fee_schedules import ROOT as FEES
from policies.problems import DocumentError
from policies.secrets import Expandable
from policies.spelling import parse_duration
from policies.values import BOOLEAN, DATE, INTEGER, NUMBER, STRING, Type

if TYPE_CHECKING:
    from collections.abc import Mapping

    from policies.nodes import Node

_IDENTIFIER = re2.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_LABEL = re2.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,62}[A-Za-z0-9])?")
_CODE = re2.compile(r"[a-z][a-z0-9_]{0,63}")
_WORDS = frozenset({"and", "or", "not", "in", "true", "false", "null"})
ROOTS: Final = ("args", "session", "constants", FEES)

SIMPLE_TYPES: Mapping[str, Type] = MappingProxyType(
    {"string": STRING, "number": NUMBER, "integer": INTEGER, "boolean": BOOLEAN, "date": DATE}
)


def identifier(text: str) -> str:
    """A name that expressions can spell. `ValueError` else."""
    if not _IDENTIFIER.fullmatch(text) or text in _WORDS:
        raise ValueError(f"{text!r} is no name: letters, digits and _, not a word of the expression language")
    return text


def label(text: str) -> str:
    """The name of a policy or an identity. `ValueError` else."""
    if not _LABEL.fullmatch(text):
        raise ValueError(f"{text!r} is no name: letters, digits, and . _ - between them, at most 64")
    return text


def code(text: str) -> str:
    """A reason code. `ValueError` else."""
    if not _CODE.fullmatch(text):
        raise ValueError(f"{text!r} is no reason code: lower case letters, digits and _, at most 64")
    return text


def dotted_path(text: str) -> tuple[str, ...]:
    """`customer.id` as keys from the top of a JSON document. `ValueError` for an empty step."""
    steps = tuple(text.split("."))
    if any(not step or step != step.strip() or "[" in step for step in steps):
        raise ValueError(f"{text!r} is no path: keys of objects with dots between them")
    return steps


def currency(text: str) -> str:
    """An ISO 4217 code. `ValueError` else."""
    exponent(text)
    return text


def time_zone(text: str) -> ZoneInfo:
    """A zone of the IANA database. `ValueError` else."""
    try:
        return ZoneInfo(text)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(f"{text!r} is no time zone of the IANA database, such as Europe/Berlin") from None


def seconds(text: str) -> float:
    """A duration such as `2s` in seconds. `ValueError` else."""
    return parse_duration(text).total_seconds()


def expandable(node: Node) -> Expandable:
    """A text with references to secrets. What it is, where it is none, is not told: it may be the secret itself."""
    try:
        text = node.text()
    except DocumentError:
        node.fail("expected a text, best a reference such as ${NAME} or ${file:/path}")
    if any(character < " " or character == "\x7f" for character in text):
        node.fail("must be one line")
    return node.apply(Expandable.parse, text)


def simple_type(node: Node) -> Type:
    """One of the types that need no further word."""
    if getattr(node, "spelling", None) == "money":
        node.fail("money needs its currency and its unit: {money: USD, unit: minor}")
    return SIMPLE_TYPES[node.one_of(SIMPLE_TYPES)]
