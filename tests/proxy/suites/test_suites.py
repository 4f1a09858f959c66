"""Suites: what a case must say, what makes it fail, what is covered, and that a wrong policy does not pass."""

from __future__ import annotations

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import orjson
import pytest
from click.testing import CliRunner, Result

from interceptors.kinds import MoneyState
from interceptors.pipeline import Pipeline
from policies.files import read_snapshot
from policies.loader import load_policy, load_policy_text, load_snapshot, read_document
from policies.mutants import edits
from policies.problems import DocumentError
from proxy.cli import cli
from proxy.commands.test import suite_of
from proxy.store import open_store
from proxy.suites import keys
from proxy.suites.coverage import Side, covered
from proxy.suites.reader import read_suite
from proxy.suites.survival import survive
from proxy.suites.trial import run
from tests.docs.pages import page
from tests.proxy.money_desk import DAILY, NOW, OVER_PAID, POLICY, TWICE, Desk, open_desk

if TYPE_CHECKING:
    from proxy.suites.cases import Suite

ROOT = Path(__file__).parents[3]
PACKS = sorted(path.parent for path in (ROOT / "policies/packs").glob("*/policy_test.yaml"))
EQUIVALENTS_MAX = 0.05

DESK = """\
language: 1
policy: desk
session: {who: {jwt: sub}}
reasons:
  not_yours: {category: permission, reply: "Not yours."}
  over: {category: escalated}
facts:
  order: {key: {pattern: '[A-Z][0-9]+'}, file: orders.json, fields: {owner: string, paid: {money: USD, unit: minor}}}
tools:
  pay:
    facts: {order: args.order}
    arguments: {order: {pattern: '[A-Z][0-9]+', from: user}, amount: {money: USD, unit: major}}
    rules:
      - {forbid: not_yours, unless: order.owner == session.who}
      - {escalate: over, when: args.amount > 500.00 USD}
    limits:
      - {escalate: over, sum: args.amount, per: args.order, within: 24h, max: order.paid}
"""
SUITE = """\
suite: desk
now: 2026-11-30T12:00:00Z
defaults:
  session: {sub: ada}
  facts: {order/A101: {owner: ada, paid: 90000}}
  history: [{user: about A101}]
  arguments: {pay: {order: A101, amount: 120.00}}
cases:
"""
GOOD = "  - {name: paid, call: pay, expect: {outcome: allow}}\n"


def suite(cases: str) -> Suite:
    return read_suite((SUITE + cases).encode(), "policy_test.yaml")


def against(cases: str, policy: str = DESK) -> list[str]:
    """What the only case of this text is told to have wrong."""
    (case,) = suite(cases).cases
    return list(run(Pipeline(load_policy_text(policy)), case).against)


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_a_pack_does_what_its_suite_says(pack: Path) -> None:
    """Every case of every pack passes, and its rules, limits, guards and facts are shown on both of their sides."""
    policy = load_policy(pack)
    found = read_suite((pack / "policy_test.yaml").read_bytes(), "policy_test.yaml")
    trials = [run(Pipeline(policy), case) for case in found.cases]

    assert found.policy == policy.name
    assert {trial.case.name: trial.against for trial in trials if not trial.passed} == {}
    assert list(covered(policy, trials).gaps) == []


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_no_mutant_of_a_pack_survives(pack: Path) -> None:
    """Each wrong edit is noticed by a case, or listed with its reason, at most one in twenty; no other is listed."""
    found = read_suite((pack / "policy_test.yaml").read_bytes(), "policy_test.yaml")
    survival = survive(read_snapshot(pack), found)

    assert [edit.name for edit in survival.survivors] == []
    assert [one.mutant for one in survival.stale] == []
    assert survival.equivalent <= EQUIVALENTS_MAX * survival.made
    assert survival.made == survival.killed + survival.equivalent


@pytest.mark.parametrize("pack", PACKS, ids=lambda pack: pack.name)
def test_every_rule_limit_and_fact_of_a_pack_has_a_mutant(pack: Path) -> None:
    """The run touches all that decides: no rule, limit, fact or cell is without a wrong edit."""
    snapshot = read_snapshot(pack)
    policy = load_snapshot(snapshot)
    places = [edit.name for edit in edits(read_document(snapshot))]
    parts = [f"facts.{name}." for name in policy.facts]
    for tool in policy.tools.values():
        parts += [f"tools.{rule.id}" for rule in tool.rules if not rule.id.startswith("defaults")]
        parts += [f"tools.{limit.id}" for limit in tool.limits if not limit.id.startswith("defaults")]
        parts += [] if tool.once_per is None else [f"tools.{tool.once_per.id}"]
        parts += [] if tool.matrix is None else [action.id for action in tool.matrix.actions.values()]

    assert [part for part in parts if not any(place.startswith(part) for place in places)] == []


