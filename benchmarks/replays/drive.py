"""One run, turn by turn: the agent asks through the gate, the model says what it said, the back end does what it did.

What the gate refuses was carried out when the run was recorded, and the recording goes on from there: so the agent goes
on with the recorded call and result as well, and each later call is judged on the databases as they were then. How the
run would have gone on after a refusal, no recording tells.

Where the gate asks the customer to confirm a call, the customer says yes: the worst customer that a rule can meet. Then
the model proposes the same again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import msgspec
import orjson

from benchmarks.replays.outcomes import Fired, Judged, Outcome

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.replays.family import Message, Run, World
    from benchmarks.replays.gate import Gate
    from benchmarks.replays.servers import Doubles

ALLOW: Final = "allow"
CONFIRM: Final = "confirm"
YES: Final = {"role": "user", "content": "Yes"}
AGAIN: Final = "_again"
"""Behind the id of a call that is proposed once more: a provider gives each proposal an id of its own."""


@dataclass(slots=True)
class _Drive:
    run: Run
    world: World
    gate: Gate
    doubles: Doubles
    history: list[bytes] = field(default_factory=list)
    calls: dict[str, Judged] = field(default_factory=dict)
    made: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    renamed: dict[str, str] = field(default_factory=dict)
    exchanges: int = 0
    differing: int = 0
    odd: int = 0

    async def take(self, turn: int, message: Message) -> None:
        match message["role"]:
            case "assistant":
                await self._propose(turn, message)
            case "tool":
                self._result(message)
            case _:
                self.history.append(orjson.dumps(message))

    async def _propose(self, turn: int, message: Message) -> None:
        calls = message.get("tool_calls") or ()
        answer = await self._ask(message)
        decided = await self.gate.decided()
        asked = {_place(one) for one in decided if one["reason"] == CONFIRM}
        if asked:
            self.history += [orjson.dumps({"role": "assistant", "content": answer.get("content") or ""})]
            self.history.append(orjson.dumps(YES))
            message = self._renamed(message)
            answer = await self._ask(message)
            decided = await self.gate.decided()
        released = {call["id"] for call in answer.get("tool_calls") or ()}
        last = {_place(one): one for one in decided}
        for place, (call, proposed) in enumerate(zip(calls, message.get("tool_calls") or (), strict=True)):
            judged = _judged(turn, place, call, last.get(place), proposed["id"] in released, place in asked)
            self.odd += judged.is_released is not (judged.ruling == ALLOW)
            self.calls[call["id"]] = judged
            self.made[call["id"]] = call["function"]
        self.history.append(orjson.dumps(_sendable(message)))

    async def _ask(self, message: Message) -> Message:
        self.doubles.saying[self.run.id] = message
        self.exchanges += 1
        answer = await self.gate.ask(self.run.id, self.history, self.world.claims())
        self.doubles.saying.pop(self.run.id, None)
        return answer

    def _renamed(self, message: Message) -> Message:
        calls = [{**call, "id": call["id"] + AGAIN} for call in message.get("tool_calls") or ()]
        self.renamed.update({call["id"].removesuffix(AGAIN): call["id"] for call in calls})
        return {**message, "tool_calls": calls}

    def _result(self, message: Message) -> None:
        id_ = message["tool_call_id"]
        made = self.made.get(id_)
        content = message.get("content")
        if made is not None:
            applied = self.world.apply(made["name"], _arguments(made["arguments"]), content)
            self.differing += applied.differs
            content = applied.content
            self.calls[id_] = msgspec.structs.replace(self.calls[id_], is_error=applied.is_error)
        said = {"role": "tool", "tool_call_id": self.renamed.get(id_, id_), "content": content or ""}
        self.history.append(orjson.dumps(said))


async def drive(run: Run, world: World, gate: Gate, doubles: Doubles) -> Outcome:
    """Replay a run. Raises `ReplayError`."""
    driving = _Drive(run, world, gate, doubles)
    for turn, message in enumerate(run.messages):
        await driving.take(turn, message)
    return Outcome(run.id, run.pack, tuple(driving.calls.values()), driving.exchanges, driving.differing, driving.odd)


def _place(decided: Mapping[str, Any]) -> int:
    place: int = decided["position"]
    return place


def _judged(
    turn: int, place: int, call: Mapping[str, Any], decided: Mapping[str, Any] | None, released: bool, asked: bool
) -> Judged:
    name = call["function"]["name"]
    if decided is None:
        return Judged(turn, place, call["id"], name, False, "none", "", (), asked, released, None)
    fired = tuple(
        Fired(one.get("rule") or one["interceptor"], one["ruling"], one.get("reason") or "")
        for one in decided["verdicts"]
        if one["ruling"] != ALLOW
    )
    return Judged(
        turn,
        place,
        call["id"],
        name,
        decided["is_write"],
        decided["ruling"],
        decided["reason"] or "",
        fired,
        asked,
        released,
        None,
    )


def _arguments(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text or "{}")
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}


def _sendable(message: Message) -> dict[str, Any]:
    kept: dict[str, Any] = {"role": "assistant", "content": message.get("content")}
    calls: Sequence[Mapping[str, Any]] = message.get("tool_calls") or ()
    if calls:
        kept["tool_calls"] = list(calls)
    elif kept["content"] is None:
        kept["content"] = ""
    return kept
