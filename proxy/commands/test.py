"""`callgate test`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from interceptors.pipeline import Pipeline
from policies.files import read_snapshot
from policies.loader import load_snapshot
from policies.problems import DocumentError
from proxy.commands.common import CommandError, failing_on
from proxy.suites.coverage import covered
from proxy.suites.handoffs import run_asking
from proxy.suites.reader import read_suite
from proxy.suites.survival import survive
from proxy.suites.trial import run

if TYPE_CHECKING:
    from policies.files import Snapshot
    from proxy.suites.cases import Suite
    from proxy.suites.coverage import Coverage
    from proxy.suites.handoffs import AskingTrial
    from proxy.suites.survival import Survival
    from proxy.suites.trial import Trial

FAILED = 1
"""The exit code where a case fails, a mutant survives, or too little is covered."""


@click.command()
@click.argument("policies", nargs=-1, type=click.Path(path_type=Path), metavar="[POLICY]...")
@click.option(
    "--suite",
    "suite_path",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="The suite of one policy.  [default: policy_test.yaml in its folder, NAME_test.yaml beside NAME.yaml]",
)
@click.option(
    "--coverage-min",
    type=click.FloatRange(0, 100),
    default=0.0,
    metavar="PERCENT",
    help="Fail where the cases show less of the policy.  [default: 0]",
)
@click.option(
    "--mutate", is_flag=True, help="Also make the policy wrong in every small way, and list what no case notices."
)
@click.option("--verbose", "-v", is_flag=True, help="Name the cases that pass, too.")
def test(
    policies: tuple[Path, ...], *, suite_path: Path | None, coverage_min: float, mutate: bool, verbose: bool
) -> None:
    """Run the suite of each POLICY, by default that of policy.yaml.

    Each case is decided by the gate's own code, with the facts, the history and the clock that the case brings along.
    Nothing is connected to and no secret is read. Exits with 1 where a case fails, a mutant survives or too little is
    covered, and with 2 where a policy or a suite is not valid.
    """
    paths = policies or (Path("policy.yaml"),)
    if suite_path is not None and len(paths) > 1:
        raise CommandError("--suite: goes with one policy")
    passed = [
        _tested(path, suite_path or suite_of(path), coverage_min, mutate=mutate, verbose=verbose) for path in paths
    ]
    sys.exit(0 if all(passed) else FAILED)


def suite_of(policy: Path) -> Path:
    """Where the suite of a policy lies."""
    return policy / "policy_test.yaml" if policy.is_dir() else policy.with_name(f"{policy.stem}_test.yaml")


def _tested(path: Path, suite_path: Path, coverage_min: float, *, mutate: bool, verbose: bool) -> bool:
    with failing_on(DocumentError, OSError):
        snapshot = read_snapshot(path)
        policy = load_snapshot(snapshot)
        suite = read_suite(suite_path.read_bytes(), suite_path.name)
    if suite.policy != policy.name:
        raise CommandError(f"{suite_path}: the suite is about {suite.policy!r}, and the policy is {policy.name!r}")
    trials = [run(Pipeline(policy), case) for case in suite.cases]
    asking = [run_asking(policy, case) for case in suite.asking]
    every: list[Trial | AskingTrial] = [*trials, *asking]
    for trial in every:
        if not trial.passed:
            click.echo(f"{trial.case.origin}: failed: {trial.case.name}")
            for line in trial.against:
                click.echo(f"  {line}")
        elif verbose:
            click.echo(f"{trial.case.origin}: passed: {trial.case.name}")
    failed = sum(not trial.passed for trial in every)
    coverage = covered(policy, trials, asking)
    _show_coverage(coverage)
    is_covered = coverage.percent >= coverage_min
    said = "" if is_covered else f", at least {coverage_min:g} % are wanted"
    click.echo(f"{path}: {len(every)} cases, {failed} failed, coverage {coverage.percent:.0f} %{said}")
    if mutate and not failed:
        return _mutated(path, snapshot, suite) and is_covered
    return not failed and is_covered


def _show_coverage(coverage: Coverage) -> None:
    for item, side in coverage.gaps:
        click.echo(f"  no case in which the {item.kind} {item.name} {side.value}")


def _mutated(path: Path, snapshot: Snapshot, suite: Suite) -> bool:
    survival = survive(snapshot, suite)
    for edit in survival.survivors:
        click.echo(f"{edit.origin}: no case notices: {edit.name}")
    for one in survival.stale:
        click.echo(f"{one.origin}: listed as equivalent, and is none: {one.mutant}")
    click.echo(f"{path}: {_counts(survival)}")
    return survival.passed


def _counts(survival: Survival) -> str:
    equivalent = f", {survival.equivalent} listed as equivalent" if survival.equivalent else ""
    return f"{survival.made} mutants, {survival.killed} killed{equivalent}, {len(survival.survivors)} survived"