def test_a_pack_that_is_wrong_fails_its_suite() -> None:
    """A suite that could not fail would say nothing: with the window a day longer, refund-desk's does."""
    text = (ROOT / "policies/packs/refund-desk/policy.yaml").read_text(encoding="utf-8")
    found = read_suite((ROOT / "policies/packs/refund-desk/policy_test.yaml").read_bytes(), "policy_test.yaml")
    policy = load_policy_text(text.replace("window_days: 14", "window_days: 15"))
    failed = [trial.case.name for case in found.cases if not (trial := run(Pipeline(policy), case)).passed]

    assert failed == ["a day after the window"]


FAILING = [
    ("call: pay, expect: {outcome: forbid}", "expected forbid, got allow"),
    (
        "call: pay, arguments: {amount: 600}, expect: {outcome: forbid}",
        "expected forbid, got escalate (over) [pay.rules[1]",
    ),
    (
        "call: pay, arguments: {amount: 600}, expect: {outcome: escalate, reason: far}",
        "expected the reason 'far', got 'over'",
    ),
    (
        "call: pay, session: {sub: ben}, expect: {outcome: forbid, reply: No.}",
        "expected the reply 'No.', got 'Not yours.'",
    ),
    ("call: pay, session: {sub: ben}, expect: {outcome: forbid, category: policy}", "category policy, got permission"),
    ('call: pay, session: {sub: ben}, expect: {outcome: forbid, fired: ["pay.rules[1]"]}', "got pay.rules[0]"),
    ("call: pay, expect: {outcome: allow, reads: []}", "expected to read nothing, got order/A101"),
    ("call: pay, expect: {outcome: allow, reserves: {}}", "what is held: expected {}"),
    ("call: pay, expect: {outcome: allow, injects: [key]}", "expected the gate to write key, got nothing"),
    ("call: pay, result: {value: {}}, expect: {outcome: allow, settles: unknown}", "to unknown, got executed"),
    (
        "call: pay, arguments: {amount: 600}, expect: {outcome: escalate, summary: {a: b}}",
        "summary: expected {'a': 'b'}",
    ),
    (
        "call: pay, arguments: {order: B202}, history: [{user: B202}], expect: {outcome: allow}",
        "order/B202 is read, and the case",
    ),
    (
        "call: pay, earlier: [{call: pay, arguments: {amount: 600}}], expect: {outcome: allow}",
        "earlier call 1 was not allowed: escalate (over)",
    ),
]


@pytest.mark.parametrize(("case", "said"), FAILING, ids=[row[0] for row in FAILING])
def test_each_expectation_can_fail(case: str, said: str) -> None:
    """Whatever a case expects is checked, and what is wrong is told."""
    told = against(f"  - {{name: x, {case}}}\n")
    assert len(told) == 1
    assert said in told[0]


REFUSED = [
    ("  - {name: x, call: pay}\n", "'expect' is required"),
    ("  - {name: x, call: pay, expect: {reason: over}}\n", "'outcome' is required"),
    (
        "  - {name: x, call: pay, expect: {outcome: allow, reasn: over}}\n",
        "unknown key 'reasn', did you mean 'reason'?",
    ),
    ("  - {name: x, call: pay, exect: {outcome: allow}}\n", "unknown key 'exect'"),
    ("  - {name: x, call: pay, expect: {outcome: allow, reason: over}}\n", "an allowed call has no reason"),
    ("  - {name: x, call: pay, expect: {outcome: forbid, reserves: {}}}\n", "only an allowed call holds something"),
    (
        "  - {name: x, call: pay, result: {value: 1}, expect: {outcome: allow}}\n",
        "`result` and `expect.settles` go together",
    ),
    ("  - {name: x, call: pay, without: [args.no], expect: {outcome: allow}}\n", "there is no 'no' to leave out"),
    ("  - {name: x, call: pay, facts: {order: missing}, expect: {outcome: allow}}\n", "'order' is no record"),
    ("  - {name: x, call: pay, facts: {order/A101: gone}, expect: {outcome: allow}}\n", "expected one of timeout"),
    (
        "  - {name: x, call: pay, history: [{result: 1}], expect: {outcome: allow}}\n",
        "no call stands before this result",
    ),
    ("  - {name: x, call: pay, history: [{said: 1}], expect: {outcome: allow}}\n", "an entry is one of user"),
    ('  - {name: "FILL IN: what", call: pay, expect: {outcome: allow}}\n', "this is still to be filled in: what"),
    (GOOD + GOOD, "another case is named 'paid'"),
    ("  []\n", "expected 1 to"),
]


