"""The order back end of the demo: it looks orders up and executes refunds, for whoever holds one of its tokens.

It decides nothing but who may ask. What it executed is the evidence of the demo: a refused refund must be absent here.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Any, TypeAlias
from zoneinfo import ZoneInfo

from aiohttp import web

from proxy.demo.documents import read

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Clock: TypeAlias = "Callable[[], datetime]"

TIME_ZONE = ZoneInfo("America/New_York")  # the zone in which the policy counts days


@dataclass(frozen=True, slots=True)
class Order:
    """`delivered_days_ago` is relative, so that the demo never ages. Amounts are in cents."""

    id: str
    customer_id: str
    customer_name: str
    item: str
    paid: int
    delivered_days_ago: int
    refund_eligible: bool = True
    status: str = "delivered"

    def document(self, now: datetime) -> dict[str, Any]:
        """The order as a shop's API shows it: far more than an agent needs. `now` is aware."""
        # Noon: neither a time zone nor a change of clocks moves it to another day.
        day = now.astimezone(TIME_ZONE).date() - timedelta(days=self.delivered_days_ago)
        delivered = datetime.combine(day, time(12), TIME_ZONE)
        shipped = delivered - timedelta(days=3)
        return {
            "id": self.id,
            "status": self.status,
            "currency": "USD",
            "paid": self.paid,
            "refund_eligible": self.refund_eligible,
            "purchase_date": (shipped - timedelta(days=1)).date().isoformat(),
            "shipped_at": shipped.isoformat(),
            "delivered_at": delivered.isoformat(),
            "customer": {"id": self.customer_id, "name": self.customer_name, "tier": "standard"},
            "items": [{"sku": f"SKU-{self.id}", "title": self.item, "quantity": 1, "price": self.paid}],
            "shipping": {"carrier": "UPS", "service": "ground", "address_id": f"adr_{self.customer_id}"},
            "payment": {"method": "card", "brand": "visa", "last4": "4242"},
            "channel": "web",
        }


@dataclass(frozen=True, slots=True)
class Request:
    """What the back end saw, and how it answered. `caller` is the name of the token, empty without a valid one."""

    method: str
    path: str
    caller: str
    status: int
    body: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Refund:
    """`amount` is in cents."""

    id: str
    order_id: str
    amount: int
    reason: str


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(slots=True)
class BackEnd:
    """`tokens` are by the name of their holder; those in `may_refund` may do more than read.

    `seen` holds every request, `refunds` what was executed.
    """

    orders: Mapping[str, Order]
    tokens: Mapping[str, str]
    may_refund: frozenset[str]
    clock: Clock = _utc_now
    seen: list[Request] = field(default_factory=list)
    refunds: list[Refund] = field(default_factory=list)

    def app(self) -> web.Application:
        app = web.Application()
        app.router.add_get("/orders/{id}", self._order)
        app.router.add_post("/refunds", self._refund)
        return app

    async def _order(self, request: web.Request) -> web.Response:
        order = self.orders.get(request.match_info["id"])
        if not self._caller(request):
            return self._answer(request, 401, {"error": "unauthorized"})
        if order is None:
            return self._answer(request, 404, {"error": "not_found"})
        return self._answer(request, 200, order.document(self.clock()))

    async def _refund(self, request: web.Request) -> web.Response:
        if not self._caller(request):
            return self._answer(request, 401, {"error": "unauthorized"})
        if self._caller(request) not in self.may_refund:
            return self._answer(request, 403, {"error": "forbidden"})
        try:
            asked = read(await request.read())
        except ValueError:
            return self._answer(request, 400, {"error": "bad_request"})
        match asked:
            case {"order_id": str(order_id), "amount": int(amount), "reason": str(reason)} if amount > 0:
                if order_id not in self.orders:
                    return self._answer(request, 404, {"error": "not_found"}, asked)
                refund = Refund(f"rf_{len(self.refunds) + 1:04}", order_id, amount, reason)
                self.refunds.append(refund)
                result = {"id": refund.id, "status": "refunded", "order_id": order_id, "amount": amount}
                return self._answer(request, 201, result, asked)
            case _:
                return self._answer(request, 400, {"error": "bad_request"})

    def _caller(self, request: web.Request) -> str:
        shown = request.headers.get("Authorization", "")
        return next((name for name, token in self.tokens.items() if shown == f"Bearer {token}"), "")

    def _answer(
        self, request: web.Request, status: int, document: Mapping[str, Any], body: Mapping[str, Any] | None = None
    ) -> web.Response:
        self.seen.append(Request(request.method, request.path, self._caller(request), status, body or {}))
        return web.json_response(document, status=status)
