"""The demo, end to end: Callgate as a process between real SDKs, a scripted model and an order back end."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from proxy.demo import run, stage
from proxy.demo.cases import LANES
from proxy.demo.checks import problems
from proxy.demo.gate_process import PACK, GateFailedError, GateFolder
from proxy.demo.provider import Provider
from proxy.demo.serving import serving
from proxy.demo.turns import Dialect, Text, Turn, always

if TYPE_CHECKING:
    from pathlib import Path


def test_the_demo_succeeds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """All cases in all lanes go as they should, in a table of at most 100 columns, uncut."""
    status = run.main(live=False, folder=tmp_path / "demo")

    shown = capsys.readouterr().out
    assert status == 0, shown
    lines = shown[: shown.index("Where to look next")].split("\n")
    assert max(map(len, lines)) <= 100
    assert "…" not in shown
    assert {line.split()[-1] for line in shown.split("\n") if "--state" in line} == {str(tmp_path / "demo" / "state")}


async def test_a_gate_that_lets_through_is_caught(tmp_path: Path) -> None:
    """With the limit taken out of the policy the demo fails, and says that money moved."""
    weakened = tmp_path / "policy.yaml"
    lines = PACK.read_text(encoding="utf-8").split("\n")
    limit = next(number for number, line in enumerate(lines) if "- escalate: over_limit" in line)
    weakened.write_text("\n".join(lines[:limit] + lines[limit + 2 :]), encoding="utf-8")

    lanes = (LANES[0], LANES[-1])
    performance = await stage.perform(GateFolder(tmp_path / "demo"), os.environ, {}, policy=weakened, lanes=lanes)

    found = [problem for played, receipts in performance.played for problem in problems(played, receipts, live=False)]
    for lane in lanes:
        own = [problem for problem in found if lane.title in problem]
        assert any("$847" in problem and "the back end paid" in problem for problem in own), own
        assert not any("47 days" in problem for problem in own)


async def test_a_gate_that_does_not_start_says_why(tmp_path: Path) -> None:
    """A policy that cannot be used ends the demo with what Callgate said about it."""
    broken = tmp_path / "policy.yaml"
    broken.write_text("language: 1\npolicy: x\nsurprise: true\n", encoding="utf-8")

    with pytest.raises(GateFailedError, match="surprise"):
        await stage.perform(GateFolder(tmp_path / "demo"), os.environ, {}, policy=broken)


async def test_a_model_of_its_own_mind(tmp_path: Path) -> None:
    """The lanes of the models that are there are played, with their names and keys; asking back is no failure."""
    provider = Provider(always(Turn((Text("Which order is it?"),))))
    async with serving(provider.app()) as url:
        models = {Dialect.CHAT: stage.Model(url, key="sk-own", name="own-model")}
        performance = await stage.perform(GateFolder(tmp_path / "demo"), os.environ, models)

    assert {played.lane.dialect for played, _ in performance.played} == {Dialect.CHAT}
    assert {received.header("authorization") for received in provider.received} == {"Bearer sk-own"}
    assert all(b'"own-model"' in received.body for received in provider.received)
    for played, receipts in performance.played:
        said = 2 if played.case.answers else 1
        assert (played.heard, played.refunds, receipts) == (("Which order is it?",) * said, (), ())
        assert problems(played, receipts, live=True) == []
        assert problems(played, receipts, live=False)
