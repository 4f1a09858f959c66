"""Claude Code in print mode through the gate: a whole turn of tools, refused ones, and the turn after them."""

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


@dataclass(frozen=True)
class Desk:
    """`forbidden` is the file that the refused call would write."""

    mock: Mock
    gates: Mapping[OnRefusal, Gate]
    folder: Path
    forbidden: Path


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    folder = tmp_path_factory.mktemp("claude-code")
    forbidden = folder / "forbidden.txt"
    box = Toolbox(
        "Bash",
        "Write",
        {"command": f"echo {SAYS}", "description": "Say something"},
        {"file_path": str(forbidden), "content": "written"},
    )
    write_fixtures(folder / "fixtures.json", fixtures(box))
    with (
        mock_provider(folder, folder / "fixtures.json") as mock,
        gate(folder / "code", policy(OnRefusal.CODE, ["Write"]), mock) as code,
        gate(folder / "model", policy(OnRefusal.MODEL, ["Write"]), mock) as model,
    ):
        yield Desk(mock, {OnRefusal.CODE: code, OnRefusal.MODEL: model}, folder, forbidden)


def claude(desk: Desk, on_refusal: OnRefusal, home: Path, *words: str) -> list[dict[str, Any]]:
    """The events that it printed."""
    home.mkdir(exist_ok=True)
    env = environment(
        HOME=str(home),
        ANTHROPIC_BASE_URL=desk.gates[on_refusal].url,
        ANTHROPIC_API_KEY="sk-test",
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC="1",
        IS_SANDBOX="1",
    )
    command = [str(PROGRAMS / "claude"), "-p", *words, "--output-format", "stream-json", "--verbose"]
    command += ["--dangerously-skip-permissions", "--model", "claude-sonnet-4-5"]
    # The mock provider keeps requests of up to 64 KB, and the whole set of tools is twice that.
    command += ["--tools", "Bash,Write", "--system-prompt", "You help."]
    done = subprocess.run(
        command, cwd=home, env=env, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


def blocks(events: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    contents = [event["message"]["content"] for event in events if event["type"] in ("assistant", "user")]
    return [block for content in contents if isinstance(content, list) for block in content if block["type"] == kind]


EXPECTED: dict[tuple[Scene, OnRefusal], tuple[list[str], list[str], int]] = {
    (Scene.ALLOWED, OnRefusal.CODE): ([ANNOUNCED, FINISHED], ["Bash"], 2),
    (Scene.ALLOWED, OnRefusal.MODEL): ([ANNOUNCED, FINISHED], ["Bash"], 2),
    (Scene.REFUSED, OnRefusal.CODE): ([ANNOUNCED, REPLY], [], 1),
    (Scene.REFUSED, OnRefusal.MODEL): ([ANNOUNCED, TOLD], [], 2),
    (Scene.PARALLEL, OnRefusal.CODE): ([ANNOUNCED, REPLY, FINISHED], ["Bash"], 2),
    (Scene.PARALLEL, OnRefusal.MODEL): ([ANNOUNCED, FINISHED], ["Bash"], 2),
}


@pytest.mark.parametrize("on_refusal", OnRefusal, ids=lambda one: one.value)
@pytest.mark.parametrize("scene", Scene, ids=lambda one: one.value)
def test_claude_code_runs_what_is_allowed_and_shows_what_is_said_for_the_rest(
    desk: Desk, tmp_path: Path, scene: Scene, on_refusal: OnRefusal
) -> None:
    """The shell runs, the file is never written, the person reads the policy's words, and the session goes on."""
    mark = uuid.uuid4().hex
    said, ran, asked = EXPECTED[scene, on_refusal]
    home = tmp_path / "home"
    events = claude(desk, on_refusal, home, f"{scene.value} {mark}")
    assert [block["text"] for block in blocks(events, "text")] == said
    assert [block["name"] for block in blocks(events, "tool_use")] == ran
    assert [block["content"] for block in blocks(events, "tool_result")] == [SAYS] * len(ran)
    assert not desk.forbidden.exists()
    session = events[0]["session_id"]
    again = claude(desk, on_refusal, home, f"and then? {mark}", "--resume", session)
    assert [block["text"] for block in blocks(again, "text")] == [BYE]
    requests = desk.mock.asked(mark)
    assert len(requests) == asked + 1
    assert all(request["response"]["status"] == 200 for request in requests)
    assert ("for_people" in str(requests[-1]["body"])) is (on_refusal is OnRefusal.MODEL and scene is not Scene.ALLOWED)
