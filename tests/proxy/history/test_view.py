"""Edits put into a history: where they stand, what they leave alone, and what thinking depends on them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from interceptors.edits import Edit
from proxy.history.calls import Known, call_of, done, last_text, since
from proxy.history.view import Repair, View, edited
from proxy.ledger.edits import Decision, ResultEdit
from proxy.wire.anthropic_turn import ANTHROPIC_CONTINUATION
from proxy.wire.seal import SEALED, both_marks, edit_mark, sealed
from proxy.wire.transcript import HiddenResult

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def call(identifier: str, name: str = "look") -> dict[str, Any]:
    return {"type": "tool_use", "id": identifier, "name": name, "input": {"id": "A"}}


def result(identifier: str, text: str) -> dict[str, Any]:
    return {"type": "tool_result", "tool_use_id": identifier, "content": text}


def thought(signature: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": "t", "signature": signature}


def body(*messages: Any) -> bytes:
    sides = ("user", "assistant")
    said = [{"role": sides[number % 2], "content": content} for number, content in enumerate(messages)]
    return orjson.dumps({"model": "m", "messages": said})


def view(*messages: Any) -> View:
    return View(ANTHROPIC_CONTINUATION.transcript(body(*messages)))


def stale(turn: int, identifier: str) -> ResultEdit:
    return ResultEdit(turn, identifier, ("gone",), False, False, Edit.STALE.value)


TALK = ("Hello", [call("c1")], [result("c1", "old")], "Well.", "And?", [call("c2")], [result("c2", "new")])


def test_nothing_decided_is_nothing_changed() -> None:
    """The messages are the very bytes."""
    found = view(*TALK)
    same = edited(found, {}, {})
    assert (same.messages, same.mark, same.is_changed) == (list(found.transcript.messages), "", False)


def test_an_edit_touches_its_result_alone() -> None:
    """And what was decided later holds."""
    found = view(*TALK)
    first = ResultEdit(2, "c1", ("kept",), False, True, Edit.PRUNED.value)
    decisions = {2: Decision(0.0, (first,)), 4: Decision(1.0, (stale(2, "c1"),))}
    after = edited(found, decisions, {})
    assert [new == old for new, old in zip(after.messages, found.transcript.messages, strict=True)].count(False) == 1
    assert orjson.loads(after.messages[2])["content"] == [result("c1", "gone")]
    assert after.counts == {Edit.STALE: 1}


def test_a_decision_does_not_reach_what_comes_after_it() -> None:
    """Its numbers are those of the turns up to its own."""
    found = view(*TALK)
    after = edited(found, {4: Decision(1.0, (stale(6, "c2"),))}, {})
    assert not after.is_changed


def test_thinking_stays_only_behind_the_edits_that_it_was_made_behind() -> None:
    """What was thought before the edit goes, what was thought behind it stays, and loses its seal."""
    plain = view(*TALK)
    mark = edited(plain, {4: Decision(1.0, (stale(2, "c1"),))}, {}).mark
    talk = list(TALK)
    talk[1] = [thought("s0"), call("c1")]
    talk[3] = [thought("s1"), {"type": "text", "text": "Well."}]
    talk[5] = [thought(sealed(mark, "s2")), call("c2")]
    found = view(*talk)
    after = edited(found, {4: Decision(1.0, (stale(2, "c1"),))}, {})
    kept = [each for message in after.messages for each in signatures(message)]
    assert kept == ["s0", "s2"]
    assert after.taken_out == 1
    lost = edited(found, {}, {})
    assert [each for message in lost.messages for each in signatures(message)] == ["s0", "s1"]


def signatures(message: bytes) -> list[str]:
    content = orjson.loads(message)["content"]
    return [block["signature"] for block in content if isinstance(block, dict) and block["type"] == "thinking"]


def test_the_seal_of_edits_lies_inside_that_of_hidden_turns() -> None:
    """The ledger opens the outer one, and takes the inner one for the provider's own."""
    mark = both_marks("hg1", edit_mark("ab"))
    message = orjson.dumps({"role": "assistant", "content": [thought(sealed(mark, "s"))]})
    transcript = view("x").transcript
    once, removed = transcript.unsealed(message, "hg1")
    assert (signatures(once), removed) == ([f"{SEALED}eab.s"], 0)
    assert signatures(transcript.opened(once, "eab")[0]) == ["s"]
    assert transcript.unsealed(once, "") == (once, 0)
    assert transcript.bound(transcript.opened(once, "eab")[0], "eab") == once


def test_pairs_are_repaired_where_they_are_broken() -> None:
    """An answer for a call that has none, first in its turn; and no answer to what was not called."""
    found = view("Hello", [call("c1")], [result("c9", "what"), {"type": "text", "text": "And?"}])
    repair = Repair((HiddenResult("c1", "look", "tool_use", "unknown"),), ("c1",), (True,))
    after = edited(found, {}, {2: repair})
    blocks = orjson.loads(after.messages[2])["content"]
    assert [(block["type"], block.get("tool_use_id")) for block in blocks] == [("tool_result", "c1"), ("text", None)]
    assert after.counts == {Edit.ORPHAN: 1, Edit.UNANSWERED: 1}


def test_what_is_known_of_the_calls() -> None:
    """Their turns, when their results went up, and what was said of them."""
    found = view(*TALK)
    decisions = {2: Decision(NOW.timestamp()), 4: Decision(NOW.timestamp() + 60, (stale(2, "c1"),), told=((2, "c1"),))}
    first, second = done(found, decisions, ())
    assert (first.call, first.said, first.turn, first.at) == ("c1", 1, 2, NOW)
    assert (second.call, second.at) == ("c2", None)
    assert done(found, decisions, ("c1", "c2")) == []
    assert since(decisions, NOW + timedelta(minutes=3)).idle == timedelta(minutes=2)
    assert since({}, NOW).idle is None
    assert Known.of(decisions) == Known(frozenset({(2, "c1")}), frozenset({(2, "c1")}))
    assert last_text(found) == 4
    assert call_of(found, 2, "c2") is None
