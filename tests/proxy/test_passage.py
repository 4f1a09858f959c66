"""What is told of an exchange: one line, the metrics of its calls, and an outcome that says who ended it."""

from __future__ import annotations

import io
import json
import time
from types import SimpleNamespace
from typing import Any, cast

import pytest

from interceptors.calls import Proposal, Proposer, ToolCall
from interceptors.decisions import Decision
from interceptors.pipeline import Pipeline
from policies import load_policy_text
from policies.model import Ruling
from proxy.admission import Asking
from proxy.identity import Caller
from proxy.judge import Judgment
from proxy.logs import Logs
from proxy.metrics import Metrics
from proxy.passage import Passage, tell
from proxy.policy_source import Revision
from proxy.summary import Ending, Summary
from proxy.wire.openai_chat import OPENAI_CHAT

POLICY = load_policy_text("language: 1\npolicy: p\ntools: {refund: {}}\n")
REVISION = Revision(POLICY, Pipeline(POLICY), {}, {})
SECRET = "4111111111111111"


def judgment(tool: str = "refund", receipt: str = "rc_1", hold_ms: int = 5) -> Judgment:
    call = ToolCall(tool, {"card": SECRET}, f'{{"card":"{SECRET}"}}', "c", 0)
    decision = Decision(Ruling.FORBID, tool, True, reason="over", reply=SECRET, arguments={"card": SECRET})
    return Judgment(Proposal(call, Proposer.MODEL), decision, REVISION, hold_ms, receipt=receipt)


def told(**known: Any) -> tuple[dict[str, Any], str]:
    """The one line, and the metrics, of a passage of which this is known."""
    sink, metrics = io.BytesIO(), Metrics()
    services = cast("Any", SimpleNamespace(metrics=metrics, logs=Logs(sink)))
    metrics.exchange_opened()
    passage = Passage("ex_1", "POST", time.monotonic(), OPENAI_CHAT, **known)
    tell(passage, services, 1234)
    (line,) = sink.getvalue().splitlines()
    return json.loads(line), metrics.exposition().decode()


@pytest.mark.parametrize("ending", Ending)
def test_the_outcome_is_how_it_ended(ending: Ending) -> None:
    """In the line and in the metrics alike; the exchange is open no more, and the gauge has what is in flight."""
    line, metrics = told(summary=Summary(ending=ending, bytes_down=1))
    assert (line["event"], line["exchange"], line["outcome"]) == ("exchange", "ex_1", ending.value)
    assert f'callgate_exchanges_total{{dialect="{OPENAI_CHAT.name}",outcome="{ending.value}"}} 1.0' in metrics
    assert "callgate_exchanges_open 0.0" in metrics
    assert "callgate_bytes_in_flight 1234.0" in metrics


@pytest.mark.parametrize(
    ("error", "bytes_down", "outcome"),
    [("overloaded", 0, "refused"), ("overloaded", 1, "complete"), ("", 0, "complete")],
)
def test_what_never_began_was_refused(error: str, bytes_down: int, outcome: str) -> None:
    """An error before the first byte is a refusal of the gate's own; behind it the ending says what happened."""
    line, _ = told(error=error, summary=Summary(bytes_down=bytes_down))
    assert (line["outcome"], line.get("error", "")) == (outcome, error)


def test_a_breach_is_an_error_unless_there_is_a_nearer_one() -> None:
    """Why the stream broke stands in the line; an error of the gate's own comes before it."""
    broken = Summary(ending=Ending.BROKEN, breach="an event is not strict JSON", bytes_down=1)
    assert told(summary=broken)[0]["error"] == "an event is not strict JSON"
    assert told(summary=broken, error="internal")[0]["error"] == "internal"


def test_each_call_is_counted_and_listed() -> None:
    """Its verdict, and its receipt where it has one; the longest hold is that of the exchange."""
    judgments = [judgment(hold_ms=5), judgment("odd", "", 9)]
    line, metrics = told(receipts=["rc_0"], summary=Summary(judgments=judgments))
    assert line["verdicts"] == ["refund:forbid:over", "odd:forbid:over"]
    assert line["receipts"] == ["rc_0", "rc_1"]
    assert line["hold_ms"] == 9
    assert 'callgate_verdicts_total{reason="over",ruling="forbid",tool="refund"} 1.0' in metrics
    assert 'callgate_verdicts_total{reason="over",ruling="forbid",tool="other"} 1.0' in metrics
    assert 'tool="odd"' not in metrics, "a word of the model's is no label"
    assert "callgate_hold_seconds_count 2.0" in metrics


def test_without_calls_nothing_was_held() -> None:
    """No time is no time of zero."""
    assert "hold_ms" not in told()[0]


def test_who_asked_stands_in_the_line() -> None:
    """Where it is known; a request that was refused before has neither."""
    line, _ = told(asking=Asking(Caller("tenant", "bot"), {}, "", REVISION))
    assert (line["tenant"], line["identity"]) == ("tenant", "bot")
    assert {"tenant", "identity"}.isdisjoint(told()[0])


def test_no_argument_is_told() -> None:
    """Neither the line nor the metrics hold what a call or its reply says, nor a claim of the session."""
    asking = Asking(Caller("tenant", None), {"sub": SECRET}, "", REVISION)
    assert SECRET not in repr(told(asking=asking, summary=Summary(judgments=[judgment()])))
