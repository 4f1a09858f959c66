"""What one exchange does has no hold on another: faults, slowness and limits stay where they are."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

from aiohttp import web

from proxy.demo.turns import Call, Delivery, Dialect, Reply, Text, Turn
from tests.e2e.client import BOTH, ask
from tests.e2e.harness import desk, order
from tests.proxy.store.samples import Faults

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Asked


def _refund(asked: Asked) -> Reply:
    return Reply(Turn((Text("Yes."), Call("process_refund", f'{{"order_id": "{asked.user_text}", "amount": 12}}'))))


async def test_a_slow_fact_holds_up_its_own_exchange_only(tmp_path: Path) -> None:
    """While one order's source is silent the refunds of other orders go out at once."""
    async with desk(tmp_path, _refund) as gate:
        let_go = asyncio.Event()

        async def by_key(request: web.Request) -> web.StreamResponse:
            if request.path.endswith("S9999"):
                await let_go.wait()
            return web.json_response(order())

        gate.facts.answers = by_key
        slow = asyncio.ensure_future(ask(gate, Dialect.CHAT, "S9999", headers=gate.signed()))
        began = time.monotonic()
        answers = await asyncio.gather(
            *(ask(gate, dialect, "A1001", headers=gate.signed()) for dialect in BOTH for _ in range(10))
        )
        assert time.monotonic() - began < 10
        assert all(len(answer.calls) == 1 for answer in answers)
        assert not slow.done()
        let_go.set()
        assert len((await slow).calls) == 1


async def test_clients_that_leave_disturb_no_other(tmp_path: Path) -> None:
    """Of forty streams half is dropped by its clients in the middle; the others are whole and each has its receipts."""

    def script(asked: Asked) -> Reply:
        parts = (Text(f"Text {asked.user_text}"), Call("note", f'{{"text": "mark-{asked.user_text}"}}'))
        return Reply(Turn(parts), Delivery(fragment_chars=4, pause_seconds=0.01))

    async with desk(tmp_path, script) as gate:
        asking = [
            asyncio.ensure_future(ask(gate, BOTH[number % 2], f"{number:04}", headers=gate.signed()))
            for number in range(40)
        ]
        await asyncio.sleep(0.12)
        for each in asking[1::2]:
            each.cancel()
        for number, each in enumerate(asking[::2]):
            answer = await each
            (call,) = answer.calls
            assert call.arguments == {"text": f"mark-{number * 2:04}"}
            assert answer.whole
        records = await gate.settled(40, within=5)
        released = [each for each in records if each["kind"] == "released"]
        assert len(released) >= 20
        assert gate.listener._room.held == 0


async def test_outcomes_outlast_a_store_that_was_down(tmp_path: Path) -> None:
    """What left the socket while the store could not write is told when it can again; the chain is whole."""
    faults = Faults()

    def script(asked: Asked) -> Reply:
        return Reply(Turn((Call("note", '{"text": "x"}'),)))

    async with desk(tmp_path, script, connect=faults.connect) as gate:
        assert len((await ask(gate, Dialect.CHAT)).calls) == 1
        faults.also = ("INSERT",)
        assert (await ask(gate, Dialect.CHAT)).calls == []
        faults.also = ()
        assert len((await ask(gate, Dialect.CHAT)).calls) == 1
        records = await gate.settled(3, within=4)
        kinds = sorted(each["kind"] for each in records)
        assert kinds == ["decided", "decided", "released", "released"]
        assert (await gate.store.read(lambda reader: reader.verify())).is_intact


async def test_one_connection_serves_one_exchange_after_another(tmp_path: Path) -> None:
    """On one kept connection: a refusal, a whole stream, a body, an error; none leaves anything behind for the next."""

    def script(asked: Asked) -> Reply:
        return Reply(Turn((Text(f"Text {asked.user_text}."), Call("drop_tables", "{}"))))

    async with desk(tmp_path, script) as gate:
        for number in range(6):
            for dialect in BOTH:
                for streamed in (True, False):
                    answer = await ask(gate, dialect, str(number), streamed=streamed)
                    assert answer.text.startswith(f"Text {number}.")
                    assert (answer.calls, answer.whole) == ([], True)
            forged = await ask(gate, Dialect.CHAT, headers={"x-callgate-session": "forged"})
            assert forged.status == 401
