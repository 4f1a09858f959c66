"""Runs the cases of one lane: the agent with that lane's SDK asks, the back end's part is taken down beside it."""

from __future__ import annotations

from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import aiohttp
import anthropic
import jwt
import openai

from proxy.demo.agent import Agent, AnthropicAgent, OpenAIAgent, OrderTools
from proxy.demo.cases import Case, Lane, cases
from proxy.demo.gate_process import SESSION_HEADER
from proxy.demo.turns import Dialect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from proxy.demo.backend import BackEnd, Refund, Request

AGENT = "agent"  # whose tokens the back end knows
GATE = "gate"


@dataclass(frozen=True, slots=True)
class Access:
    """Where the agent of a lane finds things. `api_key` is the provider's: the gate passes it through."""

    gate_url: str
    orders_url: str
    orders_token: str
    session_key: str
    api_key: str
    model: str


@dataclass(frozen=True, slots=True)
class Played:
    """One case as it went, from `began` to `ended`. `failure` is the agent's exception, empty where it had none."""

    case: Case
    lane: Lane
    heard: tuple[str, ...]
    requests: tuple[Request, ...]
    refunds: tuple[Refund, ...]
    began: datetime
    ended: datetime
    failure: str = ""

    @property
    def reads(self) -> str:
        """What the customer reads."""
        return " ".join(self.heard)


async def play(lane: Lane, access: Access, back_end: BackEnd) -> list[Played]:
    """The cases of a lane, one after the other, each a conversation of its own."""
    async with _agent(lane, access) as agent:
        return [await _played(case, lane, agent, back_end) for case in cases(lane)]


async def _played(case: Case, lane: Lane, agent: Agent, back_end: BackEnd) -> Played:
    seen, refunds, began = len(back_end.seen), len(back_end.refunds), datetime.now(UTC)
    heard: tuple[str, ...] = ()
    failure = ""
    try:
        heard = await agent.ask(case.says, *([case.answers] if case.answers else []))
    except (anthropic.APIError, openai.APIError, aiohttp.ClientError) as error:
        failure = f"{type(error).__name__}: {error}"
    return Played(
        case=case,
        lane=lane,
        heard=heard,
        requests=tuple(back_end.seen[seen:]),
        refunds=tuple(back_end.refunds[refunds:]),
        began=began,
        ended=datetime.now(UTC),
        failure=failure,
    )


def signed_session(customer_id: str, key: str) -> str:
    """What the application says about who is writing: a token that the gate can check and nobody else can make."""
    expires = datetime.now(UTC) + timedelta(minutes=15)
    return jwt.encode({"sub": customer_id, "exp": expires}, key, algorithm="HS256")


@asynccontextmanager
async def _agent(lane: Lane, access: Access) -> AsyncIterator[Agent]:
    headers = {SESSION_HEADER: signed_session(lane.customer_id, access.session_key)}
    async with aiohttp.ClientSession() as session:
        tools = OrderTools(session, access.orders_url, access.orders_token)
        # The gate is on this machine: a proxy named in the environment must not stand between.
        if lane.dialect is Dialect.ANTHROPIC:
            async with anthropic.AsyncAnthropic(
                base_url=access.gate_url,
                api_key=access.api_key,
                default_headers=headers,
                http_client=anthropic.DefaultAsyncHttpxClient(trust_env=False),
            ) as client:
                yield AnthropicAgent(client, access.model, tools, lane.streamed)
        else:
            async with openai.AsyncOpenAI(
                base_url=f"{access.gate_url}/v1",
                api_key=access.api_key,
                default_headers=headers,
                http_client=openai.DefaultAsyncHttpxClient(trust_env=False),
            ) as chat:
                yield OpenAIAgent(chat, access.model, tools, lane.streamed)
