"""The same rules once more, in Python on the databases: what the gate must find. It shares nothing with the packs.

Where the packs ask whether sets fit (the flights of a trip, the products of an exchange), this asks place by place.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

from benchmarks.replays.tau.airline import EST, NOW, Airline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from benchmarks.replays.tau.database import Record
    from benchmarks.replays.tau.retail import Retail

    Backend = Airline | Retail
    Made = Mapping[str, Any]

FREE_BAGS: Final = {"regular": (0, 1, 2), "silver": (1, 2, 3), "gold": (2, 3, 4)}
CABINS: Final = ("basic_economy", "economy", "business")
REASONS: Final = ("no longer needed", "ordered by mistake")


def broken(world: Backend, tool: str, made: Made) -> set[str] | None:
    """The rules that a write breaks; None for arguments that are not those of the tool: nothing can be said of them."""
    checks = _AIRLINE if isinstance(world, Airline) else _RETAIL
    if tool not in checks:
        return set()
    try:
        return {rule for check in checks[tool] for rule in check(world, made)}
    except (KeyError, TypeError, ValueError):
        return None


# --- the airline


def _book(world: Airline, made: Made) -> Iterator[str]:
    user = world.database.read("users", made["user_id"]) or {"payment_methods": {}, "membership": "regular"}
    if len(made["passengers"]) > 5:
        yield "A3"
    ids = [one["payment_id"] for one in made["payment_methods"]]
    known = [user["payment_methods"][one]["source"] for one in ids if one in user["payment_methods"]]
    if len(known) < len(ids):
        yield "A4"
    sources = Counter(known)
    if sources["certificate"] > 1 or sources["credit_card"] > 1 or sources["gift_card"] > 3:
        yield "A4c"
    free = _free(world, user, made["cabin"]) * len(made["passengers"])
    if made["nonfree_baggages"] != max(0, made["total_baggages"] - free):
        yield "A5"
    if any(not _open(world, one) for one in made["flights"]):
        yield "A6"
    if not _leads(world, made["flights"], made):
        yield "A7"


def _fly(world: Airline, made: Made) -> Iterator[str]:
    trip = _trip(world, made)
    held = [(one["flight_number"], one["date"]) for one in trip["flights"]]
    wanted = [(one["flight_number"], one["date"]) for one in made["flights"]]
    if trip["cabin"] == "basic_economy" and sorted(held) != sorted(wanted):
        yield "A8"
    if not _leads(world, made["flights"], trip):
        yield "A9"
    keeps = made["cabin"] == trip["cabin"]
    if not keeps and _flown(world, trip):
        yield "A10"
    new = [one for one in made["flights"] if not (keeps and (one["flight_number"], one["date"]) in held)]
    if any(not _open(world, one) for one in new):
        yield "A6"


def _pays(world: Airline, made: Made) -> Iterator[str]:
    trip = _trip(world, made)
    user = world.database.read("users", trip["user_id"])
    assert user is not None
    method = user["payment_methods"].get(made["payment_id"])
    if method is None:
        yield "A4"
    elif method["source"] == "certificate":
        yield "A14"


def _bags(world: Airline, made: Made) -> Iterator[str]:
    trip = _trip(world, made)
    user = world.database.read("users", trip["user_id"])
    assert user is not None
    free = _free(world, user, trip["cabin"]) * len(trip["passengers"])
    if made["nonfree_baggages"] != max(0, made["total_baggages"] - free):
        yield "A5"
    if made["total_baggages"] < trip["total_baggages"]:
        yield "A11"


def _passengers(world: Airline, made: Made) -> Iterator[str]:
    if len(made["passengers"]) != len(_trip(world, made)["passengers"]):
        yield "A13"


def _cancel(world: Airline, made: Made) -> Iterator[str]:
    trip = _trip(world, made)
    fresh = NOW - datetime.fromisoformat(trip["created_at"]).replace(tzinfo=EST) <= timedelta(hours=24)
    stopped = "cancelled" in _statuses(world, trip)
    if not (fresh or stopped or trip["cabin"] == "business" or trip["insurance"] == "yes"):
        yield "A15"
    if _flown(world, trip):
        yield "A16"
    if trip.get("status") == "cancelled":
        yield "A18"


def _certify(world: Airline, made: Made) -> Iterator[str]:
    user = world.database.read("users", made["user_id"])
    assert user is not None
    trips = [
        (key, trip)
        for key in user["reservations"]
        if (trip := world.database.first("reservations", key) or world.database.read("reservations", key)) is not None
    ]
    covered = any(trip["insurance"] == "yes" or trip["cabin"] == "business" for _, trip in trips)
    if user["membership"] == "regular" and not covered:
        yield "A17a"
    amount = made["amount"]
    cancelled = any("cancelled" in _statuses(world, one) and amount == 100 * len(one["passengers"]) for _, one in trips)
    late = [key for key, one in trips if "delayed" in _statuses(world, one) and amount == 50 * len(one["passengers"])]
    if not cancelled and not late:
        yield "A17b"
    elif not cancelled and not any(key in world.changed for key in late):
        yield "A17c"


def _trip(world: Airline, made: Made) -> Record:
    found = world.database.read("reservations", made["reservation_id"])
    if found is None:
        raise KeyError(made["reservation_id"])
    return found


def _free(world: Airline, user: Record, cabin: str) -> int:
    if world.keeps_cabin and user["membership"] == "gold" and cabin == "business":
        return 3  # of the older wiki
    return FREE_BAGS[user["membership"]][CABINS.index(cabin)]


def _status(world: Airline, leg: Made) -> str:
    flight = world.database.read("flights", leg["flight_number"])
    return "" if flight is None else str(flight["dates"].get(leg["date"], {}).get("status"))


def _statuses(world: Airline, trip: Record) -> list[str]:
    return [_status(world, leg) for leg in trip["flights"]]


def _flown(world: Airline, trip: Record) -> bool:
    return any(status in ("flying", "landed") for status in _statuses(world, trip))


def _open(world: Airline, leg: Made) -> bool:
    return _status(world, leg) == "available"


def _leads(world: Airline, legs: list[Made], trip: Made) -> bool:
    flights = [world.database.read("flights", leg["flight_number"]) for leg in legs]
    ends = [(one["origin"], one["destination"]) for one in flights if one is not None]
    if len(ends) < len(legs) or not ends:
        return False
    stops = [end for _, end in ends]
    if ends[0][0] != trip["origin"] or trip["destination"] not in stops:
        return False
    return bool(stops[-1] == (trip["destination"] if trip["flight_type"] == "one_way" else trip["origin"]))


# --- the shop


def _order(world: Retail, made: Made) -> Record:
    found = world.database.read("orders", made["order_id"])
    if found is None:
        raise KeyError(made["order_id"])
    return found


def _owned(world: Retail, made: Made) -> Iterator[str]:
    owner = made["user_id"] if "user_id" in made else _order(world, made)["user_id"]
    if world.customer is None:
        yield "R1"
    elif owner != world.customer:
        yield "R2"


def _reason(world: Retail, made: Made) -> Iterator[str]:
    if _order(world, made)["status"] != "pending":
        yield "R4"
    if made["reason"] not in REASONS:
        yield "R5"


def _pending(world: Retail, made: Made) -> Iterator[str]:
    if _order(world, made)["status"] != "pending":
        yield "R6"


def _delivered(world: Retail, made: Made) -> Iterator[str]:
    if _order(world, made)["status"] != "delivered":
        yield "R7"


def _profile(world: Retail, made: Made) -> Iterator[str]:
    if _method(world, made) is None:
        yield "R8"


def _refund(world: Retail, made: Made) -> Iterator[str]:
    order, method = _order(world, made), _method(world, made)
    paid = order["payment_history"][0]["payment_method_id"]
    if method is not None and made["payment_method_id"] != paid and method["source"] != "gift_card":
        yield "R9"
    yield from _held(order, made)


def _other_payment(world: Retail, made: Made) -> Iterator[str]:
    first, method = _order(world, made)["payment_history"][0], _method(world, made)
    if made["payment_method_id"] == first["payment_method_id"]:
        yield "R10"
    if method is not None and method["source"] == "gift_card" and method["balance"] < first["amount"]:
        yield "R11"


def _swap(world: Retail, made: Made) -> Iterator[str]:
    order, method, old, new = _order(world, made), _method(world, made), made["item_ids"], made["new_item_ids"]
    yield from _held(order, made)
    if len(old) != len(new):
        yield "R13"
    variants = [world.catalogue.get(one) for one in new]
    if any(one is None or not one["available"] for one in variants):
        yield "R15"
    lines = [next((one for one in order["items"] if one["item_id"] == item), None) for item in old]
    couples = [(line, variant) for line, variant in zip(lines, variants, strict=False) if line and variant]
    if any(line["product_id"] != variant["product_id"] for line, variant in couples):
        yield "R14"
    if any(one == other for one, other in zip(old, new, strict=False)):
        yield "R16"
    due = sum(variant["price"] - line["price"] for line, variant in couples)
    if method is not None and method["source"] == "gift_card" and method["balance"] < due:
        yield "R11"


def _held(order: Record, made: Made) -> Iterator[str]:
    if Counter(made["item_ids"]) - Counter(one["item_id"] for one in order["items"]):
        yield "R12"


def _method(world: Retail, made: Made) -> Record | None:
    user = world.database.read("users", _order(world, made)["user_id"])
    found: Record | None = None if user is None else user["payment_methods"].get(made["payment_method_id"])
    return found


_AIRLINE: Mapping[str, tuple[Callable[[Any, Made], Iterator[str]], ...]] = {
    "book_reservation": (_book,),
    "update_reservation_flights": (_fly, _pays),
    "update_reservation_baggages": (_bags, _pays),
    "update_reservation_passengers": (_passengers,),
    "cancel_reservation": (_cancel,),
    "send_certificate": (_certify,),
}
_RETAIL: Mapping[str, tuple[Callable[[Any, Made], Iterator[str]], ...]] = {
    "cancel_pending_order": (_owned, _reason),
    "modify_pending_order_address": (_owned, _pending),
    "modify_pending_order_payment": (_owned, _pending, _profile, _other_payment),
    "modify_pending_order_items": (_owned, _pending, _profile, _swap),
    "return_delivered_order_items": (_owned, _delivered, _profile, _refund),
    "exchange_delivered_order_items": (_owned, _delivered, _profile, _swap),
    "modify_user_address": (_owned,),
}
