"""The replay of recorded runs: each call is judged by a running gate, on the facts as they were when it was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from click.testing import CliRunner

from benchmarks import trajectories
from benchmarks.replays.outcomes import Outcome, Results
from benchmarks.replays.page import page
from benchmarks.replays.schedule import Batch, batches, replay
from benchmarks.replays.tables import Table, markdown, said, share
from tests.benchmarks.replayed import Tills

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def replayed(tmp_path: Path, family: Tills, *, lanes: int = 1) -> dict[str, Outcome]:
    found: dict[str, Outcome] = {}
    results = Results(tmp_path / "results")
    runs = [run for run in family.runs() if results.read(run, family.packs()[run.pack]) is None]
    await replay(family, results, runs, lanes=lanes, done=lambda one: found.update({one.run: one}))
    return found


async def test_each_call_is_judged_on_the_facts_of_its_time(tmp_path: Path) -> None:
    """The second refund is refused exactly where the first left too little, another customer's always."""
    found = await replayed(tmp_path, Tills(tmp_path / "till"))

    def rulings(run: str) -> list[tuple[str, str, str]]:
        return [(one.call, one.ruling, one.reason) for one in found[run].calls]

    assert rulings("till-1") == [
        ("c0", "escalate", "facts_incomplete"),  # nobody was known yet
        ("c1", "allow", ""),
        ("c2", "allow", ""),
        ("c3", "forbid", "not_yours"),
    ]
    assert rulings("till-3")[2] == ("c2", "forbid", "too_much")


async def test_the_customer_says_yes_where_the_gate_asks(tmp_path: Path) -> None:
    """A call that only waits for a yes is proposed again and released; the recording goes on behind it."""
    found = (await replayed(tmp_path, Tills(tmp_path / "till", runs=1)))["till-1"]
    by_call = {one.call: one for one in found.calls}

    assert by_call["c1"].asked
    assert by_call["c1"].is_released
    assert not by_call["c0"].asked
    assert found.exchanges == 7  # five turns of the assistant, two of them asked about
    assert found.odd == 0


async def test_results_that_the_databases_do_not_give_are_counted(tmp_path: Path) -> None:
    """A recording that says otherwise than the stepped world is counted; a missing result is the world's own."""
    family = Tills(tmp_path / "till", runs=1)
    conversation = [dict(message) for message in family.runs()[0].messages]
    conversation[7]["content"] = "7"
    object.__setattr__(family.runs()[0], "messages", conversation)
    found = (await replayed(tmp_path, family))["till-1"]

    assert found.differing == 1
    assert {one.call: one.is_error for one in found.calls} == {"c0": False, "c1": False, "c2": False, "c3": False}


async def test_an_interrupted_evaluation_goes_on(tmp_path: Path) -> None:
    """A run whose outcome is kept is not replayed; one whose file was cut off is."""
    family = Tills(tmp_path / "till")
    first = await replayed(tmp_path, family, lanes=2)
    kept = sorted((tmp_path / "results").glob("*/*.json"))
    kept[1].write_bytes(kept[1].read_bytes()[:20])
    again = await replayed(tmp_path, family)

    assert set(first) == {"till-1", "till-2", "till-3"}
    assert set(again) == {"till-2"}
    assert dict(family.worlds) == {"till-1": 1, "till-2": 2, "till-3": 1}
    assert again["till-2"] == first["till-2"]


def test_runs_are_split_by_pack_and_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run stands in exactly one batch of its pack, none larger than a gate takes."""
    monkeypatch.setattr("benchmarks.replays.schedule.RUNS_A_GATE", 2)
    family = Tills(tmp_path / "till", runs=5)
    found: list[Batch] = batches(family.packs(), family.runs())

    assert [len(batch.runs) for batch in found] == [2, 2, 1]
    assert {run.id for batch in found for run in batch.runs} == {run.id for run in family.runs()}


def test_the_command_replays_prints_and_writes_a_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it replays, the second time it has nothing to do; tables and page hold what was found, and no script."""
    monkeypatch.setattr(trajectories, "FAMILIES", {"tills": lambda data: Tills(data / "till")})
    options = ["--data", str(tmp_path), "--results", str(tmp_path / "results"), "--html", str(tmp_path / "page.html")]
    first = CliRunner().invoke(trajectories.main, options, catch_exceptions=False)
    second = CliRunner().invoke(trajectories.main, [*options, "--markdown"], catch_exceptions=False)
    text = (tmp_path / "page.html").read_text(encoding="utf-8")

    assert "3 runs replayed" in first.output
    assert "0 runs replayed" in second.output
    assert "| not_yours | 3 | 100.0 % |" in second.output
    assert "refused by &lt;reason&gt;" in text
    assert "<svg" in text
    assert "<script" not in text
    assert "http://" not in text
    assert "https://" not in text


def test_a_table_is_written_as_in_the_docs() -> None:
    """Shares are percentages, figures stand right, and nothing of nothing is a dash."""
    table = Table("t", ["model", "runs", "share"], [["a", 2, share(1, 8)], ["b", 0, share(0, 0)]])

    assert markdown(table).split("\n") == [
        "| model | runs | share |",
        "|---|---:|---|",
        "| a | 2 | 12.5 % |",
        "| b | 0 | - |",
    ]
    assert said(0.5) == "50.0 %"
    assert page("a < b", "lead", []).count("&lt;") == 2
