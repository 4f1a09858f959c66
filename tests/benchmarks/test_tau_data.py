"""Against the recorded runs themselves, where they lie beside the project."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from benchmarks.replays.tau.data import Data
from benchmarks.replays.tau.family import PACKS, Tau
from benchmarks.replays.tau.runs import CORRECTED, RECORDED

DATA = Path(__file__).parents[3] / "shared" / "trajectories"
FILES = sorted(path for pack in ("airline-support", "retail-support") for path in (PACKS / pack).iterdir())

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"no recorded runs at {DATA}")


@pytest.fixture(scope="module")
def tau() -> Tau:
    return Tau(DATA)


def test_every_recorded_result_is_what_the_stepped_databases_give(tau: Tau) -> None:
    """Facts are those of the moment: no result of any recorded run differs."""
    results = differing = 0
    for run in tau.runs():
        if run.labels["kind"] != RECORDED:
            continue
        world, made = tau.world(run), {}
        for message in run.messages:
            made.update({call["id"]: call["function"] for call in message.get("tool_calls") or ()})
            if message["role"] == "tool":
                call = made[message["tool_call_id"]]
                results += 1
                differing += world.apply(call["name"], _arguments(call["arguments"]), message["content"]).differs

    assert results > 5000
    assert differing == 0


def test_the_corrected_tasks_are_all_there(tau: Tau) -> None:
    """50 tasks of the airline with 49 writes, 114 of the shop with 176: what the tables speak of."""
    corrected = [run for run in tau.runs() if run.labels["kind"] == CORRECTED]
    writes = {
        domain: sum(
            call["function"]["name"].startswith(("book", "cancel", "update", "send", "modify", "return", "exchange"))
            for run in corrected
            if run.labels["domain"] == domain
            for message in run.messages
            for call in message.get("tool_calls") or ()
        )
        for domain in ("airline", "retail")
    }

    assert len(corrected) == 164
    assert writes == {"airline": 49, "retail": 176}
    assert len({run.id for run in tau.runs()}) == len(tau.runs())


def _arguments(text: str) -> dict[str, Any]:
    try:
        read = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return read if isinstance(read, dict) else {}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_pack_holds_a_literal_of_the_data(path: Path) -> None:
    """No id, name, mail, flight or place of the databases stands in a pack: it was not written for them."""
    known = _literals()
    said = set(re.findall(r"[#A-Za-z0-9_@.-]+", path.read_text(encoding="utf-8")))

    assert said & known == set()
    assert len(known) > 10_000


def _literals() -> set[str]:
    """What is somebody's or something's own in the databases: keys of records, numbers, mails, names and places."""
    data, found = Data(DATA), set()
    for bench in ("tau1", "tau2"):
        for domain in ("airline", "retail"):
            for table in data.database(bench, domain).values():
                for key, record in table.items():
                    found |= {key, *_own(record)}
    return found


OWN = ("id", "_id", "email", "first_name", "last_name", "flight_number", "origin", "destination", "address1", "zip")


def _own(value: Any, name: str = "") -> set[str]:
    if isinstance(value, dict):
        found = {one for key, item in value.items() for one in _own(item, key)}
        return found | ({*value} if name in ("payment_methods", "variants") else set())
    if isinstance(value, list):
        return {one for item in value for one in _own(item, name)}
    return {value} if isinstance(value, str) and name.endswith(OWN) else set()


def test_the_literals_would_be_found() -> None:
    """The test above can fail: the first reservation's own id and its traveller's name are among them."""
    known = _literals()
    reservation = next(iter(Data(DATA).database("tau2", "airline")["reservations"].values()))

    assert {reservation["reservation_id"], reservation["user_id"]} <= known
    assert reservation["passengers"][0]["last_name"] in known
