"""The database of one run: shared until it is written to, so that a thousand runs begin with the same one."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import orjson

from benchmarks.replays.family import Applied

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Record: TypeAlias = "dict[str, Any]"
Handler: TypeAlias = "Callable[[Mapping[str, Any]], object]"


SPELLED = {"province": "state"}
"""One of the recorded back ends called a field otherwise than the database that was published with it."""


class BackEndError(Exception):
    """The back end refuses the call; the message is what it answers behind `Error: `."""


@dataclass(slots=True)
class Database:
    """`base` is shared and never written to; what a run writes is its own."""

    base: Mapping[str, Mapping[str, Record]]
    _own: dict[tuple[str, str], Record] = field(default_factory=dict)

    def read(self, table: str, key: str) -> Record | None:
        """The record, not to be written to."""
        found = self._own.get((table, key))
        return self.base[table].get(key) if found is None else found

    def first(self, table: str, key: str) -> Record | None:
        """The record as it was when the run began."""
        return self.base[table].get(key)

    def write(self, table: str, key: str) -> Record:
        """The record, this run's own from here on. Raises `BackEndError` where there is none."""
        found = self.read(table, key)
        if found is None:
            raise BackEndError(f"{table.removesuffix('s')} not found")
        if (table, key) not in self._own:
            self._own[table, key] = copy.deepcopy(found)
        return self._own[table, key]

    def add(self, table: str, key: str, record: Record) -> None:
        self._own[table, key] = record


def carry_out(handler: Handler | None, arguments: Mapping[str, Any], recorded: str | None) -> Applied:
    """Carry a call out as it was recorded.

    A recorded refusal changes nothing; what the back end refuses without a recording is an error of its own. A call
    without a handler is not ours to carry out: what is recorded came back.
    """
    refused = recorded is not None and recorded.startswith("Error")
    if handler is None or refused:
        return Applied(recorded or "", refused)
    try:
        answer = handler(arguments)
    except (BackEndError, KeyError, TypeError) as error:
        return Applied(recorded or f"Error: {error}", recorded is None, differs=recorded is not None)
    told = answer if isinstance(answer, str) else orjson.dumps(answer).decode()
    if recorded is None:
        return Applied(told, is_error=False)
    return Applied(recorded, is_error=False, differs=not _same(recorded, answer))


def _same(recorded: str, answer: object) -> bool:
    if isinstance(answer, str):
        return recorded == answer
    try:
        return bool(_bare(orjson.loads(recorded)) == _bare(answer))
    except orjson.JSONDecodeError:
        return False


def _bare(value: Any) -> Any:
    """Without what is null: one recording writes it, another leaves it out. Cents are rounded as the back ends do."""
    if isinstance(value, dict):
        return {SPELLED.get(key, key): _bare(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [_bare(item) for item in value]
    return round(value, 2) if isinstance(value, float) else value
