"""The tables: what was refused, by which rule, in which runs, and what was refused that should not be."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from benchmarks.replays.tables import Bar, Chart, Report, Table, share
from benchmarks.replays.tau.rules import ALL_RUNS, BY_DOMAIN
from benchmarks.replays.tau.runs import CORRECTED, RECORDED, TRUTH

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from benchmarks.replays.tau.findings import Finding, Replayed

RULES_NOTE = (
    "`break it`: writes that break the rule, by a check in Python on the databases of that moment. `stopped`: those "
    "that the agent did not get; `named`: those of which the gate named this rule's reason. `beyond`: writes of which "
    "it named the reason and that do not break the rule. `carried out`: those that the recorded back end carried out. "
    "`README, all runs`: what the data's README counts, over the open runs and those that are set aside."
)


def report(found: Sequence[Replayed]) -> Report:
    """All tables and charts of what was replayed."""
    recorded = [one for one in found if one.run.labels["kind"] == RECORDED]
    truths = [one for one in found if one.run.labels["kind"] != RECORDED]
    tables = [_overview(found), _rules(recorded), _runs(recorded), _rewarded(recorded), _reasons(recorded)]
    tables += [_truths(truths), _flagged(truths)]
    return Report("Customer service: tau-bench and tau2-bench", tables, [_rule_chart(recorded), _run_chart(recorded)])


def _groups(found: Iterable[Replayed], *labels: str) -> dict[tuple[str, ...], list[Replayed]]:
    groups: dict[tuple[str, ...], list[Replayed]] = {}
    for one in found:
        groups.setdefault(tuple(str(one.run.labels[label]) for label in labels), []).append(one)
    return dict(sorted(groups.items()))


def _writes(found: Iterable[Replayed]) -> list[Finding]:
    return [write for one in found for write in one.writes]


def _overview(found: Sequence[Replayed]) -> Table:
    rows: list[list[Any]] = []
    for (kind, domain, bench), mine in _groups(found, "kind", "domain", "bench").items():
        writes = _writes(mine)
        rulings = Counter(one.judged.ruling for one in writes)
        row = [f"{kind}, {domain} {bench}", len(mine), sum(one.calls for one in mine), len(writes)]
        row += [sum(one.judged.asked for one in writes), sum(one.judged.is_released for one in writes)]
        row += [rulings["forbid"], rulings["escalate"], rulings["clarify"]]
        rows.append([*row, sum(len(one.reads_stopped) for one in mine), sum(one.differing for one in mine)])
    return Table(
        "What was replayed",
        [
            "runs of",
            "runs",
            "calls",
            "writes",
            "asked",
            "released",
            "refused",
            "for a person",
            "asked back",
            "reads stopped",
            "differ",
        ],
        rows,
        "`asked`: writes that the gate asked the customer to confirm, who said yes. `differ`: results that the stepped "
        "databases gave otherwise than the recording.",
    )


def _rules(recorded: Sequence[Replayed]) -> Table:
    rows: list[list[Any]] = []
    for (domain, bench), mine in _groups(recorded, "domain", "bench").items():
        writes = _writes(mine)
        for name, rule in BY_DOMAIN[domain].items():
            breaking = [one for one in writes if one.broken is not None and name in one.broken]
            beyond = [one for one in writes if name in one.named and one not in breaking]
            every = ALL_RUNS[f"{domain}-{bench}"].get(name, 0)
            if breaking or beyond or every:
                row = [f"{domain} {bench}", name, rule.says, len(breaking), sum(one.is_stopped for one in breaking)]
                row += [sum(name in one.named for one in breaking), len(beyond)]
                rows.append([*row, sum(one.is_accepted for one in breaking), every])
    return Table(
        "Writes that break a rule, and what became of them",
        ["runs of", "rule", "says", "break it", "stopped", "named", "beyond", "carried out", "README, all runs"],
        rows,
        RULES_NOTE,
    )


def _is_violating(one: Replayed) -> bool:
    return any(write.broken for write in one.writes)


def _runs(recorded: Sequence[Replayed]) -> Table:
    rows: list[list[Any]] = []
    for (domain, bench, model), mine in _groups(recorded, "domain", "bench", "model").items():
        row: list[Any] = [f"{domain} {bench}", model, len(mine)]
        for rewarded in (False, True):
            half = [one for one in mine if one.is_rewarded is rewarded]
            row += [len(half), sum(map(_is_violating, half)), sum(_is_carried_out(one) for one in half)]
        rows.append(row)
    return Table(
        "Runs with a write that breaks a rule, by model",
        [
            "runs of",
            "model",
            "runs",
            "reward 0",
            "breaking",
            "carried out",
            "reward 1",
            "breaking (1)",
            "carried out (1)",
        ],
        rows,
        "`breaking`: runs with at least one write that breaks a rule. `carried out`: runs of which the recorded back "
        "end carried out one of these writes.",
    )


def _is_carried_out(one: Replayed) -> bool:
    return any(write.broken and write.is_accepted for write in one.writes)


def _rewarded(recorded: Sequence[Replayed]) -> Table:
    rows: list[list[Any]] = []
    for (domain, bench), mine in _groups(recorded, "domain", "bench").items():
        good = [one for one in mine if one.is_rewarded]
        row = [f"{domain} {bench}", len(good), _with(good, lambda write: bool(write.broken))]
        row += [_with(good, lambda write: bool(write.broken) and write.is_accepted)]
        row += [_with(good, lambda write: write.is_for_person), _with(good, _is_other)]
        row.append(sum(bool(one.reads_stopped) for one in good))
        rows.append([*row, share(_with(good, _is_other), len(good))])
    return Table(
        "Rewarded runs that the gate would have touched",
        [
            "runs of",
            "rewarded",
            "a write that breaks a rule",
            "of these carried out",
            "an insurance claim",
            "another write",
            "a read",
            "another write, share",
        ],
        rows,
        "A rewarded run may break a rule: by a task whose ground truth does, or by a call that the back end rejected "
        "before the right one. `another write`: a write that breaks no rule and is no insurance claim.",
    )


def _with(found: Sequence[Replayed], fits: Callable[[Finding], bool]) -> int:
    """How many runs have a write of that kind that was stopped."""
    return sum(any(write.is_stopped and fits(write) for write in one.writes) for one in found)


def _is_other(write: Finding) -> bool:
    return not write.broken and not write.is_for_person


def _reasons(recorded: Sequence[Replayed]) -> Table:
    rows: list[list[Any]] = []
    for (domain, bench), mine in _groups(recorded, "domain", "bench").items():
        counted: dict[tuple[str, str, str], Counter[bool]] = {}
        for one in mine:
            for write in one.writes:
                if write.is_stopped:
                    key = ("write", write.judged.ruling, write.judged.reason)
                    counted.setdefault(key, Counter())[one.is_rewarded] += 1
            for read in one.reads_stopped:
                counted.setdefault(("read", read.ruling, read.reason), Counter())[one.is_rewarded] += 1
        rows += [[f"{domain} {bench}", *key, by[False], by[True]] for key, by in sorted(counted.items())]
    return Table(
        "What the customer would have heard: calls that were not released, by their reason",
        ["runs of", "call", "outcome", "reason", "in runs of reward 0", "of reward 1"],
        rows,
    )


def _truths(truths: Sequence[Replayed]) -> Table:
    rows: list[list[Any]] = []
    for kind in (TRUTH, CORRECTED):
        mine = [one for one in truths if one.run.labels["kind"] == kind]
        for (domain, bench), some in _groups(mine, "domain", "bench").items():
            writes = _writes(some)
            row = [kind, f"{domain} {bench}", len(some), len(writes), sum(one.is_refused for one in writes)]
            row += [sum(one.is_stopped and bool(one.broken) for one in writes)]
            row += [sum(one.judged.ruling == "escalate" for one in writes)]
            rows.append([*row, sum(one.judged.ruling == "clarify" for one in writes)])
    return Table(
        "Writes of the ground truth",
        ["tasks as", "of", "tasks", "writes", "refused", "break a rule", "for a person", "asked back"],
        rows,
        "The right calls of each task, made one after the other through the gate. `corrected`: as upstream rewrote the "
        "tasks later; the others are those of the recorded runs.",
    )


def _flagged(truths: Sequence[Replayed]) -> Table:
    rows: list[list[Any]] = []
    for kind in (TRUTH, CORRECTED):
        mine = [one for one in truths if one.run.labels["kind"] == kind]
        for (domain, bench), some in _groups(mine, "domain", "bench").items():
            for one in some:
                for write in one.writes:
                    if write.is_stopped:
                        rules = ", ".join(sorted(write.broken or ()))
                        row = [kind, f"{domain} {bench}", str(one.run.labels["task"]), write.judged.tool]
                        rows.append([*row, write.judged.ruling, write.judged.reason, rules])
    return Table(
        "Each write of a ground truth that was not released",
        ["tasks as", "of", "task", "tool", "outcome", "reason", "breaks"],
        rows,
    )


def _rule_chart(recorded: Sequence[Replayed]) -> Chart:
    bars = []
    for (domain, bench), mine in _groups(recorded, "domain", "bench").items():
        writes = _writes(mine)
        for name in BY_DOMAIN[domain]:
            breaking = [one for one in writes if one.broken is not None and name in one.broken]
            if breaking:
                stopped = sum(one.is_stopped for one in breaking)
                bars.append(Bar(f"{domain} {bench} {name}", [float(stopped), float(len(breaking) - stopped)]))
    return Chart("Writes that break a rule", ["stopped", "let through"], bars)


def _run_chart(recorded: Sequence[Replayed]) -> Chart:
    bars = []
    for (domain, bench, model), mine in _groups(recorded, "domain", "bench", "model").items():
        breaking = [one for one in mine if _is_violating(one)]
        parts = [sum(one.is_rewarded is good for one in breaking) / len(mine) for good in (False, True)]
        bars.append(Bar(f"{domain} {bench} {model}"[:44], parts))
    return Chart("Share of runs with a write that breaks a rule", ["reward 0", "reward 1"], bars, percent=True)
