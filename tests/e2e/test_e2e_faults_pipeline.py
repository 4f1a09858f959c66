"""An interceptor that raises, wherever it stands and in whichever pass: a recorded refusal, and the turn goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pytest

from interceptors.pipeline import INTERCEPTORS, Pipeline
from policies.model import Ruling
from proxy.demo.turns import Call, Dialect, Text, Turn, always
from tests.e2e.client import WAY_IDS, WAYS, ask
from tests.e2e.harness import desk

if TYPE_CHECKING:
    from pathlib import Path

    from interceptors.case import Case, Stage
    from interceptors.decisions import Decision, Needs, Verdict

TURN = Turn(
    (
        Text("Both, then."),
        Call("process_refund", '{"order_id": "A1001", "amount": 12}'),
        Call("ping", "{}"),
    )
)


class UnkindError(Exception):
    """Its text holds what must not be told."""

    def __str__(self) -> str:
        return "secret-of-the-argument"


@dataclass(slots=True)
class Raising:
    """Raises for refunds; in the second pass only, where `second`."""

    stage: Stage
    second: bool
    name: str = "raising"
    passes: list[int] = field(default_factory=list)

    def judge(self, case: Case) -> tuple[Verdict, ...] | Needs:
        if case.call.name != "process_refund":
            return ()
        self.passes.append(len(case.facts))
        if self.second and not case.facts:
            return ()
        raise UnkindError


PLACES = range(len(INTERCEPTORS) + 1)


def _stage_at(place: int) -> Stage:
    return INTERCEPTORS[min(place, len(INTERCEPTORS) - 1)].stage


@pytest.mark.parametrize("second", [False, True], ids=["screen", "decide"])
@pytest.mark.parametrize("place", PLACES)
async def test_an_interceptor_that_raises_refuses_its_call(tmp_path: Path, place: int, second: bool) -> None:
    """The call is refused as internal, its sibling goes out, and only the kind of what was raised is kept."""
    raising = Raising(_stage_at(place), second)
    own = (*INTERCEPTORS[:place], raising, *INTERCEPTORS[place:])
    async with desk(tmp_path, always(TURN), interceptors=own) as gate:
        for number, (dialect, streamed) in enumerate(WAYS, 1):
            answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
            assert [call.name for call in answer.calls] == ["ping"]
            assert answer.whole
            records = await gate.settled(number)
        assert raising.passes
        refused = [each for each in records if each.get("tool") == "process_refund"]
        assert {(each["ruling"], each["reason"]) for each in refused} == {("forbid", "internal_error")}
        assert len(refused) == len(WAYS)
        assert "UnkindError" in str(refused)
        assert b"secret-of" not in gate.log.getvalue()
        assert "secret-of" not in str(records)


async def test_a_template_that_raises_refuses_its_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What goes wrong while the reply is put into words is a refusal, too."""

    def raising(*_: object) -> str:
        raise UnkindError

    monkeypatch.setattr("interceptors.pipeline.reply", raising)
    turn = Turn((Call("process_refund", '{"order_id": "A1002", "amount": 12}'),))
    async with desk(tmp_path, always(turn)) as gate:
        for number, (dialect, streamed) in enumerate(WAYS, 1):
            answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
            assert (answer.calls, answer.whole) == ([], True)
            assert answer.text
            decided = [each for each in await gate.settled(number) if each["kind"] == "decided"][-1]
            assert (decided["ruling"], decided["reason"]) == ("forbid", "internal_error")


@pytest.mark.parametrize("method", ["screen", "decide"])
@pytest.mark.parametrize(("dialect", "streamed"), WAYS, ids=WAY_IDS)
async def test_a_pipeline_that_raises_ends_the_exchange_with_a_record(
    tmp_path: Path, dialect: Dialect, streamed: bool, method: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Should even the pipeline raise, the exchange records the calls and tells the client; nothing leaves."""

    def raising(*_: object) -> Decision:
        raise UnkindError

    monkeypatch.setattr(Pipeline, method, raising)
    turn = Turn((Call("process_refund", '{"order_id": "A1001", "amount": 12}'),))
    async with desk(tmp_path, always(turn)) as gate:
        answer = await ask(gate, dialect, streamed=streamed, headers=gate.signed())
        assert answer.calls == []
        assert answer.error is not None
        assert "secret-of" not in str(answer.error)
        records = await gate.settled()
        assert [each["kind"] for each in records] == ["decided", "aborted"]
        assert records[0]["ruling"] == Ruling.FORBID.value
        assert b"secret-of" not in gate.log.getvalue()
