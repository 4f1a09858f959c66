"""Admission: what may not go up is refused with its fault and its code, before a byte of it does."""

from __future__ import annotations

import asyncio
import gzip
import time
from dataclasses import replace
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, cast

import pytest

from interceptors.pipeline import Pipeline
from policies import load_policy_text
from proxy.admission import Admission, Asking, RefusedError
from proxy.headers import RequestHeaders, read_request_headers
from proxy.http1.heads import Head
from proxy.http1.hub import MalformedBodyError
from proxy.http1.incoming import Incoming
from proxy.identity import token_digest
from proxy.limits import Limits
from proxy.metrics import Metrics
from proxy.policy_source import InForce, Revision
from proxy.services import Holding, Room
from proxy.session_header import HmacKey, SessionVerifier, sign_session
from proxy.store import StoreError
from proxy.wire.dialect import Fault, RequestView

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
KEY, HMAC = b"k" * 32, HmacKey("s" * 32)
SESSION = SessionVerifier("x-callgate-session", HMAC)
HEAD = "language: 1\npolicy: p\n"
FIELDS = "session: {order: {hmac: order.id}, customer: {hmac: sub}}\n"


def admission(
    text: str = "", *, session: bool = False, broken: bool = False, limits: Limits | None = None
) -> tuple[Admission, Any]:
    """For a policy of this text, whose identity `bot` has the token `token`, and these limits."""
    policy = load_policy_text(HEAD + text)
    tokens = {name: token_digest("token", KEY) for name in policy.identities}
    in_force = InForce(Revision(policy, Pipeline(policy), tokens, {}))

    async def current() -> InForce:
        if broken:
            raise StoreError("no")
        return in_force

    services = SimpleNamespace(
        settings=SimpleNamespace(limits=limits or Limits(), conversation_header="x-ticket"),
        connected=SimpleNamespace(session=SESSION if session else None, upstreams={}),
        policy=SimpleNamespace(unchanged=lambda: None, last=lambda: in_force, current=current),
        judge=SimpleNamespace(clock=lambda: NOW),
        store=SimpleNamespace(subject_digest=lambda value: f"digest of {value}"),
        metrics=Metrics(),
        tenant_key=KEY,
    )
    return Admission(cast("Any", services)), services


def fields(**named: str) -> RequestHeaders:
    return read_request_headers([(name.replace("_", "-").encode(), value.encode()) for name, value in named.items()])


def refusal(error: pytest.ExceptionInfo[RefusedError]) -> tuple[Fault, str]:
    return error.value.fault, error.value.reason


@pytest.mark.parametrize(
    ("head", "refused"),
    [
        ([(b"Host", b"a"), (b"Host", b"b")], (Fault.INVALID_REQUEST, "invalid_headers")),
        ([(b"X-HTTP-Method-Override", b"PUT")], (Fault.INVALID_REQUEST, "invalid_headers")),
        ([(b"Connection", b"upgrade"), (b"Upgrade", b"websocket")], (Fault.UPGRADE_REFUSED, "upgrade")),
    ],
)
def test_a_head_with_two_readings_is_refused(head: Any, refused: tuple[Fault, str]) -> None:
    """So is one that asks for another protocol; any other head comes back as its fields."""
    with pytest.raises(RefusedError) as error:
        admission()[0].head(cast("Any", SimpleNamespace(head=Head(head))))
    assert refusal(error) == refused
    assert admission()[0].head(cast("Any", SimpleNamespace(head=Head(((b"A", b"b"),))))).get("a") == "b"


IDENTITIES = "identities: {bot: {token: '${TOKEN}'}}\n"


async def test_who_asks() -> None:
    """With identities exactly a token that is known, under its name; without, whoever it is, by a digest."""
    known = admission(IDENTITIES)[0]
    assert (await known.who(fields(authorization="Bearer token"))).caller.identity == "bot"
    for strange in (fields(), fields(authorization="Bearer other")):
        with pytest.raises(RefusedError) as error:
            await known.who(strange)
        assert refusal(error) == (Fault.UNAUTHENTICATED, "unknown_credential")
    anybody = (await admission()[0].who(fields(authorization="Bearer other"))).caller
    assert anybody.identity is None
    assert "other" not in anybody.tenant


