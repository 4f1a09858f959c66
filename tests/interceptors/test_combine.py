"""Combining verdicts: total, deaf to order, and deny overrides (guarantee G6)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from interceptors.combine import combine
from interceptors.decisions import Verdict
from policies.model import Category, Ruling

if TYPE_CHECKING:
    from random import Random

CATEGORIES = {category.value: category for category in Category}
STRICT = [Ruling.FORBID, Ruling.ESCALATE, Ruling.CLARIFY, Ruling.ALLOW]

verdicts = st.builds(
    Verdict,
    interceptor=st.sampled_from(["shape", "rules"]),
    ruling=st.sampled_from(Ruling),
    reason=st.sampled_from([*CATEGORIES, "unheard_of"]),
    rule=st.sampled_from(["", "a.rules[0]", "a.rules[1]"]),
    detail=st.sampled_from(["", "one", "two"]),
)


@given(st.lists(verdicts, max_size=8))
def test_the_strictest_ruling_wins(rows: list[Verdict]) -> None:
    """Forbid before escalate before clarify before allow, for any list, the empty one too."""
    expected = next((ruling for ruling in STRICT if any(row.ruling is ruling for row in rows)), Ruling.ALLOW)
    assert combine(rows, CATEGORIES).ruling is expected


@given(st.lists(verdicts, max_size=8), st.randoms())
def test_order_changes_nothing(rows: list[Verdict], random: Random) -> None:
    """Not the ruling, not the reason, not the rule that is named."""
    shuffled = list(rows)
    random.shuffle(shuffled)
    assert combine(shuffled, CATEGORIES) == combine(rows, CATEGORIES)


@given(st.lists(verdicts, max_size=8), verdicts)
def test_one_more_verdict_never_widens(rows: list[Verdict], more: Verdict) -> None:
    """A further verdict leaves the answer as strict as it was, or makes it stricter; a forbid makes it a forbid."""
    before, after = combine(rows, CATEGORIES).ruling, combine([*rows, more], CATEGORIES).ruling
    assert STRICT.index(after) <= STRICT.index(before)
    assert more.ruling is not Ruling.FORBID or after is Ruling.FORBID


def test_whose_data_it_is_speaks_first() -> None:
    """Of two forbids the permission speaks: the reply of another would tell of a stranger's order."""
    rows = [
        Verdict("rules", Ruling.FORBID, "policy", "refund.rules[0]"),
        Verdict("rules", Ruling.FORBID, "permission", "refund.rules[1]"),
        Verdict("facts", Ruling.FORBID, "transient"),
    ]
    assert combine(rows, CATEGORIES).reason == "permission"
    assert combine([rows[0], rows[2]], CATEGORIES).reason == "policy"
