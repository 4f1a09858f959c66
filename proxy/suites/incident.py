"""A receipt as a case of a suite: what the decision rested on, as far as a receipt keeps it.

What was not kept stands as `FILL IN: ...`, and a suite that holds such a text is not run.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors.causes import RefusalCause
from interceptors.context import FactFailure
from interceptors.strict_json import canonical
from policies.currencies import exponent
from policies.expressions import EACH
from policies.model import Ruling
from policies.spelling import parse_amount_text
from policies.values import Kind, Unit, parse_money
from proxy.suites.reader import PLACEHOLDER

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from interceptors.calls import Json
    from policies.fact_fields import FactField
    from policies.model import Policy, Tool

_FAILURES: Final = {
    RefusalCause.FACT_TIMEOUT: FactFailure.TIMEOUT,
    RefusalCause.FACT_UNAVAILABLE: FactFailure.UNAVAILABLE,
    RefusalCause.FACT_INVALID: FactFailure.INVALID,
    RefusalCause.FACT_MISSING: FactFailure.MISSING,
}
_SHOWN_MAX: Final = 200  # a longer text may have been cut


def as_case(policy: Policy, receipt: str, time: str, decided: Mapping[str, Json]) -> str:
    """The case of the payload of a `decided` record, as an item of `cases`."""
    tool = policy.tool(str(decided["tool"])) or policy.unknown_tool
    rows = [row for row in _items(decided["verdicts"]) if isinstance(row, dict)]
    lines = [
        f"name: {_text(_missing(f'what this case shows (receipt {receipt})'))}",
        f"now: {_text(time)}",
        f"call: {_text(str(decided['tool']))}",
        *_call(decided.get("arguments"), rows),
    ]
    if decided.get("identity"):
        lines.append(f"identity: {_text(str(decided['identity']))}")
    lines += [*_session(policy), *_facts(policy, decided, rows), *_history(tool), *_earlier(tool, rows)]
    expected: dict[str, Json] = {"outcome": decided["ruling"]}
    if decided.get("reason"):
        expected["reason"] = decided["reason"]
    expected["fired"] = list(dict.fromkeys(_fired(row) for row in rows if row.get("ruling") != Ruling.ALLOW.value))
    lines.append(f"expect: {_json(expected)}")
    return "  - " + "\n    ".join(lines) + "\n"


def _call(arguments: Json, rows: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    if isinstance(arguments, dict):
        yield f"arguments: {_json(_filled(arguments, 'args'))}"
    else:
        why = next((str(row.get("detail")) for row in rows if row.get("interceptor") == "shape"), "")
        yield f"arguments: {_text(_missing(f'the text of the arguments, which the receipt does not keep: {why}'))}"


def _filled(value: Json, path: str) -> Json:
    """The value, with a placeholder for each part that was redacted."""
    if isinstance(value, dict):
        if "redacted" in value and value.keys() <= {"redacted", "length"}:
            length = f" of {value['length']}" if "length" in value else ""
            return _missing(f"{path}, a {value['redacted']}{length} that was redacted")
        return {name: _filled(one, f"{path}.{name}") for name, one in value.items()}
    if isinstance(value, list):
        return [_filled(one, f"{path}[{index}]") for index, one in enumerate(value)]
    return value


def _session(policy: Policy) -> Iterator[str]:
    claims: Json = {}
    for one in policy.session.values():
        claims = _put(claims, one.at, _missing(f"session.{one.name}, of which the receipt keeps a digest only"))
    if claims:
        yield f"session: {_json(claims)}"


def _facts(policy: Policy, decided: Mapping[str, Json], rows: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    records: dict[str, Json] = {}
    for read in _items(decided["facts"]):
        if not isinstance(read, dict) or str(read["fact"]) not in policy.facts:
            continue
        name, fields = f"{read['fact']}/{read['key']}", read["fields"]
        if not isinstance(fields, dict) or not fields:
            records[name] = _failure(str(read["fact"]), rows)
            continue
        record: Json = {}
        for field, text in fields.items():
            declared = policy.facts[str(read["fact"])].fields.get(field)
            if declared is not None:
                record = _put(record, _kept_path(declared), _source_value(declared, str(text)))
        records[name] = record
    if records:
        yield f"facts: {_json(records)}"


def _failure(fact: str, rows: Sequence[Mapping[str, Json]]) -> str:
    for row in rows:
        for cause, failure in _FAILURES.items():
            if row.get("detail") == f"fact {fact!r}: {cause.value}":
                return failure.value
    return _missing(f"what the source of {fact} answered")


def _kept_path(field: FactField) -> tuple[str, ...]:
    """Where the value stands in the record; of a list within records where the list begins."""
    return field.path[: field.path.index(EACH)] if EACH in field.path else field.path


def _source_value(field: FactField, text: str) -> Json:
    """The value as the source sends it, from its text in the receipt."""
    kind = field.type.kind
    if kind is Kind.LIST:
        return _missing(f"{field.name}, of which the receipt keeps that it is a {text}")
    try:
        if kind is Kind.MONEY and field.money_unit is not None:
            return _amount(text, field.money_unit)
        if kind is Kind.NUMBER:
            return parse_amount_text(text)
    except ValueError:
        return _missing(f"{field.name}, which is no {kind.value} in the receipt: {text}")
    if kind is Kind.BOOLEAN and text in ("true", "false"):
        return text == "true"
    return _missing(f"{field.name}, of which the receipt keeps the beginning") if len(text) >= _SHOWN_MAX else text


def _amount(text: str, unit: Unit) -> Decimal | int:
    money = parse_money(text)
    places = {Unit.MAJOR: 0, Unit.MINOR: exponent(money.currency), Unit.MILLI: 3}[unit]
    number = money.amount.scaleb(places)
    return int(number) if number == number.to_integral_value() and unit is not Unit.MAJOR else number


def _history(tool: Tool) -> Iterator[str]:
    grounded = [name for name, argument in (tool.arguments or {}).items() if argument.sources]
    if grounded:
        said = _text(_missing(f"what was said, with the value of {', '.join(grounded)}"))
        yield f"history: [{{user: {said}}}]"


def _earlier(tool: Tool, rows: Sequence[Mapping[str, Json]]) -> Iterator[str]:
    """Where a limit spoke, what was used before it."""
    if any(row.get("interceptor") == "limits" and row.get("ruling") != Ruling.ALLOW.value for row in rows):
        said = _text(
            _missing("held, executed or unknown; and the arguments of each earlier call, and how long ago it was")
        )
        yield f"earlier: [{{call: {_text(tool.name)}, state: {said}}}]"


def _put(record: Json, path: Sequence[str], value: Json) -> dict[str, Json]:
    found = dict(record) if isinstance(record, dict) else {}
    found[path[0]] = value if len(path) == 1 else _put(found.get(path[0], {}), path[1:], value)
    return found


def _fired(row: Mapping[str, Json]) -> str:
    return str(row.get("rule") or row.get("interceptor"))


def _items(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _missing(what: str) -> str:
    return f"{PLACEHOLDER}: {what}"


def _text(text: str) -> str:
    return canonical(text).decode()


def _json(value: Json) -> str:
    """JSON is YAML in one line; a space behind each comma and colon is for people."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_text(key)}: {_json(one)}' for key, one in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_json, value))}]"
    if isinstance(value, Decimal):
        return f"{value:f}"
    return canonical(value).decode()
