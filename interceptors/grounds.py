"""Where one value comes from: a place in the user's own words, or a field of a result. Numbers, money and dates are
compared as values, ids character by character, other texts without case and width."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from itertools import islice
from typing import TYPE_CHECKING, Final

from interceptors.conversation import TEXT_LENGTH_MAX, Spoken
from interceptors.decisions import Evidence, EvidenceKind
from interceptors.readings import ReadingError, read_declared, read_value
from interceptors.spoken import dates, numbers
from interceptors.tokens import occurrences
from policies.expressions import EACH, Unreadable
from policies.values import Kind, Money

if TYPE_CHECKING:
    from collections.abc import Iterator

    from interceptors.calls import Json
    from interceptors.conversation import Conversation
    from interceptors.seen import Seen
    from policies.fact_fields import FactField
    from policies.guards import FromResult, FromText
    from policies.model import Argument, Policy

_SCHEMES: Final = ("https://", "http://")
FIELDS_MAX: Final = 10_000
"""Fields of all results of a tool that are compared with one value."""


def from_user(path: str, argument: Argument, value: object, conversation: Conversation) -> Evidence | None:
    """The first place at which the user wrote the value, unless a result said it before: quoting makes nothing true."""
    for part in conversation.parts:
        if not isinstance(part, Spoken):
            if _was_seen(value, part.seen):
                return None
            continue
        for start, end in _places(argument, value, part.text):
            if part.is_own(start, end):
                return Evidence(path, EvidenceKind.USER, part.turn, start, end)
    return None


def from_result(
    path: str, argument: Argument, value: object, source: FromResult, conversation: Conversation, policy: Policy
) -> Evidence | None:
    """The first field of a result that is the value. It is read as the tool's `result` declares it, else as the
    argument is: of the same type, and money in the same unit.
    """
    tool = policy.tools.get(source.tool)
    declared = None if tool is None else next((one for one in tool.result.values() if one.path == source.path), None)
    fields = (
        (result, where, field)
        for result in conversation.results(source.tool)
        for where, field in _fields(result.value, source.path, "")
    )
    for result, where, field in islice(fields, FIELDS_MAX):
        if _is_same(argument, declared, value, field) and _is_in_currency(result.value, declared):
            return Evidence(path, EvidenceKind.RESULT, result.turn, path=where, receipt=result.receipt)
    return None


def from_text(
    path: str, argument: Argument, value: object, source: FromText, conversation: Conversation
) -> Evidence | None:
    """The first text of a result in which the value stands, as a user's own text would have to hold it."""
    fields = (
        (result, where, field)
        for result in conversation.results(source.tool)
        for where, field in _fields(result.value, source.path, "")
    )
    for result, where, field in islice(fields, FIELDS_MAX):
        if isinstance(field, str) and len(field) <= TEXT_LENGTH_MAX:
            for start, end in _places(argument, value, field):
                return Evidence(path, EvidenceKind.RESULT, result.turn, start, end, where, result.receipt)
    return None


def _places(argument: Argument, value: object, text: str) -> Iterator[tuple[int, int]]:
    """Where in the text the value stands, in one reading."""
    if isinstance(value, str):
        for spelling in _spellings(value):
            yield from occurrences(spelling, text, is_exact=argument.pattern is not None)
    elif isinstance(value, Money):
        found = (one for one in numbers(text, value.amount).numbers if one.is_money(value.amount, value.currency))
        yield from ((number.start, number.end) for number in found)
    elif isinstance(value, Decimal):
        yield from ((one.start, one.end) for one in numbers(text, value).numbers if one.is_number(value))
    elif type(value) is date:
        yield from ((start, end) for start, end, days in dates(text, value) if days == {value})


def _spellings(value: str) -> tuple[str, ...]:
    """The text; and a web address as people write it, without what it begins with."""
    for scheme in _SCHEMES:
        if value[: len(scheme)].lower() == scheme:
            return (value, value[len(scheme) :])
    return (value,)


def _was_seen(value: object, seen: Seen) -> bool:
    if isinstance(value, str):
        return any(map(seen.has_text, _spellings(value)))
    if isinstance(value, Money):
        return seen.has_number(value.amount)
    if isinstance(value, Decimal):
        return seen.has_number(value)
    return type(value) is not date or seen.has_date(value)


def _fields(value: Json, steps: tuple[str, ...], where: str) -> Iterator[tuple[str, Json]]:
    if not steps:
        yield where, value
    elif steps[0] == EACH:
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from _fields(item, steps[1:], f"{where}[{index}]")
    elif isinstance(value, dict) and steps[0] in value:
        yield from _fields(value[steps[0]], steps[1:], f"{where}.{steps[0]}" if where else steps[0])


def _is_in_currency(document: object, declared: FactField | None) -> bool:
    """Whether the result says, where it must say, that the amount is in the declared currency."""
    if declared is None or not declared.currency_path:
        return True
    return isinstance(document, dict) and not isinstance(read_declared(document, declared), Unreadable)


def _is_same(argument: Argument, declared: FactField | None, value: object, field: Json) -> bool:
    if (
        declared is None
        and argument.type.kind is Kind.STRING
        and isinstance(field, int)
        and not isinstance(field, bool)
    ):
        return value == str(field)  # an id that the back end counts
    type_, unit = (argument.type, argument.money_unit) if declared is None else (declared.type, declared.money_unit)
    try:
        return bool(read_value(field, type_, unit) == value)
    except ReadingError:
        return False
