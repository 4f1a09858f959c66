"""What earlier calls of a case hold: the answers that the store would give (`proxy/store/usage.py`), in memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, assert_never

from interceptors.kinds import MoneyState
from interceptors.usage import (
    CapKey,
    CapUse,
    Charge,
    ConfirmationKey,
    ConfirmationUse,
    GrantKey,
    GrantUse,
    IntentKey,
    IntentUse,
    OpenIntent,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from interceptors.obligations import Reserve
    from interceptors.usage import Usage, UsageKey

_OPEN = (MoneyState.HELD, MoneyState.UNKNOWN)


@dataclass(frozen=True, slots=True)
class _Held:
    reserve: Reserve
    at: datetime
    state: MoneyState


@dataclass(slots=True)
class Book:
    """Reservations in the order in which they were made. `asked_at`: when the customer was asked about the call."""

    asked_at: datetime | None = None
    _held: list[_Held] = field(default_factory=list)

    def enter(self, reserve: Reserve, at: datetime, state: MoneyState) -> None:
        """Note what a call holds. One that was handed out again is the reservation that it renews."""
        if reserve.renews:
            index = int(reserve.renews)
            self._held[index] = _Held(self._held[index].reserve, self._held[index].at, state)
        else:
            self._held.append(_Held(reserve, at, state))

    def usage(self, key: UsageKey) -> Usage:
        match key:
            case CapKey():
                return self._cap(key)
            case IntentKey():
                return self._intent(key)
            case ConfirmationKey():
                return ConfirmationUse(self.asked_at)
            case GrantKey():
                return GrantUse()
        assert_never(key)

    def _cap(self, key: CapKey) -> CapUse:
        charges = list(self._charges(key))
        if key.itemised:
            return CapUse(tuple(charges))
        sums: dict[str, int] = {}
        for charge in charges:
            sums[charge.currency] = sums.get(charge.currency, 0) + charge.units
        return CapUse(tuple(Charge(currency, units) for currency, units in sorted(sums.items())))

    def _charges(self, key: CapKey) -> Iterator[Charge]:
        for held in self._held:
            if held.state is not MoneyState.NOT_EXECUTED and (key.since is None or held.at >= key.since):
                yield from (one.charge for one in held.reserve.charges if one.name == key.name)

    def _intent(self, key: IntentKey) -> IntentUse:
        own = [(index, held) for index, held in enumerate(self._held) if held.reserve.intent == key.name]
        executed = [held.at for _, held in own if held.state is MoneyState.EXECUTED]
        still = next(((index, held) for index, held in own if held.state in _OPEN), None)
        again = None
        if still is not None:
            index, held = still
            again = OpenIntent(str(index), held.reserve.ordinal, held.reserve.terms == key.terms)
        return IntentUse(len(own), max(executed, default=None), again)