@pytest.mark.parametrize(("cases", "message"), REFUSED, ids=[row[1] for row in REFUSED])
def test_a_suite_is_read_strictly(cases: str, message: str) -> None:
    """What a suite does not say, says twice or misspells is an error with its line, not a case that passes."""
    with pytest.raises(DocumentError, match=r"policy_test\.yaml:\d+") as raised:
        suite(cases)
    assert message in str(raised.value)


def test_a_case_brings_its_own_circumstances() -> None:
    """Facts and claims are merged key by key, a failure takes a record's place, and the text of a call is judged."""
    for case, answer in (
        ("facts: {order/A101: {paid: 100}}", "escalate, reason: over"),
        ("facts: {order/A101: timeout}", "forbid, reason: facts_unavailable"),
        ("facts: {order/A101: missing}", "escalate, reason: facts_incomplete"),
        ("without: [order/A101.owner]", "escalate, reason: facts_incomplete"),
        ("without: [session.sub]", "escalate, reason: facts_incomplete"),
        ("without: [args.amount]", "clarify, reason: missing_parameter"),
        ('arguments: \'{"order": "A101", "order": "A101", "amount": 1}\'', "forbid, reason: malformed"),
        ("arguments: '[]'", "forbid, reason: malformed"),
        ("halted: true", "forbid, reason: halted"),
        ("declared: {PAY: {type: object}}", "forbid, reason: malformed"),
        ("history: [{assistant: about A101}]", "clarify, reason: ungrounded"),
        (
            "earlier: [{call: pay, arguments: {amount: 400}, ago: 1h}, {call: pay, arguments: {amount: 400}}]",
            "escalate",
        ),
        ("earlier: [{call: pay, arguments: {amount: 400}, ago: 25h}, {call: pay, arguments: {amount: 400}}]", "allow"),
    ):
        assert against(f"  - {{name: x, call: pay, {case}, expect: {{outcome: {answer}}}}}\n") == [], case


def test_a_history_is_one_of_messages() -> None:
    """Calls share the assistant's message, results share one; what stands behind the last of the assistant is new."""
    (case,) = suite(
        "  - name: x\n    call: pay\n    expect: {outcome: allow}\n    history:\n"
        "      - {user: hi}\n      - {assistant: one moment}\n      - {call: look, arguments: {a: 1}}\n"
        "      - {call: look, id: second, released: false}\n      - {result: {status: ok}, of: second}\n"
        "      - {result: text, of: call_1, error: true}\n      - {user: A101, beside_results: true}\n"
    ).cases
    assert case.around.history is not None
    entries = case.around.history.entries

    assert [entry.turn for entry in entries] == [0, 1, 1, 1, 2, 2, 2]
    assert [getattr(entry, "released", None) for entry in entries[2:4]] == ["rc_suite_1", ""]
    assert [getattr(entry, "is_new", None) for entry in entries[4:6]] == [True, True]
    assert set(case.around.history.calls) == {"call_1", "second"}


def test_coverage_wants_both_sides() -> None:
    """A rule that never fires, one that always does, and a fact that always answers are gaps, each by name."""
    policy = load_policy_text(DESK)
    trials = [run(Pipeline(policy), case) for case in suite(GOOD).cases]
    gaps = {(item.kind, item.name, side) for item, side in covered(policy, trials).gaps}

    assert gaps == {
        ("rule", "pay.rules[0]", Side.FIRED),
        ("rule", "pay.rules[1]", Side.FIRED),
        ("limit", "pay.limits[0]", Side.FIRED),
        ("guard", "pay.arguments.order.from", Side.FIRED),
        ("fact", "order", Side.NOT_READ),
    }
    assert covered(policy, trials).percent == 50
    assert covered(policy, []).percent == 0