async def test_a_policy_that_cannot_be_recorded_admits_nobody() -> None:
    """A revision is in force only with its receipt: until then the gate is overloaded, and counts it."""
    gate, services = admission(broken=True)
    with pytest.raises(RefusedError) as error:
        await gate.who(fields())
    assert refusal(error) == (Fault.OVERLOADED, "store_unavailable")
    assert b"callgate_store_errors_total 1.0" in services.metrics.exposition()


async def who(claims: dict[str, Any] | None, text: str = FIELDS) -> Asking:
    header = {} if claims is None else {"x_callgate_session": sign_session(claims, HMAC)}
    return await admission(text, session=True)[0].who(fields(**header))


@pytest.mark.parametrize(
    ("claims", "subject"),
    [
        (None, ""),
        ({"sub": "c1"}, ""),
        ({"sub": "c1", "order": {"id": "A1"}}, "digest of A1"),
        ({"order": {"id": ""}}, ""),
        ({"order": {"id": 5}}, ""),
        ({"order": "A1"}, ""),
    ],
)
async def test_the_subject_is_the_first_field_of_the_session(claims: dict[str, Any] | None, subject: str) -> None:
    """As a keyed digest, by the path that the policy states; one that is no text, or not there, is nobody."""
    end = {"exp": int(NOW.timestamp()) + 60}
    assert (await who(None if claims is None else claims | end)).subject == subject


async def test_without_a_session_in_the_policy_there_is_no_subject() -> None:
    """The claims are kept, and nobody is named by them."""
    asking = await who({"sub": "c1", "exp": int(NOW.timestamp()) + 60}, "")
    assert (asking.subject, asking.claims["sub"]) == ("", "c1")


async def test_a_session_that_is_not_proven_is_refused() -> None:
    """Nobody is not the same as somebody whose proof is wrong."""
    with pytest.raises(RefusedError) as error:
        await admission(FIELDS, session=True)[0].who(fields(x_callgate_session="eyJzdWIiOiJjMSJ9.bm8"))
    assert refusal(error) == (Fault.UNAUTHENTICATED, "invalid_session")


class Content:
    """The parts of a body as they arrive; `stalls` for ever behind them."""

    def __init__(self, *parts: bytes, at_once: bool = False, stalls: bool = False) -> None:
        self._parts, self._at_once, self._stalls = list(parts), at_once, stalls

    def is_eof(self) -> bool:
        return self._at_once

    def read_nowait(self) -> bytes:
        return b"".join(self._parts)

    async def some(self) -> bool:
        if not self._parts and self._stalls:
            await asyncio.Event().wait()
        return bool(self._parts)

    def take(self) -> list[bytes]:
        return [self._parts.pop(0)]


async def body(
    content: Content, room: Room | None = None, *, encoding: str = "", length: int | None = None, **limits: int
) -> tuple[bytes, bool]:
    gate, _ = admission(limits=Limits(**limits))
    request = SimpleNamespace(content_length=length, content=content)
    head = fields(content_encoding=encoding) if encoding else fields()
    return await gate.body(cast("Any", request), head, Holding(room or Room(10**9)), time.monotonic() + 0.05)


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_body_comes_whole(at_once: bool) -> None:
    """With the head or in parts, encoded or not, and whether it was encoded is told."""
    assert await body(Content(b"{", b"}", at_once=at_once)) == (b"{}", False)
    assert await body(Content(gzip.compress(b"{}"), at_once=at_once), encoding="gzip") == (b"{}", True)


async def test_a_body_that_states_too_much_is_refused_before_it_comes_and_takes_no_room() -> None:
    """It would keep others out for as long as it does not come."""
    room = Room(1000)
    with pytest.raises(RefusedError) as error:
        await body(Content(at_once=False), room, length=1025, request_bytes_max=1024)
    assert (refusal(error), room.held) == ((Fault.TOO_LARGE, "too_large"), 0)


@pytest.mark.parametrize("at_once", [True, False])
async def test_a_body_has_a_size(at_once: bool) -> None:
    """At `request_bytes_max` it passes, a byte more is too large, and so is what it decodes to."""
    full = [b"a" * 1000, b"a" * 24]
    assert await body(Content(*full, at_once=at_once), request_bytes_max=1024) == (b"".join(full), False)
    with pytest.raises(RefusedError) as error:
        await body(Content(*full, b"a", at_once=at_once), request_bytes_max=1024)
    assert refusal(error) == (Fault.TOO_LARGE, "too_large")
    packed = gzip.compress(b"a" * 1025)
    with pytest.raises(RefusedError) as error:
        await body(Content(packed, at_once=at_once), encoding="gzip", request_decoded_bytes_max=1024)
    assert refusal(error) == (Fault.TOO_LARGE, "invalid_body")


