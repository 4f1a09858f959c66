"""What an escalation tool answered is told in the result of the call that it stands for, and stands nowhere else."""

from __future__ import annotations

import orjson

from interceptors.results import HANDED_OVER
from proxy.ledger.handed_over import taken_over
from proxy.wire.chat_turn import ChatContinuation
from proxy.wire.transcript import HiddenResult

OWN = HiddenResult("c1", "pay", "function", '{"isError":true,"handedOver":{"to":"h"}}', answer_of="c1")


def test_the_answer_moves_into_the_result() -> None:
    """The client's own result of that call goes, and its neighbour stays."""
    calls = [{"id": name, "type": "function", "function": {"name": name, "arguments": "{}"}} for name in ("c1", "c2")]
    messages = [
        {"role": "user", "content": "x"},
        {"role": "assistant", "tool_calls": calls},
        {"role": "tool", "tool_call_id": "c1", "content": "ticket 1"},
        {"role": "tool", "tool_call_id": "c2", "content": "done"},
    ]
    transcript = ChatContinuation().transcript(orjson.dumps({"messages": messages}))
    raw, [told] = taken_over(transcript, 2, list(transcript.messages[2:]), [OWN])
    assert [orjson.loads(each)["tool_call_id"] for each in raw] == ["c2"]
    assert orjson.loads(told.content)[HANDED_OVER] == {"to": "h", "answer": "ticket 1"}


def test_without_an_answer_the_result_stands_as_it_is() -> None:
    """A client that went on without running it: its own results stay, and the refusal is told."""
    result = {"role": "tool", "tool_call_id": "c2", "content": "done"}
    transcript = ChatContinuation().transcript(orjson.dumps({"messages": [result]}))
    assert taken_over(transcript, 0, list(transcript.messages), [OWN]) == (list(transcript.messages), [OWN])
