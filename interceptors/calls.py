"""What the gate reads out of a model's response: a call that was read in one way only, or one that was not."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping
    from decimal import Decimal

Json: TypeAlias = "bool | str | int | Decimal | list[Json] | dict[str, Json] | None"


class Cause(Enum):
    """Why a call is malformed (guarantee G5). The value is a short text for receipts; it holds no argument."""

    NOT_JSON = "the arguments are not strict JSON"
    DUPLICATE_KEY = "the arguments hold a key twice"
    INEXACT_NUMBER = "the arguments hold a number that parsers read differently"
    NOT_AN_OBJECT = "the arguments are no JSON object"
    TOO_DEEP = "the arguments are nested too deeply"
    TOO_LARGE = "the arguments are too large"
    CUT_OFF = "the call was cut off before its end"
    CONFLICT = "the stream states this call in two ways that disagree"
    NO_NAME = "the call has no tool name"
    DUPLICATE_ID = "two calls of one turn carry the same id"
    NAME_SPELLING = "the name is spelled otherwise than the tool's"


class ToolCall(msgspec.Struct, frozen=True):
    """A complete call. `arguments` come from strict JSON (numbers: `int`, or `Decimal` from their spelling).

    A custom (freeform) call has the single argument `input`. `raw` is the argument text exactly as judged.
    `position` counts the calls of the turn from 0; `id` is the provider's and may be empty or repeat across turns.
    `is_question`: what leaves only asks whether a call may run whose arguments stand elsewhere already.
    """

    name: str
    arguments: Mapping[str, Json]
    raw: str
    id: str
    position: int
    freeform: bool = False
    is_question: bool = False


class MalformedToolCall(msgspec.Struct, frozen=True):
    """A call that may never run. `name` is what was read of it, perhaps nothing."""

    name: str
    cause: Cause
    id: str
    position: int


Call: TypeAlias = "ToolCall | MalformedToolCall"


class Proposer(Enum):
    MODEL = "model"
    OPERATOR = "operator"
    CUSTOMER = "customer"
    BACK_END = "back_end"
    GATE = "gate"  # in the agent's name: a call of its escalation tool


class Proposal(msgspec.Struct, frozen=True):
    """A call and who proposes it (guarantee G11: one path for every proposer)."""

    call: Call
    proposer: Proposer