PLANS = [
    [("60", 1, "executed"), ("40", 1, None), ("0.01", 1, None)],
    [("60", 1, "not_executed"), ("60", 1, "unknown"), ("40.01", 0, None)],
    [("60", 30, "executed"), ("60", 1, None), ("40", 1, None)],
    [("50", 23, "executed"), ("50", 1, None), ("50", 30, None)],
    [("50", 1, None), ("50", 1, None), ("20", 1, "unknown"), ("30", 1, None)],
    [("50", 25, "not_executed"), ("50", 1, "unknown"), ("50", 1, None), ("50", 1, None)],
]


@pytest.mark.parametrize("plan", PLANS, ids=range(len(PLANS)))
async def test_what_earlier_calls_hold_is_what_the_store_would_say(
    plan: list[tuple[str, int, str | None]], tmp_path: Path
) -> None:
    """Each call of a plan is answered by a case with the calls before it as the gate answers it on its real store."""
    limits = (OVER_PAID, DAILY.replace("1000.00", "90.00"), TWICE)
    async with await asyncio.to_thread(open_store, tmp_path / "state") as store:
        desk = await open_desk(store, limits)
        real = await _lived(desk, plan)
    policy = load_policy_text(POLICY % ("\n".join(f"      - {{{limit}}}" for limit in limits), ""))

    assert _told(Pipeline(policy), plan, real) == real


async def _lived(desk: Desk, plan: list[tuple[str, int, str | None]]) -> list[str]:
    answers: list[str] = []
    for amount, hours, state in plan:
        [judgment] = await desk.turn(amount)
        answers.append(judgment.decision.reason or "allow")
        if judgment.is_allowed and state is not None:
            await desk.settle(judgment, MoneyState(state))
        desk.later(hours=hours)
    return answers


def _told(pipeline: Pipeline, plan: list[tuple[str, int, str | None]], real: list[str]) -> list[str]:
    """The answer of a case for each call of the plan, with those before it that were allowed as `earlier`."""
    answers: list[str] = []
    for number, (amount, _, _) in enumerate(plan):
        now = NOW + timedelta(hours=sum(hours for _, hours, _ in plan[:number]))
        earlier = ", ".join(
            f"{{call: refund, arguments: {{order_id: A1, amount: {each}}}, state: {state or 'held'},"
            f" ago: {sum(hours for _, hours, _ in plan[index:number])}h}}"
            for index, (each, _, state) in enumerate(plan[:number])
            if real[index] == "allow"
        )
        text = (
            f"suite: desk\nnow: {now.isoformat()}\ncases:\n  - name: x\n    call: refund\n    session: {{sub: c1}}\n"
            f"    arguments: {{order_id: A1, amount: {amount}}}\n"
            "    facts: {order/A1: {paid: 10000, refunded: 0}}\n"
            f"    earlier: [{earlier}]\n    expect: {{outcome: allow}}\n"
        )
        (case,) = read_suite(text.encode(), "policy_test.yaml").cases
        decision = run(pipeline, case).decision
        assert decision is not None
        answers.append(decision.reason or "allow")
    return answers


def _run(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["test", *arguments])


@pytest.fixture
def desk(tmp_path: Path) -> Path:
    (tmp_path / "policy.yaml").write_text(DESK, encoding="utf-8")
    (tmp_path / "policy_test.yaml").write_text(SUITE + GOOD, encoding="utf-8")
    return tmp_path


def test_the_command_says_what_is_covered_and_exits(desk: Path) -> None:
    """0 where all passes, 1 where a case fails or too little is covered, 2 for what is no policy or no suite."""
    passed = _run(str(desk))
    assert (passed.exit_code, passed.stdout.split("\n")[-2]) == (0, f"{desk}: 1 cases, 0 failed, coverage 50 %")
    assert "  no case in which the rule pay.rules[0] fires\n" in passed.stdout
    assert _run(str(desk / "policy.yaml"), "--coverage-min", "50").exit_code == 0
    short = _run(str(desk), "--coverage-min", "51")
    assert (short.exit_code, "at least 51 % are wanted" in short.stdout) == (1, True)

    (desk / "policy_test.yaml").write_text(SUITE + GOOD.replace("allow", "forbid"), encoding="utf-8")
    failed = _run(str(desk), str(desk))
    assert (failed.exit_code, failed.stdout.count("policy_test.yaml:9: failed: paid\n")) == (1, 2)

    (desk / "policy_test.yaml").write_text("suite: other\nnow: 2026-01-01T00:00:00Z\ncases:\n" + GOOD, encoding="utf-8")
    assert "the suite is about 'other', and the policy is 'desk'" in _run(str(desk)).stderr
    (desk / "policy_test.yaml").unlink()
    assert _run(str(desk)).exit_code == 2
    assert "no such file" in _run(str(desk)).stderr


