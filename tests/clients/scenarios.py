"""What the mock provider says, and what must come of it before each policy."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

REPLY = "Refunds are for people to decide."
FINISHED, TOLD, BYE = "That is all I found.", "I was told that I may not.", "Goodbye then."
ANNOUNCED = "One moment."


class OnRefusal(Enum):
    CODE = "code"
    MODEL = "model"


class Scene(Enum):
    """The word stands in the user's message; the mock provider answers by it."""

    ALLOWED = "allowed-scene"
    REFUSED = "refused-scene"
    PARALLEL = "parallel-scene"


@dataclass(frozen=True)
class Toolbox:
    """The tools of a client: one that the policy allows and one that it refuses, each with the arguments proposed."""

    allowed: str
    refused: str
    allowed_arguments: dict[str, Any]
    refused_arguments: dict[str, Any]


ORDERS = Toolbox("lookup_order", "process_refund", {"order_id": "A1001"}, {"order_id": "A1001", "amount": 847})


def policy(on_refusal: OnRefusal, refused: Sequence[str]) -> str:
    """Everything is allowed but the tools of these names."""
    rule = "rules: [{forbid: for_people, when: constants.always}]"
    tools = "".join(f"  {name}: {{effect: write, on_refusal: {on_refusal.value}, {rule}}}\n" for name in refused)
    return (
        "language: 1\npolicy: clients\nunknown_tools: allow\nconstants: {always: true}\n"
        f'reasons: {{for_people: {{category: policy, reply: "{REPLY}"}}}}\ntools:\n{tools}'
    )


def fixtures(toolbox: Toolbox, marker: str = "") -> list[dict[str, Any]]:
    """The script of the mock provider. `marker` tells clients with other tools apart."""
    allowed = {"name": toolbox.allowed, "arguments": toolbox.allowed_arguments}
    refused = {"name": toolbox.refused, "arguments": toolbox.refused_arguments}
    calls = {Scene.ALLOWED: [allowed], Scene.REFUSED: [refused], Scene.PARALLEL: [allowed, refused]}
    ends = {Scene.ALLOWED: FINISHED, Scene.REFUSED: TOLD, Scene.PARALLEL: FINISHED}
    script: list[dict[str, Any]] = []
    for scene in Scene:
        match = {"userMessage": f"{marker}{scene.value}"}
        script += [
            {"match": match | {"hasToolResult": True}, "response": {"content": ends[scene]}},
            {"match": match, "response": {"content": ANNOUNCED, "toolCalls": calls[scene]}},
        ]
    return script


def write_fixtures(path: Path, script: Sequence[dict[str, Any]]) -> None:
    last = {"match": {}, "response": {"content": BYE}}
    path.write_text(json.dumps({"fixtures": [*script, last]}), encoding="utf-8")
