"""Takes what is to be told to others out of the store, one message at a time, until it arrived or was given up.

Any process of a state folder may take a message; a lease keeps the others off. A message that was taken by a process
that died is taken again when the lease is over.
"""

from __future__ import annotations

import asyncio
import random
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Final

import orjson

from proxy.admin.escalations import case_json
from proxy.delivery import Ended, Later
from proxy.logs import Event
from proxy.store import StoreError, outbox
from proxy.store.outbox import MessageKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from proxy.clock import Clock
    from proxy.delivery import Delivery, Outcome
    from proxy.limits import Limits
    from proxy.logs import Logs
    from proxy.store import Escalation, Store
    from proxy.store.outbox import Message
    from proxy.webhooks import Sender, WebhookTarget

EVERY_SECONDS: Final = 1.0
"""How often it is looked for messages of other processes, and for those whose time has come."""
BACKOFF_SECONDS: Final = 1.0
BACKOFF_SECONDS_MAX: Final = 3600.0


@dataclass(kw_only=True, slots=True)
class Courier:
    """One for the process, on its loop. `target` hears of new cases; None: nobody does."""

    store: Store
    sender: Sender
    target: WebhookTarget | None
    delivery: Delivery
    limits: Limits
    clock: Clock
    logs: Logs
    failed: Callable[[], None]
    _woken: asyncio.Event = field(default_factory=asyncio.Event, init=False)

    def wake(self) -> None:
        """There may be something to tell."""
        self._woken.set()

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            try:
                while await self.step():
                    pass
            except StoreError:
                self.failed()
            self._woken.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(EVERY_SECONDS):
                    await self._woken.wait()

    async def step(self) -> bool:
        """Tell one thing; whether there was any. Raises `StoreError`: it is taken again when its lease ends."""
        lease = timedelta(milliseconds=3 * self.limits.webhook_ms_max + 2 * self.limits.hold_ms_max)
        message = await self.store.take_message(at=self.clock(), lease=lease)
        if message is None:
            return False
        outcome = await (self._case(message) if message.kind is MessageKind.CASE else self.delivery.deliver(message))
        if isinstance(outcome, Later) and outcome.counts and message.attempts >= self.limits.webhook_attempts_max:
            outcome = await self._given_up(message)
        await self._settle(message, outcome)
        return True

    async def _settle(self, message: Message, outcome: Outcome) -> None:
        if isinstance(outcome, Later):
            seconds = _backoff(message.attempts) if outcome.seconds is None else outcome.seconds
            until = self.clock() + timedelta(seconds=seconds)
            put_off = partial(outbox.put_off, message=message, until=until, note=outcome.note, counts=outcome.counts)
            await self.store.message(put_off)
            return
        await self.store.message(partial(outbox.end, message=message, note=outcome.note, is_sent=outcome.is_sent))
        event = Event.DELIVERED if outcome.is_sent else Event.DELIVERY_FAILED
        self.logs.event(event, receipt=message.receipt or message.escalation, kind=message.kind.value)

    async def _given_up(self, message: Message) -> Ended:
        if message.kind is MessageKind.CALL:
            return await self.delivery.give_up(message)
        return Ended(f"not taken after {message.attempts} attempts", is_sent=False)

    async def _case(self, message: Message) -> Outcome:
        case = await self.store.read(lambda reader: reader.escalation(message.escalation))
        if case is None or self.target is None:
            return Ended("nobody is to hear of it", is_sent=False)
        heard = await self.sender.send(self.target, message.id, case_body(case), self.clock())
        if not heard.is_final:
            return Later(f"no answer (status {heard.status})" if heard.status else "no answer")
        return Ended(f"status {heard.status}", is_sent=heard.is_taken)


def case_body(case: Escalation) -> bytes:
    """A new case as a webhook tells it: `text` for chat tools, the rest for machines."""
    body = {"text": _text(case), "type": "escalation.opened", "timestamp": case.created, "data": case_json(case)}
    return orjson.dumps(body)


def _text(case: Escalation) -> str:
    """One line for a chat, in which no value can be a link, a mention or markup."""
    told = [f"{case.tool}: {case.reason}" if case.is_call else "a customer asks for a person"]
    told += [
        f"{name.replace('_', ' ')}: {text}" for name, text in case.summary.items() if name not in ("tool", "reason")
    ]
    return f"{' | '.join(map(_plain, told))} ({case.id})"


def _plain(text: str) -> str:
    shown = "".join(character if character.isprintable() else " " for character in text)
    for character, spelled in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;")):
        shown = shown.replace(character, spelled)
    shown = "".join(
        f"{one}\u200b" if (one == "." and behind.isalpha()) or (one == ":" and behind == "/") else one
        for one, behind in pairwise(f"{shown} ")
    )  # chats make links of bare hosts, too
    return "".join(f"\u200b{character}" if character in "@*_~`[]" else character for character in shown)


def _backoff(attempts: int) -> float:
    """Twice as long each time, up to an hour, and a little apart from others who wait for the same receiver."""
    seconds = min(BACKOFF_SECONDS * 2.0 ** min(attempts - 1, 20), BACKOFF_SECONDS_MAX)
    return seconds * random.uniform(1.0, 1.1)  # noqa: S311 - nothing depends on it being hard to guess
