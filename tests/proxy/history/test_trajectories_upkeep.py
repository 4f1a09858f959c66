"""Recorded runs of real agents, turn by turn, under a policy that prunes and ages: valid at every turn."""

from __future__ import annotations

import asyncio
import gzip
import sys
from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest

from interceptors.edits import Edit
from policies import load_policy_text
from proxy.demo.chat_history import chat_refusal
from proxy.history.keeper import Histories, Subject
from proxy.ledger.edits import EditVault
from proxy.ledger.hidden import NOBODY
from proxy.ledger.vault import Vault
from proxy.wire.openai_chat import OPENAI_CHAT

RUNS = Path(__file__).parents[4] / "shared" / "trajectories"
NAMES = (
    *("tau_airline", "tau_retail", "tau_telecom"),
    *("agentdojo_banking", "agentdojo_slack", "agentdojo_travel", "agentdojo_workspace"),
)
EACH = 12  # runs of a file, spread over it
POLICY = load_policy_text("""
language: 1
policy: p
resume_after: 30m
tools:
  get_reservation_details:
    effect: read
    reads: {r: args.reservation_id}
    result: {keep: [status, cabin, flights], max_bytes: 2000}
  get_user_details: {effect: read, result: {drop: [payment_methods], fresh_for: 0, errors: standard}}
  get_order_details:
    effect: read
    reads: {o: args.order_id}
    result: {keep: [status, "items[*].item_id"], fresh_for: 5m}
  get_product_details: {effect: read, result: {max_bytes: 1000, max_items: 3}}
  get_details_by_id: {effect: read, result: {max_bytes: 100, errors: standard}}
  cancel_reservation: {effect: write, writes: {r: args.reservation_id}}
  update_reservation_flights: {effect: write, writes: {r: args.reservation_id}}
  modify_pending_order_items: {effect: write, writes: {o: args.order_id}, result: {max_bytes: 400}}
  get_most_recent_transactions: {effect: read, result: {max_bytes: 300, fresh_for: 0}}
  read_file: {effect: read, result: {fresh_for: 0, errors: standard}}
  send_money: {effect: write, result: {errors: standard}}
  get_webpage: {effect: read, reads: {url: args.url}, result: {max_bytes: 100, errors: standard}}
  read_channel_messages: {effect: read, reads: {channel: args.channel}, result: {fresh_for: 1m}}
  send_channel_message: {effect: write, writes: {channel: args.channel}}
  get_channels: {effect: read, result: {max_bytes: 64}}
  get_rating_reviews_for_hotels: {effect: read, result: {max_bytes: 200}}
  get_hotels_prices: {effect: read, result: {fresh_for: 0}}
  list_files: {effect: read, result: {max_bytes: 400}}
  search_files_by_filename: {effect: read, result: {max_bytes: 200, fresh_for: 0}}
  search_emails: {effect: read, result: {max_bytes: 200}}
  get_day_calendar_events: {effect: read, result: {max_bytes: 200, fresh_for: 1m}}
""")


AGAIN = [
    {"role": "user", "content": "And now?"},
    {"role": "assistant", "content": "As before."},
    {"role": "user", "content": "Thanks."},
]
"""Some runs have one text of the user's: here the customer comes back."""


@dataclass(slots=True)
class Clock:
    now: datetime = datetime(2026, 11, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


def runs(name: str) -> list[list[dict[str, Any]]]:
    found = RUNS / f"{name}.open.jsonl.gz"
    if not found.is_file():
        pytest.skip(f"{found} is not there")
    rows = [line for line in gzip.decompress(found.read_bytes()).split(b"\n") if line]
    talks = [orjson.loads(row)["messages"] for row in rows[:: max(1, len(rows) // EACH)]]
    return [[*messages, *AGAIN] if messages[-1]["role"] == "assistant" else messages for messages in talks]


def is_sendable(messages: list[dict[str, Any]]) -> bool:
    """Whether a client would send this, and a provider would take it, without a gate."""
    return messages[-1]["role"] in ("user", "tool") and chat_refusal({"model": "m", "messages": messages}) is None


@pytest.mark.parametrize("name", NAMES)
async def test_every_turn_is_valid_and_extends_the_last(tmp_path: Path, name: str) -> None:
    """Each request goes up valid, the same when it is repeated, also by a gate that was just started, and differs from
    the one before it in earlier messages only where a user's text came in. An hour goes by before every third one."""
    vault, clock = await asyncio.to_thread(Vault, tmp_path, 1e6), Clock()
    histories, sent = Histories(EditVault(vault), clock), 0
    edits: Counter[Edit] = Counter()
    for number, messages in enumerate(await asyncio.to_thread(runs, name)):
        before: list[Any] = []
        for length in range(1, len(messages) + 1):
            if not is_sendable(messages[:length]):
                continue
            clock.now += timedelta(minutes=61 if sent % 3 == 2 else 1)
            body = orjson.dumps({"model": "m", "user": str(number), "messages": messages[:length]})
            up = await histories.lift(OPENAI_CHAT, body, POLICY, Subject("t", NOBODY))
            if sent % 5 == 0:
                histories = Histories(EditVault(vault), clock)
            again = await histories.lift(OPENAI_CHAT, body, POLICY, Subject("t", NOBODY))
            assert up.body == again.body
            said = orjson.loads(up.body)
            assert chat_refusal(said) is None
            if messages[length - 1]["role"] == "tool" and messages[length - 2]["role"] != "user":
                assert said["messages"][: len(before)] == before
            before, sent = said["messages"], sent + 1
            edits.update(up.fresh)
    await asyncio.to_thread(vault.close)
    sys.stderr.write(f"{name}: {sent} requests, {dict(edits)}\n")
    assert sent > 50
    assert edits[Edit.PRUNED]
    assert edits[Edit.STALE]
