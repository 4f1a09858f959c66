"""The image is built from locked parts and runs as nobody, on a root it cannot write. It is read, not built."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PIP_GUARDS = {"--require-hashes", "--only-binary=:all:"}


@dataclass
class Stage:
    """One `FROM ... AS name` with its instructions: (keyword, words)."""

    name: str
    base: str
    steps: list[tuple[str, list[str]]] = field(default_factory=list)

    def all(self, keyword: str) -> list[list[str]]:
        return [words for step, words in self.steps if step == keyword]


def read_dockerfile(text: str) -> list[Stage]:
    """The stages of a Dockerfile. Lines are joined at a backslash; a JSON form is read as JSON."""
    joined = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("#")).replace("\\\n", " ")
    stages: list[Stage] = []
    for line in filter(None, map(str.strip, joined.split("\n"))):
        keyword, _, rest = line.partition(" ")
        rest = rest.strip()
        words = [str(word) for word in json.loads(rest)] if rest.startswith("[") else shlex.split(rest)
        if keyword == "FROM":
            stages.append(Stage(words[2] if words[1:2] == ["AS"] else "", words[0]))
        elif stages:
            stages[-1].steps.append((keyword, words))
    return stages


@pytest.fixture
def stages() -> dict[str, Stage]:
    return {stage.name: stage for stage in read_dockerfile((ROOT / "Dockerfile").read_text())}


def test_a_dockerfile_is_read() -> None:
    """The reader joins lines, drops comments and reads both forms of a command."""
    stages = read_dockerfile('ARG A=b\nFROM x AS one\nRUN a \\\n && b\n# USER root\nFROM y\nCMD ["c", "d e"]\n')

    assert stages == [Stage("one", "x", [("RUN", ["a", "&&", "b"])]), Stage("", "y", [("CMD", ["c", "d e"])])]


def test_the_last_stage_holds_no_build_tools(stages: dict[str, Stage]) -> None:
    """What runs is copied out of the stages that build, and runs no package manager itself."""
    runtime = stages["runtime"]

    assert list(stages) == ["wheel", "install", "runtime"]
    assert all(words[0].startswith("--from=") for words in runtime.all("COPY"))
    assert [words for words in runtime.all("RUN") if {"pip", "apt-get"} & set(words)] == []


def test_nothing_is_fetched_but_locked_packages(stages: dict[str, Stage]) -> None:
    """No ADD, no download; what comes from an index is checked by hash and runs no build; ours takes nothing else."""
    runs = [words for stage in stages.values() for words in stage.all("RUN")]
    installs = [words for words in runs if "install" in words and "-r" in words]

    assert [stage.name for stage in stages.values() if stage.all("ADD")] == []
    assert [words for words in runs if {"curl", "wget", "git", "apt-get"} & set(words)] == []
    assert [words[words.index("-r") + 1].lstrip("/") for words in installs] == [
        "requirements-build.lock",
        "requirements.lock",
    ]
    assert [words for words in installs if not set(words) >= PIP_GUARDS] == []
    (ours,) = [words for words in runs if "/dist/*.whl" in words]
    assert {"--no-deps", "--no-index"} <= set(ours)
    (wheel,) = [words for words in runs if "wheel" in words]
    assert {"--no-deps", "--no-build-isolation"} <= set(wheel)


def test_every_base_is_the_same_slim_python() -> None:
    """Stages share one base, a slim image of a version that the project supports, named once."""
    text = (ROOT / "Dockerfile").read_text()
    (base,) = [line.partition("=")[2] for line in text.split("\n") if line.startswith("ARG PYTHON=")]

    assert base.startswith("python:3.11-slim")
    assert {stage.base for stage in read_dockerfile(text)} == {"${PYTHON}"}


def test_the_process_is_nobody(stages: dict[str, Stage]) -> None:
    """The user is a number above zero, so that `runAsNonRoot` can be checked, and it is set after the last RUN."""
    keywords = [keyword for keyword, _ in stages["runtime"].steps]
    (user,) = stages["runtime"].all("USER")

    assert all(part.isdecimal() and int(part) > 0 for part in user[0].split(":"))
    assert "RUN" not in keywords[keywords.index("USER") :]


def test_the_root_may_be_read_only(stages: dict[str, Stage]) -> None:
    """Python writes no bytecode, and the one place that is written is a volume that the user owns."""
    runtime = stages["runtime"]
    settings = dict(word.split("=", 1) for words in runtime.all("ENV") for word in words)
    (volume,) = runtime.all("VOLUME")

    assert settings["PYTHONDONTWRITEBYTECODE"] == "1"
    assert volume == ["/var/lib/callgate"]
    assert ["--from=install", "--chown=65532:65532", *volume, *volume] in runtime.all("COPY")


def test_it_starts_without_a_shell(stages: dict[str, Stage]) -> None:
    """Signals reach the process itself: entry point and command are lists."""
    runtime = stages["runtime"]

    assert runtime.all("ENTRYPOINT") == [["callgate"]]
    assert runtime.all("CMD") == [["serve", "--config", "/etc/callgate/callgate.yaml"]]
    assert '\nENTRYPOINT ["callgate"]\n' in (ROOT / "Dockerfile").read_text()


def test_health_is_asked_at_the_admin_listener(stages: dict[str, Stage]) -> None:
    """The check runs Python, no shell and no curl, against the admin address that the examples configure."""
    (words,) = stages["runtime"].all("HEALTHCHECK")
    config = yaml.safe_load((ROOT / "deploy/compose/config/callgate.yaml").read_text())
    program = words[-1].rstrip("]")

    assert words[words.index("CMD") + 1].startswith("[python")
    assert f"http://{config['admin']['listen']}/healthz" in program
    compile(program, "HEALTHCHECK", "exec")


def test_the_build_sees_only_what_it_needs() -> None:
    """Everything is left out but a list: state, secrets, a checkout's history and tests never reach the builder."""
    lines = [line for line in (ROOT / ".dockerignore").read_text().split("\n") if line and not line.startswith("#")]
    allowed = {line[1:] for line in lines if line.startswith("!")}
    copied = {
        word.rstrip("/")
        for stage in read_dockerfile((ROOT / "Dockerfile").read_text())
        for words in stage.all("COPY")
        if not words[0].startswith("--from")
        for word in words[:-1]
    }

    assert lines[0] == "*"
    assert copied == allowed
    assert [name for name in allowed if not (ROOT / name).exists()] == []
