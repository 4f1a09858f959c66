"""A source that keeps failing is left alone, then tried once."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from proxy.breaker import Breaker


def _open(now: float) -> Breaker:
    breaker = Breaker(3, 10.0)
    for _ in range(3):
        assert breaker.enter(now)
        breaker.failed(now)
    return breaker


def test_it_opens_after_failures_in_a_row_and_not_before() -> None:
    """A success in between begins the count anew."""
    breaker = Breaker(3, 10.0)
    for outcome in (False, False, True, False, False):
        assert breaker.enter(0.0)
        if outcome:
            breaker.succeeded()
        else:
            breaker.failed(0.0)
    assert breaker.enter(0.0)
    breaker.failed(0.0)

    assert not breaker.enter(0.0)


def test_after_the_cool_down_exactly_one_tries() -> None:
    """The others wait for what it finds; a failure opens it again, a success closes it."""
    breaker = _open(0.0)

    assert not breaker.enter(9.9)
    assert breaker.enter(10.0)
    assert not breaker.enter(10.0)
    breaker.failed(10.0)
    assert not breaker.enter(19.9)
    assert breaker.enter(20.0)
    breaker.succeeded()
    assert all(breaker.enter(20.0) for _ in range(3))


def test_a_trial_that_nobody_waited_for_leaves_the_next_one_free() -> None:
    """A client that goes away in the middle must not close the door for good."""
    breaker = _open(0.0)
    assert breaker.enter(10.0)
    breaker.abandoned()

    assert breaker.enter(10.0)


@given(st.lists(st.sampled_from(["ok", "fail", "gone", "wait"]), max_size=60))
def test_it_never_stays_shut_once_the_source_is_well(events: list[str]) -> None:
    """Whatever came before: after a cool-down somebody may ask, and a success opens it for all."""
    breaker, now = Breaker(3, 10.0), 0.0
    for event in events:
        if event == "wait":
            now += 4.0
        elif breaker.enter(now):
            {"ok": breaker.succeeded, "fail": lambda at=now: breaker.failed(at), "gone": breaker.abandoned}[event]()

    assert breaker.enter(now + 10.0)
    breaker.succeeded()
    assert breaker.enter(now + 10.0)
