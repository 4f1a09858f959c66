"""Two rules of thumb that people use in place of a policy, computed on the same recordings.

Verbatim grounding: a destination that stands in a result and not in the user's words is refused. Field-level grounding:
the same, but one that is the whole value of a field of a record in a result is trusted; texts that people write are no
such fields. Neither looks at pages that are fetched.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import yaml

from benchmarks.replays.dojo_calls import destinations, has_effect

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.replays.dojo_data import Call, Recording

FREE_TEXT: Final = frozenset(
    {"body", "content", "description", "subject", "title", "reviews", "message", "location", "text"}
)
AMOUNTS: Final = frozenset({"send_money", "schedule_transaction", "update_scheduled_transaction"})
"""Tools of which the amount is a destination, too."""
_UNWATCHED: Final = frozenset({"get_webpage"})
_TEXT_ONLY: Final = frozenset({"title", "filename"})


def verbatim(run: Recording, call: Call) -> bool:
    """Whether verbatim grounding refuses the call."""
    return any(_is_only_in_results(run, call, value) for value in _values(call))


def field_level(run: Recording, call: Call) -> bool:
    """Whether field-level grounding refuses the call."""
    return any(
        _is_only_in_results(run, call, value) and not any(value in _fields(text) for text in _results(run, call))
        for value in _values(call)
    )


def _values(call: Call) -> Iterator[str]:
    if not has_effect(call.tool) or call.tool in _UNWATCHED:
        return
    yield from (value for name, value in destinations(call.tool, call.arguments) if name not in _TEXT_ONLY)
    amount = call.arguments.get("amount") if call.tool in AMOUNTS else None
    if isinstance(amount, int | float):
        yield _number(amount)


def _is_only_in_results(run: Recording, call: Call, value: str) -> bool:
    return value not in run.words and any(value in text for text in _results(run, call))


def _results(run: Recording, call: Call) -> Iterator[str]:
    """What had come back when the call was made."""
    return (one["content"] for one in run.messages[: call.message] if one["role"] == "tool")


@lru_cache(maxsize=20_000)
def _fields(text: str) -> frozenset[str]:
    try:
        document = yaml.load(text, yaml.CBaseLoader)
    except yaml.YAMLError:
        return frozenset()
    return frozenset(_leaves(document)) if isinstance(document, list | dict) else frozenset()


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for item in value:
            yield from _leaves(item)
    elif isinstance(value, dict):
        for name, item in value.items():
            if name not in FREE_TEXT:
                yield from _leaves(item)
    else:
        yield value
        if value.removesuffix("0").endswith("."):
            yield value.partition(".")[0]


def _number(amount: float) -> str:
    number = Decimal(str(amount)).normalize()
    return f"{number:f}"
