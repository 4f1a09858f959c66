"""Which results of reads are out of date, and what the model is told in their place (DESIGN 6, freshness).

Only results of tools that read are ever called out of date: what a write did stays done, and a notice in its place
would invite to do it again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interceptors import strict_json
from policies.expressions import EACH
from policies.model import ToolEffect

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime, timedelta

    from interceptors.calls import Json
    from policies.model import Policy, Tool
    from policies.upkeep import Path

ARGUMENTS_SHOWN_MAX: Final = 200
NAMES_SHOWN_MAX: Final = 12
_ANY: Final = "*"  # a thing that cannot be told


@dataclass(frozen=True, slots=True)
class Done:
    """A call of the history with a result. `turn` is that of the result, `said` that of the call; calls of one turn ran
    side by side. `at` is when its result first went up, None where that is not known."""

    call: str
    tool: str
    arguments: Mapping[str, Json] | None
    said: int
    turn: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Since:
    """`idle` is how long nothing went up before now; None where it is not known."""

    now: datetime
    idle: timedelta | None


def stale(policy: Policy, calls: Sequence[Done], since: Since) -> list[Done]:
    """Those of these calls whose results may no longer be relied on, in their order."""
    writes = [(each.said, thing) for each in calls for thing in _writes(policy, each)]
    found: list[Done] = []
    for each in calls:
        tool = policy.tool(each.tool)
        if tool is None or tool.effect is not ToolEffect.READ:
            continue
        if _is_old(policy, tool, each, since) or _is_overtaken(tool, each, writes):
            found.append(each)
    return found


def overtaken(policy: Policy, calls: Sequence[Done]) -> list[Done]:
    """Those that a write went past, whatever their age."""
    writes = [(each.said, thing) for each in calls for thing in _writes(policy, each)]
    tools = ((each, policy.tool(each.tool)) for each in calls)
    return [
        each
        for each, tool in tools
        if tool is not None and tool.effect is ToolEffect.READ and _is_overtaken(tool, each, writes)
    ]


def _is_old(policy: Policy, tool: Tool, each: Done, since: Since) -> bool:
    """A tool that says how long its results hold is measured by that alone."""
    fresh_for, resume_after = tool.upkeep.fresh_for, policy.history.resume_after
    if fresh_for is not None:
        return each.at is None or since.now - each.at >= fresh_for
    return resume_after is not None and (since.idle is None or since.idle > resume_after)


def _is_overtaken(tool: Tool, each: Done, writes: Iterable[tuple[int, tuple[str, str]]]) -> bool:
    """Whether a write to what it read was called beside it or after it."""
    if not tool.upkeep.reads:
        return False
    read = set(_things(tool.upkeep.reads, each.arguments))
    kinds = {kind for kind, _ in read}
    for said, (kind, key) in writes:
        if said >= each.said and kind in kinds and (key == _ANY or (kind, key) in read or (kind, _ANY) in read):
            return True
    return False


def _writes(policy: Policy, each: Done) -> Iterator[tuple[str, str]]:
    tool = policy.tool(each.tool)
    if tool is not None and tool.upkeep.writes:
        yield from _things(tool.upkeep.writes, each.arguments)


def _things(named: Mapping[str, Path], arguments: Mapping[str, Json] | None) -> Iterator[tuple[str, str]]:
    """The kind and the key of each thing; what cannot be read may be any."""
    for kind, path in named.items():
        keys = list(_values(dict(arguments or {}), path))
        yield from ((kind, key) for key in keys or [_ANY])


def _values(value: Json, path: Path) -> Iterator[str]:
    if not path:
        if isinstance(value, list):
            for item in value:
                yield from _values(item, ())
        elif value is not None and not isinstance(value, dict):
            yield "=" + strict_json.canonical(value).decode()
        return
    step, rest = path[0], path[1:]
    if step == EACH:
        for item in value if isinstance(value, list) else ():
            yield from _values(item, rest)
    elif isinstance(value, dict) and step in value:
        yield from _values(value[step], rest)


HELD_NOTICE: Final = (
    "What tools returned earlier in this conversation may be out of date by now. Call them again before you rely on it."
)
"""Where nobody can tell what was read before, since the provider keeps it. It goes up with what the user says."""
HELD_LOOP_NOTICE: Final = (
    "[What was read before or beside a call that changes it is out of date. Read it again before you rely on it.]"
)
"""The same inside a loop of tools, where what was read just now holds unless it was changed."""


def stale_notice(each: Done) -> str:
    """What stands in the place of the result: the same for ever, whenever it is made."""
    return strict_json.canonical({"stale": True, "next": f"Out of date: call {_named(each)} again."}).decode()


def loop_notice(calls: Sequence[Done]) -> str:
    """What the newest result says of earlier ones, while the model works on."""
    named = list(dict.fromkeys(_named(each) for each in calls))
    more = f" and {len(named) - NAMES_SHOWN_MAX} more" if len(named) > NAMES_SHOWN_MAX else ""
    return f"[Out of date by now: {', '.join(named[:NAMES_SHOWN_MAX])}{more}. Call again before you rely on it.]"


def _named(each: Done) -> str:
    """The call as the model may repeat it; long arguments are the model's own to remember."""
    arguments = strict_json.canonical(dict(each.arguments)).decode() if each.arguments else ""
    return each.tool + (f"({arguments})" if 0 < len(arguments) <= ARGUMENTS_SHOWN_MAX else "")
