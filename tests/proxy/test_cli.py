"""The command line: what it says, how it exits, and that nobody ever sees a traceback."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import threading
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

import click
import orjson
import pytest
from click.testing import CliRunner, Result

from interceptors.operations import Halted
from proxy.admin import write_address
from proxy.cli import COMMANDS, cli
from proxy.commands import check, decide, demo, escalations, explain, halt, receipts, serve
from proxy.settings import Address
from proxy.store import Entry, EscalationDraft, open_store

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path
    from types import ModuleType

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
POLICY = """\
language: 1
policy: refunds
time_zone: Europe/Berlin
session:
  customer_id: {jwt: sub}
reasons:
  not_yours: {category: permission, reply: {en: "Not yours."}}
  over_limit: {category: escalated}
  no_order: {category: validation}
facts:
  order:
    key: {pattern: '[A-Z][0-9]+'}
    http: "${ORDERS_URL}/orders/{key}"
    missing: {forbid: no_order}
    fields: {customer_id: string}
tools:
  refund:
    facts: {order: args.order_id}
    arguments:
      order_id: {pattern: '[A-Z][0-9]+'}
      amount: {money: USD, unit: major}
    rules:
      - forbid: not_yours
        unless: order.customer_id == session.customer_id
      - escalate: over_limit
        when: args.amount > 500.00 USD
"""
CALL = ("--tool", "refund", "--session", '{"sub":"C1"}')


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "policy.yaml"
    path.write_text(POLICY)
    return path


@contextmanager
def _answering(answers: dict[str, tuple[int, bytes]]) -> Iterator[tuple[str, list[tuple[str, str | None, bytes]]]]:
    """A server with an answer a path; yields its base URL and what it was asked: path, authorization, body."""
    asked: list[tuple[str, str | None, bytes]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            asked.append((self.path, self.headers.get("Authorization"), body))
            status, answer = answers.get(self.path, (404, b"{}"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

        do_POST = do_GET  # noqa: N815 # the name that the base class looks for

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _run(*arguments: str, **environment: str) -> Result:
    return CliRunner().invoke(cli, arguments, env=environment, catch_exceptions=False)


def test_the_commands_are_those_of_this_version() -> None:
    """A command of a later part is no command; the list says what each is for without importing it."""
    result = _run("--help")

    assert all(f"{name} " in result.stdout and lazy.summary in result.stdout for name, lazy in COMMANDS.items())
    assert _run("approve").exit_code == 2
    assert "No such command 'approve'" in _run("approve").stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_help_that_begins_with_its_summary(name: str) -> None:
    """What the list says is what the command says."""
    result = _run(name, "--help")

    assert result.exit_code == 0
    assert COMMANDS[name].summary in " ".join(result.stdout.split())


@pytest.mark.parametrize("module", [check, decide, demo, escalations, explain, halt, receipts, serve])
def test_each_module_of_commands_is_reached_by_its_name(module: ModuleType) -> None:
    """Nothing is written that nobody can call."""
    name = module.__name__.rpartition(".")[2]

    assert cli.get_command(click.Context(cli), name) is getattr(module, name)


def test_version() -> None:
    """The installed one."""
    from importlib.metadata import version

    assert _run("--version").stdout == f"callgate {version('callgate')}\n"


def test_check_tells_that_a_policy_is_valid_and_what_looks_wrong(policy: Path) -> None:
    """Findings change no exit code; no secret is needed."""
    policy.write_text(POLICY.replace("no_order: {", "unused_one: {category: policy}\n  no_order: {"))
    result = _run("check", "--policy", str(policy))

    assert result.exit_code == 0
    assert "unused_one" in result.stdout
    assert "valid: policy refunds, 1 tool" in result.stdout


def test_check_tells_every_problem_with_its_line(policy: Path) -> None:
    """On standard error, exit code 2."""
    policy.write_text(POLICY + "unknown: 1\n")
    result = _run("check", "--policy", str(policy))

    assert result.exit_code == 2
    assert result.stdout == ""
    assert f"policy.yaml:{POLICY.count(chr(10)) + 1}: unknown" in result.stderr


def test_check_reads_a_configuration_with_the_policy_it_names(policy: Path) -> None:
    """What `serve` would refuse at start is refused here, without a secret."""
    config = policy.parent / "callgate.yaml"
    base = "policy: policy.yaml\nstate: s\nupstreams: {openai: {url: https://h}}\n"
    config.write_text(base)
    refused = _run("check", "--config", str(config))
    config.write_text(base + "session_header: {jwt: {algorithm: HS256, key: '${SESSION_KEY}'}}\n")
    accepted = _run("check", "--config", str(config))

    assert (refused.exit_code, accepted.exit_code) == (2, 0)
    assert "session_header" in refused.stderr


def test_explain_speaks_in_sentences(policy: Path) -> None:
    """Of one tool or of all."""
    result = _run("explain", "--policy", str(policy), "refund")

    assert result.exit_code == 0
    assert "order.customer_id is session.customer_id" in result.stdout
    assert _run("explain", "--policy", str(policy)).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "order", "code", "ruling", "reason"),
    [
        ('{"order_id":"A1","amount":10}', (200, b'{"customer_id":"C1"}'), 0, "allow", ""),
        ('{"order_id":"A1","amount":10}', (200, b'{"customer_id":"C2"}'), 10, "forbid", "not_yours"),
        ('{"order_id":"A1","amount":900}', (200, b'{"customer_id":"C2"}'), 10, "forbid", "not_yours"),
        ('{"order_id":"A1","amount":900}', (200, b'{"customer_id":"C1"}'), 11, "escalate", "over_limit"),
        ('{"order_id":"A1","amount":10}', (404, b"{}"), 10, "forbid", "no_order"),
        ('{"order_id":"A1","amount":10}', (500, b"{}"), 10, "forbid", "facts_unavailable"),
        ('{"order_id":"A1"}', (200, b"{}"), 12, "clarify", "missing_parameter"),
        ('{"order_id":"A1","amount":10,"amount":900}', (200, b"{}"), 10, "forbid", "malformed"),
        ("[]", (200, b"{}"), 10, "forbid", "malformed"),
    ],
)
def test_decide_reads_facts_and_exits_as_it_decides(
    policy: Path, arguments: str, order: tuple[int, bytes], code: int, ruling: str, reason: str
) -> None:
    """The same decision as the gate's, as JSON."""
    with _answering({"/orders/A1": order}) as (url, asked):
        result = _run("decide", "--policy", str(policy), *CALL, "--arguments", arguments, ORDERS_URL=url)

    shown = orjson.loads(result.stdout)
    assert (result.exit_code, shown["ruling"]) == (code, ruling)
    if reason != "facts_unavailable":
        assert shown["reason"] == reason
    assert bool(asked) is (reason not in ("missing_parameter", "malformed"))


