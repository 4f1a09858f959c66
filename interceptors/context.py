"""What a decision may read besides the call: who asks, for whom, when, and what the request declared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, TypeAlias

import msgspec

from interceptors.history import EMPTY, History

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from interceptors.calls import Json


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """A tool as the request declares it: its exact spelling and its own JSON Schema, if any."""

    name: str
    schema: bytes | None  # JSON text


class Context(msgspec.Struct, frozen=True):
    """`now` is an aware UTC time. `subject` holds the claims of the verified session header, empty where there is none.

    `identity` is the name of an identity of the policy, or None where the policy has none. `declared` is keyed by
    folded name. `halted` is the operator's halt; the policy's own `mode` comes with the policy.
    """

    now: datetime
    tenant: str
    identity: str | None = None
    subject: Mapping[str, Json] = msgspec.field(default_factory=dict)
    declared: Mapping[str, DeclaredTool] = msgspec.field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()  # folded names that two declared tools share
    halted: bool = False
    model: str = ""
    history: History = EMPTY
    operator: str | None = None  # of the policy, where the call is not a model's
    answers_kept: bool = False  # somebody keeps what people answer; else no approval is asked for, or used


@dataclass(frozen=True, slots=True, order=True)
class FactKey:
    fact: str
    key: str


class FactFailure(Enum):
    """Why a fact could not be had."""

    TIMEOUT = "timeout"
    UNAVAILABLE = "unavailable"  # connection, 5xx, redirect, any other status, breaker open
    MISSING = "missing"  # 404, or no such key in the file
    INVALID = "invalid"  # not strict JSON, too large, not an object


@dataclass(frozen=True, slots=True)
class FactDocument:
    """What the source answered, parsed strictly. `as_of` is the time at which it was asked."""

    document: Mapping[str, Json]
    as_of: datetime


@dataclass(frozen=True, slots=True)
class FactFailed:
    failure: FactFailure
    as_of: datetime


FactResult: TypeAlias = "FactDocument | FactFailed"
Facts: TypeAlias = "Mapping[FactKey, FactResult]"
