"""The demo's back end: who may ask, what it answers, what it keeps; and days that no clock moves."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import aiohttp
from hypothesis import given
from hypothesis import strategies as st

from proxy.demo.backend import TIME_ZONE, BackEnd, Order
from proxy.demo.serving import serving

ORDER = Order("A1001", "cus_ada", "Ada", "Kettle", 12000, 5)
READER = {"Authorization": "Bearer r3ad"}
KEY = {"Authorization": "Bearer t0ken"}


async def test_orders_and_refunds() -> None:
    """It answers its token's holder only, executes refunds, and keeps all it saw."""
    back_end = BackEnd({ORDER.id: ORDER}, {"agent": "t0ken", "reader": "r3ad"}, frozenset({"agent"}))
    refund = {"order_id": "A1001", "amount": 12000, "reason": "damaged"}
    statuses = []
    async with serving(back_end.app()) as url, aiohttp.ClientSession() as session:
        for path, headers in (("A1001", {}), ("A1001", READER), ("Z9", KEY)):
            async with session.get(f"{url}/orders/{path}", headers=headers) as response:
                statuses.append(response.status)
        for asked, headers in (
            (refund, {}),
            (refund, READER),
            (refund, KEY),
            (refund | {"order_id": "Z9"}, KEY),
            (refund | {"amount": 0}, KEY),
            (refund | {"amount": 1.5}, KEY),
        ):
            async with session.post(f"{url}/refunds", json=asked, headers=headers) as response:
                statuses.append(response.status)

    assert statuses == [401, 200, 404, 401, 403, 201, 404, 400, 400]
    assert [request.status for request in back_end.seen] == statuses
    assert [(one.order_id, one.amount, one.reason) for one in back_end.refunds] == [("A1001", 12000, "damaged")]
    assert [request.caller for request in back_end.seen][:5] == ["", "reader", "agent", "", "reader"]


@given(now=st.datetimes(datetime(2025, 1, 1), datetime(2030, 1, 1)), days=st.integers(0, 400))  # noqa: DTZ001 - hypothesis wants naive bounds
def test_delivery_is_that_many_calendar_days_ago(now: datetime, days: int) -> None:
    """At every instant, across changes of clocks, the delivery lies that many days back in the policy's zone."""
    moment = now.replace(tzinfo=UTC)
    order = Order("A1001", "c", "C", "x", 1, days)

    delivered = datetime.fromisoformat(order.document(moment)["delivered_at"])

    assert delivered.tzinfo is not None
    today = moment.astimezone(TIME_ZONE).date()
    assert today - delivered.astimezone(TIME_ZONE).date() == timedelta(days=days)
