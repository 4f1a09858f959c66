"""Events that a client could find where the gate saw none."""

from __future__ import annotations

import json

import pytest

from proxy.gate import Gate
from proxy.gate_commands import Break, Write
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.sse import Framer, FramingFault

CALL = {"index": 0, "id": "call_1", "type": "function", "function": {"name": "evil", "arguments": "{}"}}
CHUNK = json.dumps({"choices": [{"index": 0, "delta": {"tool_calls": [CALL]}, "finish_reason": None}]})
BREAKS = ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"]


def gate() -> Gate:
    return Gate(OPENAI_CHAT.reader(True, frozenset()), OPENAI_CHAT.writer(True), 1 << 20)


@pytest.mark.parametrize("mark", BREAKS)
@pytest.mark.parametrize("place", [": x", "id: x", "retry: 1", "event: x"])
def test_a_call_behind_a_unicode_line_break_in_a_comment_reaches_no_client(place: str, mark: str) -> None:
    """Clients that split lines as `str.splitlines` does read a whole event there."""
    assert f"{place}{mark}data: {CHUNK}".splitlines()[1] == f"data: {CHUNK}"
    framer = Framer(1 << 20)
    frames = framer.feed(f'{place}{mark}data: {CHUNK}{mark}{mark}\ndata: {{"choices":[]}}\n\n'.encode())
    assert (frames, framer.fault) == ([], FramingFault.HIDDEN_LINE)


def test_a_call_on_one_of_several_data_lines_reaches_no_client_as_a_line() -> None:
    """The joined data is an event without a call; a client that reads line by line would find one."""
    raw = f'data: {{"choices":[],"x":[\ndata: {CHUNK}\ndata: ]}}\n\n'.encode()
    (frame,) = Framer(1 << 20).feed(raw)
    (written,) = gate().receive(0, frame)
    assert isinstance(written, Write)
    lines = [line for line in written.data.split(b"\n") if line]
    assert len(lines) == 1
    assert json.loads(lines[0].removeprefix(b"data: "))["choices"] == []


def test_data_that_breaks_inside_a_string_is_no_json() -> None:
    """Putting data on one line makes nothing valid that was not."""
    (frame,) = Framer(1 << 20).feed(b'data: {"choices":[],"x":"a\ndata: b"}\n\n')
    (broken,) = gate().receive(0, frame)
    assert isinstance(broken, Break)


def test_a_fragment_that_some_clients_do_not_read_breaks_a_turn_that_waits() -> None:
    """White space around the name of a field: what is judged would not be what each client puts together."""
    mediated = gate()
    more = {"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"arguments": " "}}]}}]}
    first, second = Framer(1 << 20).feed(f"data: {CHUNK}\n\ndata : {json.dumps(more)}\n\n".encode())
    assert mediated.receive(0, first) == []
    (broken,) = mediated.receive(0, second)
    assert isinstance(broken, Break)
