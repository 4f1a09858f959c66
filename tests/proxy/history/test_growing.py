"""A history that is known by its beginning goes up as the whole of it would, whatever comes."""

from __future__ import annotations

import asyncio
import itertools
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interceptors.edits import Edit
from policies import load_policy_text
from proxy.history.begun import Begun, BegunMemory
from proxy.history.growing import Growing
from proxy.history.keeper import Histories, Subject
from proxy.history.view import State
from proxy.ledger.edits import EditVault
from proxy.ledger.hidden import Asker
from proxy.ledger.vault import Vault
from proxy.viewing import Viewing
from proxy.wire import envelope, stem
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.prefix import Patch
from proxy.wire.seal import Seals, may_be_sealed, sealed

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator
    from pathlib import Path

    from policies.model import Policy
    from proxy.history.lifting import Upward
    from proxy.wire.dialect import Dialect

START = datetime(2026, 11, 30, tzinfo=UTC)
SECONDS = 1000.0
ADA = Asker("ada")
HEAD = "language: 1\npolicy: p\n"
POLICIES = [
    load_policy_text(HEAD + text)
    for text in (
        "tools: {look: {effect: read, result: {max_bytes: 64}}, peek: {effect: read, result: {errors: standard}}}",
        "tools: {look: {effect: read, result: {max_bytes: 80}}}",
        "tools: {look: {effect: read}}",
        "tools: {look: {effect: read, result: {fresh_for: 10s, max_bytes: 64}}}",
        "broken_pairs: repair\ntools: {look: {effect: read, result: {max_bytes: 64}}}",
    )
]


@pytest.fixture(autouse=True)
def _short_ones_too() -> Iterator[None]:
    with patch("proxy.viewing.LONG_BYTES", 0), patch.object(stem, "LONG_BYTES", 0):
        yield


@pytest.fixture
async def vault(tmp_path: Path) -> AsyncIterator[Vault]:
    found = await asyncio.to_thread(Vault, tmp_path, SECONDS)
    yield found
    await asyncio.to_thread(found.close)


class Desk:
    """One tenant's requests, through one gate: with what is known of their beginnings, or without."""

    def __init__(self, vault: Vault, tenant: str, *, knows: bool) -> None:
        self.now = START
        self._tenant = tenant
        self._viewing = Viewing() if knows else None
        self._histories = Histories(EditVault(vault), lambda: self.now)

    async def lift(self, dialect: Dialect, body: bytes, policy: Policy) -> Upward | str:
        answered = frozenset({"c0"})
        try:
            if self._viewing is None:
                subject = Subject(self._tenant, ADA, answered, body, is_sealed=may_be_sealed(body))
                return await self._histories.lift(dialect, body, policy, subject)
            view = self._viewing.view(dialect, body, tenant=self._tenant)
            assert view.is_sealed is None or view.is_sealed is may_be_sealed(body)
            subject = Subject(self._tenant, ADA, answered, body, is_sealed=may_be_sealed(body))
            return await self._histories.lift(dialect, body, policy, subject, view.stems)
        except envelope.EnvelopeError as error:
            return str(error)


def told(up: Upward | str, tenant: str) -> Any:
    """All of it but for whose it is."""
    if isinstance(up, str):
        return up
    where = None if up.where is None else (up.where.place, up.where.root, up.where.subject)
    assert up.where is None or up.where.tenant == tenant
    return up.body, up.mark, where, up.decision, dict(up.fresh), up.bytes_saved, up.taken_out


def said(dialect: Dialect, number: int, name: str, mark: str, *, thinks: bool) -> dict[str, Any]:
    if dialect is OPENAI_CHAT:
        call = {"id": f"c{number}", "type": "function", "function": {"name": name, "arguments": '{"a":1}'}}
        return {"role": "assistant", "content": "so", "tool_calls": [call]}
    signature = sealed(mark, "c2ln") if mark else "c2ln"
    thought = [{"type": "thinking", "thinking": "t", "signature": signature}] if thinks else []
    return {
        "role": "assistant",
        "content": [*thought, {"type": "tool_use", "id": f"c{number}", "name": name, "input": {"a": 1}}],
    }


def came(dialect: Dialect, number: int, text: str) -> dict[str, Any]:
    if dialect is OPENAI_CHAT:
        return {"role": "tool", "tool_call_id": f"c{number}", "content": text}
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": text}]}


TEXTS = ("short", "a text that is longer than that; " * 4, "", "Traceback (most recent call last):\n x", "ü" * 70)
_step = st.tuples(
    st.integers(0, 3),  # messages that the client takes back
    st.lists(st.tuples(st.sampled_from("crcrcruts"), st.integers(0, 4), st.booleans()), max_size=5),
    st.sampled_from([*[0] * 6, 1, 2, 3, 4]),  # the policy
    st.sampled_from([*["on"] * 8, "later", "erase", "expire", "lenient", "spaced", "restart"]),
)


