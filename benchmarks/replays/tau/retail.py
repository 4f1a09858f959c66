"""The shop's back end, as far as its writes change what rules read, and its records as the pack reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from benchmarks.replays.tau.database import BackEndError, Database, carry_out

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from benchmarks.replays.family import Applied
    from benchmarks.replays.tau.database import Handler, Record

LOOK_UPS: Final = ("find_user_id_by_email", "find_user_id_by_name_zip")
ADDRESS: Final = ("address1", "address2", "city", "state", "country", "zip")


@dataclass(slots=True)
class Retail:
    """`catalogue` has each item with its product; `owners` each payment method's customer.

    The application signs the customer whom a look-up has found, as long as nobody else was found before. `mixes_up`:
    the newer back end writes price and options of the last new item into all that it changes.
    """

    database: Database
    catalogue: Mapping[str, Record]
    owners: Mapping[str, str]
    mixes_up: bool
    customer: str | None = None

    def claims(self) -> Mapping[str, str] | None:
        return None if self.customer is None else {"sub": self.customer}

    def apply(self, tool: str, arguments: Mapping[str, Any], recorded: str | None) -> Applied:
        handlers: dict[str, Handler] = {
            "find_user_id_by_email": lambda made: self._recognised(recorded or self._by_email(made["email"])),
            "find_user_id_by_name_zip": lambda made: self._recognised(recorded or self._by_name(made)),
            "get_user_details": lambda made: self._found("users", made["user_id"]),
            "get_order_details": lambda made: self._found("orders", made["order_id"]),
            "cancel_pending_order": self._cancel,
            "modify_pending_order_address": self._address,
            "modify_pending_order_payment": self._payment,
            "modify_pending_order_items": self._items,
            "return_delivered_order_items": self._return,
            "exchange_delivered_order_items": self._exchange,
            "modify_user_address": self._user_address,
        }
        return carry_out(handlers.get(tool), arguments, recorded)

    def _found(self, table: str, key: str) -> Record:
        found = self.database.read(table, key)
        if found is None:
            raise BackEndError(f"{table.removesuffix('s').capitalize()} not found")
        return found

    # --- who it is

    def _recognised(self, user: str) -> str:
        if self.customer is None:
            self.customer = user
        return user

    def _by_email(self, email: str) -> str:
        return self._look_up(lambda user: user["email"].lower() == email.lower())

    def _by_name(self, made: Mapping[str, Any]) -> str:
        wanted = (made["first_name"].lower(), made["last_name"].lower(), made["zip"])

        def fits(user: Record) -> bool:
            name = user["name"]
            return (name["first_name"].lower(), name["last_name"].lower(), user["address"]["zip"]) == wanted

        return self._look_up(fits)

    def _look_up(self, fits: Callable[[Record], bool]) -> str:
        for key, user in self.database.base["users"].items():
            if fits(user):
                return key
        raise BackEndError("User not found")

    # --- writes

    def _cancel(self, made: Mapping[str, Any]) -> Record:
        order = self._order(made, "pending")
        paid = order["payment_history"]
        for one in list(paid):
            paid.append({**one, "transaction_type": "refund"})
            self._to_gift_card(order["user_id"], one["payment_method_id"], one["amount"])
        order["status"], order["cancel_reason"] = "cancelled", made["reason"]
        return order

    def _address(self, made: Mapping[str, Any]) -> Record:
        order = self._order(made, "pending")
        order["address"] = {name: made[name] for name in ADDRESS}
        return order

    def _payment(self, made: Mapping[str, Any]) -> Record:
        order = self._order(made, "pending")
        first, method = order["payment_history"][0], made["payment_method_id"]
        old, amount = first["payment_method_id"], first["amount"]
        if method == old:
            raise BackEndError("The new payment method should be different from the current one")
        order["payment_history"] += [
            {"transaction_type": "payment", "amount": amount, "payment_method_id": method},
            {"transaction_type": "refund", "amount": amount, "payment_method_id": old},
        ]
        self._to_gift_card(order["user_id"], method, -amount)
        self._to_gift_card(order["user_id"], old, amount)
        return order

    def _items(self, made: Mapping[str, Any]) -> Record:
        order = self._order(made, "pending")
        due, method = self._difference(order, made), made["payment_method_id"]
        kind = "payment" if due > 0 else "refund"
        order["payment_history"].append({"transaction_type": kind, "amount": abs(due), "payment_method_id": method})
        self._to_gift_card(order["user_id"], method, -due)
        for old, new in zip(made["item_ids"], made["new_item_ids"], strict=True):
            line = next(one for one in order["items"] if one["item_id"] == old)
            variant = self.catalogue[made["new_item_ids"][-1] if self.mixes_up else new]
            line.update(item_id=new, price=variant["price"], options=variant["options"])
        order["status"] = "pending (item modified)"
        return order

    def _return(self, made: Mapping[str, Any]) -> Record:
        order = self._order(made, "delivered")
        paid = order["payment_history"][0]["payment_method_id"]
        if made["payment_method_id"] != paid and "gift_card" not in made["payment_method_id"]:
            raise BackEndError("Payment method should be the original payment method")
        order["status"], order["return_items"] = "return requested", sorted(made["item_ids"])
        order["return_payment_method_id"] = made["payment_method_id"]
        return order

    def _exchange(self, made: Mapping[str, Any]) -> Record:
        order = self._order(made, "delivered")
        order["exchange_price_difference"] = round(self._difference(order, made), 2)
        order["status"] = "exchange requested"
        order["exchange_items"], order["exchange_new_items"] = sorted(made["item_ids"]), sorted(made["new_item_ids"])
        order["exchange_payment_method_id"] = made["payment_method_id"]
        return order

    def _user_address(self, made: Mapping[str, Any]) -> Record:
        user = self.database.write("users", made["user_id"])
        user["address"] = {name: made[name] for name in ADDRESS}
        return user

    def _order(self, made: Mapping[str, Any], status: str) -> Record:
        order = self.database.write("orders", made["order_id"])
        # Of what was recorded, the back end of the day has already said whether it may be done.
        if not order["status"].startswith(status):
            raise BackEndError(f"Non-{status} order cannot be changed")
        return order

    def _difference(self, order: Record, made: Mapping[str, Any]) -> float:
        due = 0.0
        if len(made["item_ids"]) != len(made["new_item_ids"]):
            raise BackEndError("The number of items to be exchanged should match")
        for old, new in zip(made["item_ids"], made["new_item_ids"], strict=True):
            line = next((one for one in order["items"] if one["item_id"] == old), None)
            variant = self.catalogue.get(new)
            if line is None or variant is None or not variant["available"]:
                raise BackEndError(f"New item {new} not found or available")
            due += variant["price"] - line["price"]
        method = self.database.write("users", order["user_id"])["payment_methods"].get(made["payment_method_id"])
        if method is None:
            raise BackEndError("Payment method not found")
        if method["source"] == "gift_card" and method["balance"] < due:
            raise BackEndError("Insufficient gift card balance to pay for the price difference")
        return due

    def _to_gift_card(self, user: str, method: str, amount: float) -> None:
        card = self.database.write("users", user)["payment_methods"].get(method)
        if card is not None and card["source"] == "gift_card":
            card["balance"] = round(card["balance"] + amount, 2)

    # --- what the pack reads

    def fact(self, kind: str, key: str) -> Mapping[str, Any] | None:
        match kind:
            case "orders":
                order = self.database.read("orders", key)
                if order is None:
                    return None
                first = order["payment_history"][0]
                return {**order, "paid_with": first["payment_method_id"], "total": round(first["amount"], 2)}
            case "items":
                found = self.catalogue.get(key)
                return None if found is None else {**found, "price": round(found["price"], 2)}
            case "payment-methods":
                owner = self.owners.get(key)
                user = None if owner is None else self.database.read("users", owner)
                method = None if user is None else user["payment_methods"].get(key)
                return None if method is None else {"user_id": owner, **method}
        return None
