"""The family of tau-bench and tau2-bench: one pack for the airline, one for the shop."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

import orjson

import policies
from benchmarks.replays.family import Pack
from benchmarks.replays.tau.airline import Airline
from benchmarks.replays.tau.data import Data
from benchmarks.replays.tau.database import Database
from benchmarks.replays.tau.findings import replayed
from benchmarks.replays.tau.report import report
from benchmarks.replays.tau.retail import Retail
from benchmarks.replays.tau.runs import RECORDED, runs

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.replays.family import Run
    from benchmarks.replays.outcomes import Outcome
    from benchmarks.replays.tables import Report

PACKS: Final = Path(policies.__file__).parent / "packs"
ALLOWANCE: Final = "allowance.json"
OLDER_GOLD_BUSINESS: Final = 3
"""Free bags of a gold member in business by tau-bench's wiki; tau2-bench's has 4, as the pack has."""


class Tau:
    """`data` is the folder that holds the runs and `db/`."""

    name = "tau"

    def __init__(self, data: Path) -> None:
        self._data = Data(data)

    @cached_property
    def _packs(self) -> Mapping[str, Pack]:
        airline, shop = PACKS / "airline-support", PACKS / "retail-support"
        older = orjson.loads((airline / ALLOWANCE).read_bytes())
        older["gold"]["business"] = OLDER_GOLD_BUSINESS
        own = {"airline-tau1": {ALLOWANCE: orjson.dumps(older).decode()}}
        found = {}
        for bench in ("tau1", "tau2"):
            for domain, folder, variable in (("airline", airline, "AIRLINE_URL"), ("retail", shop, "SHOP_URL")):
                name = f"{domain}-{bench}"
                found[name] = Pack(name, folder, self._data.tools(bench, domain), variable, own.get(name, {}))
        return found

    def packs(self) -> Mapping[str, Pack]:
        return self._packs

    @cached_property
    def _runs(self) -> Sequence[Run]:
        return tuple(runs(self._data))

    def runs(self) -> Sequence[Run]:
        return self._runs

    def world(self, run: Run) -> Airline | Retail:
        bench, domain = str(run.labels["bench"]), str(run.labels["domain"])
        database, owners = Database(self._data.database(bench, domain)), self._data.owners[bench, domain]
        customer = run.labels["customer"]
        known = None if customer is None else str(customer)
        if domain == "airline":
            return Airline(database, owners, known, keeps_cabin=bench == "tau1")
        # The shop's customer is known once the agent has looked them up; a ground truth may leave that out.
        is_recorded = run.labels["kind"] == RECORDED
        signed = None if is_recorded else known
        return Retail(database, self._data.catalogue[bench], owners, bench == "tau2", signed)

    def report(self, outcomes: Sequence[Outcome]) -> Report:
        by_id = {run.id: run for run in self._runs}
        pairs = [(by_id[outcome.run], outcome) for outcome in outcomes]
        return report([replayed(run, outcome, self.world(run)) for run, outcome in pairs])
