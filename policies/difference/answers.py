"""What changes in how a refused call of a tool is answered, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from policies.model import Batch, OnRefusal

if TYPE_CHECKING:
    from policies.model import Tool

_BY_EFFECT: Final = "whoever its effect and the agent say"
_ANSWERS: Final = {OnRefusal.CODE: "the policy's reply", OnRefusal.MODEL: "the model", None: _BY_EFFECT}


def told_on_refusal(name: str, before: Tool, after: Tool) -> str:
    now, then = _ANSWERS[after.on_refusal], _ANSWERS[before.on_refusal]
    return f"A refused call of {name} is answered by {now} instead of {then}."


def told_batch(name: str, after: Tool) -> str:
    if after.batch is Batch.ALL_OR_NOTHING:
        return f"Where {name} is called, one refusal of the turn refuses all its calls."
    return f"A refusal beside {name} refuses it no more."


def told_confirm(name: str, after: Tool) -> str:
    asked = "before each call" if after.confirm is not None else "no more"
    return f"The customer is asked for a yes to {name} {asked}."


def told_inject(name: str, before: Tool, after: Tool) -> str:
    if after.inject is None:
        return f"No key is put into {before.inject} of {name} any more."
    return f"The key of the intent is put into {after.inject} of {name}."
