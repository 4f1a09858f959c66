"""Which results are out of date: by age, by a pause, by a write; and the words that say so."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest

from interceptors.freshness import Done, Since, loop_notice, overtaken, stale, stale_notice
from policies import load_policy_text

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
POLICY = load_policy_text("""
language: 1
policy: p
resume_after: 30m
tools:
  look: {effect: read, arguments: {id: string, ids: {list: string, optional: true}}, reads: {order: args.id}}
  many: {effect: read, arguments: {ids: {list: string}}, reads: {order: "args.ids[*]"}, result: {fresh_for: 30d}}
  rate: {effect: read, result: {fresh_for: 5m}}
  once: {effect: read, result: {fresh_for: 0}}
  free: {effect: read}
  pay: {effect: write, arguments: {id: string}, writes: {order: args.id}}
  other: {effect: write}
""")


def done(tool: str, number: int = 1, *, minutes: float | None = 0, **arguments: Any) -> Done:
    at = None if minutes is None else NOW - timedelta(minutes=minutes)
    return Done(f"c{number}", tool, arguments, number, number + 1, at)


def since(minutes: float | None) -> Since:
    return Since(NOW, None if minutes is None else timedelta(minutes=minutes))


@pytest.mark.parametrize(
    ("call", "idle", "is_stale"),
    [
        (done("look", id="A"), 30, False),
        (done("look", id="A"), 31, True),
        (done("look", id="A"), None, True),
        (done("free"), 31, True),
        (done("rate", minutes=4), 100, False),
        (done("rate", minutes=5), 0, True),
        (done("rate", minutes=None), 0, True),
        (done("once", minutes=0), 0, True),
        (done("many", minutes=100, ids=["A"]), 100, False),
        (done("pay", id="A"), 1000, False),
        (done("other"), 1000, False),
        (done("unheard_of"), 1000, False),
    ],
)
def test_by_age_and_by_a_pause(call: Done, idle: float | None, *, is_stale: bool) -> None:
    """A tool that says how long its results hold is measured by that; the pause is for the others; never a write."""
    assert bool(stale(POLICY, [call], since(idle))) is is_stale


@pytest.mark.parametrize(
    ("read", "write", "is_stale"),
    [
        (done("look", 1, id="A"), done("pay", 3, id="A"), True),
        (done("look", 3, id="A"), done("pay", 3, id="A"), True),
        (done("look", 5, id="A"), done("pay", 3, id="A"), False),
        (done("look", 1, id="A"), done("pay", 3, id="B"), False),
        (done("look", 1, id="A"), done("other", 3), False),
        (done("look", 1, id="A"), done("pay", 3), True),
        (done("look", 1), done("pay", 3, id="B"), True),
        (done("many", 1, ids=["A", "B"]), done("pay", 3, id="B"), True),
        (done("many", 1, ids=["A", "B"]), done("pay", 3, id="C"), False),
        (done("free", 1), done("pay", 3, id="A"), False),
    ],
)
def test_by_a_write(read: Done, write: Done, *, is_stale: bool) -> None:
    """Beside it or after it, of the same thing; a thing that cannot be told may be any."""
    assert ([read] == overtaken(POLICY, [read, write])) is is_stale
    assert (read in stale(POLICY, [read, write], since(0))) is is_stale


def test_a_notice_names_the_call_to_repeat() -> None:
    """Always in the same words; long arguments are not repeated."""
    call = done("look", id="A")
    assert stale_notice(call) == '{"next":"Out of date: call look({\\"id\\":\\"A\\"}) again.","stale":true}'
    assert orjson.loads(stale_notice(done("look", id="A" * 500)))["next"] == "Out of date: call look again."
    several = [done("look", number, id=f"A{number % 20}") for number in range(40)]
    assert loop_notice(several[:2]) == (
        '[Out of date by now: look({"id":"A0"}), look({"id":"A1"}). Call again before you rely on it.]'
    )
    assert "and 8 more" in loop_notice(several)