def test_decide_without_the_secret_of_a_fact_is_blocked(policy: Path) -> None:
    """Exit code 3, naming the variable; a call that needs no fact needs no secret."""
    blocked = _run("decide", "--policy", str(policy), *CALL, "--arguments", '{"order_id":"A1","amount":1}')
    decided = _run("decide", "--policy", str(policy), *CALL, "--arguments", "{}")

    assert blocked.exit_code == 3
    assert "facts.order: ${ORDERS_URL} is not set" in blocked.stderr
    assert decided.exit_code == 12


@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--session", "{", "--session: not strict JSON"),
        ("--session", "[]", "--session: not a JSON object"),
        ("--identity", "bot", "no identities"),
        ("--arguments", "@/nowhere/at-all", "no such file"),
        ("--policy", "/nowhere/at-all", "no such file"),
    ],
)
def test_decide_says_what_is_wrong_with_its_options(policy: Path, option: str, value: str, said: str) -> None:
    """Exit code 2."""
    result = _run("decide", "--policy", str(policy), "--tool", "refund", option, value)

    assert result.exit_code == 2
    assert said in result.stderr


def test_decide_reads_arguments_from_a_file(policy: Path) -> None:
    """A call that a log holds can be decided again."""
    (policy.parent / "call.json").write_text("{}")

    result = _run("decide", "--policy", str(policy), *CALL, "--arguments", f"@{policy.parent}/call.json")

    assert result.exit_code == 12


@pytest.fixture
def state(tmp_path: Path) -> Path:
    """A state folder with a halt, a case, and nothing else."""
    folder = tmp_path / "state"

    opened = open_store(folder)

    async def write() -> None:
        async with opened as store:
            draft = EscalationDraft(
                id="esc_1",
                tenant="t",
                subject="",
                tool="refund",
                argument_digest="d",
                summary={"root_cause": "damaged\x1b[2J", "recommended_action": "approve"},
                reason="over_limit",
                receipt="rc_1",
                created=NOW,
            )
            await store.commit(
                [Entry(Halted(receipt="rc_1", time=NOW, by="anna", reason="odd"), escalation=draft)],
            )

    asyncio.run(write())
    return folder


def test_receipts_are_listed_shown_verified_and_exported(state: Path) -> None:
    """Each reads the folder; no gate runs."""
    listed = _run("receipts", "list", "--state", str(state))
    as_json = _run("receipts", "list", "--state", str(state), "--json")
    shown = _run("receipts", "show", "--state", str(state), "rc_1")
    verified = _run("receipts", "verify", "--state", str(state))
    exported = _run("receipts", "export", "--state", str(state))

    assert listed.stdout == "2026-03-01T12:00:00Z  rc_1  halted odd by anna\n"
    assert orjson.loads(as_json.stdout)["payload"]["by"] == "anna"
    assert orjson.loads(shown.stdout)[0]["payload"]["reason"] == "odd"
    assert verified.stdout.startswith("1 records, 0 of them erased: every chain is intact\nhead ")
    assert "cut tail" in verified.stderr
    assert orjson.loads(exported.stdout)["receipt"] == "rc_1"
    assert [r.exit_code for r in (listed, as_json, shown, verified, exported)] == [0] * 5


