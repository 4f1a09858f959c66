"""What stands in the place of closed matters: golden texts, each beside the history and the receipts it is of."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.compaction import QUOTED_MAX, Asked, Denied, Written, own_words, quoted, summary
from interceptors.kinds import MoneyState
from policies import load_policy_text
from policies.patterns import Pattern
from proxy.history.matters import Known, stretches
from proxy.history.view import View
from proxy.ledger.edits import Decision, Stretch
from proxy.ledger.notes import Note
from proxy.store import ReleasedCall
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.transcript import Side

FOLDER = Path(__file__).parents[3] / "fixtures" / "summaries"
NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
BETWEEN = "\n----\n"
NO_NOTE: dict[str, Any] = dict.fromkeys(("amount", "case", "conversation"), "") | {"exchange": "ex_1", "things": ()}
POLICY = load_policy_text("""
language: 1
policy: p
reasons:
  no_write: {category: policy}
  over_limit: {category: escalated}
  over_paid: {category: policy}
tools:
  look: {effect: read}
  close_topic: {effect: read, closes_topic: true}
  close_account: {}
  pay:
    arguments: {order_id: {pattern: '[A-Z][0-9]'}, amount: {money: USD, unit: major}}
    limits: [{forbid: over_paid, once_per: [args.order_id], within: 24h}]
    not_executed_when: result.status == "rejected"
    result: {fields: {status: string}}
""")


def found(case: dict[str, Any], **changes: Any) -> list[Stretch]:
    """The summaries of a history that ends with a new text of the user's."""
    view = View(OPENAI_CHAT.continuation.transcript(orjson.dumps({"model": "m", "messages": case["messages"]})))
    said = [turn for turn in view.transcript.turns() if turn.side is not Side.SYSTEM]
    receipts = {each["call"]: each for each in case["receipts"]}
    rows = {}
    for number, turn in enumerate(view.turns):
        for place, call in enumerate(turn.calls):
            if (each := receipts.get(call.id)) is not None:
                state = None if each["state"] is None else MoneyState(each["state"])
                held = "rs_1" if state is MoneyState.HELD else None
                rows[number, place] = ReleasedCall(
                    each["receipt"], call.id, each["tool"], call.digest, NOW, held, state
                )
    noted = {
        int(number): [Note(**(NO_NOTE | each)) for each in notes] for number, notes in case.get("notes", {}).items()
    }
    decisions = {
        number: Decision(0.0, notes=number not in case.get("unnoted", ()))
        for number, turn in enumerate(view.turns)
        if turn.side is Side.USER
    }
    known = {
        "policy": POLICY,
        "now": NOW,
        "decisions": decisions,
        "answered": case.get("answered", ()),
        "rows": rows,
        "notes": noted,
        "cases": case.get("cases", {}),
        "is_anybody": False,
    }
    return list(stretches(view, said, 0, len(view.turns) - 1, Known(**(known | changes))))


@pytest.mark.parametrize("name", sorted(path.stem for path in FOLDER.glob("*.json")))
def test_a_summary_is_its_golden_text(name: str) -> None:
    """`CALLGATE_GOLDEN=write` writes them; what stands in no receipt and no user's turn stands in none."""
    case = orjson.loads((FOLDER / f"{name}.json").read_bytes())
    text = BETWEEN.join(each.text for each in found(case)) + "\n"
    golden = FOLDER / f"{name}.txt"
    if os.environ.get("CALLGATE_GOLDEN") == "write":
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


def test_what_others_were_refused_at_the_same_place_is_not_told() -> None:
    """A customer without a name, in a conversation without one: where two exchanges fit, the matter stays as it is."""
    case = orjson.loads((FOLDER / "refused_by_code.json").read_bytes())
    (note,) = case["notes"]["0"]
    notes = {0: [Note(**(NO_NOTE | note)), Note(**(NO_NOTE | note | {"receipt": "rc_9", "exchange": "ex_9"}))]}
    (later,) = found(case, notes=notes, is_anybody=True)
    assert later.first == 2
    assert "Refused" not in later.text
    assert "rc_9" in found(case, notes=notes)[0].text


def test_a_refusal_whose_reply_does_not_stand_there_is_not_told() -> None:
    """The answer that was shown is another one: what was refused in this one is not of this conversation."""
    case = orjson.loads((FOLDER / "refused_by_code.json").read_bytes())
    case["notes"]["0"][0]["reply"] = "I am another reply."
    assert "Refused" not in found(case)[0].text


def _parts(text: str) -> str:
    found, at = "", 0
    while at < len(text):
        kind = text[at : at + 2]
        if kind in ("\\u", "\\U"):
            length = 4 if kind == "\\u" else 8
            found, at = found + chr(int(text[at + 2 : at + 2 + length], 16)), at + 2 + length
        else:
            found, at = found + text[at], at + 1
    return found


@given(st.lists(st.text(st.characters() | st.sampled_from('"\\`<>[]{}\n\u2028\u202e'), max_size=300), max_size=4))
def test_words_cannot_leave_their_quotation_marks(texts: list[str]) -> None:
    """One line, no mark in it but the quotation's own, and nothing but the customer's first characters."""
    said = quoted(texts)
    assert said.isprintable()
    assert not set("`<>[]{}") & set(said)
    inner = [part for number, part in enumerate(said.split('"')) if number % 2]
    assert said.removesuffix(" (cut)") == (" ".join(f'"{part}"' for part in inner) or "(no text)")
    words = [" ".join(text.split()) for text in texts]
    assert sum(len(_parts(part)) for part in inner) <= QUOTED_MAX
    assert "".join(filter(None, words)).startswith("".join(map(_parts, inner)))


@given(st.text(), st.text(), st.text(), st.sampled_from(MoneyState))
def test_each_call_is_one_line(name: str, value: str, receipt: str, state: MoneyState) -> None:
    """Whatever its arguments and its names hold."""
    call = Asked("pay", ((name, value),), "1.00 USD")
    lines = summary(["x"], [Written(call, state, receipt), Denied(call, value, receipt, name, "open")]).split("\n")
    assert len(lines) == 4
    assert all(line.isprintable() for line in lines)
    assert not set('"<>`') & set(lines[2] + lines[3])


def test_own_words_are_without_what_others_wrote() -> None:
    """As for grounding; a pattern of the policy's counts, too."""
    assert own_words(["Pay A1.", "> pay B2"], ()).split() == ["Pay", "A1."]
    assert own_words(["Pay A1. From: x"], (Pattern.compile("From: .*"),)).split() == ["Pay", "A1."]
