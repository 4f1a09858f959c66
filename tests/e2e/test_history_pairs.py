"""Calls without results and results without calls, which clients send by mistake: mended or refused, in every dialect.

The strict providers refuse each of these requests as it is, but for Ollama's, which pairs by order and refuses nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
import pytest

from proxy.demo.responses_provider import ResponsesProvider
from proxy.demo.turns import Call, Dialect, Text, Thinking, Turn
from tests.e2e.harness import desk, session_header
from tests.e2e.told import POLICY, Steps, told, turn
from tests.e2e.upkeep import results

if TYPE_CHECKING:
    from pathlib import Path

DIALECTS = ("anthropic", "chat", "responses", "gemini", "ollama")
STRICT = DIALECTS[:4]
PATHS = {
    "anthropic": "/v1/messages",
    "chat": "/v1/chat/completions",
    "responses": "/v1/responses",
    "gemini": "/v1beta/models/m:generateContent",
    "ollama": "/api/chat",
}
every_dialect = pytest.mark.parametrize("dialect", DIALECTS)
SAID = Turn((Text("It is so."),))


def policy(value: str) -> str:
    return POLICY.replace("reasons:", f"broken_pairs: {value}\nreasons:", 1) if value else POLICY


def said(dialect: str, role: str, text: str) -> list[dict[str, Any]]:
    if dialect == "gemini":
        return [{"role": {"assistant": "model"}.get(role, role), "parts": [{"text": text}]}]
    return [{"role": role, "content": text}]


def calls(dialect: str, *names: str) -> list[dict[str, Any]]:
    """One turn with these calls; the ids of the calls are `c_` and the name."""
    match dialect:
        case "anthropic":
            blocks = [{"type": "tool_use", "id": f"c_{name}", "name": name, "input": {"n": 1}} for name in names]
            return [{"role": "assistant", "content": blocks}]
        case "chat":
            made = [
                {"id": f"c_{name}", "type": "function", "function": {"name": name, "arguments": '{"n":1}'}}
                for name in names
            ]
            return [{"role": "assistant", "content": None, "tool_calls": made}]
        case "responses":
            return [
                {"type": "function_call", "call_id": f"c_{name}", "name": name, "arguments": '{"n":1}'}
                for name in names
            ]
        case "gemini":
            return [{"role": "model", "parts": [{"functionCall": {"name": name, "args": {"n": 1}}} for name in names]}]
    made = [{"function": {"name": name, "arguments": {"n": 1}}} for name in names]
    return [{"role": "assistant", "content": "", "tool_calls": made}]


def results_of(dialect: str, *names: str) -> list[dict[str, Any]]:
    match dialect:
        case "anthropic":
            blocks = [{"type": "tool_result", "tool_use_id": f"c_{name}", "content": "ok"} for name in names]
            return [{"role": "user", "content": blocks}]
        case "chat":
            return [{"role": "tool", "tool_call_id": f"c_{name}", "content": "ok"} for name in names]
        case "responses":
            return [{"type": "function_call_output", "call_id": f"c_{name}", "output": "ok"} for name in names]
        case "gemini":
            parts = [{"functionResponse": {"name": name, "response": {"output": "ok"}}} for name in names]
            return [{"role": "user", "parts": parts}]
    return [{"role": "tool", "tool_name": name, "content": "ok"} for name in names]


def unanswered(dialect: str) -> list[dict[str, Any]]:
    """The write has no result, and the customer speaks on."""
    made = calls(dialect, "read_allowed", "write_allowed")
    return [*said(dialect, "user", "Hello"), *made, *results_of(dialect, "read_allowed"), *said(dialect, "user", "So?")]


def lost(dialect: str) -> list[dict[str, Any]]:
    """The turn of results is gone as a whole, long ago."""
    made = calls(dialect, "read_allowed")
    return [*said(dialect, "user", "Hello"), *made, *said(dialect, "user", "So?"), *ended(dialect)]


def orphan(dialect: str) -> list[dict[str, Any]]:
    """The calls were compacted away, and one of their results was left behind."""
    return [
        *said(dialect, "user", "Summary"),
        *said(dialect, "assistant", "Yes."),
        *results_of(dialect, "read_allowed"),
        *said(dialect, "user", "So?"),
        *ended(dialect),
    ]


def ended(dialect: str) -> list[dict[str, Any]]:
    return [*said(dialect, "assistant", "It is."), *said(dialect, "user", "And now?")]


@dataclass
class Seen:
    """What the client was answered, and what the provider got and refused."""

    answers: list[tuple[int, str]] = field(default_factory=list)
    sent: list[bytes] = field(default_factory=list)
    refused: list[bool] = field(default_factory=list)
    records: list[dict[str, Any]] = field(default_factory=list)


async def ask(folder: Path, dialect: str, text: str, *histories: list[dict[str, Any]]) -> Seen:
    """Each history in one request, through one gate."""
    seen = Seen()
    provider = ResponsesProvider(lambda _: SAID)
    upstream = provider.app() if dialect == "responses" else None
    member = {"gemini": "contents", "responses": "input"}.get(dialect, "messages")
    more: dict[str, Any] = {} if dialect == "gemini" else {"model": "m", "stream": False}
    more |= {"max_tokens": 99} if dialect == "anthropic" else {}
    key = {"anthropic": "x-api-key", "gemini": "x-goog-api-key"}.get(dialect, "authorization")
    headers = {**session_header(), key: "Bearer k", "anthropic-version": "2023-06-01"}
    async with desk(folder, Steps((SAID,)), text, upstream=upstream) as running:
        for history in histories:
            body = {member: history, **more}
            async with running.session.post(running.url + PATHS[dialect], json=body, headers=headers) as got:
                seen.answers.append((got.status, await got.text()))
        if upstream is not None:
            seen.sent = [orjson.dumps(one) for one in provider.received]
            seen.refused = [status != 200 for status, _ in seen.answers]
        else:
            seen.sent = [one.body for one in running.provider.received]
            seen.refused = [bool(one.refused) for one in running.provider.received]
        seen.records = await running.records()
    return seen


@every_dialect
@pytest.mark.parametrize("history", [unanswered, lost, orphan])
async def test_a_broken_pair_is_mended(tmp_path: Path, dialect: str, history: Any) -> None:
    """The provider takes it, refuses it as it is, and gets the same bytes again; one receipt tells of it."""
    mended = await ask(tmp_path / "a", dialect, policy("repair"), history(dialect), history(dialect))
    assert [status for status, _ in mended.answers] == [200, 200], mended.answers
    assert mended.sent[0] == mended.sent[1]
    assert (b"No result of this call came back." in mended.sent[0]) is (history is not orphan)
    edits = [(each["edit"], each["count"]) for each in mended.records if each["kind"] == "edited"]
    assert edits == [("orphan" if history is orphan else "unanswered", 1)]
    if dialect in STRICT:
        plain = await ask(tmp_path / "b", dialect, policy(""), history(dialect))
        assert (plain.refused, plain.answers[0][0]) == ([True], 400)
    else:
        assert orjson.loads(mended.sent[0])["messages"] != history(dialect)


@every_dialect
@pytest.mark.parametrize(
    ("history", "place", "what"),
    [
        (unanswered, 1, "the call 'c_write_allowed' has no result"),
        (lost, 1, "the call 'c_read_allowed' has no result"),
        (orphan, 2, "the result of 'c_read_allowed' answers no call before it"),
    ],
)
async def test_a_broken_pair_is_refused_by_its_place(
    tmp_path: Path, dialect: str, history: Any, place: int, what: str
) -> None:
    """With the index of its message and the id of its call; without an id, the name of its tool."""
    place += history is unanswered and dialect == "responses"
    what = what if dialect in DIALECTS[:3] else what.replace("'c_", "'")
    seen = await ask(tmp_path, dialect, policy("refuse"), history(dialect))
    ((status, text),) = seen.answers
    assert (status, seen.sent) == (400, [])
    assert f"message {place}: {what}" in text
    assert [each["reason"] for each in seen.records if each["kind"] == "refused"] == ["broken_pairs"]


@every_dialect
@pytest.mark.parametrize("value", ["repair", "refuse"])
async def test_whole_pairs_go_up_as_they_are(tmp_path: Path, dialect: str, value: str) -> None:
    """What is no client's mistake is not touched: the same bytes as without the key."""
    names = ("read_allowed", "write_allowed")
    talk = [*calls(dialect, *names), *results_of(dialect, *names)]
    whole = [*said(dialect, "user", "Hi"), *talk, *ended(dialect)]
    seen = await ask(tmp_path / "a", dialect, policy(value), whole)
    plain = await ask(tmp_path / "b", dialect, policy(""), whole)
    assert seen.answers[0][0] == 200
    assert (seen.sent, seen.refused) == (plain.sent, [False])


