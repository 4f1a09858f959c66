"""What the demo shows and what it would call wrong, over performances made up here: no process, no gate."""

from __future__ import annotations

import io
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from rich.console import Console

from policies.loader import load_policy
from proxy.demo import run
from proxy.demo.backend import Refund, Request
from proxy.demo.cases import LANES, cases
from proxy.demo.checks import problems
from proxy.demo.documents import read
from proxy.demo.evidence import Receipt, of_case, receipts
from proxy.demo.gate_process import PACK
from proxy.demo.lanes import AGENT, GATE, Played
from proxy.demo.table import drawn
from proxy.demo.turns import Call

NOON = datetime(2026, 11, 30, 12, tzinfo=UTC)


def perfect(case, lane=LANES[0]):
    """The case as it should go."""
    said = [*case.turns[0].parts, *(part for turn in case.then[:1] for part in turn.parts)]
    calls = [part for part in said if isinstance(part, Call)]
    found = [
        Receipt(
            id=f"rc_{number}",
            time=NOON,
            tool=call.name,
            arguments=read(call.arguments.encode()),
            ruling=verdict.ruling,
            reason=verdict.reason,
            rule=f"{verdict.tool}.rules[2]" if verdict.reason else "",
            outcome="released" if verdict.ruling == "allow" else "substituted",
        )
        for number, (call, verdict) in enumerate(zip(calls, case.verdicts, strict=True))
    ]
    requests = () if case.untouched else (Request("GET", "/orders/A1001", GATE, 200),)
    requests += tuple(Request("POST", "/refunds", AGENT, 201) for _ in case.refunds)
    refunds = tuple(Refund("rf", order, cents, "damaged") for order, cents in case.refunds)
    played = Played(case, lane, (f"Well. {case.reads}.",), requests, refunds, NOON, NOON)
    return played, found


CASES = cases(LANES[0])
BY_TITLE = {case.title: case for case in CASES}


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_as_it_should_be(case) -> None:
    """A case that went as it should has no problems."""
    assert problems(*perfect(case), live=False) == []


def spoiled():
    """Each way in which a case can go wrong, and the words that name it."""
    allowed, refused = perfect(BY_TITLE["$120, inside the window"]), perfect(BY_TITLE["$847, above the limit"])
    unclear = perfect(BY_TITLE["no order number"])
    paid = Refund("rf", "A1002", 84700, "damaged")
    twice = replace(allowed[0], refunds=allowed[0].refunds * 2)
    posted = replace(refused[0], requests=(Request("POST", "/refunds", AGENT, 400),))
    return {
        "a refused refund was paid": (replace(refused[0], refunds=(paid,)), refused[1], "the back end paid"),
        "an allowed refund was not paid": (replace(allowed[0], refunds=()), allowed[1], "the back end paid ()"),
        "paid twice": (twice, allowed[1], "the back end paid"),
        "paid without an allow": (allowed[0], [replace(allowed[1][0], ruling="forbid")], "1 refunds were paid and 0"),
        "refused, yet released": (refused[0], [replace(refused[1][0], outcome="released")], "were released"),
        "the wrong verdict": (refused[0], [replace(refused[1][0], ruling="forbid")], "decided"),
        "the wrong reason": (refused[0], [replace(refused[1][0], reason="over_paid")], "decided"),
        "no receipt": (refused[0], [], "decided"),
        "no outcome": (refused[0], [replace(refused[1][0], outcome="")], "no recorded outcome"),
        "other words": (replace(refused[0], heard=("Sure!",)), refused[1], "the customer reads 'Sure!', without"),
        "a claim": (
            replace(refused[0], heard=(*refused[0].heard, "$847 have been refunded")),
            refused[1],
            "with 'have been refunded'",
        ),
        "the agent asked for a refund": (posted, refused[1], "the agent sent the back end a refund"),
        "a needless look": (
            replace(unclear[0], requests=refused[0].requests),
            unclear[1],
            "nothing was clear enough",
        ),
        "the agent failed": (replace(refused[0], failure="APIError: no"), refused[1], "the agent failed: APIError: no"),
    }


@pytest.mark.parametrize("name", spoiled())
def test_what_goes_wrong_is_named(name: str) -> None:
    """Nothing that must not happen passes for a success."""
    played, found, words = spoiled()[name]

    assert any(words in problem for problem in problems(played, found, live=False))


@pytest.mark.parametrize(
    "name", ["a refused refund was paid", "paid twice", "paid without an allow", "the agent failed"]
)
def test_a_real_model_is_held_to_the_money(name: str) -> None:
    """With a real model words and verdicts are its own affair; payments are not."""
    played, found, _ = spoiled()[name]
    modest, quiet = perfect(BY_TITLE["$120, inside the window"])

    assert problems(played, found, live=True)
    assert problems(replace(modest, refunds=(), heard=("Which order?",)), quiet[:0], live=True) == []


@pytest.mark.parametrize("width", [40, 70, 96, 100, 140])
def test_the_table_fits_and_cuts_nothing(width: int) -> None:
    """In any width no line is longer, and every title, call, verdict and reason is there whole."""
    out = io.StringIO()
    console = Console(file=out, width=width)
    console.print(drawn([perfect(case) for case in CASES], width))

    shown = out.getvalue()
    assert max(len(line) for line in shown.split("\n")) <= width
    assert "…" not in shown
    words = " ".join(shown.split())
    for case in CASES:
        for verdict in case.verdicts:
            assert {verdict.tool, verdict.ruling} <= set(words.replace(":", " ").split())
            assert verdict.reason in words


def test_receipts_are_read_from_the_export() -> None:
    """Verdict, rule and outcome come from the records; a case has those that were written while it ran."""
    verdicts = (
        '{"interceptor":"rules","ruling":"allow","reason":"","rule":"t.rules[0]"},'
        '{"interceptor":"rules","ruling":"forbid","reason":"late","rule":"t.rules[1]"}'
    )
    exported = (
        '{"kind":"policy","receipt":"rc_0","time":"2026-11-30T11:00:00.000000Z","payload":{}}\n'
        '{"kind":"decided","receipt":"rc_1","time":"2026-11-30T12:00:00.000000Z","payload":{"tool":"t",'
        f'"arguments":{{"amount":120.00}},"ruling":"forbid","reason":"late","verdicts":[{verdicts}]}}}}\n'
        '{"kind":"substituted","receipt":"rc_1","time":"2026-11-30T12:00:00.000001Z","payload":{}}\n'
    )

    (receipt,) = receipts(exported)

    assert (receipt.ruling, receipt.reason, receipt.rule) == ("forbid", "late", "t.rules[1]")
    assert (receipt.outcome, str(receipt.arguments["amount"])) == ("substituted", "120.00")
    played, _ = perfect(CASES[0])
    assert of_case(played, [receipt]) == (receipt,)
    later = NOON + timedelta(seconds=1)
    assert of_case(replace(played, began=later, ended=later), [receipt]) == ()


def test_live_without_a_key_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """`--live` without a key starts nothing, names the variables, and ends with 2."""
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)

    assert run.main(live=True) == 2
    assert "ANTHROPIC_API_KEY" in capsys.readouterr().out


def test_the_pack_is_the_policy_of_the_cases() -> None:
    """Each reason that a case expects is one that the pack knows, with words of its own for the customer."""
    policy = load_policy(PACK)

    expected = {verdict.reason for case in CASES for verdict in case.verdicts if verdict.reason}
    assert {reason for reason in expected if policy.reasons[reason].replies} == expected
