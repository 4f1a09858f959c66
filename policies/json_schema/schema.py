"""The schema, object by object: the keys come from the readers' lists, the forms of their values stand here."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, TypeAlias

from policies.documents import keys
from policies.documents.scalars import SIMPLE_TYPES
from policies.foreign import ProviderTool, UnknownResults
from policies.guards import EgressList, ResultFormat
from policies.json_schema import asking, handoff, people, upkeep
from policies.limits import Calendar
from policies.model import Batch, Category, Mode, OnRefusal, ToolEffect, UnknownTools
from policies.reference import REFERENCE
from policies.system_reasons import SYSTEM_REASONS
from policies.texts import TextCalls
from policies.values import Unit

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from enum import Enum

Schema: TypeAlias = dict[str, Any]

DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_TEXT: Final[Schema] = {"type": "string", "minLength": 1}
_FLAG: Final[Schema] = {"type": "boolean"}
_EXPRESSION: Final[Schema] = {"type": ["string", "number", "boolean"]}
_DURATION: Final[Schema] = {"type": "string", "pattern": "^[0-9]+[dhms]$"}
_CURRENCY: Final[Schema] = {"type": "string", "pattern": "^[A-Z]{3}$"}
_AMOUNT: Final[Schema] = {"type": ["string", "number"]}


def json_schema() -> Schema:
    """The schema of one policy file."""
    objects = {name: _object(name, known) for name, known in _objects().items()}
    return {
        "$schema": DIALECT,
        "title": "Callgate policy",
        **objects.pop("TOP"),
        "required": ["language", "policy"],
        "$defs": objects,
    }


def _objects() -> dict[str, tuple[str, ...]]:
    return {name: known for name, known in vars(keys).items() if isinstance(known, tuple) and name != "MERGED"}


def _described(name: str, key: str) -> str:
    """What an editor shows beside the key."""
    said = REFERENCE[name].said(key)
    return f"{REFERENCE['TOOL'].said(key)} ({said})" if name == "DEFAULTS" else said


def _object(name: str, known: Iterable[str]) -> Schema:
    forms = _FORMS.get(name, {})
    properties = {key: {**forms.get(key, {}), "description": _described(name, key)} for key in known}
    found: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    required = [key for key in _REQUIRED.get(name, ()) if key in properties]
    if required:
        found["required"] = required
    choice = [key for key in _ONE_OF.get(name, ()) if key in properties]
    if choice:
        found["oneOf"] = [{"required": [key]} for key in choice]
    return found


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _one_of(kind: type[Enum]) -> Schema:
    return {"enum": [member.value for member in kind]}


def _map(form: Schema) -> Schema:
    return {"type": "object", "additionalProperties": form}


def _list(form: Schema) -> Schema:
    return {"type": "array", "items": form}


def _either(*forms: Schema) -> Schema:
    return {"anyOf": list(forms)}


_SIMPLE: Final[Schema] = {"enum": list(SIMPLE_TYPES)}
_REPLY: Final = _either(_TEXT, _map(_TEXT))
_FIELDS: Final = _map(_either(_SIMPLE, _ref("FACT_FIELD")))
_ARGUMENT: Final = _either(_SIMPLE, _ref("ARGUMENT"))
_ENTRIES: Final = _either(_list(_TEXT), _TEXT, _ref("LIST"))
_EGRESS: Final = _either({"const": "allow"}, _ref("EGRESS"))
_NAMES: Final = _either(_TEXT, _list(_TEXT))
_CONSTANT: Final = _either(_EXPRESSION, {"type": "array", "items": _EXPRESSION, "minItems": 1})
_REASONS: Final = {
    "type": "object",
    "properties": {code: _ref("SYSTEM_REASON") for code in SYSTEM_REASONS},
    "additionalProperties": _ref("REASON"),
}
_JUDGED: Final[Mapping[str, Schema]] = {
    "effect": _one_of(ToolEffect),
    "on_refusal": _one_of(OnRefusal),
    "batch": _one_of(Batch),
    "rules": _list(_ref("RULE")),
    "limits": _list(_ref("LIMIT")),
    "settle_within": _DURATION,
    "egress": _EGRESS,
    "escalation": _map(_NAMES),
    **people.DEFAULT_FORMS,
}
_OUTCOME: Final[Mapping[str, Schema]] = dict.fromkeys(keys.RULINGS, _TEXT)

_FORMS: Final[Mapping[str, Mapping[str, Schema]]] = {
    "TOP": {
        "language": {"const": 1},
        "policy": _TEXT,
        "owner": _TEXT,
        "mode": _one_of(Mode),
        "time_zone": _TEXT,
        "unknown_tools": _one_of(UnknownTools),
        "unknown_results": _one_of(UnknownResults),
        "pass_types": _list(_TEXT),
        "policy_stale_seconds_max": {"type": "number", "minimum": 0, "maximum": 86_400},
        "defaults": _ref("DEFAULTS"),
        "identities": _map(_ref("IDENTITY")),
        "session": _map(_ref("SESSION_FIELD")),
        "reasons": _REASONS,
        "constants": _map(_CONSTANT),
        "facts": _map(_ref("FACT")),
        "not_user": _list(_TEXT),
        "tools": _map(_ref("TOOL")),
        "cases": _ref("CASES"),
        "reply_language": _TEXT,
        "structured": _map(_ref("STRUCTURED")),
        "text_calls": _one_of(TextCalls),
        "claims": _map(_list(_TEXT)),
        "approvals": _ref("APPROVALS"),
        "operators": _map(_ref("OPERATOR")),
        "provider_tools": _map(_one_of(ProviderTool)),
        **upkeep.TOP_FORMS,
        **handoff.TOP_FORMS,
    },
    "IDENTITY": {"token": _TEXT, "tools": _list(_TEXT), "autonomous": _FLAG, "hold_text": _FLAG},
    "SESSION_FIELD": {"jwt": _TEXT, "hmac": _TEXT, "type": _SIMPLE},
    "REASON": {"category": _one_of(Category), "reply": _REPLY},
    "SYSTEM_REASON": {"reply": _REPLY},
    "FACT": {
        "key": _ref("FACT_KEY"),
        "http": _TEXT,
        "file": _TEXT,
        "headers": _map(_TEXT),
        "timeout": _DURATION,
        "missing": _ref("RULINGS"),
        "fields": _FIELDS,
    },
    "FACT_KEY": {"pattern": _TEXT},
    "FACT_FIELD": {
        "at": _TEXT,
        "type": _SIMPLE,
        "money": _CURRENCY,
        "unit": _one_of(Unit),
        "currency": _TEXT,
        "timestamp": {"const": "iso"},
    },
    "TOOL": {
        **_JUDGED,
        "facts": _map(_TEXT),
        "arguments": _map(_ARGUMENT),
        "result": _ref("RESULT"),
        "not_executed_when": _EXPRESSION,
        "inject": _TEXT,
        "fee_schedule": _ref("FEE_SCHEDULE"),
        **asking.TOOL_FORMS,
        **people.TOOL_FORMS,
        **upkeep.TOOL_FORMS,
    },
    "DEFAULTS": _JUDGED,
    "ARGUMENT": {
        "type": _SIMPLE,
        "pattern": _TEXT,
        "one_of": {"type": "array", "items": _AMOUNT, "minItems": 1},
        "money": _CURRENCY,
        "unit": _one_of(Unit),
        "list": _ARGUMENT,
        "object": _map(_ARGUMENT),
        "min": _AMOUNT,
        "max": _AMOUNT,
        "optional": _FLAG,
        "from": _NAMES,
        "allow": _ref("ALLOW"),
        "egress": {"const": "allow"},
    },
    "ALLOW": {**dict.fromkeys(("domains", "urls", "paths", "accounts", "values"), _ENTRIES), "forbid": _TEXT},
    "LIST": {"file": _TEXT},
    "EGRESS": {"list": _one_of(EgressList), "forbid": _TEXT},
    "RULE": {**_OUTCOME, "when": _EXPRESSION, "unless": _EXPRESSION},
    "LIMIT": {
        **dict.fromkeys(keys.LIMIT_RULINGS, _TEXT),
        "sum": _EXPRESSION,
        "count": {"const": True},
        "value": _EXPRESSION,
        "once_per": _NAMES,
        "per": _NAMES,
        "within": _DURATION,
        "each": _one_of(Calendar),
        "max": _EXPRESSION,
        "fact_counts": _EXPRESSION,
    },
    "FEE_SCHEDULE": {**dict.fromkeys(keys.FEE_SCHEDULE, _TEXT), "inject": {"type": ["string", "boolean"]}},
    **asking.FORMS,
    **upkeep.forms({"fields": _FIELDS, "format": _one_of(ResultFormat)}),
    "CASES": {
        "case": _either(_TEXT, _ref("CASE_SOURCE")),
        "segment": _TEXT,
        "facts": _map(_TEXT),
        "ceiling": _map(_AMOUNT),
        "owner_keeps": _list(_TEXT),
        "cells": _map(_map(_ref("ACTION"))),
    },
    "CASE_SOURCE": {"tool": _TEXT, "argument": _TEXT},
    "ACTION": {"value": _EXPRESSION, "max": _EXPRESSION, "rules": _list(_ref("RULE"))},
    **people.FORMS,
    "RULINGS": _OUTCOME,
    "STRUCTURED": {"as": _TEXT},
}
_REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "IDENTITY": ("token",),
    "REASON": ("category",),
    "FACT": ("key", "fields"),
    "FACT_KEY": ("pattern",),
    "LIST": ("file",),
    "EGRESS": ("list",),
    "STRUCTURED": ("as",),
    **people.REQUIRED,
    "CONFIRM": ("when",),
    "CONFIDENCE": ("value",),
    "RESULT_ERROR": ("match", "as"),
    "CASES": ("case", "cells"),
    "CASE_SOURCE": ("tool", "argument"),
}
_ONE_OF: Final[Mapping[str, tuple[str, ...]]] = {
    "SESSION_FIELD": ("jwt", "hmac"),
    "FACT": ("http", "file"),
    "FACT_FIELD": ("type", "money", "timestamp"),
    "RULE": keys.RULINGS,
    "LIMIT": keys.LIMIT_RULINGS,
    "RULINGS": keys.RULINGS,
}
