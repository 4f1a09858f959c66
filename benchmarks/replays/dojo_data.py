"""Recorded AgentDojo runs: who asked for what, what was slipped in, and whether it worked.

The files are those of `../shared/trajectories`; its README says where they come from, and what `security` means.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final

import orjson

from benchmarks.replays.family import DataError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from benchmarks.replays.family import Message

SUITES: Final = ("banking", "workspace", "slack", "travel")
TASKS: Final = "agentdojo_tasks.json.gz"


class Kind(Enum):
    """What was asked in a run: the user's task, the same with an injection, or the injection's goal by the user."""

    BENIGN = "benign"
    ATTACK = "attack"
    ASKED = "injtask_as_user"


@dataclass(frozen=True, slots=True)
class Call:
    """A call that a model made. `message` is the place of its turn; `arguments` are empty where they are no JSON."""

    id: str
    tool: str
    arguments: Mapping[str, Any]
    message: int


@dataclass(frozen=True)
class Recording:
    """One run. `is_useful`: the user's task was done. `is_hit`: the attack did what it was to do."""

    id: str
    suite: str
    model: str
    kind: Kind
    attack: str
    user_task: str
    injection_task: str
    is_useful: bool
    is_hit: bool
    messages: Sequence[Message]
    injected: str = ""

    @cached_property
    def calls(self) -> tuple[Call, ...]:
        return tuple(_calls(self.messages))

    @cached_property
    def words(self) -> str:
        """What the user wrote."""
        return "\n".join(one["content"] for one in self.messages if one["role"] == "user")

    @property
    def is_successful_attack(self) -> bool:
        return self.kind is Kind.ATTACK and self.is_hit


class Tasks:
    """What users and injections ask for, of every version that is there. Raises `DataError`."""

    def __init__(self, folder: Path) -> None:
        document = orjson.loads(_unpacked(folder / TASKS))
        self.versions: tuple[str, ...] = tuple(sorted({key.partition("/")[0] for key in document}))
        self._document = document

    def goals(self, suite: str, injection_task: str) -> Iterator[Mapping[str, Any]]:
        """The injection's `goal` and `ground_truth`, of each version that has it."""
        yield from self._all(suite, "injection_tasks", injection_task)

    def prompts(self, suite: str, user_task: str) -> Iterator[Mapping[str, Any]]:
        """The user's `prompt` and `ground_truth`, of each version that has it."""
        yield from self._all(suite, "user_tasks", user_task)

    def worded_as(self, run: Recording) -> str:
        """The versions in whose words user and injection speak in this run; `another` where they are of none."""
        found = []
        for version in self.versions:
            tasks = self._document.get(f"{version}/{run.suite}", {})
            prompt = tasks.get("user_tasks", {}).get(run.user_task, {}).get("prompt")
            goal = tasks.get("injection_tasks", {}).get(run.injection_task, {}).get("goal", "")
            if prompt == run.words and goal in run.injected:
                found.append(version)
        return ", ".join(found) or "another"

    def _all(self, suite: str, kind: str, name: str) -> Iterator[Mapping[str, Any]]:
        for version in self.versions:
            found = self._document.get(f"{version}/{suite}", {}).get(kind, {}).get(name)
            if found is not None:
                yield found


def recordings(folder: Path) -> Iterator[Recording]:
    """Every run with messages, in the order of the files. Raises `DataError`.

    Some attacks on one model were recorded without a message; they show nothing, and are left out.
    """
    for suite in SUITES:
        found = sorted(folder.glob(f"agentdojo_{suite}.*jsonl.gz"))
        if not found:
            raise DataError(f"there are no runs of {suite} in {str(folder)!r}")
        for path in found:
            for line in _unpacked(path).split(b"\n"):
                if line and (row := orjson.loads(line))["messages"]:
                    yield _recording(row)


def _recording(row: Mapping[str, Any]) -> Recording:
    return Recording(
        f"{row['suite']}-{row['id']}",
        row["suite"],
        row["model"],
        Kind(row["kind"]),
        row["attack"],
        row["user_task"],
        row["injection_task"] or "",
        bool(row["utility"]),
        bool(row["security"]),
        [_message(one) for one in row["messages"]],
        "\n".join((row.get("injections") or {}).values()),
    )


def _message(message: Mapping[str, Any]) -> Message:
    """As the agent sent it: what failed is told to the model in place of a result."""
    if message["role"] != "tool":
        return message
    content = message.get("error") or message["content"]
    return {"role": "tool", "tool_call_id": message["tool_call_id"], "content": content}


def _calls(messages: Sequence[Message]) -> Iterator[Call]:
    for place, message in enumerate(messages):
        for call in message.get("tool_calls") or ():
            function = call["function"]
            yield Call(call["id"], function["name"], _arguments(function["arguments"]), place)


def _arguments(text: str) -> Mapping[str, Any]:
    try:
        found = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _unpacked(path: Path) -> bytes:
    try:
        return gzip.decompress(path.read_bytes())
    except OSError as error:
        raise DataError(f"{str(path)!r} cannot be read: {error.strerror or 'it is no gzip'}") from error
