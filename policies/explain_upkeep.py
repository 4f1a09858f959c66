"""What becomes of results on their way up, in plain English."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Final

from policies.expressions import EACH
from policies.spelling import duration_text
from policies.upkeep import BrokenPairs, ServerHeld, ages, needs_whole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.model import Policy, Tool
    from policies.upkeep import Path


_BROKEN: Final = {
    BrokenPairs.REPAIR: "A call without a result gets an error for one, and a result without a call is left out.",
    BrokenPairs.REFUSE: "A request in which a call has no result, or a result no call, is refused.",
}
_HELD: Final = {
    ServerHeld.REFUSE: "A request whose history the provider keeps is refused: what is old in it could not be told.",
    ServerHeld.NOTICE: "Where the provider keeps the history, each new message says that what was read before is old.",
}

_HELD_WHOLE: Final = {
    ServerHeld.REFUSE: "A request whose history the provider keeps is refused: nothing in it could be summed up.",
    ServerHeld.NOTICE: "Where the provider keeps the history, nothing in it is summed up, and a record says so.",
}


def upkeep_lines(tool: Tool) -> Iterator[str]:
    """The lines of one tool."""
    upkeep = tool.upkeep
    if upkeep.keep:
        yield f"  Of its result the model reads nothing but {_all(upkeep.keep)}."
    if upkeep.drop:
        yield f"  Of its result the model never reads {_all(upkeep.drop)}."
    caps = [f"{upkeep.max_bytes} bytes"] if upkeep.max_bytes is not None else []
    caps += [f"{upkeep.max_items} items of each list"] if upkeep.max_items is not None else []
    if caps:
        yield f"  Of its result the model reads at most {' and '.join(caps)}."
    if upkeep.errors is not None:
        own = "".join(f", what holds {rule.match.source!r} is {rule.kind.value}" for rule in upkeep.errors)
        yield f"  A result that is an error and does not say so becomes one{own}."
    if upkeep.fresh_for == timedelta(0):
        yield "  Its result holds for one answer: with the next words of the user it is asked for again."
    elif upkeep.fresh_for is not None:
        yield f"  Its result holds for {duration_text(upkeep.fresh_for)}: then it is asked for again."
    for kind, path in upkeep.reads.items():
        yield f"  It reads the {kind} that {_spelled(('args', *path))} names: a write to that outdates its result."
    for kind, path in upkeep.writes.items():
        yield f"  It changes the {kind} that {_spelled(('args', *path))} names."
    if upkeep.closes_topic:
        yield "  A call of it ends a matter, which may then become a summary."


def gather_line(tool: Tool) -> Iterator[str]:
    """What a person gets beside the summary."""
    if tool.upkeep.gather:
        yield f"    - every field of {' and '.join(tool.upkeep.gather)}, as it was read at the decision"


def upkeep_words(tool: Tool) -> list[str]:
    """All of it, to be compared."""
    return [*upkeep_lines(tool), *gather_line(tool)]


def history_lines(policy: Policy) -> Iterator[str]:
    """The lines that hold for every conversation."""
    if (pause := policy.history.resume_after) is not None:
        yield f"After a pause of more than {duration_text(pause)}, what was read before it is asked for again."
    if policy.history.broken_pairs is not None:
        yield _BROKEN[policy.history.broken_pairs]
    if (tokens := policy.history.compact_above) is not None:
        yield f"Past some {tokens} tokens of a request, matters that are closed become summaries built from receipts."
    if ages(policy):
        yield _HELD[policy.history.server_held]
    elif needs_whole(policy):
        yield _HELD_WHOLE[policy.history.server_held]


def _all(paths: tuple[Path, ...]) -> str:
    return ", ".join(_spelled(path) for path in paths)


def _spelled(path: Path) -> str:
    """`items[*].sku`"""
    text = ""
    for step in path:
        text += step if step == EACH or not text else f".{step}"
    return text
