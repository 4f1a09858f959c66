"""Stage 3: secrets and personal data that may not leave in an argument (DESIGN 4)."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from interceptors import egress_list_v1
from interceptors.calls import ToolCall
from interceptors.case import Stage
from interceptors.decisions import Verdict
from interceptors.decoding import decoded
from interceptors.names import shown
from policies.guards import EgressList
from policies.model import Ruling

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from interceptors.calls import Json
    from interceptors.case import Case
    from policies.model import Argument

_NAME: Final = "egress"
_ROWS_MAX: Final = 8
_LISTS: Final[Mapping[EgressList, Callable[[str], tuple[str, ...]]]] = {EgressList.V1: egress_list_v1.found_in}


class EgressGuard:
    """Looks at every text, number and name of a call's arguments, also decoded once, but those that are exempt."""

    name = _NAME
    stage = Stage.ALLOWLISTS

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        tool, call = case.found.tool, case.call
        if tool.egress is None or not isinstance(call, ToolCall):
            return ()
        found_in = _LISTS[tool.egress.list]
        rule = f"egress.{tool.egress.list.value}"
        against = [
            Verdict(_NAME, Ruling.FORBID, tool.egress.reason, rule, f"{where}: {', '.join(found)}")
            for where, text in _texts(tool.arguments, call.arguments, "")
            if (found := _found(text, found_in))
        ]
        return tuple(against[:_ROWS_MAX]) or (Verdict(_NAME, Ruling.ALLOW, rule=rule),)


def _found(text: str, found_in: Callable[[str], tuple[str, ...]]) -> tuple[str, ...]:
    plain = found_in(text)
    if plain:
        return plain
    names = dict.fromkeys(name for reading in decoded(text) for name in found_in(reading))
    return tuple(f"{name} (encoded)" for name in names)


def _texts(declared: Mapping[str, Argument] | None, given: Mapping[str, Json], above: str) -> Iterator[tuple[str, str]]:
    """Each text of the arguments with where it stands. A name that the policy does not declare is a text too."""
    for name, value in given.items():
        argument = None if declared is None else declared.get(name)
        if argument is None:
            yield "the name of an argument", name
        if argument is None or not argument.is_exempt:
            yield from _inside(argument, value, above + shown(name))


def _inside(argument: Argument | None, value: Json, path: str) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield f"argument {path!r}", value
    elif isinstance(value, bool) or value is None:
        return
    elif isinstance(value, int | Decimal):
        yield f"argument {path!r}", f"{value:f}" if isinstance(value, Decimal) else str(value)
    elif isinstance(value, list):
        element = None if argument is None else argument.element
        if element is None or not element.is_exempt:
            for index, item in enumerate(value):
                yield from _inside(element, item, f"{path}[{index}]")
    else:
        yield from _texts(None if argument is None else argument.fields, value, f"{path}.")