def longer(dialect: Dialect, history: list[Any], more: Any, mark: str, names: Iterator[int]) -> list[Any]:
    found = list(history)
    for kind, number, flag in more:
        match kind:
            case "c":
                found.append(
                    said(
                        dialect, next(names), "look" if flag else "peek", mark if number % 2 else "", thinks=number > 2
                    )
                )
            case "r":
                found.append(came(dialect, max(0, next(names) - 1) if number > 3 else _last(found), TEXTS[number]))
            case "t":
                found.append({"role": "assistant", "content": "well"})
            case "s":
                found.append({"role": "system", "content": "be kind"})
            case _:
                found.append({"role": "user", "content": f"and {number}"})
    return found


def _last(history: list[Any]) -> int:
    text = orjson.dumps(history).decode()
    return int(text.rpartition('"id":"c')[2].partition('"')[0] or 0) if '"id":"c' in text else 9


def request(messages: list[Any], how: str) -> bytes:
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}} if how == "lenient" else {}
    body = {"model": "m", "messages": messages, "thinking": {"type": "enabled", **binding}}
    return orjson.dumps(body, option=orjson.OPT_INDENT_2 if how == "spaced" else 0)


class Both:
    """One conversation of two tenants of a vault: at a gate that knows how it begins, and at one that does not."""

    def __init__(self, vault: Vault, number: int = 0) -> None:
        self._vault = vault
        self._tenants = f"knows {number}", f"reads {number}"
        self.now = START
        self.restart()

    def restart(self) -> None:
        self._desks = [Desk(self._vault, tenant, knows=not at) for at, tenant in enumerate(self._tenants)]

    async def send(self, dialect: Dialect, body: bytes, policy: int = 0) -> Upward | str:
        """What goes up, which is the same for both, also when it is sent again."""
        for desk in self._desks:
            desk.now = self.now
        ups = [await desk.lift(dialect, body, POLICIES[policy]) for desk in self._desks]
        assert told(ups[0], self._tenants[0]) == told(ups[1], self._tenants[1])
        return ups[0]

    async def happen(self, event: str) -> None:
        self.now += timedelta(seconds=SECONDS / 5 if event == "later" else 1)
        match event:
            case "erase":
                await asyncio.to_thread(self._vault.erase, "ada")
            case "expire" | "later":
                await asyncio.to_thread(self._vault.expire, self.now)
            case "restart":
                self.restart()
            case _:
                pass


async def run(vault: Vault, number: int, dialect: Dialect, steps: list[Any]) -> None:
    both, names, mark = Both(vault, number), iter(range(10_000)), ""
    history: list[Any] = [{"role": "user", "content": f"x{number}"}]
    for back, more, policy, event in steps:
        history = longer(dialect, history[: max(1, len(history) - back)], more, mark, names)
        await both.happen(event)
        for _ in range(2):
            up = await both.send(dialect, request(history, event), policy)
        mark = up.mark if not isinstance(up, str) and up.mark.startswith("e") else ""


_numbers = itertools.count()


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(dialect=st.sampled_from([ANTHROPIC_MESSAGES, OPENAI_CHAT]), steps=st.lists(_step, min_size=1, max_size=8))
async def test_the_same_goes_up_whatever_is_known(vault: Vault, dialect: Dialect, steps: list[Any]) -> None:
    """Histories that grow, are rewound and fork; policies that change; what is erased, expires, or is forgotten."""
    await run(vault, next(_numbers), dialect, steps)


@pytest.fixture
def grown() -> Iterator[list[bool]]:
    """Of each request with a known beginning, whether it paid for what is new alone."""
    found: list[bool] = []
    lift = Growing.lift

    def noted(self: Growing, coming: Any) -> Any:
        up = lift(self, coming)
        found.append(up is not None)
        return up

    with patch.object(Growing, "lift", noted):
        yield found


def turn(number: int, text: str = TEXTS[1], **thinking: str) -> list[Any]:
    thought = [{"type": "thinking", "thinking": "t", **thinking}] if thinking else []
    call = {"type": "tool_use", "id": f"c{number}", "name": "look", "input": {"a": number}}
    return [{"role": "assistant", "content": [*thought, call]}, came(ANTHROPIC_MESSAGES, number, text)]


X = {"role": "user", "content": "x"}


async def test_a_loop_pays_for_what_is_new_in_it(vault: Vault, grown: list[bool]) -> None:
    """From the second request on whose beginning is known; each of its results is pruned, in all requests alike."""
    both, history = Both(vault), [X]
    for number in range(1, 7):
        history += turn(number)
        up = await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
        assert not isinstance(up, str)
        assert TEXTS[1].encode() not in up.body
        assert dict(up.fresh) == {Edit.PRUNED: 1}
    assert grown == [True] * 5


async def test_what_a_beginning_holds_is_kept_as_long_as_it_is_used(vault: Vault, grown: list[bool]) -> None:
    """The places of the whole history last, though only its end is looked up."""
    both, history = Both(vault), [X]
    for number in range(1, 30):
        both.now += timedelta(seconds=SECONDS / 20)
        await both.happen("expire")
        history += turn(number)
        await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
    assert set(grown) == {True, False}