def test_filters_narrow_the_list(state: Path) -> None:
    """By time and by kind; none found is said and is no error."""
    for arguments, count in (
        (("--since", "2026-03-01"), 1),
        (("--since", "2026-03-01T13:00:00+01:00"), 1),
        (("--until", "2026-03-01T12:00:00Z"), 0),
        (("--kind", "decided"), 0),
        (("--subject", "C1"), 0),
    ):
        result = _run("receipts", "list", "--state", str(state), *arguments)
        assert (result.exit_code, len(result.stdout.split("\n")) - 1) == (0, count)


def test_an_altered_record_and_a_cut_tail_make_verify_fail(state: Path) -> None:
    """Exit code 1, naming the place; a head that was noted elsewhere shows what the chain alone cannot."""
    import sqlite3

    head = _run("receipts", "verify", "--state", str(state)).stdout.split("\n")[1].removeprefix("head ")
    with sqlite3.connect(state / "callgate.db") as connection:
        connection.execute("UPDATE payloads SET payload = replace(payload, 'odd', 'even')")
    connection.close()
    altered = _run("receipts", "verify", "--state", str(state))
    with sqlite3.connect(state / "callgate.db") as connection:
        connection.execute("DELETE FROM payloads")
        connection.execute("DELETE FROM records")
    connection.close()
    unseen = _run("receipts", "verify", "--state", str(state))
    cut = _run("receipts", "verify", "--state", str(state), "--head", head)

    assert (altered.exit_code, unseen.exit_code, cut.exit_code) == (1, 0, 1)
    assert "rc_1" in altered.stdout


def test_cases_are_listed_and_shown_and_move_no_cursor(state: Path) -> None:
    """What a model wrote into a summary is text."""
    listed = _run("escalations", "list", "--state", str(state))
    shown = _run("escalations", "show", "--state", str(state), "esc_1")
    as_json = _run("escalations", "show", "--state", str(state), "esc_1", "--json")

    assert "esc_1  open  refund  over_limit  approve" in listed.stdout
    assert "root cause" in shown.stdout
    assert "\x1b" not in shown.stdout
    assert orjson.loads(as_json.stdout)["status"] == "open"


