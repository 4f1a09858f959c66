"""Sets the demo up: a model, a shop, Callgate between them and the agents; plays every case; collects the receipts."""

from __future__ import annotations

import secrets
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING

from proxy.demo.backend import BackEnd
from proxy.demo.cases import LANES, orders, script
from proxy.demo.evidence import of_case, receipts
from proxy.demo.gate_process import PACK, GateFolder, run_command, running
from proxy.demo.lanes import AGENT, GATE, Access, Played, play
from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.demo.turns import Dialect

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from proxy.demo.cases import Lane
    from proxy.demo.evidence import Receipt

UPSTREAMS = {Dialect.ANTHROPIC: "anthropic", Dialect.CHAT: "openai"}


@dataclass(frozen=True, slots=True)
class Model:
    """A model to talk to, and the key that its provider wants; the gate passes it through."""

    url: str
    key: str
    name: str


@dataclass(frozen=True, slots=True)
class Performance:
    """Every case with its receipts, in the order in which they ran; `chain` is what verifying them said."""

    played: Sequence[tuple[Played, Sequence[Receipt]]]
    chain: str


async def perform(
    folder: GateFolder,
    environment: Mapping[str, str],
    models: Mapping[Dialect, Model],
    *,
    policy: Path = PACK,
    lanes: Sequence[Lane] = LANES,
) -> Performance:
    """Play the cases of the lanes that have one of `models` to talk to; with no models at all, with the scripted one.

    Raises `GateFailedError`.
    """
    tokens = {AGENT: secrets.token_urlsafe(), GATE: secrets.token_urlsafe()}
    session_key = secrets.token_urlsafe(48)
    lanes = [lane for lane in lanes if not models or lane.dialect in models]
    back_end = BackEnd(orders(lanes), tokens, may_refund=frozenset({AGENT}))
    async with AsyncExitStack() as stack:
        shop = await stack.enter_async_context(serving(back_end.app()))
        if not models:
            url = await stack.enter_async_context(serving(Provider(script(lanes)).app()))
            models = {dialect: Model(url, key="none-is-needed", name="scripted") for dialect in UPSTREAMS}
        folder.prepare({UPSTREAMS[dialect]: model.url for dialect, model in models.items()}, policy)
        own = {"ORDERS_URL": shop, "ORDERS_TOKEN": tokens[GATE], "SESSION_KEY": session_key}
        gate = await stack.enter_async_context(running(folder, {**environment, **own}))
        played: list[Played] = []
        for lane in lanes:
            access = Access(
                gate_url=gate,
                orders_url=shop,
                orders_token=tokens[AGENT],
                session_key=session_key,
                api_key=models[lane.dialect].key,
                model=models[lane.dialect].name,
            )
            played += await play(lane, access, back_end)
    state = ("--state", str(folder.state))
    found = receipts(await run_command("receipts", "export", *state, environment=environment))
    chain = await run_command("receipts", "verify", *state, environment=environment)
    return Performance([(one, of_case(one, found)) for one in played], chain.split("\n")[0])
