"""The tables hold what the gate did against what the rules ask for, on invented runs."""

from __future__ import annotations

import json
from typing import Any

from benchmarks.replays.family import Run
from benchmarks.replays.outcomes import Fired, Judged, Outcome
from benchmarks.replays.tables import Report, Table
from benchmarks.replays.tau.findings import Replayed, replayed
from benchmarks.replays.tau.report import report
from benchmarks.replays.tau.runs import CORRECTED, RECORDED
from tests.benchmarks.replayed import call, told, turn
from tests.benchmarks.test_tau_worlds import airline

CANCEL = {"reservation_id": "TRIP01"}


def judged(id_: str, tool: str, reason: str = "", *, ruling: str = "", is_write: bool = True) -> Judged:
    ruling = ruling or ("forbid" if reason else "allow")
    fired = (Fired(f"{tool}.rules[0]", ruling, reason),) if reason else ()
    return Judged(0, 0, id_, tool, is_write, ruling, reason, fired, not reason, not reason, is_error=False)


def one(id_: str, reward: float, calls: list[tuple[Judged, dict[str, Any]]], *, kind: str = RECORDED) -> Replayed:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]
    for each, arguments in calls:
        messages += [turn(call(each.call, each.tool, **arguments)), told(each.call, None)]
    labels = {"kind": kind, "bench": "tau2", "domain": "airline", "model": "m", "task": "1", "reward": reward}
    run = Run(id_, "airline-tau2", messages, labels)
    return replayed(run, Outcome(id_, run.pack, tuple(each for each, _ in calls), len(calls), 0, 0), airline())


def rows(found: Report, title: str) -> list[list[Any]]:
    (table,) = [each for each in found.tables if each.title.startswith(title)]
    assert isinstance(table, Table)
    return [list(row) for row in table.rows]


def test_a_write_that_breaks_a_rule_is_counted_with_what_became_of_it() -> None:
    """Stopped with the rule's name, stopped for another reason, or let through: each is told apart."""
    found = report(
        [
            one("a", 0, [(judged("c", "cancel_reservation", "not_cancellable"), CANCEL)]),
            one("b", 1, [(judged("c", "cancel_reservation", "undeclared_parameter"), CANCEL)]),
            one("c", 1, [(judged("c", "cancel_reservation"), CANCEL)]),
        ]
    )
    (row,) = [row for row in rows(found, "Writes that break a rule") if row[1] == "A15"]

    assert row[3:8] == [3, 2, 1, 0, 3]
    assert rows(found, "Runs with a write") == [["airline tau2", "m", 3, 1, 1, 1, 2, 2, 2]]
    assert rows(found, "Rewarded runs")[0][1:7] == [2, 1, 1, 0, 0, 0]


def test_what_breaks_no_rule_and_is_stopped_shows() -> None:
    """A refusal beyond the rules, an insurance claim and a read of a rewarded run each have a column of their own."""
    names = {"reservation_id": "TRIP01", "passengers": [{"first_name": "B", "last_name": "B", "dob": "1990-01-01"}]}
    found = report(
        [
            one("a", 1, [(judged("c", "update_reservation_passengers", "same_number_of_passengers"), names)]),
            one("b", 1, [(judged("c", "get_reservation_details", "not_yours", is_write=False), CANCEL)]),
        ]
    )
    (row,) = [row for row in rows(found, "Writes that break a rule") if row[1] == "A13"]

    assert row[3:7] == [0, 0, 0, 1]
    assert rows(found, "Rewarded runs") == [["airline tau2", 2, 0, 0, 0, 1, 1, 0.5]]
    assert ["airline tau2", "read", "forbid", "not_yours", 0, 1] in rows(found, "What the customer would have heard")


def test_the_ground_truth_is_told_write_by_write() -> None:
    """Refused, or for a person; and what was released is not listed."""
    found = report(
        [
            one("a", 0, [(judged("c", "cancel_reservation", "not_cancellable"), CANCEL)], kind=CORRECTED),
            one(
                "b",
                0,
                [(judged("c", "cancel_reservation", "insurance_claim", ruling="escalate"), CANCEL)],
                kind=CORRECTED,
            ),
            one("c", 0, [(judged("c", "cancel_reservation"), CANCEL)], kind=CORRECTED),
        ]
    )

    assert rows(found, "Writes of the ground truth") == [[CORRECTED, "airline tau2", 3, 3, 1, 2, 1, 0]]
    assert [row[4:] for row in rows(found, "Each write of a ground truth")] == [
        ["forbid", "not_cancellable", "A15"],
        ["escalate", "insurance_claim", "A15"],
    ]


def test_arguments_that_are_no_json_are_none() -> None:
    """A call that cannot be read is not held against any rule."""
    broken = judged("c", "cancel_reservation", "malformed")
    run = one("a", 0, [(broken, CANCEL)]).run
    cut = json.loads(json.dumps(list(run.messages)))
    cut[1]["tool_calls"][0]["function"]["arguments"] = '{"reservation_id": "TR'
    again = replayed(Run("a", run.pack, cut, run.labels), Outcome("a", run.pack, (broken,), 1, 0, 0), airline())

    assert again.writes[0].broken is None
