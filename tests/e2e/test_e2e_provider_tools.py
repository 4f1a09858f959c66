"""Tools that the provider executes, end to end: the policy's word decides on the request that declares them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from proxy.demo.turns import Dialect, Text, Turn, always
from tests.e2e.client import PATHS, request_body, request_headers
from tests.e2e.harness import desk

if TYPE_CHECKING:
    from pathlib import Path

HEAD = "language: 1\npolicy: hands\n"
SEARCHES = {
    Dialect.ANTHROPIC: {"tools": [{"type": "web_search_20260318", "name": "web_search"}]},
    Dialect.CHAT: {"web_search_options": {}},
}
WORDS = [
    ("unknown_tools: allow\n", "passes"),
    ("unknown_tools: forbid\n", "refused"),
    ("unknown_tools: escalate\n", "refused"),
    ("unknown_tools: allow\nprovider_tools: {web_search: refuse}\n", "refused"),
    ("unknown_tools: forbid\nprovider_tools: {Web-Search: allow}\n", "passes"),
    ("unknown_tools: forbid\nprovider_tools: {web_search: strip}\n", "stripped"),
    ("unknown_tools: allow\nprovider_tools: {web_search: strip, other: refuse}\n", "stripped"),
]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("dialect", SEARCHES, ids=str)
@pytest.mark.parametrize(("words", "outcome"), WORDS)
async def test_the_policys_word_decides_on_a_tool_of_the_provider(
    tmp_path: Path, dialect: Dialect, words: str, outcome: str, streamed: bool
) -> None:
    """It passes byte for byte and is receipted as observed, goes up without the tool, or does not go up at all."""
    plain = request_body(dialect, "who won?", streamed=streamed)
    body = plain[:-1] + b"," + orjson.dumps(SEARCHES[dialect])[1:]
    async with desk(tmp_path, always(Turn((Text("nobody"),))), HEAD + words) as gate:
        async with gate.session.post(gate.url + PATHS[dialect], data=body, headers=request_headers(dialect)) as got:
            answer = await got.read()
            assert got.status == (400 if outcome == "refused" else 200)
        records = await gate.records()
        went_up = [each.body for each in gate.provider.received]
    observed = [(each["tool"], each["where"]) for each in records if each["kind"] == "observed"]
    if outcome == "refused":
        assert went_up == []
        assert b"web_search" in answer
        assert [each["reason"] for each in records if each["kind"] == "refused"] == ["provider_tool"]
    elif outcome == "passes":
        assert went_up == [body]
        assert observed == [("web_search", "request")]
    else:
        assert [orjson.loads(each) for each in went_up] == [orjson.loads(plain)]
        assert observed == [("web_search", "stripped")]


async def test_a_tool_inside_a_message_cannot_be_taken_out(tmp_path: Path) -> None:
    """Taking it out would change a message that later thinking may be bound to: the request is refused."""
    tool = {"type": "tool_definition", "definition": SEARCHES[Dialect.ANTHROPIC]["tools"][0]}
    system = {"role": "system", "content": [{"type": "tool_addition", "tool": tool}]}
    document = orjson.loads(request_body(Dialect.ANTHROPIC, "who won?", streamed=False))
    document["messages"].append(system)
    words = "provider_tools: {web_search: strip}\n"
    async with desk(tmp_path, always(Turn((Text("nobody"),))), HEAD + words) as gate:
        url, fields = gate.url + PATHS[Dialect.ANTHROPIC], request_headers(Dialect.ANTHROPIC)
        async with gate.session.post(url, data=orjson.dumps(document), headers=fields) as got:
            assert got.status == 400
            assert b"stands in a message" in await got.read()
        assert gate.provider.received == []


@pytest.mark.parametrize(
    ("members", "name"),
    [
        ({"model": "openai/gpt-5:online"}, "plugins/web"),
        ({"model": "groq/compound"}, "compound"),
        ({"enable_search": True}, "web_search"),
        ({"mcp_servers": [{"name": "wiki"}]}, "mcp/wiki"),
        ({"search_settings": {"country": "de"}}, "web_search"),
    ],
)
async def test_hands_of_servers_that_speak_chat(tmp_path: Path, members: dict[str, object], name: str) -> None:
    """By default such a request is refused and told which tool it is, and passes with a record where only the model
    brings it; allowed by its name it passes as it came, with a record; refused by its name it never does; taken out
    where it can be, and not where the model itself is the tool."""
    plain = orjson.loads(request_body(Dialect.CHAT, "who won?", streamed=False))
    body = orjson.dumps(plain | members)
    words = {
        "": "passes" if "model" in members or "search_settings" in members else "refused",
        f"provider_tools: {{{name}: refuse}}\n": "refused",
        f"provider_tools: {{{name}: allow}}\n": "passes",
        f"provider_tools: {{{name}: strip}}\n": "",
    }
    for number, (policy, outcome) in enumerate(words.items()):
        async with desk(tmp_path / str(number), always(Turn((Text("nobody"),))), HEAD + policy) as gate:
            url, fields = gate.url + PATHS[Dialect.CHAT], request_headers(Dialect.CHAT)
            async with gate.session.post(url, data=body, headers=fields) as got:
                answer = await got.read()
            went_up = [each.body for each in gate.provider.received]
            kinds = [each["kind"] for each in await gate.records()]
        if outcome == "passes":
            assert (went_up, "observed" in kinds) == ([body], True)
        elif outcome == "refused" or "model" in members:
            assert (got.status, went_up, kinds) == (400, [], ["refused"])
            assert name.encode() in answer
        else:
            assert [orjson.loads(each) for each in went_up] == [plain]


@pytest.mark.parametrize(
    ("dialect", "path", "name"),
    [
        (Dialect.ANTHROPIC, "/v1/messages/batches", "batches"),
        (Dialect.CHAT, "/v1/batches", "batches"),
        (Dialect.CHAT, "/v1/realtime/client_secrets", "realtime"),
        (Dialect.CHAT, "/v1/threads/runs", "threads"),
    ],
)
@pytest.mark.parametrize(
    ("words", "passes"), [("unknown_tools: allow\n", True), ("", False), ("{}: allow", True), ("{}: strip", False)]
)
async def test_a_route_whose_answer_shows_no_call_is_a_tool_with_a_name(
    tmp_path: Path, dialect: Dialect, path: str, name: str, words: str, passes: bool
) -> None:
    """Batches, threads and realtime sessions go up only where the policy allows them by name, and are receipted."""
    policy = HEAD + (f"provider_tools: {{{words.format(name)}}}\n" if "{}" in words else words)
    async with desk(tmp_path, always(Turn(())), policy) as gate:
        async with gate.session.post(gate.url + path, data=b"{}", headers=request_headers(dialect)) as got:
            answer = await got.read()
        records = await gate.records()
        assert [each.target for each in gate.provider.received] == ([path] if passes else [])
    kinds = [each["kind"] for each in records]
    if passes:
        assert kinds == ["unexamined", "observed"]
        assert records[1]["tool"] == name
    else:
        assert kinds == ["refused"]
        assert f"'{name}'".encode() in answer
        assert got.status == 400
