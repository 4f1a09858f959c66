"""What must be done for an allow to stand: a closed set, discharged by the edge with the receipt (DESIGN 3, hop 6)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, TypeAlias

from interceptors.calls import Json, ToolCall
from interceptors.strict_json import canonical
from interceptors.usage import Charge, Usages, text_of

if TYPE_CHECKING:
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
class InjectKey:
    """Release the call with `key` as its `argument`. `digest` is that of the arguments with it."""

    argument: str
    key: str
    digest: str


Obligation: TypeAlias = "Reserve | InjectKey"


def reserve_of(decision: Decision) -> Reserve | None:
    return next((one for one in decision.obligations if isinstance(one, Reserve)), None)


def injection_of(decision: Decision) -> InjectKey | None:
    return next((one for one in decision.obligations if isinstance(one, InjectKey)), None)


def with_key(arguments: dict[str, Json], argument: str, key: str) -> dict[str, Json]:
    """The arguments with the key, whatever the model wrote in its place."""
    return {**arguments, argument: key}


def injected(call: ToolCall, injection: InjectKey) -> ToolCall:
    """The call as it is to be released: `raw` is its canonical form."""
    arguments = with_key(dict(call.arguments), injection.argument, injection.key)
    return ToolCall(call.name, arguments, canonical(arguments).decode(), call.id, call.position, call.freeform)


def key_of(intent: str, ordinal: int) -> str:
    """The key of the `ordinal`-th reservation of an intent, in the form of a UUID (version 8).

    The same for every call that is handed this reservation, and another once the intent may be executed anew: a back
    end that knows the key would not pay a second time.
    """
    digest = bytearray(hashlib.sha256(_KEY_DOMAIN + canonical([intent, ordinal])).digest()[:16])
    digest[6] = digest[6] & 0x0F | 0x80
    digest[8] = digest[8] & 0x3F | 0x80
    text = digest.hex()
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))
