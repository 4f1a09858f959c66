"""`callgate fees extract`: a model proposes, code counts the places and judges; what it refuses makes no file."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from policies.fees import candidate_schema
from proxy.cli import cli
from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.demo.turns import Call, Dialect, HttpError, Stop, Text, Turn, Verbatim, always
from proxy.extraction import TOOL, ExtractionError, Speech, proposal
from tests.policies.fees.drafts import GOLDEN, NAMES

if TYPE_CHECKING:
    from pathlib import Path

    from proxy.demo.turns import Answer

WALKS = GOLDEN / "harbour-walks"
SOURCE = WALKS / "source.txt"
BOTH = pytest.mark.parametrize("dialect", [Dialect.ANTHROPIC, Dialect.CHAT])
NAMED = {Dialect.ANTHROPIC: "anthropic", Dialect.CHAT: "openai"}


def unplaced(name: str = "harbour-walks", **changed: Any) -> dict[str, Any]:
    """A golden candidate as a model writes it: it does not count places."""

    def walk(value: Any) -> Any:
        if isinstance(value, list):
            return [walk(item) for item in value]
        if isinstance(value, dict):
            places = {"location": {"document": "?", "start": 0, "end": 1}} if "location" in value else {}
            return {key: walk(item) for key, item in value.items()} | places
        return value

    found: dict[str, Any] = walk(json.loads((GOLDEN / name / "candidate.json").read_text(encoding="utf-8")))
    return found | changed


def proposing(candidate: Any, *, tool: str = TOOL) -> Turn:
    return Turn((Text("Here it is."), Call(tool, json.dumps(candidate))))


async def extract(
    answer: Answer, dialect: Dialect, *more: str | Path, source: Path = SOURCE, **environment: str | None
) -> tuple[Result, Provider]:
    """The command against a provider that answers so."""
    provider = Provider(always(answer))
    keys = {"ANTHROPIC_API_KEY": "sk-anthropic", "OPENAI_API_KEY": "sk-openai"} | environment
    async with serving(provider.app(), shutdown_seconds=0.1) as url:
        words = ["fees", "extract", str(source), "--model", "scripted"]
        words += [str(one).replace("URL", url) for one in more] or ["--upstream", f"{NAMED[dialect]}={url}"]
        result = await asyncio.to_thread(CliRunner(env=keys).invoke, cli, words)
    return result, provider


@BOTH
async def test_a_right_proposal_is_validated_and_written(dialect: Dialect, tmp_path: Path) -> None:
    """With the places counted by code it is the golden candidate; the request forces one call of the schema's shape."""
    out = tmp_path / "terms.json"
    provider = Provider(always(proposing(unplaced())))
    async with serving(provider.app(), shutdown_seconds=0.1) as url:
        words = ["fees", "extract", str(SOURCE), "--model", "scripted", "--upstream", f"{NAMED[dialect]}={url}"]
        environment = {"ANTHROPIC_API_KEY": "sk-anthropic", "OPENAI_API_KEY": "sk-openai"}
        result = await asyncio.to_thread(CliRunner(env=environment).invoke, cli, [*words, "--out", str(out)])

    assert result.exit_code == 0, result.output
    assert json.loads(out.read_text()) == json.loads((WALKS / "candidate.json").read_text())
    assert "the source also states 'within two days'" in result.stderr
    [sent] = provider.received
    assert sent.refused == ""
    body = json.loads(sent.body)
    [tool] = body["tools"]
    if dialect is Dialect.ANTHROPIC:
        assert sent.target == "/v1/messages"
        assert sent.header("x-api-key") == "sk-anthropic"
        assert tool["input_schema"] == candidate_schema()
        assert body["tool_choice"] == {"type": "tool", "name": TOOL}
    else:
        assert sent.target == "/v1/chat/completions"
        assert sent.header("authorization") == "Bearer sk-openai"
        assert tool["function"]["parameters"] == candidate_schema()
        assert body["tool_choice"]["function"] == {"name": TOOL}
    assert SOURCE.read_text(encoding="utf-8") in body["messages"][0]["content"]


@pytest.mark.parametrize("name", NAMES)
async def test_every_golden_schedule_comes_back(name: str) -> None:
    """Without --out the candidate is printed; code finds the place of each quotation."""
    result, _ = await extract(proposing(unplaced(name)), Dialect.CHAT, source=GOLDEN / name / "source.txt")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout) == json.loads((GOLDEN / name / "candidate.json").read_text(encoding="utf-8"))