@pytest.mark.parametrize("event", ["erase", "restart"])
async def test_what_was_erased_is_not_known(vault: Vault, grown: list[bool], event: str) -> None:
    """A history of which nothing is decided any more goes up as it came; one at a new gate as before."""
    both, history = Both(vault), [X, *turn(1)]
    for number in (2, 3):
        await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
        history += turn(number)
    await both.happen(event)
    up = await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
    assert not isinstance(up, str)
    assert (TEXTS[1].encode() in up.body) is (event == "erase")
    assert grown[1:] == ([False] if event == "erase" else [])


LOST = sealed("e" + "0" * 24, "c2ln")
"""The seal of thinking that was made behind other edits than any."""


@pytest.mark.parametrize("known", [0, 3], ids=["at once", "behind what is known"])
async def test_thinking_that_its_provider_may_drop_is_not_known(vault: Vault, known: int) -> None:
    """Where a request leaves it to its provider what becomes of thinking, the next one may not."""
    both, history = Both(vault), [X]
    for number in range(1, known + 1):
        history += turn(number)
        await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
    for number, how in ((4, "lenient"), (5, "lenient"), (6, "on"), (7, "on")):
        history += turn(number, signature=LOST) if number == 4 else turn(number)
        await both.send(ANTHROPIC_MESSAGES, request(history, how))


async def test_thinking_that_has_to_go_is_told(vault: Vault, grown: list[bool]) -> None:
    """Behind a beginning that is known as well."""
    both, history = Both(vault), [X]
    for number in range(1, 4):
        history += turn(number)
        await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
    history += turn(4, signature=LOST)
    for number in range(5, 8):
        up = await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
        assert not isinstance(up, str)
        assert up.taken_out == 1
        history += turn(number)
    assert grown == [True, True, False, False, False]


async def test_repairs_of_a_policy_are_not_known_under_another(vault: Vault) -> None:
    """What mends a history in each request anew is none of its decisions."""
    both = Both(vault)
    history = [X, *turn(1), turn(2)[0], {"role": "user", "content": "and"}, *turn(3)]
    await both.send(ANTHROPIC_MESSAGES, request(history, "on"), 0)
    both.restart()
    await both.send(ANTHROPIC_MESSAGES, request(history, "on"), 4)
    await both.send(ANTHROPIC_MESSAGES, request(history, "on"), 0)
    await both.send(ANTHROPIC_MESSAGES, request([*history, *turn(4)], "on"), 0)


async def test_a_result_that_grew_old_later_is_not_known_of_another_end(vault: Vault) -> None:
    """What a later place decided about an earlier turn belongs to that place alone."""
    both = Both(vault)
    history = [X, *turn(1), {"role": "assistant", "content": "well"}]
    await both.send(ANTHROPIC_MESSAGES, request([X, *turn(1)], "on"), 3)
    await both.happen("later")
    for end, policy in (("old", 3), ("old", 0), ("other", 0)):
        await both.send(ANTHROPIC_MESSAGES, request([*history, {"role": "user", "content": end}], "on"), policy)


async def test_members_behind_the_messages_keep_the_form_that_they_get(vault: Vault) -> None:
    """A client that spaces them only there gets the bytes that it would get without a known beginning."""
    both, history = Both(vault), [X, *turn(1), *turn(2)]
    await both.send(ANTHROPIC_MESSAGES, request(history, "on"))
    body = request([*history, *turn(3)], "on")
    for spaced in (
        body.replace(b'],"thinking":', b'] , "thinking": '),
        body[:-1] + b" }",
        body[:-3] + b" " + body[-3:],
    ):
        up = await both.send(ANTHROPIC_MESSAGES, spaced)
        assert not isinstance(up, str)


def test_what_is_remembered_is_bounded() -> None:
    """By how many beginnings there are, how much is edited in them, and its bytes; and none outlives an erasure."""

    def one(number: int, text: bytes = b"x") -> tuple[stem.Stem, Begun]:
        patches = (Patch(0, 1, text),)
        return stem.Stem(b"%d" % number, 1, 2, Seals()), Begun(1, b"", b"", b"", b"", State(b""), {}, patches)

    memory = BegunMemory(begun_max=3)
    memory.keep_up(1)
    for number in range(5):
        memory.add(*one(number), generation=1)
    assert [memory.of(one(number)[0]) is not None for number in range(5)] == [False, False, True, True, True]
    with patch("proxy.history.begun.TEXT_BYTES_MAX", 10):
        memory.add(*one(5, b"y" * 9), generation=1)
        assert [memory.of(one(number)[0]) is not None for number in range(6)] == [False] * 4 + [True, True]
    memory.add(*one(6), generation=0)  # read before something was erased
    assert memory.of(one(6)[0]) is None
    memory.keep_up(2)
    assert memory.of(one(5)[0]) is None