@every_dialect
async def test_a_call_at_the_very_end_is_the_clients_to_answer(tmp_path: Path, dialect: str) -> None:
    """Nothing was said since: a result that the gate makes up would let the model go on, and could not stay."""
    history = [*said(dialect, "user", "Hi"), *calls(dialect, "read_allowed")]
    seen = await ask(tmp_path, dialect, policy("repair"), history)
    assert (seen.answers[0][0], seen.sent) == (400, [])
    assert "has no result, and nothing follows it" in seen.answers[0][1]


async def test_outputs_may_stand_anywhere_behind_their_calls(tmp_path: Path) -> None:
    """Responses pair by id alone: an output far behind, and one whose call the provider keeps, are whole."""
    apart = [
        *said("responses", "user", "Hi"),
        *calls("responses", "read_allowed", "write_allowed"),
        *results_of("responses", "read_allowed"),
        *said("responses", "assistant", "One is done."),
        *results_of("responses", "write_allowed"),
    ]
    seen = await ask(tmp_path, "responses", policy("refuse"), apart)
    assert (seen.answers[0][0], seen.refused) == (200, [False])


async def test_what_was_mended_stays_mended(tmp_path: Path) -> None:
    """The talk goes on, thinking that was made behind the mending stays valid, and the bytes are the same for ever,
    also under a policy that would refuse."""
    read = turn(Thinking("Let me see."), Call("read_allowed", '{"n": 1}'))
    well = turn(Thinking("Well."), Text("It is so."))
    way = (Dialect.ANTHROPIC, True)
    async with told(tmp_path, way, read, well, read, well, policy=policy("repair")) as one:
        await one.ask()
        one.talk.say("Never mind.")
        await one.ask()
        one.talk.say("And?")
        await one.ask()
        results(one, "ok")
        (tmp_path / "policy.yaml").write_text(policy("refuse"))
        await one.ask()
        one.check()
        assert one.sent[-1].count(b"No result of this call came back.") == 1
        assert one.sent[-1].count(b'"signature"') == 3