def test_the_command_lists_the_mutants_that_no_case_kills(desk: Path) -> None:
    """Each with its place; one that is listed counts as equivalent, one that is listed wrongly is named."""
    found = _run(str(desk), "--mutate", "-v")
    survivors = [
        line.partition(": no case notices: ")[2] for line in found.stdout.split("\n") if "no case notices" in line
    ]

    assert found.exit_code == 1
    assert "tools.pay.rules[1].when: args.amount > 500.00 USD -> args.amount >= 500.00 USD" in survivors
    assert "tools.pay.rules[0]: without {forbid: not_yours, unless: order.owner == session.who}" in survivors
    assert any("policy.yaml:17: no case notices" in line for line in found.stdout.split("\n"))
    listed = "".join(f"  - mutant: {_quoted(name)}\n    because: nobody looks\n" for name in survivors)
    stale = "  - {mutant: gone, because: it was}\n"
    text = f"{SUITE}{GOOD}equivalent:\n{listed}"
    (desk / "policy_test.yaml").write_text(text, encoding="utf-8")
    assert _run(str(desk), "--mutate").exit_code == 0
    (desk / "policy_test.yaml").write_text(text + stale, encoding="utf-8")
    wrong = _run(str(desk), "--mutate")
    assert (wrong.exit_code, "listed as equivalent, and is none: gone" in wrong.stdout) == (1, True)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def test_the_suite_of_the_documentation_passes() -> None:
    """The example of docs/testing.md is a suite of refund-desk, and its cases pass."""
    (block,) = [one for one in page("docs/testing.md").of("yaml") if one.title == "suite"]
    pipeline = Pipeline(load_policy(ROOT / "policies/packs/refund-desk"))
    trials = [run(pipeline, case) for case in read_suite(block.text.encode(), "policy_test.yaml").cases]

    assert [trial.against for trial in trials] == [(), (), ()]


def test_every_key_of_a_suite_is_documented() -> None:
    """docs/testing.md names each key that a suite may hold."""
    text = page("docs/testing.md").text
    known = {key for name, found in vars(keys).items() if isinstance(found, tuple) for key in found}

    assert {key for key in known if not re.search(rf"\b{key}\b", text)} == set()


def test_a_suite_lies_beside_its_policy(tmp_path: Path) -> None:
    """In its folder, or beside its file under its name."""
    assert suite_of(tmp_path) == tmp_path / "policy_test.yaml"
    assert suite_of(tmp_path / "desk.yaml") == tmp_path / "desk_test.yaml"


CONFIRMED = DESK.replace("    rules:", "    confirm: user\n    rules:", 1)


def test_a_yes_is_one_to_the_question_of_the_gate() -> None:
    """Without a question the call is asked about; behind the gate's own words a yes lets it through for 15 minutes."""
    case = "  - {name: x, call: pay, %s expect: {outcome: %s}}\n"
    before = "now: 2026-11-30T11:55:00Z,"  # the question knows when it was asked
    (asked,) = suite(case % (before, "clarify, reason: confirm, fired: [pay.confirm]")).cases
    trial = run(Pipeline(load_policy_text(CONFIRMED)), asked)
    assert (trial.against, trial.decision is not None and trial.decision.reason) == ((), "confirm")
    assert trial.decision is not None
    said = orjson.dumps(trial.decision.reply).decode()
    history = f"history: [{{user: about A101}}, {{assistant: {said}}}, {{user: %s}}],"

    assert against(case % (f"{history % 'yes'} asked: 5m,", "allow"), CONFIRMED) == []
    late = f"{history % 'yes'} now: 2026-11-30T12:10:00Z, asked: 15m,"
    assert against(case % (late, "clarify, reason: confirm"), CONFIRMED) == []
    assert against(case % (f"{history % 'maybe'} asked: 5m,", "clarify, reason: confirm"), CONFIRMED) == []
    assert against(case % (history % "yes", "clarify, reason: confirm"), CONFIRMED) == []
