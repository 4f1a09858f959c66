"""Results on their way up, through a running gate, in every dialect: pruned once, errors as such, the same for ever."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from proxy.demo.turns import Call, Dialect, Text, Thinking
from tests.e2e.client import WAYS as EVERY_WAY
from tests.e2e.told import POLICY, told, turn
from tests.e2e.upkeep import document, results, seen

if TYPE_CHECKING:
    from pathlib import Path

Way = tuple[Dialect, bool]
WAYS = (EVERY_WAY[0], EVERY_WAY[3])  # streamed and not, one of each dialect
ways = pytest.mark.parametrize("way", WAYS, ids=["anthropic-stream", "chat-body"])
KEEPS = POLICY.replace("read_allowed: {effect: read}", "read_allowed: {effect: read, result: {keep: [status, paid]}}")
ERRORS = POLICY.replace("read_allowed: {effect: read}", "read_allowed: {effect: read, result: {errors: standard}}")
READ = turn(Thinking("Let me see."), Call("read_allowed"))


@ways
async def test_a_result_is_pruned_once_and_for_ever(tmp_path: Path, way: Way) -> None:
    """A number keeps its spelling, a policy edit prunes nothing anew, and every request extends the one before it."""
    async with told(tmp_path, way, READ, turn(Text("Paid.")), READ, turn(Text("Yes.")), policy=KEEPS) as one:
        await one.ask()
        results(one, '{"id": 7, "paid": 1.50, "status": "sent", "note": "x"}')
        await one.ask()
        assert seen(one) == ['{"paid":1.50,"status":"sent"}']
        one.desk.policy.write_text(KEEPS.replace("[status, paid]", "[id]"))
        one.talk.say("And now?")
        await one.ask()
        results(one, '{"id": 8, "paid": 2}')
        await one.ask()
        assert seen(one) == ['{"paid":1.50,"status":"sent"}', '{"id":8}']
        one.desk.policy.write_text(POLICY)
        one.talk.say("Thanks")
        await one.ask()
        assert seen(one) == ['{"paid":1.50,"status":"sent"}', '{"id":8}']
        one.check()
        edits = [(each["edit"], each["count"]) for each in await one.desk.records() if each["kind"] == "edited"]
        assert edits == [("pruned", 1), ("pruned", 1)]


@ways
async def test_what_was_sent_before_is_not_pruned_by_a_later_policy(tmp_path: Path, way: Way) -> None:
    """The provider has seen it whole; thinking rests on it."""
    async with told(tmp_path, way, READ, turn(Text("Paid.")), policy=POLICY) as one:
        await one.ask()
        results(one, document(status="sent", note="x"))
        await one.ask()
        one.desk.policy.write_text(KEEPS)
        one.talk.say("And now?")
        await one.ask()
        assert seen(one) == [document(status="sent", note="x")]
        one.check()


@ways
async def test_forty_fields_five_times_are_a_fifth(tmp_path: Path, way: Way) -> None:
    """At least 80 % fewer bytes of results go up, and the receipts say how many."""
    steps = [step for number in range(5) for step in (turn(Call("read_allowed", f'{{"n": {number}}}')),)]
    async with told(tmp_path, way, *steps, turn(Text("Done.")), policy=KEEPS) as one:
        whole = {f"field_{number}": f"value {number}" for number in range(38)}
        await one.ask()
        for number in range(5):
            results(one, document(status="sent", paid=number, **whole))
            await one.ask()
        came = 5 * len(document(status="sent", paid=1, **whole))
        assert sum(map(len, seen(one))) <= came / 5
        records = [each for each in await one.desk.records() if each["kind"] == "edited"]
        assert len(records) == 5
        assert records[-1]["bytes_saved"] >= came * 4 / 5
        assert records[-1]["tokens_saved"] == records[-1]["bytes_saved"] // 4
        one.check()


@ways
@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("", "empty"),
        ("null", "empty"),
        ("<!DOCTYPE html><html><title>503 Service Unavailable</title>", "transient"),
        ("<html><head><title>403 Forbidden</title></head>", "permission"),
        ('Traceback (most recent call last):\n  File "a.py", line 1, in f\nKeyError: 1', "permanent"),
        ("Error: connect ETIMEDOUT 10.0.0.1:443", "transient"),
        ('{"statusCode": 422, "message": "order_id is required"}', "validation"),
        ('{"error": {"code": 429, "message": "slow down"}}', "transient"),
    ],
)
async def test_an_error_in_disguise_is_one(tmp_path: Path, way: Way, text: str, category: str) -> None:
    """The model reads a structured error in its place, and the dialect marks it where it has a mark."""
    async with told(tmp_path, way, READ, turn(Text("No.")), policy=ERRORS) as one:
        await one.ask()
        results(one, text)
        await one.ask()
        (found,) = seen(one)
        assert orjson.loads(found)["errorCategory"] == category
        if way[0] is Dialect.ANTHROPIC:
            assert one.messages()[-1]["content"][0]["is_error"] is True
        one.check()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("keep: [status]", "keep: [note]"),
        ("drop: [status]", "drop: [note]"),
        ("max_items: 1", "max_items: 2"),
        ("max_bytes: 64", "max_bytes: 65"),
        ("drop: [x]", "drop: [x], errors: standard"),
        ("errors: [{match: sent, as: transient}]", "errors: [{match: lost, as: transient}]"),
        ("errors: [{match: sent, as: transient}]", "errors: [{match: sent, as: permanent}]"),
    ],
)
async def test_each_key_alone_changes_what_goes_up(tmp_path: Path, before: str, after: str) -> None:
    """The same result under two policies that differ in it."""
    found = []
    for name, said in (("before", before), ("after", after)):
        text = POLICY.replace("read_allowed: {effect: read}", f"read_allowed: {{effect: read, result: {{{said}}}}}")
        async with told(tmp_path / name, WAYS[1], READ, turn(Text("No.")), policy=text) as one:
            await one.ask()
            results(one, document(status="sent", statusCode=503, message="x" * 60, lines=[1, 2]))
            await one.ask()
            found += seen(one)
    assert found[0] != found[1]


@ways
async def test_what_is_no_error_passes_as_it_came(tmp_path: Path, way: Way) -> None:
    """Byte for byte, whatever words stand in it."""
    text = '{"status": "error-free", "note": "503 seats, timed out never"}'
    async with told(tmp_path, way, READ, turn(Text("No.")), policy=ERRORS) as one:
        await one.ask()
        results(one, text)
        await one.ask()
        assert seen(one) == [text]
        assert one.sent[-1].startswith(one.talk.body()[:20])
