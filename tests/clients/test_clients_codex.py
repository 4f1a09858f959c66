"""Codex in its non-interactive mode through the gate: a turn of tools, refused ones, the turn after, a web socket."""

from __future__ import annotations

import json
import subprocess
import uuid
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from tests.clients.running import PROGRAMS, environment, gate, missing, mock_provider
from tests.clients.scenarios import (
    ANNOUNCED,
    BYE,
    FINISHED,
    REPLY,
    TOLD,
    OnRefusal,
    Scene,
    Toolbox,
    fixtures,
    policy,
    write_fixtures,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from tests.clients.running import Gate, Mock

pytestmark = pytest.mark.skipif(bool(missing()), reason=missing() or "the clients run")

SAYS = "from-the-shell"
BOX = Toolbox(
    "exec_command",
    "update_plan",
    {"cmd": f"echo {SAYS}"},
    {"plan": [{"step": "forbidden-step", "status": "pending"}]},
)
CONFIG = """
model = "gpt-5.4"
model_provider = "gate"
approval_policy = "never"
sandbox_mode = "danger-full-access"
[model_providers.gate]
name = "gate"
base_url = "{url}/v1"
env_key = "OPENAI_API_KEY"
wire_api = "responses"
supports_websockets = {websockets}
"""


@dataclass(frozen=True)
class Desk:
    mock: Mock
    gates: Mapping[OnRefusal, Gate]


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("codex")
    write_fixtures(folder / "fixtures.json", fixtures(BOX))
    with (
        mock_provider(folder, folder / "fixtures.json") as mock,
        gate(folder / "code", policy(OnRefusal.CODE, [BOX.refused]), mock) as code,
        gate(folder / "model", policy(OnRefusal.MODEL, [BOX.refused]), mock) as model,
    ):
        yield Desk(mock, {OnRefusal.CODE: code, OnRefusal.MODEL: model})


def codex(desk: Desk, on_refusal: OnRefusal, home: Path, *words: str, websockets: bool = False) -> list[dict[str, Any]]:
    """The events that it printed."""
    (home / ".codex").mkdir(parents=True, exist_ok=True)
    config = CONFIG.format(url=desk.gates[on_refusal].url, websockets=json.dumps(websockets))
    (home / ".codex/config.toml").write_text(config, encoding="utf-8")
    command = [str(PROGRAMS / "codex"), "exec", "--json", "--skip-git-repo-check", *words]
    env = environment(HOME=str(home), OPENAI_API_KEY="sk-test")
    done = subprocess.run(
        command, cwd=home, env=env, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def items(events: list[dict[str, Any]], kind: str, member: str) -> list[str]:
    finished = [event["item"] for event in events if event["type"] == "item.completed"]
    return [item[member] for item in finished if item["type"] == kind]


EXPECTED: dict[tuple[Scene, OnRefusal], tuple[list[str], int, int]] = {
    (Scene.ALLOWED, OnRefusal.CODE): ([ANNOUNCED, FINISHED], 1, 2),
    (Scene.ALLOWED, OnRefusal.MODEL): ([ANNOUNCED, FINISHED], 1, 2),
    (Scene.REFUSED, OnRefusal.CODE): ([ANNOUNCED, REPLY], 0, 1),
    (Scene.REFUSED, OnRefusal.MODEL): ([ANNOUNCED, TOLD], 0, 2),
    (Scene.PARALLEL, OnRefusal.CODE): ([ANNOUNCED, REPLY, FINISHED], 1, 2),
    (Scene.PARALLEL, OnRefusal.MODEL): ([ANNOUNCED, FINISHED], 1, 2),
}


@pytest.mark.parametrize("on_refusal", OnRefusal, ids=lambda one: one.value)
@pytest.mark.parametrize("scene", Scene, ids=lambda one: one.value)
def test_codex_runs_what_is_allowed_and_shows_what_is_said_for_the_rest(
    desk: Desk, tmp_path: Path, scene: Scene, on_refusal: OnRefusal
) -> None:
    """The shell runs, the refused tool does not, the person reads the policy's words, and the session goes on."""
    mark = uuid.uuid4().hex
    said, ran, asked = EXPECTED[scene, on_refusal]
    events = codex(desk, on_refusal, tmp_path / "home", f"{scene.value} {mark}")
    assert items(events, "agent_message", "text") == said
    assert items(events, "command_execution", "aggregated_output") == [f"{SAYS}\n"] * ran
    assert "forbidden-step" not in json.dumps(events)
    thread = events[0]["thread_id"]
    again = codex(desk, on_refusal, tmp_path / "home", "resume", thread, f"and then? {mark}")
    assert items(again, "agent_message", "text") == [BYE]
    requests = desk.mock.asked(mark)
    assert len(requests) == asked + 1
    assert all(request["response"]["status"] == 200 for request in requests)
    assert ("for_people" in str(requests[-1]["body"])) is (on_refusal is OnRefusal.MODEL and scene is not Scene.ALLOWED)


def test_codex_falls_back_when_its_web_socket_is_refused(desk: Desk, tmp_path: Path) -> None:
    """A web socket gets 426, and the same turn goes over HTTP, judged."""
    mark = uuid.uuid4().hex
    at = desk.gates[OnRefusal.CODE]
    events = codex(desk, OnRefusal.CODE, tmp_path / "home", f"{Scene.PARALLEL.value} {mark}", websockets=True)
    assert items(events, "agent_message", "text") == [ANNOUNCED, REPLY, FINISHED]
    lines = [json.loads(line) for line in at.log.read_text(encoding="utf-8").splitlines() if '"exchange"' in line]
    assert any(line["status"] == 426 and line["error"] == "upgrade" for line in lines)
