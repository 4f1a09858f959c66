"""What the pages are made of: sessions, attempts, wording, the geometry of charts, and a decision as people read it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policies import load_policy_text
from proxy.connected import PersonToken
from proxy.console import wording
from proxy.console.attempts import FAILURES_MAX, FAILURES_MAX_OF_ALL, WINDOW, Attempts
from proxy.console.decided import read_decided
from proxy.console.drawing import BOTTOM, HEIGHT, LEFT, TOP, WIDTH, Stack, lined, stacked
from proxy.console.sessions import IDLE_MAX, LIFE_MAX, SESSIONS_MAX, Sessions
from proxy.settings import Role

if TYPE_CHECKING:
    from interceptors.calls import Json

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
ANA = PersonToken("ana", Role.REVIEWER, "a-token-of-ana-0000")


@dataclass
class Watch:
    """A clock that stands still until it is told."""

    now: datetime = NOW

    def __call__(self) -> datetime:
        return self.now


def test_a_session_ends_when_idle_when_old_and_when_left() -> None:
    """Use keeps it alive up to its longest life, never longer; nobody else's end touches it."""
    watch = Watch()
    sessions = Sessions(watch)
    idle, used, left = (sessions.begin(ANA) for _ in range(3))
    sessions.end(left)
    assert sessions.find(left) is None
    while watch.now + IDLE_MAX / 2 < NOW + LIFE_MAX:
        watch.now += IDLE_MAX / 2
        assert sessions.find(used) is not None
    assert sessions.find(idle) is None
    watch.now = NOW + LIFE_MAX
    assert sessions.find(used) is None


def test_sessions_are_bounded() -> None:
    """One more than are kept ends the first one, and no cookie or CSRF token recurs."""
    sessions = Sessions(Watch())
    cookies = [sessions.begin(ANA) for _ in range(SESSIONS_MAX + 1)]
    found = [sessions.find(cookie) for cookie in cookies]

    assert found[0] is None
    assert len({one.csrf for one in found if one is not None}) == SESSIONS_MAX
    assert len(set(cookies)) == SESSIONS_MAX + 1
    assert sessions.find("") is None


def test_wrong_tokens_close_the_door_for_their_address_and_then_for_all() -> None:
    """Up to the bound nobody waits; at it their address does, others do not; at the bound of all everybody does."""
    watch = Watch()
    attempts = Attempts(watch)
    for _ in range(FAILURES_MAX):
        assert attempts.wait_seconds("10.0.0.1") == 0
        attempts.failed("10.0.0.1")
    assert attempts.wait_seconds("10.0.0.1") == WINDOW.total_seconds()
    assert attempts.wait_seconds("10.0.0.2") == 0
    for number in range(FAILURES_MAX_OF_ALL - FAILURES_MAX):
        attempts.failed(f"10.0.1.{number}")
    assert attempts.wait_seconds("10.0.0.2") > 0
    watch.now += WINDOW
    assert attempts.wait_seconds("10.0.0.1") == 0


@given(st.text())
def test_what_was_written_stays_one_line_and_moves_nothing(text: str) -> None:
    """No control, no line break, no direction mark, at most 400 characters: whatever a model writes."""
    line = wording.shown(text)

    assert line.isprintable()
    assert len(line) <= 400
    assert not set(line) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u200e\u200f\u2028")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0, "0 s"), (119, "119 s"), (120, "2 min"), (7199, "119 min"), (7200, "2 h"), (172_800, "2 days"), (-5, "0 s")],
)
def test_ages_are_short(seconds: int, text: str) -> None:
    """The largest unit that fits twice; a clock that went back is no negative age."""
    assert wording.age(NOW - timedelta(seconds=seconds), NOW) == text


def test_ids_values_and_money_read_short() -> None:
    """The random end of an id, the beginning of a digest, the minute of a timestamp, groups of thousands."""
    assert wording.short("rc_01M8PFD9ATMEC1ZGSJN68KE9QZ") == "…8KE9QZ"
    assert wording.short("a" * 64) == "a" * 12 + "…"
    assert wording.plain_value("2026-11-28T12:06:24-05:00") == "28 Nov 2026, 12:06"
    assert wording.plain_value("Tuesday") == "Tuesday"
    assert wording.money_of("500.00") is None
    money = wording.money_of("1847.00 USD")
    assert money is not None
    assert wording.money_text(money) == "1,847.00 USD"