@BOTH
async def test_what_the_text_does_not_say_is_refused(dialect: Dialect, tmp_path: Path) -> None:
    """A number of the model's own: every reason, exit code 2, no file; without --out the proposal is there to mend."""
    wrong = unplaced()
    wrong["intervals"][1]["fee"]["percent"] = 40
    out = tmp_path / "terms.json"
    result, _ = await extract(proposing(wrong), dialect, "--upstream", f"{NAMED[dialect]}=URL", "--out", out)
    assert result.exit_code == 2
    assert "interval 2: the rule's fee is not the one that its quotation states" in result.stderr
    assert not out.exists()
    printed, _ = await extract(proposing(wrong), dialect)
    assert printed.exit_code == 2
    assert json.loads(printed.stdout)["intervals"][1]["fee"]["percent"] == 40


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (Turn((Text("I cannot."),)), "holds 0 calls, and not one of propose_schedule"),
        (proposing({}, tool="other"), "holds 1 calls, and not one of propose_schedule"),
        (Turn((Call(TOOL), Call(TOOL))), "holds 2 calls, and not one of propose_schedule"),
        (Turn((Call(TOOL),), stop=Stop.LENGTH), "cut off by the token limit"),
        (Turn((Call(TOOL, '{"schedule": 1}'),)), "proposal: intervals: field required"),
        (HttpError(401, "authentication_error", "bad key sk-anthropic"), "upstream anthropic: answered 401"),
        (Verbatim(b'{"a": 1, "a": 2}', "application/json"), "is not strict JSON"),
        (Verbatim(b"[]", "application/json"), "has not the shape of its dialect"),
        (Verbatim(b"{}", "application/json"), "has not the shape of its dialect"),
        (Verbatim(b" " * (5 << 20), "application/json"), "larger than 4194304 bytes"),
    ],
)
async def test_an_answer_without_a_whole_proposal_is_an_error(answer: Answer, says: str) -> None:
    """One line that quotes nothing of it, exit code 2."""
    result, _ = await extract(answer, Dialect.ANTHROPIC)
    assert result.exit_code == 2
    assert says in result.stderr
    assert "sk-anthropic" not in result.output


@pytest.mark.parametrize("body", [b'{"choices":[]}', b'{"choices":{}}', b'{"choices":[{"finish_reason":"stop"}]}'])
def test_a_completion_of_another_shape_is_an_error(body: bytes) -> None:
    """Neither a traceback nor a guess."""
    with pytest.raises(ExtractionError, match="shape of its dialect"):
        proposal(Speech.OPENAI, body)


def test_arguments_that_are_no_text_are_an_error() -> None:
    """Chat Completions carries them as text; an object there is no proposal."""
    call = {"function": {"name": TOOL, "arguments": {}}}
    body = json.dumps({"choices": [{"finish_reason": "tool_calls", "message": {"tool_calls": [call]}}]}).encode()
    with pytest.raises(ExtractionError, match="no text"):
        proposal(Speech.OPENAI, body)


async def test_upstream_and_key_come_from_the_configuration(tmp_path: Path) -> None:
    """By name, or the only one there is; its key goes to its URL alone, and another dialect can be said."""
    provider = Provider(always(proposing(unplaced())))
    async with serving(provider.app(), shutdown_seconds=0.1) as url:
        config = tmp_path / "callgate.yaml"
        config.write_text(f"upstreams: {{house: {{url: '{url}', key: '${{HOUSE_KEY}}'}}}}\n", encoding="utf-8")
        words = ["fees", "extract", str(SOURCE), "--model", "m", "--config", str(config)]

        async def run(*more: str) -> Result:
            environment = {"HOUSE_KEY": "sk-house", "OPENAI_API_KEY": "sk-openai", "ANTHROPIC_API_KEY": "sk-anthropic"}
            return await asyncio.to_thread(CliRunner(env=environment).invoke, cli, [*words, *more])

        assert (await run()).exit_code == 0
        assert (await run("--upstream", "house", "--dialect", "anthropic")).exit_code == 0
        assert (await run("--upstream", f"house={url}/v1")).exit_code == 0
        unknown = await run("--upstream", "elsewhere")
    first, second, third = provider.received
    assert (first.target, first.header("authorization")) == ("/v1/chat/completions", "Bearer sk-house")
    assert (second.target, second.header("x-api-key")) == ("/v1/messages", "sk-house")
    assert (third.target, third.header("authorization")) == ("/v1/chat/completions", "Bearer sk-openai")
    assert unknown.exit_code == 2
    assert "or the name of an upstream of --config, which has house" in unknown.stderr


async def test_what_is_wrong_before_the_model_is_asked(tmp_path: Path) -> None:
    """No key is exit code 3; a file that is there, or an upstream that is none, is 2; the provider hears of none."""
    out = tmp_path / "terms.json"
    out.write_text("mine")
    for more, environment, code, says in (
        ((), {"ANTHROPIC_API_KEY": None}, 3, "ANTHROPIC_API_KEY"),
        (("--upstream", "anthropic=URL", "--out", out), {}, 2, "is there already"),
        (("--upstream", "anthropic=ftp://x"), {}, 2, "http"),
        (("--config", tmp_path / "none.yaml"), {}, 2, "no such file"),
    ):
        result, provider = await extract(proposing(unplaced()), Dialect.ANTHROPIC, *more, **environment)
        assert result.exit_code == code, result.output
        assert says in result.stderr
        assert provider.received == []
    assert out.read_text() == "mine"


async def test_a_provider_that_is_not_there() -> None:
    """One line, exit code 2."""
    result, _ = await extract(Turn(()), Dialect.ANTHROPIC, "--upstream", "anthropic=http://127.0.0.1:9")
    assert result.exit_code == 2
    assert "upstream anthropic: no answer" in result.stderr
