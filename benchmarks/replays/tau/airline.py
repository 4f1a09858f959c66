"""The airline's back end, as far as its writes change what rules read, and its records as the pack reads them."""

from __future__ import annotations

from collections import ChainMap
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import TYPE_CHECKING, Any, Final

from benchmarks.replays.tau.database import BackEndError, Database, carry_out

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.replays.family import Applied
    from benchmarks.replays.tau.database import Handler, Record

EST: Final = timezone(timedelta(hours=-5))
NOW: Final = datetime(2024, 5, 15, 15, tzinfo=EST)
"""When every run takes place. The gate's clock is today's: times are told as long ago as they were then."""
BOOKED: Final = ("HATHAT", "HATHAU", "HATHAV")
CERTIFICATES: Final = (3221322, 3221323, 3221324)
CREATED: Final = "2024-05-15T15:00:00"
INSURANCE, BAG = 30, 50


@dataclass(slots=True)
class Airline:
    """`keeps_cabin`: the older back end never stores the new cabin of a reservation."""

    database: Database
    owners: Mapping[str, str]
    customer: str | None
    keeps_cabin: bool
    changed: set[str] = field(default_factory=set)
    _certified: dict[str, str] = field(default_factory=dict)

    def claims(self) -> Mapping[str, str] | None:
        return None if self.customer is None else {"sub": self.customer}

    def apply(self, tool: str, arguments: Mapping[str, Any], recorded: str | None) -> Applied:
        handlers: dict[str, Handler] = {
            "get_user_details": lambda made: self._found("users", made["user_id"]),
            "get_reservation_details": lambda made: self._found("reservations", made["reservation_id"]),
            "book_reservation": self._book,
            "cancel_reservation": self._cancel,
            "update_reservation_flights": self._fly,
            "update_reservation_baggages": self._bags,
            "update_reservation_passengers": self._passengers,
            "send_certificate": self._certify,
        }
        return carry_out(handlers.get(tool), arguments, recorded)

    def _found(self, table: str, key: str) -> Record:
        found = self.database.read(table, key)
        if found is None:
            raise BackEndError(f"{table.removesuffix('s').capitalize()} not found")
        return found

    # --- writes

    def _book(self, made: Mapping[str, Any]) -> Record:
        user = self.database.write("users", made["user_id"])
        key = next(one for one in BOOKED if self.database.read("reservations", one) is None)
        count = len(made["passengers"])
        flights = [self._priced(one, made["cabin"]) for one in made["flights"]]
        total = sum(one["price"] for one in flights) * count + BAG * made["nonfree_baggages"]
        total += INSURANCE * count if made["insurance"] == "yes" else 0
        if sum(one["amount"] for one in made["payment_methods"]) != total:
            raise BackEndError("payment amount does not add up")
        for one in made["payment_methods"]:
            self._pay(user, one["payment_id"], one["amount"], uses_up=True)
        reservation = {
            "reservation_id": key,
            **{name: made[name] for name in ("user_id", "origin", "destination", "flight_type", "cabin")},
            "flights": flights,
            "passengers": _named(made),
            "payment_history": [dict(one) for one in made["payment_methods"]],
            "created_at": CREATED,
            **{name: made[name] for name in ("total_baggages", "nonfree_baggages", "insurance")},
        }
        self.database.add("reservations", key, reservation)
        user["reservations"].append(key)
        return reservation

    def _cancel(self, made: Mapping[str, Any]) -> Record:
        reservation = self._changing(made)
        paid = reservation["payment_history"]
        paid += [{"payment_id": one["payment_id"], "amount": -one["amount"]} for one in list(paid)]
        reservation["status"] = "cancelled"
        return reservation

    def _fly(self, made: Mapping[str, Any]) -> Record:
        reservation = self._changing(made)
        held = {(one["flight_number"], one["date"]): one for one in reservation["flights"]}
        keeps = made["cabin"] == reservation["cabin"]
        flights = []
        for one in made["flights"]:
            kept = held.get((one["flight_number"], one["date"])) if keeps else None
            flights.append(self._priced(one, made["cabin"], None if kept is None else kept["price"]))
        count = len(reservation["passengers"])
        due = (sum(one["price"] for one in flights) - sum(one["price"] for one in reservation["flights"])) * count
        self._charge(reservation, made["payment_id"], due)
        reservation["flights"] = flights
        if not self.keeps_cabin:
            reservation["cabin"] = made["cabin"]
        return reservation

    def _bags(self, made: Mapping[str, Any]) -> Record:
        reservation = self._changing(made)
        due = BAG * max(0, made["nonfree_baggages"] - reservation["nonfree_baggages"])
        self._charge(reservation, made["payment_id"], due)
        reservation["total_baggages"] = made["total_baggages"]
        reservation["nonfree_baggages"] = made["nonfree_baggages"]
        return reservation

    def _passengers(self, made: Mapping[str, Any]) -> Record:
        reservation = self._changing(made)
        if len(made["passengers"]) != len(reservation["passengers"]):
            raise BackEndError("number of passengers does not match")
        reservation["passengers"] = _named(made)
        return reservation

    def _certify(self, made: Mapping[str, Any]) -> str:
        user = self.database.write("users", made["user_id"])
        for number in CERTIFICATES:
            key = f"certificate_{number}"
            if key not in user["payment_methods"]:
                user["payment_methods"][key] = {"source": "certificate", "amount": made["amount"], "id": key}
                self._certified[key] = made["user_id"]
                return f"Certificate {key} added to user {made['user_id']} with amount {made['amount']}."
        raise BackEndError("too many certificates")

    def _changing(self, made: Mapping[str, Any]) -> Record:
        reservation = self.database.write("reservations", made["reservation_id"])
        self.changed.add(made["reservation_id"])
        return reservation

    def _priced(self, leg: Mapping[str, Any], cabin: str, price: int | None = None) -> Record:
        flight = self._found("flights", leg["flight_number"])
        day = flight["dates"].get(leg["date"], {})
        if price is None and day.get("status") != "available":
            raise BackEndError(f"flight {leg['flight_number']} not available on date {leg['date']}")
        return {
            "flight_number": leg["flight_number"],
            "date": leg["date"],
            "price": day["prices"][cabin] if price is None else price,
            "origin": flight["origin"],
            "destination": flight["destination"],
        }

    def _charge(self, reservation: Record, payment: str, due: int) -> None:
        self._pay(self.database.write("users", reservation["user_id"]), payment, due, uses_up=False)
        if due != 0:
            reservation["payment_history"].append({"payment_id": payment, "amount": due})

    def _pay(self, user: Record, payment: str, amount: int, *, uses_up: bool) -> None:
        method = user["payment_methods"].get(payment)
        if method is None:
            raise BackEndError("payment method not found")
        if method["source"] == "certificate" and not uses_up:
            raise BackEndError("certificate cannot be used to update reservation")
        if method["source"] != "credit_card" and method["amount"] < amount:
            raise BackEndError("gift card balance is not enough")
        if method["source"] == "gift_card":
            method["amount"] -= amount
        elif method["source"] == "certificate":
            del user["payment_methods"][payment]

    # --- what the pack reads

    def fact(self, kind: str, key: str) -> Mapping[str, Any] | None:
        match kind:
            case "users":
                user = self.database.read("users", key)
                return None if user is None else {"id": key, **user}
            case "reservations":
                found = self.database.read("reservations", key)
                return None if found is None else self._reservation(found)
            case "flights":
                flight = self.database.read("flights", key)
                return None if flight is None else _flight(flight)
            case "payment-methods":
                return self._payment(key)
            case "disruptions":
                return self._disruption(key)
        return None

    def _reservation(self, found: Record) -> Mapping[str, Any]:
        created = datetime.fromisoformat(found["created_at"]).replace(tzinfo=EST)
        own = {
            "status": found.get("status") or "active",
            "created_at": (created + (datetime.now(UTC) - NOW)).isoformat(),
            "insured": found["insurance"] == "yes",
            "passenger_count": len(found["passengers"]),
            "flights": [{**one, "status": self._status(one)} for one in found["flights"]],
        }
        return dict(ChainMap(own, found))

    def _status(self, leg: Mapping[str, Any]) -> str:
        flight = self.database.read("flights", leg["flight_number"]) or {"dates": {}}
        status: str = flight["dates"].get(leg["date"], {}).get("status", "unknown")
        return status

    def _payment(self, key: str) -> Mapping[str, Any] | None:
        owner = self._certified.get(key) or self.owners.get(key)
        user = None if owner is None else self.database.read("users", owner)
        method = None if user is None else user["payment_methods"].get(key)
        return None if method is None else {"user_id": owner, "source": method["source"]}

    def _disruption(self, key: str) -> Mapping[str, Any] | None:
        """Of the trip as it was when the run began: what is changed since was changed for the disruption."""
        found = self.database.first("reservations", key) or self.database.read("reservations", key)
        if found is None:
            return None
        statuses = [self._status(one) for one in found["flights"]]
        count = len(found["passengers"])
        delayed = count if "delayed" in statuses else 0
        return {
            "cabin": found["cabin"],
            "insured": found["insurance"] == "yes",
            "cancelled_for": count if "cancelled" in statuses else 0,
            "delayed_for": delayed,
            "delayed_and_changed_for": delayed if key in self.changed else 0,
        }


def _named(made: Mapping[str, Any]) -> list[Record]:
    return [{name: one[name] for name in ("first_name", "last_name", "dob")} for one in made["passengers"]]


def _flight(flight: Record) -> Mapping[str, Any]:
    number = flight["flight_number"]
    days = [day for day, one in flight["dates"].items() if one["status"] == "available"]
    return {
        "origin": flight["origin"],
        "destination": flight["destination"],
        "open": [f"{number} {day}" for day in days],
    }
