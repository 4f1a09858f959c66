"""The documentation can be followed: its sessions run, its commands exist, its Python works, its links lead on."""

from __future__ import annotations

import re
import shlex
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
import pytest

from proxy import routes
from proxy.cli import cli
from proxy.config_file import read_config_file
from proxy.demo.cases import LANES, cases
from proxy.demo.turns import Call, Dialect, Text, Turn, always
from proxy.headers import RequestHeaders
from proxy.session_header import JwtAlgorithm, JwtKey, SessionVerifier
from proxy.wire.registry import DIALECTS
from tests.docs.pages import ROOT, Block, Page, page, page_names
from tests.docs.sessions import run_page, steps, write_files
from tests.e2e.client import ask
from tests.e2e.harness import desk

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

every_page = pytest.mark.parametrize("name", page_names())


@pytest.mark.parametrize("name", ["README.md", "docs/guide.md"])
def test_a_reader_who_follows_the_page_sees_what_it_shows(name: str, tmp_path: Path) -> None:
    """Each `callgate` command of the page that needs no gate prints what stands under it, on the page's own files."""
    assert run_page(page(name), tmp_path) == []


@every_page
def test_every_command_of_a_page_exists(name: str) -> None:
    """A command that is shown names a command of the product with options that it has, or a target of the Makefile."""
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    unknown = []
    for block, command in _commands(page(name)):
        words = shlex.split(command, comments=True)
        if words[:1] == ["make"]:
            unknown += [f"{block}: {command}" for target in words[1:] if target not in targets]
        elif words[:1] == ["callgate"] and not _parses(words[1:]):
            unknown.append(f"{block}: {command}")

    assert unknown == []


def _commands(of: Page) -> Iterator[tuple[Block, str]]:
    for block in of.of("console"):
        yield from ((block, step.command) for step in steps(block))
    for block in of.of("sh"):
        yield from ((block, line) for line in block.text.replace("\\\n", " ").splitlines())


def _parses(words: list[str]) -> bool:
    """Whether click takes this command line, without running it."""
    command: click.Command = cli
    context = cli.make_context("callgate", [], resilient_parsing=True)
    while isinstance(command, click.Group) and words:
        found = command.get_command(context, words[0])
        if found is None:
            return False
        command, words = found, words[1:]
    try:
        command.make_context(command.name, words, parent=context)
    except click.ClickException:
        return False
    return True


def test_a_command_line_that_is_wrong_is_found() -> None:
    """The check above can fail: an option, or a command, that does not exist."""
    assert _parses(["serve", "--policy", "p", "--upstream", "a=b"])
    assert not _parses(["serve", "--polciy", "p"])
    assert not _parses(["grant"])


@every_page
def test_python_of_a_page_compiles(name: str) -> None:
    """Each Python block is Python."""
    for block in page(name).of("python"):
        compile(block.text, str(block), "exec")


