"""Records of what left the socket: of the right call, about the right people, and never an argument."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from interceptors.calls import Proposal, Proposer, ToolCall
from interceptors.decisions import Decision
from interceptors.receipts import AbortCause, Aborted, Observed, Released, Substituted
from policies.model import Ruling
from proxy.judge import Judgment, Scene
from proxy.records import aborted, delivered, observed

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
SCENE = Scene("ex_1", "openai-chat", "a-model", "tenant", "desk", "s" * 32, {"sub": "c1"})
SECRET = "4111111111111111"


def judgment(ruling: Ruling) -> Judgment:
    call = ToolCall("refund", {"card": SECRET}, f'{{"card":"{SECRET}"}}', "call_1", 0)
    decision = Decision(ruling, "refund", True, reply="Not today.", arguments={"card": SECRET})
    revision: Any = None
    return Judgment(Proposal(call, Proposer.MODEL), decision, revision, 5, receipt="rc_1")


def test_an_allowed_call_was_released() -> None:
    """Under its own receipt, with the exchange and the subject."""
    record = delivered(judgment(Ruling.ALLOW), SCENE, NOW)
    assert record == Released(receipt="rc_1", time=NOW, exchange="ex_1", subject="s" * 32)


@pytest.mark.parametrize("ruling", [ruling for ruling in Ruling if ruling is not Ruling.ALLOW])
def test_any_other_call_was_substituted(ruling: Ruling) -> None:
    """The record has the words that the customer read in its place."""
    record = delivered(judgment(ruling), SCENE, NOW)
    assert record == Substituted(receipt="rc_1", time=NOW, exchange="ex_1", result="Not today.", subject="s" * 32)


@pytest.mark.parametrize("ruling", Ruling)
@pytest.mark.parametrize("cause", AbortCause)
def test_what_did_not_leave_whole_was_aborted(ruling: Ruling, cause: AbortCause) -> None:
    """Whatever was decided, with the cause."""
    record = aborted(judgment(ruling), SCENE, NOW, cause)
    assert record == Aborted(receipt="rc_1", time=NOW, exchange="ex_1", cause=cause, subject="s" * 32)


def test_a_tool_of_the_provider_has_a_receipt_of_its_own() -> None:
    """Nothing was decided: each sighting is a new receipt, with all that is known of who asked."""
    first, second = (observed("web_search", SCENE, NOW, "response") for _ in range(2))
    assert isinstance(first, Observed)
    assert isinstance(second, Observed)
    assert first.receipt != second.receipt
    assert replace(first, receipt="") == Observed(
        receipt="",
        time=NOW,
        exchange="ex_1",
        tenant="tenant",
        dialect="openai-chat",
        model="a-model",
        tool="web_search",
        where="response",
        identity="desk",
        subject="s" * 32,
    )


@pytest.mark.parametrize("ruling", Ruling)
def test_no_record_holds_an_argument(ruling: Ruling) -> None:
    """What the call said stands in its decision only."""
    said = judgment(ruling)
    assert SECRET not in repr([delivered(said, SCENE, NOW), aborted(said, SCENE, NOW, AbortCause.HALTED)])
