"""The recorded runs, the databases and the tasks, as they lie in the folder of the data."""

from __future__ import annotations

import gzip
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from benchmarks.replays.family import DataError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from benchmarks.replays.tau.database import Record

ONE_FILE = {"tau2_airline": "tau2_airline_db", "tau2_retail": "tau2_retail_db"}
TABLES = {"airline": ("users", "reservations", "flights"), "retail": ("users", "orders", "products")}


class Data:
    """Reads each file once. Every method raises `DataError` where a file is missing or not what it should be."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._read: dict[str, Any] = {}

    def runs(self, domain: str) -> list[dict[str, Any]]:
        """The runs of a domain, of every file of it that is there: the open ones, and others that were put beside."""
        paths = sorted(self._folder.glob(f"tau_{domain}*.jsonl.gz"))
        if not paths:
            raise DataError(f"no recorded runs at {self._folder / f'tau_{domain}*.jsonl.gz'}")
        rows = [
            orjson.loads(line) for path in paths for line in gzip.decompress(path.read_bytes()).split(b"\n") if line
        ]
        return list({row["id"]: row for row in rows}.values())

    def database(self, bench: str, domain: str) -> Mapping[str, Mapping[str, Record]]:
        """The tables as every run finds them."""
        place = f"{bench}_{domain}"
        if place in ONE_FILE:
            found: Mapping[str, Mapping[str, Record]] = self._json(f"{ONE_FILE[place]}.json.gz")
            return found
        return {table: self._json(f"{place}_{table}.json.gz") for table in TABLES[domain]}

    def tools(self, bench: str, domain: str) -> Sequence[Mapping[str, Any]]:
        """The tools as the agent declares them."""
        found = self._json(f"{bench}_{domain}_tools.json")
        return [one if "function" in one else {"type": "function", "function": one} for one in found]

    def tasks(self, domain: str) -> Sequence[Mapping[str, Any]]:
        """The tasks of tau2 as upstream corrected them."""
        found: Sequence[Mapping[str, Any]] = self._json(f"tau2_{domain}_tasks_head.json.gz")
        return found

    def _json(self, name: str) -> Any:
        if name not in self._read:
            path = self._folder / "db" / name
            try:
                data = path.read_bytes()
                self._read[name] = orjson.loads(gzip.decompress(data) if name.endswith(".gz") else data)
            except (OSError, ValueError) as error:
                raise DataError(f"{path} cannot be read: {error}") from error
        return self._read[name]

    @cached_property
    def owners(self) -> Mapping[tuple[str, str], Mapping[str, str]]:
        """By benchmark and domain, whose each payment method is."""
        return {
            (bench, domain): {
                method: user
                for user, record in self.database(bench, domain)["users"].items()
                for method in record["payment_methods"]
            }
            for bench in ("tau1", "tau2")
            for domain in TABLES
        }

    @cached_property
    def catalogue(self) -> Mapping[str, Mapping[str, Record]]:
        """By benchmark, each item of the shop with the product that it is."""
        return {
            bench: {
                key: {**variant, "product_id": product["product_id"]}
                for product in self.database(bench, "retail")["products"].values()
                for key, variant in product["variants"].items()
            }
            for bench in ("tau1", "tau2")
        }
