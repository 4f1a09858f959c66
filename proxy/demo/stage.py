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

MODELS = {Dialect.ANTHROPIC: "claude-sonnet-5-5", Dialect.CHAT: "gpt-5.4"}
UPSTREAMS = {Dialect.ANTHROPIC: "anthropic", Dialect.CHAT: "openai"}
LIVE_URLS = {Dialect.ANTHROPIC: "https://api.anthropic.com", Dialect.CHAT: "https://api.openai.com"}


@dataclass(frozen=True, slots=True)
class Performance:
    """Every case with its receipts, in the order in which they ran; `chain` is what verifying them said."""

    played: Sequence[tuple[Played, Sequence[Receipt]]]
    chain: str


async def perform(
    folder: GateFolder,
    environment: Mapping[str, str],
    live_keys: Mapping[Dialect, str],
    *,
    policy: Path = PACK,
    lanes: Sequence[Lane] = LANES,
) -> Performance:
    """Play the cases. With `live_keys` (a provider's key by dialect) those providers answer, else the scripted one.

    Raises `GateFailedError`.
    """
    lanes = [lane for lane in lanes if not live_keys or lane.dialect in live_keys]
    tokens = {AGENT: secrets.token_urlsafe(), GATE: secrets.token_urlsafe()}
    session_key = secrets.token_urlsafe(48)
    back_end = BackEnd(orders(lanes), tokens, may_refund=frozenset({AGENT}))
    async with AsyncExitStack() as stack:
        shop = await stack.enter_async_context(serving(back_end.app()))
        if live_keys:
            urls = {UPSTREAMS[dialect]: LIVE_URLS[dialect] for dialect in live_keys}
        else:
            model = await stack.enter_async_context(serving(Provider(script(lanes)).app()))
            urls = dict.fromkeys(UPSTREAMS.values(), model)
        folder.prepare(urls, policy)
        own = {"ORDERS_URL": shop, "ORDERS_TOKEN": tokens[GATE], "SESSION_KEY": session_key}
        gate = await stack.enter_async_context(running(folder, {**environment, **own}))
        played: list[Played] = []
        for lane in lanes:
            access = Access(
                gate_url=gate,
                orders_url=shop,
                orders_token=tokens[AGENT],
                session_key=session_key,
                api_key=live_keys.get(lane.dialect, "no-key-is-needed"),
                model=MODELS[lane.dialect],
            )
            played += await play(lane, access, back_end)
    state = ("--state", str(folder.state))
    found = receipts(await run_command("receipts", "export", *state, environment=environment))
    chain = await run_command("receipts", "verify", *state, environment=environment)
    return Performance([(one, of_case(one, found)) for one in played], chain.split("\n")[0])
