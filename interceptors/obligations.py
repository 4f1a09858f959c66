"""What must be done for an allow to stand: a closed set, discharged by the edge with the receipt (DESIGN 3, hop 6)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from msgspec import structs

from interceptors.schema import UnusableSchemaError, violation
from interceptors.strict_json import canonical, digest
from interceptors.usage import Charge, ConfirmationKey, GrantKey, Usages, text_of

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime, timedelta

    from interceptors.calls import Json, ToolCall
    from interceptors.decisions import Decision

_KEY_DOMAIN = b"callgate.idempotency.1\0"


@dataclass(frozen=True, slots=True)
class CapCharge:
    """What is held under the cap `name` of the limit `limit`."""

    limit: str
    name: str
    charge: Charge

    @property
    def amount(self) -> str:
        return text_of(self.charge.currency, self.charge.units)


@dataclass(frozen=True, slots=True)
class Reserve:
    """Hold these charges, in the transaction of the receipt, if what `rests_on` says is still so there.

    `intent` is empty where each call is one of its own. `renews` is the reservation that is handed out again, empty for
    a new one, whose place among those of its intent `ordinal` is.
    """

    intent: str
    terms: str
    ordinal: int
    charges: tuple[CapCharge, ...]
    settle_within: timedelta
    rests_on: Usages = field(repr=False)
    renews: str = ""


@dataclass(frozen=True, slots=True)
class Inject:
    """Release the call with `values` as its arguments of these names. `digest` is that of all its arguments then."""

    values: Mapping[str, Json]
    digest: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Note that the question about this call is asked, in the transaction of the receipt that refuses it.

    It takes the place of an earlier one: `at` stands in the question's reference: a yes answers one asking only.
    """

    key: ConfirmationKey
    at: datetime


@dataclass(frozen=True, slots=True)
class UseConfirmation:
    """Take the answered question away, in the receipt's transaction: one that is gone, or newer, confirms nothing."""

    key: ConfirmationKey
    asked_at: datetime


@dataclass(frozen=True, slots=True)
class UseGrant:
    """Use the approval up, in the receipt's transaction: one that is gone by then approves nothing."""

    key: GrantKey
    grant: str
    escalation: str


@dataclass(frozen=True, slots=True)
class VoidGrant:
    """Take the approval back, in the transaction of the refusal: what it rested on is no longer so."""

    grant: str
    escalation: str
    why: str


Obligation: TypeAlias = "Reserve | Inject | Ask | UseConfirmation | UseGrant | VoidGrant"
T = TypeVar("T")


def reserve_of(decision: Decision) -> Reserve | None:
    return _first(decision, Reserve)


def asking_of(decision: Decision) -> Ask | None:
    return _first(decision, Ask)


def confirmation_of(decision: Decision) -> UseConfirmation | None:
    return _first(decision, UseConfirmation)


def grant_of(decision: Decision) -> UseGrant | None:
    return _first(decision, UseGrant)


def voided_of(decision: Decision) -> VoidGrant | None:
    return _first(decision, VoidGrant)


def injection_of(decision: Decision) -> Inject | None:
    return _first(decision, Inject)


def _first(decision: Decision, kind: type[T]) -> T | None:
    for one in decision.obligations:
        if isinstance(one, kind):
            return one
    return None


def injecting(call: ToolCall, values: Mapping[str, Json]) -> Inject:
    """The obligation to release `call` with these values, whatever the model wrote in their place."""
    return Inject(values, digest(_with(call, values)))


def injected(call: ToolCall, injection: Inject) -> ToolCall:
    """The call as it is to be released: `raw` is its canonical form."""
    arguments = _with(call, injection.values)
    return structs.replace(call, arguments=arguments, raw=canonical(arguments).decode())


def not_injectable(call: ToolCall, values: Mapping[str, Json], schema: bytes | None) -> str:
    """Why the call may not be released with these values in it; empty where it may. `schema` is the request's own."""
    names = ", ".join(map(repr, values))
    if call.freeform:
        return f"a freeform call has no argument {names}"
    if call.is_question:
        return f"the call would run without what is put into {names}: only its approval goes through here"
    if schema is None:
        return ""
    try:
        broken = violation(schema, _with(call, values))
    except UnusableSchemaError as error:
        return str(error)
    return "" if broken is None else f"with what is put into {names}: {broken}"


def _with(call: ToolCall, values: Mapping[str, Json]) -> dict[str, Json]:
    return {**call.arguments, **values}


def key_of(intent: str, ordinal: int) -> str:
    """The key of the `ordinal`-th reservation of an intent, in the form of a UUID (version 8).

    The same for every call that is handed this reservation, and another once the intent may be executed anew: a back
    end that knows the key would not pay a second time.
    """
    made = bytearray(hashlib.sha256(_KEY_DOMAIN + canonical([intent, ordinal])).digest()[:16])
    made[6] = made[6] & 0x0F | 0x80
    made[8] = made[8] & 0x3F | 0x80
    text = made.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
