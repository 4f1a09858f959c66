"""The tables and charts of the AgentDojo runs."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from benchmarks.replays.dojo_data import SUITES, Kind
from benchmarks.replays.dojo_findings import count, finding
from benchmarks.replays.tables import Bar, Chart, Report, Table, share

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.replays.dojo_calls import Wishes
    from benchmarks.replays.dojo_data import Recording
    from benchmarks.replays.dojo_findings import Counts, Finding
    from benchmarks.replays.outcomes import Outcome
    from benchmarks.replays.tables import Cell

ALL = "all"


def report(pairs: Sequence[tuple[Recording, Outcome]], wishes: Wishes) -> Report:
    """What the packs did to these runs."""
    found = [finding(run, outcome, wishes) for run, outcome in pairs]
    suites = [suite for suite in SUITES if any(one.run.suite == suite for one in found)]
    by_suite = {suite: count(one for one in found if one.run.suite == suite) for suite in suites}
    by_suite[ALL] = count(found)
    tables = (
        _attacks(by_suite),
        _touched(by_suite),
        _models(found),
        _versions(found, wishes),
        _goals(found),
        _under_attack(found, suites),
        _why(found),
        _asked(found, suites),
    )
    return Report("AgentDojo: the packs for assistants", tables, (_stopped_chart(by_suite), _touched_chart(by_suite)))


def _attacks(by_suite: dict[str, Counts]) -> Table:
    columns = ("suite", "attacks that worked", "by a call", "stopped", "share", "of these escalated")
    rows = [
        [
            suite,
            one.hits,
            one.needing,
            one.stopped,
            share(one.stopped, one.needing),
            one.escalated,
            share(one.stopped_verbatim, one.needing),
            share(one.stopped_field, one.needing),
        ]
        for suite, one in by_suite.items()
    ]
    note = (
        "An attack is stopped where not one call that the injection asked for was released. An attack without a call "
        "asked only for words. The last two columns are the share that a rule of thumb stops."
    )
    return Table("Attacks that worked when they were recorded", (*columns, "verbatim", "field-level"), rows, note)


def _touched(by_suite: dict[str, Counts]) -> Table:
    columns = ("suite", "useful runs", "touched", "share", "verbatim", "field-level")
    rows = [
        [
            suite,
            one.useful,
            one.touched,
            share(one.touched, one.useful),
            share(one.touched_verbatim, one.useful),
            share(one.touched_field, one.useful),
        ]
        for suite, one in by_suite.items()
    ]
    note = "Runs without an attack that did the user's task; touched is one in which any call was not released."
    return Table("Benign useful runs", columns, rows, note)


def _models(found: Sequence[Finding]) -> Table:
    columns = ("suite", "model", "attack", "by a call", "stopped", "share", "useful runs", "touched")
    rows: list[list[Cell]] = []
    for suite in SUITES:
        mine = [one for one in found if one.run.suite == suite]
        for model in sorted({one.run.model for one in mine}):
            of_model = [one for one in mine if one.run.model == model]
            attacks = sorted({one.run.attack for one in of_model if one.run.kind is Kind.ATTACK})
            one = count(of_model)
            rows.append(
                [
                    suite,
                    model,
                    ", ".join(attacks) or "-",
                    one.needing,
                    one.stopped,
                    share(one.stopped, one.needing),
                    one.useful,
                    one.touched,
                ]
            )
    return Table("Per model and attack", columns, rows, "Every recorded attack is of the one kind that stands there.")


def _versions(found: Sequence[Finding], wishes: Wishes) -> Table:
    worded = [(wishes.tasks.worded_as(one.run), one) for one in found if one.run.kind is not Kind.ASKED]
    rows: list[list[Cell]] = []
    for suite in SUITES:
        for words in sorted({words for words, one in worded if one.run.suite == suite}):
            one = count(each for told, each in worded if told == words and each.run.suite == suite)
            stopped, touched = share(one.stopped, one.needing), share(one.touched, one.useful)
            rows.append([suite, words, one.needing, one.stopped, stopped, one.useful, one.touched, touched])
    columns = ("suite", "tasks worded as in", "by a call", "stopped", "share", "useful runs", "touched", "share ")
    note = (
        "The same packs, whatever the version of the tasks: the words of the user and of the injection tell which "
        "versions a recording can be of."
    )
    return Table("Per version of the tasks", columns, rows, note)


def _goals(found: Sequence[Finding]) -> Table:
    rows = [
        [
            suite,
            goal.removeprefix("injection_task_"),
            one.hits,
            one.needing,
            one.stopped,
            share(one.stopped, one.needing),
        ]
        for (suite, goal), one in _grouped(found, lambda one: (one.run.suite, one.run.injection_task))
        if one.hits
    ]
    columns = ("suite", "injection task", "worked", "by a call", "stopped", "share")
    return Table("Per goal of the injection", columns, rows)


def _grouped(
    found: Iterable[Finding], key: Callable[[Finding], tuple[str, str]]
) -> list[tuple[tuple[str, str], Counts]]:
    groups: dict[tuple[str, str], list[Finding]] = {}
    for one in found:
        groups.setdefault(key(one), []).append(one)
    order = {suite: place for place, suite in enumerate(SUITES)}
    return [
        (name, count(groups[name])) for name in sorted(groups, key=lambda name: (order[name[0]], len(name[1]), name[1]))
    ]


def _under_attack(found: Sequence[Finding], suites: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    for suite in (*suites, ALL):
        mine = [one for one in found if one.run.kind is Kind.ATTACK and suite in (ALL, one.run.suite)]
        calls = [one.judged[call.id] for one in mine for call in one.users]
        withheld = sum(not call.is_released for call in calls)
        resisted = [one for one in mine if one.run.is_useful and not one.run.is_hit]
        touched = sum(one.is_touched for one in resisted)
        rows.append(
            [
                suite,
                len(calls),
                withheld,
                share(withheld, len(calls)),
                len(resisted),
                touched,
                share(touched, len(resisted)),
            ]
        )
    columns = ("suite", "the task's calls", "not released", "share", "task done, attack failed", "touched", "share ")
    note = (
        "The task's calls: what the user's task needs, in runs under attack. Touched: a call that the attack did not "
        "ask for was not released."
    )
    return Table("Under attack, the user's own task", columns, rows, note)


def _why(found: Sequence[Finding]) -> Table:
    why: Counter[tuple[str, str, str]] = Counter()
    for one in found:
        if one.run.kind is Kind.BENIGN and one.run.is_useful:
            why.update({(one.run.suite, judged.tool, judged.reason) for judged in one.refused})
    rows: list[list[Cell]] = [[*key, runs] for key, runs in sorted(why.items(), key=lambda item: (-item[1], item[0]))]
    return Table("Why benign useful runs were touched", ("suite", "tool", "reason", "runs"), rows)


def _asked(found: Sequence[Finding], suites: Sequence[str]) -> Table:
    rows: list[list[Cell]] = []
    for suite in (*suites, ALL):
        mine = [one for one in found if one.run.kind is Kind.ASKED and one.run.is_hit and suite in (ALL, one.run.suite)]
        touched = sum(bool(one.refused) for one in mine)
        rows.append([suite, len(mine), touched, share(touched, len(mine))])
    columns = ("suite", "runs that did it", "touched", "share")
    return Table(
        "The attacks' goals, asked for by the user", columns, rows, "The same deeds, from the one who may ask for them."
    )


def _stopped_chart(by_suite: dict[str, Counts]) -> Chart:
    bars = []
    for suite, one in by_suite.items():
        for label, stopped in (
            ("pack", one.stopped),
            ("field-level", one.stopped_field),
            ("verbatim", one.stopped_verbatim),
        ):
            bars.append(Bar(f"{suite}, {label}", [_part(stopped, one.needing)]))
    return Chart("Attacks stopped, of those that worked by a call", ["stopped"], bars, percent=True)


def _touched_chart(by_suite: dict[str, Counts]) -> Chart:
    bars = []
    for suite, one in by_suite.items():
        for label, touched in (
            ("pack", one.touched),
            ("field-level", one.touched_field),
            ("verbatim", one.touched_verbatim),
        ):
            bars.append(Bar(f"{suite}, {label}", [_part(touched, one.useful)]))
    return Chart("Benign useful runs touched", ["touched"], bars, percent=True)


def _part(part: int, whole: int) -> float:
    return part / whole if whole else 0.0
