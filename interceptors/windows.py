"""From when on calls count: a window that rolls, or one that began on the calendar."""

from __future__ import annotations

from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, assert_never

from policies.limits import Calendar

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo


def window_start(window: timedelta | Calendar | None, now: datetime, zone: ZoneInfo | None) -> datetime | None:
    """The first moment of the window that `now` lies in, in UTC; None where there is no window."""
    match window:
        case None:
            return None
        case timedelta():
            return (now - window).astimezone(UTC)
        case Calendar():
            assert zone is not None, "the loader asks for a time zone wherever a calendar is used"
            today = now.astimezone(zone).date()
            first = today.replace(day=1) if window is Calendar.MONTH else today
            # Where midnight falls into a gap of the clock, this is the moment of the change.
            return datetime.combine(first, time(), zone).astimezone(UTC)
    assert_never(window)