@pytest.mark.parametrize(
    "arguments",
    [
        ("receipts", "show", "rc_9"),
        ("escalations", "show", "esc_9"),
        ("receipts", "verify", "--head", "x"),
        ("receipts", "list", "--since", "yesterday"),
        ("receipts", "list", "--limit", "0"),
        ("receipts", "list", "--subject", ""),
    ],
)
def test_what_is_not_there_or_not_understood_is_one_line_and_exit_2(state: Path, arguments: tuple[str, ...]) -> None:
    """On standard error."""
    result = _run(*arguments, "--state", str(state))

    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("receipts", "list"),
        ("escalations", "list"),
        ("receipts", "verify"),
        ("halt", "--reason", "x"),
        ("resume",),
        ("receipts", "erase", "--subject", "C1"),
    ],
)
def test_without_a_state_folder_nothing_is_made(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """A mistyped folder is told, not created."""
    result = _run(*arguments, "--state", str(tmp_path / "none"))

    assert result.exit_code == 2
    assert result.stderr.startswith("callgate: ")
    assert not (tmp_path / "none").exists()


TOKEN = "t" * 40


def test_halt_resume_and_erase_go_through_the_gate_with_a_persons_token(tmp_path: Path) -> None:
    """The address and the token come from the state folder, or from the options."""
    answers = {
        "/halt": (200, b'{"halted":true,"receipt":"rc_1"}'),
        "/resume": (200, b'{"halted":false,"receipt":null}'),
        "/erase": (200, b'{"receipt":"rc_2","records":3,"escalations":1,"scrubbed":true}'),
    }
    with _answering(answers) as (url, asked):
        write_address(tmp_path, Address("127.0.0.1", int(url.rpartition(":")[2])))
        (tmp_path / "admin.token").write_text(TOKEN + "\n")
        (tmp_path / "admin.token").chmod(0o600)
        halted = _run("halt", "--reason", "odd", "--state", str(tmp_path))
        resumed = _run("resume", "--state", str(tmp_path))
        erased = _run("receipts", "erase", "--subject", "C1", "--state", str(tmp_path))
        (tmp_path / "other").write_text("o" * 40)
        (tmp_path / "other").chmod(0o600)
        named = ("--admin", url.removeprefix("http://"), "--token-file", str(tmp_path / "other"))
        elsewhere = _run("resume", "--state", str(tmp_path / "none"), *named)

    assert [r.exit_code for r in (halted, resumed, erased, elsewhere)] == [0, 0, 0, 0]
    assert "rc_1" in halted.stdout
    assert "no halt" in resumed.stdout
    assert "erased 3 records and 1 cases" in erased.stdout
    bearer = f"Bearer {TOKEN}"
    assert asked[:3] == [
        ("/halt", bearer, b'{"reason":"odd"}'),
        ("/resume", bearer, b""),
        ("/erase", bearer, b'{"subject":"C1"}'),
    ]
    assert asked[3][1] == "Bearer " + "o" * 40


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        ((403, b'{"error":{"code":"forbidden","message":"this needs the role owner"}}'), "needs the role owner"),
        ((503, b'{"error":{"code":"store","message":"the store could not do it"}}'), "the store could not do it"),
        ((500, b"[]"), "the gate refused: 500"),
        ((200, b"<html>"), "no admin listener"),
    ],
)
def test_a_refusal_of_the_gate_is_told(tmp_path: Path, answer: tuple[int, bytes], said: str) -> None:
    """Exit code 2: the halt is not in force, and nobody may think so."""
    with _answering({"/halt": answer}) as (url, _):
        admin = url.removeprefix("http://")
        result = _run("halt", "--reason", "x", "--admin", admin, "--state", str(tmp_path), CALLGATE_TOKEN=TOKEN)

    assert result.exit_code == 2
    assert said in result.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "a policy is required"),
        (("--policy", "p"), "a state folder is required"),
        (("--policy", "p", "--state", "s"), "an upstream is required"),
        (("--config", "none.yaml"), "none.yaml: cannot be read"),
        (("--policy", "p", "--state", "s", "--upstream", "x"), "NAME=URL"),
        (("--listen", "x", "--policy", "p", "--state", "s", "--upstream", "openai=http://h"), "no address"),
    ],
)
def test_serve_says_what_it_needs(arguments: tuple[str, ...], said: str) -> None:
    """Exit code 2, one line."""
    result = _run("serve", *arguments)

    assert result.exit_code == 2
    assert said in result.stderr
    assert result.stderr.count("\n") == 1


def _process(*arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "proxy.cli", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)  # type: ignore[call-overload] # options as given


def test_serve_refuses_a_policy_with_a_problem_and_listens_to_nobody(tmp_path: Path) -> None:
    """The real process: exit code 2, the line of the file, nothing on standard output."""
    (tmp_path / "policy.yaml").write_text("language: 1\npolicy: x\nunknwon: 1\n")
    (tmp_path / "policy.yaml").chmod(0o644)
    tmp_path.chmod(0o755)

    result = _process(
        "serve",
        *("--policy", str(tmp_path / "policy.yaml"), "--state", str(tmp_path / "state")),
        *("--upstream", "openai=http://127.0.0.1:1", "--listen", "127.0.0.1:0"),
    )

    assert (result.returncode, result.stdout) == (2, b"")
    assert b"policy.yaml:3" in result.stderr
    assert b"Traceback" not in result.stderr


def test_a_fault_of_the_program_shows_its_kind_and_no_more(tmp_path: Path) -> None:
    """A traceback holds values; the user gets the kind of the error, and exit code 1."""
    script = (
        "import sys, proxy.cli as c\n"
        "@c.cli.command('boom')\n"
        "def boom(): raise RuntimeError('sesame')\n"
        "c._Group.get_command = lambda self, ctx, name: boom\n"
        "sys.argv = ['callgate', 'boom']\n"
        "c.main()\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=False)

    assert (result.returncode, result.stdout) == (1, b"")
    assert result.stderr == b"callgate: internal error (RuntimeError)\n"


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_leaves_is_no_error_to_talk_about(state: Path, unbuffered: str) -> None:
    """`callgate receipts list | head -1`, whether the output is written at once or at the end."""
    read, write = os.pipe()
    os.close(read)
    try:
        command = [sys.executable, "-m", "proxy.cli", "receipts", "export", "--state", str(state)]
        environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
        result = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, timeout=60, check=False, env=environment)
    finally:
        os.close(write)

    assert result.stderr == b""


def test_help_imports_no_command() -> None:
    """It is there at once."""
    script = (
        "import sys, proxy.cli\n"
        "from click.testing import CliRunner\n"
        "CliRunner().invoke(proxy.cli.cli, ['--help'])\n"
        "print(sorted(m for m in sys.modules if m.startswith(('proxy.', 'aiohttp', 'policies'))))\n"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)

    assert result.stdout.decode().strip() == "['proxy.cli']"
