"""The `fee_schedule` of a tool: its text and candidate beside the policy, and where the inputs of a computation are.

The candidate is held against the text here, at load: a schedule that its text does not bear out is no policy.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from policies.documents import keys
from policies.documents.scalars import time_zone
from policies.fee_schedules import ROOT, FeeSchedule, root_type
from policies.model import Ruling
from policies.nodes import listed
from policies.problems import DocumentError, Problem
from policies.values import Kind

if TYPE_CHECKING:
    from collections.abc import Mapping
    from zoneinfo import ZoneInfo

    from policies.documents.rules import Place
    from policies.expressions import Expression
    from policies.fees.schedule import Schedule
    from policies.lists import Lists
    from policies.model import Argument
    from policies.nodes import MappingNode, Node
    from policies.problems import Problems

_AMOUNT = "args."
_REFERENCES = ("departure", "arrival", "event")


def read_fees(
    tool: MappingNode,
    name: str,
    arguments: Mapping[str, Argument] | None,
    place: Place,
    lists: Lists | None,
    problems: Problems,
) -> tuple[FeeSchedule | None, Place]:
    """The fee schedule of a tool, if it has one, and the place of the tool's own expressions: they may read what it
    computes. `place` is that without it.
    """
    if (node := tool.get("fee_schedule")) is None:
        return None, place
    found: FeeSchedule | None = None
    with problems.collect():
        found = _read(node.mapping(), name, arguments, place, lists, problems)
    computed = root_type(None if found is None else found.schedule.currency)
    return found, replace(place, scope=replace(place.scope, roots={**place.scope.roots, ROOT: computed}))


def _read(
    mapping: MappingNode,
    tool: str,
    arguments: Mapping[str, Argument] | None,
    place: Place,
    lists: Lists | None,
    problems: Problems,
) -> FeeSchedule:
    with problems.collect():
        mapping.check_keys(keys.FEE_SCHEDULE, keys.LATER)
    schedule = _schedule(mapping, lists)
    rulings = [key for key in keys.LIMIT_RULINGS if key in mapping]
    if len(rulings) != 1:
        mapping.fail(f"a fee schedule has one of {listed(keys.LIMIT_RULINGS)}")
    given = mapping.get("inject")
    injects = given is not None and given.boolean()
    return FeeSchedule(
        id=f"{tool}.fee_schedule",
        schedule=schedule,
        amount=_amount(mapping.require("amount"), arguments, schedule, injects=injects),
        paid=_money(mapping.require("paid"), place, schedule),
        price=_price(mapping, place, schedule),
        reference=_reference(mapping, place, schedule),
        cancelled_at=_of_kind(mapping.require("cancelled_at"), place, Kind.TIMESTAMP),
        zone=_zone(mapping, place),
        ruling=Ruling(rulings[0]),
        reason=place.reason(mapping.require(rulings[0])),
        injects=injects,
        origin=mapping.origin,
    )


def _schedule(mapping: MappingNode, lists: Lists | None) -> Schedule:
    """The validated schedule; each problem of the candidate is one of the policy."""
    # What reads candidates takes longer to import than most policies to load.
    from policies.fees import CandidateError, Refused, Source, validate  # noqa: PLC0415 - for those that have one
    from policies.fees.files import parse_candidate  # noqa: PLC0415 - as above

    node = mapping.require("candidate")
    source = Source(mapping.require("source").text(), _text(mapping.require("source"), lists))
    try:
        candidate = parse_candidate(_text(node, lists))
    except CandidateError as error:
        raise DocumentError(tuple(Problem(node.origin, node.path, message) for message in error.messages)) from None
    validation = validate(candidate, source)
    if isinstance(validation, Refused):
        raise DocumentError(tuple(Problem(node.origin, node.path, str(problem)) for problem in validation.problems))
    return validation.schedule


def _text(node: Node, lists: Lists | None) -> str:
    if lists is None:
        node.fail("a policy without a folder has no files beside it")
    return node.convert(lists.text)


def _amount(node: Node, arguments: Mapping[str, Argument] | None, schedule: Schedule, *, injects: bool) -> str:
    """The argument that has to be the refund: one of the call's own, of money, of the schedule's currency."""
    name = node.text().removeprefix(_AMOUNT)
    declared = (arguments or {}).get(name)
    if not node.text().startswith(_AMOUNT) or declared is None or declared.type.kind is not Kind.MONEY:
        node.fail("must be an argument of money that the tool declares, such as args.amount")
    if declared.type.currency not in (None, schedule.currency):
        node.fail(f"the argument is in {declared.type.currency} and the schedule in {schedule.currency}")
    if declared.optional and not injects:
        node.fail(f"the argument {name!r} is optional: what is not there cannot be wrong, so `inject: true` is needed")
    return name


def _money(node: Node, place: Place, schedule: Schedule) -> Expression:
    expression = _of_kind(node, place, Kind.MONEY)
    if expression.type.currency not in (None, schedule.currency):
        node.fail(f"this is in {expression.type.currency} and the schedule in {schedule.currency}")
    return expression


def _price(mapping: MappingNode, place: Place, schedule: Schedule) -> Expression | None:
    if schedule.reads_price and "price" not in mapping:
        mapping.fail("'price' is required: the schedule takes percentages of it")
    node = mapping.get("price")
    if node is not None and not schedule.reads_price:
        node.fail("the schedule takes no percentage of a price")
    return None if node is None else _money(node, place, schedule)


def _reference(mapping: MappingNode, place: Place, schedule: Schedule) -> Expression:
    wanted = schedule.reference.value
    for name in _REFERENCES:
        if name != wanted and (node := mapping.get(name)) is not None:
            node.fail(f"the schedule counts back from the {wanted} date, not from this")
    return _of_kind(mapping.require(wanted), place, Kind.DATE)


def _of_kind(node: Node, place: Place, kind: Kind) -> Expression:
    expression = place.expression(node)
    if any(path[0] == "args" for path in expression.paths):
        node.fail("this must not read args: the model writes them, and would compute its own refund")
    if expression.type.kind not in (kind, Kind.ANY):
        node.fail(f"must be a {kind.value}, this is a {expression.type.kind.value}")
    return expression


def _zone(mapping: MappingNode, place: Place) -> ZoneInfo | None:
    node = mapping.get("zone")
    if node is not None:
        return node.convert(time_zone)
    if not place.has_time_zone:
        mapping.fail("'zone' or the policy's `time_zone` is required: days are counted on a calendar")
    return None