def test_the_header_that_the_guide_signs_is_one_that_the_gate_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The guide's ten lines of Python make a header that verifies under the guide's configuration, and it expires."""
    secret = "5f" * 32
    monkeypatch.setenv("SESSION_KEY", secret)
    write_files(tmp_path, list(page("docs/guide.md").of("python")) + page("docs/guide.md").of("yaml", "callgate.yaml"))
    settings = read_config_file(tmp_path / "callgate.yaml").session_header
    assert settings is not None
    names: dict[str, Any] = {}
    exec((tmp_path / "session.py").read_text(), names)

    (header,) = names["session_header"]("cus_ada").items()

    verifier = SessionVerifier(settings.name, JwtKey(JwtAlgorithm.HS256, secret))
    claims = verifier.subject(_headers(*header), datetime.now(UTC))
    assert claims["sub"] == "cus_ada"
    assert isinstance(claims["exp"], int)


async def test_the_guide_leads_to_a_gate_that_does_what_it_says(tmp_path: Path) -> None:
    """Its policy and its orders, behind a running gate: another customer's order is refused in the guide's words."""
    write_files(tmp_path, list(page("docs/guide.md").of("json")))
    policy = page("docs/guide.md").of("yaml", "policy.yaml")[-1].text
    call = Call("process_refund", '{"order_id": "X7007", "amount": 20}')
    async with desk(tmp_path, always(Turn((Text("One moment."), call))), policy) as gate:
        answer = await ask(gate, Dialect.ANTHROPIC, headers=gate.signed())
        records = await gate.settled()

    assert answer.calls == []
    assert "I can only help with your own orders." in answer.text
    assert [(each["kind"], each.get("reason")) for each in records] == [
        ("decided", "not_yours"),
        ("substituted", None),
    ]


def _headers(name: str, value: str) -> Any:
    return RequestHeaders(((name, value),), {name: [value]})


def test_every_agent_has_its_variable_and_its_path_is_one_that_is_judged() -> None:
    """README's base URL and the path that each client puts behind it make a route that the gate judges, and a target
    that the provider serves.
    """
    behind = {
        "Anthropic SDK": ["/v1/messages"],
        "OpenAI SDK": ["/chat/completions"],
        "Claude Code": ["/v1/messages"],
        "LangChain": ["/v1/messages", "/chat/completions"],
        "Vercel AI SDK": ["/messages", "/responses"],
        "google-genai": ["/v1beta/models/gemini:generateContent"],
        "Ollama client": ["/api/chat"],
        "Codex": ["/responses"],
    }
    shown = {row[0]: re.findall(r"= ?\"?http://127\.0\.0\.1:8080([\w/]*)", row[1]) for row in _agents()}

    assert shown.keys() == behind.keys()
    for agent, bases in shown.items():
        for base, path in zip(bases, behind[agent], strict=True):
            upstreams = {dialect.provider for dialect in DIALECTS}
            assert isinstance(routes.route("POST", base + path, "openai", upstreams, ()), routes.Mediated), agent


def _agents() -> list[list[str]]:
    text = page("README.md").text
    table = text[text.index("| agent | variable |") :].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


@every_page
def test_links_lead_somewhere(name: str) -> None:
    """Each link to a file of the checkout finds it, and the heading that it names."""
    folder = (ROOT / name).parent
    broken = []
    for link in page(name).links:
        if link.startswith(("https://", "http://", "mailto:")):
            continue
        target, _, fragment = link.partition("#")
        path = (folder / target).resolve() if target else ROOT / name
        if not path.exists() or (fragment and fragment not in page(path.relative_to(ROOT).as_posix()).anchors):
            broken.append(link)

    assert broken == []


def test_every_page_is_linked_from_the_readme() -> None:
    """A page of docs/ that README does not name is found by nobody."""
    pages = {name for name in page_names() if name.count("/") == 1}

    assert pages <= {link.partition("#")[0] for link in page("README.md").links}


def test_guarantees_are_those_of_the_security_page() -> None:
    """README's guarantees are rows of docs/security.md; what that page counts out, README does not claim."""
    claimed = re.findall(r"^- \*\*(G\d+)\*\* ", page("README.md").text, re.MULTILINE)
    rows = re.findall(r"^\| (G\d+) \|", page("docs/security.md").text, re.MULTILINE)

    assert set(claimed) == set(rows) == {f"G{number}" for number in range(1, 14)}


def test_the_guarantees_are_those_of_the_design(shared: Path) -> None:
    """Where the design lies beside the checkout, it knows the numbers."""
    design = (shared / "DESIGN.md").read_text(encoding="utf-8")

    assert set(re.findall(r"^\| (G\d+) \|", page("docs/security.md").text, re.MULTILINE)) <= set(
        re.findall(r"^\| (G\d+) \|", design, re.MULTILINE)
    )


def test_the_readme_shows_what_the_demo_prints() -> None:
    """Each case in README's table is one of the demo's, with the verdict and the reason that the demo checks."""
    known = {case.title: case.verdicts for case in cases(LANES[0])}
    shown = page("README.md").of("text")[0].text.split(" " + "─" * 98 + "\n")[1:]
    titles = [next(title for title in known if f" {title} " in case) for case in shown]

    assert len(set(titles)) == 3
    for title, case in zip(titles, shown, strict=True):
        for verdict in known[title]:
            assert {verdict.tool, verdict.ruling, *filter(None, [verdict.reason])} <= set(case.split()), title
