"""A model that says anything, the same again for the same seed: text, thinking, calls at once, calls to be refused.

What a call is for stands in its tool's name; a test's policy rules by these names. The doubles do not know the policy.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType
from typing import TYPE_CHECKING

import orjson

from proxy.demo.turns import Call, Reply, Stop, Text, Thinking, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from proxy.demo.turns import Asked, Delivery, Part, Script


class Fate(Enum):
    """What a test's policy should do to a call of the tool of that name."""

    READ = "read_allowed"
    WRITE = "write_allowed"
    TOLD_MODEL = "read_refused"  # the refusal goes to the model
    TOLD_CODE = "write_refused"  # the refusal ends the turn by code
    ESCALATED = "write_escalated"
    UNCLEAR = "write_unclear"  # a parameter that is required is missing
    UNKNOWN = "no_such_tool"
    BROKEN = "read_broken"  # arguments that are no JSON, or JSON with a key twice


_WEIGHTS: Mapping[Fate, float] = MappingProxyType(
    {
        Fate.READ: 6,
        Fate.WRITE: 3,
        Fate.TOLD_MODEL: 5,
        Fate.TOLD_CODE: 2,
        Fate.ESCALATED: 1,
        Fate.UNCLEAR: 1,
        Fate.UNKNOWN: 1,
        Fate.BROKEN: 1,
    }
)
_BROKEN = ('{"n": 1', '{"n": 1, "n": 2}', '{"n": 1} x', "[]", '{"n": NaN}')
_WORDS = (
    "order",
    "refund",
    "I see",
    "one moment",
    "gleich …",
    "\u2028",
    "déjà",
    "a{b}",
    '"quoted"',
    "\\",
    "🧾",
    "0.10",
)


@dataclass(frozen=True, slots=True)
class Habits:
    """How often the model does what, as probabilities; `fates` are weights among the calls.

    `ends`: a turn has no call. `again`: a call has the arguments that this conversation's calls often have; `insists`:
    it is, with these, the one call that is refused to the model.
    """

    fates: Mapping[Fate, float] = field(default_factory=lambda: _WEIGHTS)
    ends: float = 0.3
    thinks: float = 0.6
    thinks_between: float = 0.15
    talks: float = 0.6
    again: float = 0.3
    insists: float = 0.15
    cut: float = 0.02  # by the token limit, behind its last part
    calls_max: int = 4


def turn_at(seed: int, number: int, habits: Habits | None = None) -> Turn:
    """The turn of that number, from 0, of the conversation of that seed. Ids, signatures and usage are left open."""
    habits = habits if habits is not None else Habits()
    dice = random.Random(f"{seed}/{number}")  # noqa: S311 - a script, not a secret
    parts: list[Part] = []
    if dice.random() < habits.thinks:
        parts += [_thinking(dice) for _ in range(dice.choice((1, 1, 1, 2)))]
    if dice.random() < habits.talks:
        parts.append(Text(_prose(dice)))
    calls = 0 if dice.random() < habits.ends else dice.randint(1, habits.calls_max)
    for place in range(calls):
        if place and dice.random() < habits.thinks_between:
            parts.append(_thinking(dice))
            if dice.random() < 0.5:
                parts.append(Text(_prose(dice)))
        parts.append(_call(seed, number, place, dice, habits))
    if not any(isinstance(part, Text | Call) for part in parts):
        parts.append(Text(_prose(dice)))
    return Turn(tuple(parts), Stop.LENGTH if dice.random() < habits.cut else None, usage=None)


def random_script(
    seed: int | Callable[[Asked], int],
    habits: Habits | None = None,
    delivery: Callable[[Asked], Delivery] | None = None,
) -> Script:
    """The script of `turn_at`. The number of a turn is that of the assistant messages before it, as the provider sees
    them: the same request is answered with the same turn.
    """

    def script(asked: Asked) -> Reply:
        number = sum(message["role"] == "assistant" for message in asked.body["messages"])
        turn = turn_at(seed(asked) if callable(seed) else seed, number, habits)
        return Reply(turn) if delivery is None else Reply(turn, delivery(asked))

    return script


def fate_of(name: str) -> Fate | None:
    """What a call of that name is for."""
    return next((fate for fate in Fate if fate.value == name), None)


def _thinking(dice: random.Random) -> Thinking:
    kind = dice.random()
    if kind < 0.15:
        return Thinking(redacted=True)
    return Thinking() if kind < 0.3 else Thinking(_prose(dice))


def _call(seed: int, number: int, place: int, dice: random.Random, habits: Habits) -> Call:
    insists = dice.random() < habits.insists and habits.fates.get(Fate.TOLD_MODEL, 0) > 0
    (fate,) = [Fate.TOLD_MODEL] if insists else dice.choices(list(habits.fates), list(habits.fates.values()))
    if fate is Fate.BROKEN:
        return Call(fate.value, dice.choice(_BROKEN))
    arguments: dict[str, object] = {"n": 100 + number * 10 + place, "note": _prose(dice)}
    if insists or dice.random() < habits.again:
        arguments = {"n": seed % 97, "note": ""}  # of the conversation alone, so that a call comes again
    if fate is Fate.UNCLEAR:
        del arguments["n"]
    return Call(fate.value, _written(arguments, dice))


def _written(arguments: Mapping[str, object], dice: random.Random) -> str:
    """JSON as models write it: with white space here and there."""
    text = orjson.dumps(arguments).decode()
    return text.replace('{"', '{ "', 1) if dice.random() < 0.3 else text


def _prose(dice: random.Random) -> str:
    return " ".join(dice.choice(_WORDS) for _ in range(dice.randint(1, 6)))