@pytest.mark.parametrize("encoding", ["gzip", "lzma", "gzip, br"])
async def test_a_body_with_no_reading_is_refused(encoding: str) -> None:
    """Corrupt, or in an encoding that is not known."""
    with pytest.raises(RefusedError) as error:
        await body(Content(b"no"), encoding=encoding)
    assert refusal(error) == (Fault.INVALID_REQUEST, "invalid_body")


async def test_a_body_whose_chunks_are_broken_is_refused() -> None:
    """What came of it is no body."""
    content = Incoming(cast("Any", SimpleNamespace(is_closing=lambda: False)))
    content.feed(b"{")
    content.fail(MalformedBodyError)
    with pytest.raises(RefusedError) as error:
        await body(cast("Any", content))
    assert (error.value.fault, error.value.reason) == (Fault.INVALID_REQUEST, "malformed_body")


async def test_a_body_that_does_not_arrive_is_refused() -> None:
    """When the exchange's time is up it waits no more."""
    with pytest.raises(RefusedError) as error:
        await body(Content(b"{", stalls=True))
    assert refusal(error) == (Fault.INVALID_REQUEST, "slow_body")


@pytest.mark.parametrize(
    ("length", "parts", "encoding"),
    [
        (101, [], ""),
        (None, [b"a" * 101], ""),
        (2, [b"a" * 60, b"a" * 41], ""),
        (None, [gzip.compress(b"a" * 101)], "gzip"),
    ],
)
@pytest.mark.parametrize("at_once", [True, False])
async def test_a_body_needs_room(length: int | None, parts: list[bytes], encoding: str, at_once: bool) -> None:
    """What it states, what arrives and what it decodes to are each held against the room of the process."""
    with pytest.raises(RefusedError) as error:
        await body(Content(*parts, at_once=at_once), Room(100), length=length, encoding=encoding)
    assert refusal(error) == (Fault.OVERLOADED, "overloaded")
    assert await body(Content(b"a" * 100, at_once=at_once), Room(100), length=100) == (b"a" * 100, False)


def test_the_name_of_a_conversation() -> None:
    """By the configured header; metadata with two readings is an error of the request."""
    gate = admission()[0]
    assert gate.conversation(fields(x_ticket="7"), RequestView()) != ""
    with pytest.raises(RefusedError) as error:
        gate.conversation(fields(), RequestView(metadata=b'{"session_id":"a","session_id":"b"}'))
    assert refusal(error) == (Fault.INVALID_REQUEST, "invalid_body")


@pytest.mark.parametrize("key", [None, "own"])
def test_what_goes_up(key: str | None) -> None:
    """The session header never does; the credential only where the upstream has no key of its own."""
    gate, services = admission(session=True)
    services.connected.upstreams["anthropic"] = SimpleNamespace(key=key)
    way = cast("Any", SimpleNamespace(upstream="anthropic", dialect=SimpleNamespace(provider="anthropic")))
    head = fields(x_callgate_session="s", x_api_key="theirs", content_encoding="gzip", x_other="1")
    up = {name.lower(): value for name, value in gate.fields_up(head, way, is_decoded=True)}
    assert up == {"x-api-key": key or "theirs", "x-other": "1", "accept-encoding": "identity"}


async def test_a_head_that_comes_again_is_asked_of_the_tokens_in_force() -> None:
    """A token that an edit of the policy took away opens nothing on a connection on which it did before."""
    gate, services = admission(IDENTITIES)
    head = Head(((b"Authorization", b"Bearer token"),))
    request = cast("Any", SimpleNamespace(head=head))
    assert (await gate.who(gate.head(request))).caller.identity == "bot"
    revision = services.policy.last().revision
    edited = InForce(replace(revision, tokens={"bot": token_digest("another", KEY)}))
    services.policy.unchanged = lambda: edited
    with pytest.raises(RefusedError) as error:
        await gate.who(gate.head(request))
    assert refusal(error) == (Fault.UNAUTHENTICATED, "unknown_credential")
    services.policy.unchanged = lambda: InForce(revision)
    assert (await gate.who(gate.head(request))).caller.identity == "bot"