@given(
    st.lists(
        st.tuples(st.integers(0, 10**9), st.decimals(0, 10**7, places=2), st.integers(0, 3)), min_size=1, max_size=40
    )
)
def test_bars_stand_on_each_other_within_the_canvas(columns: list[tuple[int, Decimal, int]]) -> None:
    """Every bar lies within the axes, bars of one step neither overlap nor leave a gap, and the axis is above all."""
    starts = [NOW + timedelta(hours=n) for n in range(len(columns))]
    stacks = [Stack(f"t{n}", f"s{n}", [column[n] for column in columns]) for n in range(3)]

    chart = stacked("title", starts, stacks)

    for bar in chart.bars:
        assert LEFT <= bar.x < WIDTH
        assert bar.y >= TOP - 0.01
        assert bar.y + bar.height <= HEIGHT - BOTTOM + 0.02
    for n in range(len(columns)):
        own = [bar for bar in chart.bars if bar.x == LEFT + n * ((WIDTH - LEFT - 8) / len(columns)) + 1]
        floor = HEIGHT - BOTTOM
        for bar in own:
            assert abs(bar.y + bar.height - floor) < 0.02
            floor = bar.y
    assert len(chart.bars) == sum(1 for column in columns for figure in column if figure)
    assert chart.is_empty is not any(any(column) for column in columns)


def test_a_line_is_broken_where_there_is_no_figure() -> None:
    """No figure is no zero: the line ends, a lone figure is a dot."""
    starts = [NOW + timedelta(hours=n) for n in range(6)]

    chart = lined("title", starts, [("line", "usual", [1, 2, None, 4, None, None])], " ms")

    assert [points.count(",") for _, points in chart.lines] == [2]
    assert len(chart.dots) == 1
    assert chart.table == (("usual", "4 ms at last"),)


POLICY = load_policy_text(
    "language: 1\npolicy: p\nconstants: {most: 500.00 USD}\nreasons: {over: {category: escalated}}\ntools:\n"
    "  pay:\n    arguments: {amount: {money: USD, unit: major}}\n"
    "    rules: [{escalate: over, when: args.amount > constants.most}]\n"
)
PAYLOAD: dict[str, Json] = {
    "tool": "pay",
    "revision": POLICY.revision,
    "verdicts": [
        {"interceptor": "shape", "ruling": "allow"},
        {"interceptor": "rules", "ruling": "escalate", "reason": "over", "rule": "pay.rules[0]"},
        {
            "interceptor": "grounding",
            "ruling": "allow",
            "evidence": [
                {"argument": "amount", "kind": "user", "turn": 2, "start": 4, "end": 9},
                {"argument": "iban", "kind": "result", "turn": 3, "path": "account.iban"},
                {
                    "argument": "url",
                    "kind": "result",
                    "turn": 4,
                    "path": "[0].body",
                    "start": 7,
                    "end": 21,
                },
            ],
        },
    ],
    "facts": [{"fact": "order", "key": "A1", "as_of": "2026-11-30T12:00:00Z", "fields": {"paid": "900.00 USD"}}],
    "arguments": {
        "amount": Decimal("847.00"),
        "note": {"redacted": "text", "length": 34},
        "lines": [{"sku": "X", "gift": True}],
    },
}


def test_a_decision_reads_as_rules_facts_arguments_and_evidence() -> None:
    """The condition and figures of the rule that fired, each fact with its time, each argument with its place."""
    found = read_decided(PAYLOAD, POLICY)
    (fired,) = found.fired

    assert fired.condition == "when args.amount > constants.most"
    assert fired.figures == (("most", "500.00 USD"),)
    assert [(fact.name, fact.value, fact.as_of) for fact in found.facts] == [
        ("order.paid", "900.00 USD", "2026-11-30T12:00:00Z")
    ]
    assert found.arguments == (
        ("amount", "847.00"),
        ("note", "text of 34, not kept"),
        ("lines[0].sku", "X"),
        ("lines[0].gift", "true"),
    )
    assert found.evidence == (
        ("amount", "user message 2, chars 4 to 9"),
        ("iban", "result in message 3, account.iban"),
        ("url", "result in message 4, [0].body, chars 7 to 21"),
    )


def test_another_revision_lends_no_condition() -> None:
    """What the policy says now is not shown as what decided then; a payload of any shape reads as something."""
    found = read_decided({**PAYLOAD, "revision": "0" * 64}, POLICY)

    assert not found.is_of_policy
    assert found.fired[0].condition == ""
    assert found.fired[0].rule == "pay.rules[0]"
    assert read_decided({}, POLICY).rows == ()
    assert read_decided({"verdicts": "x", "facts": [1, {"fields": 2}], "arguments": [1]}, POLICY).facts == ()
