"""The log holds the fields of its table and no others, one line an exchange, and no secret."""

from __future__ import annotations

import asyncio
import io
import logging
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy import exchange_line
from proxy.exchange_line import TEXT_LENGTH_MAX, ExchangeLine, encoded
from proxy.logs import FIELDS, Event, LibraryHandler, Logs, capture_libraries

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
WHOLE = ExchangeLine(
    exchange="ex_1",
    dialect="anthropic-messages",
    route="/v1/messages",
    method="POST",
    status=200,
    streamed=True,
    model="claude",
    tenant="0123456789abcdef0123456789abcdef",
    identity="bot",
    upstream="anthropic",
    receipts=["rc_1"],
    verdicts=["process_refund:forbid:over_limit"],
    hold_ms=3,
    duration_ms=100,
    bytes_up=10,
    bytes_down=20,
    outcome="completed",
    error="upstream lost",
    conversation="c0ffee",
    restored=1,
    taken_out=1,
    ambiguous=2,
)


@pytest.fixture
def sink() -> io.BytesIO:
    return io.BytesIO()


@pytest.fixture
def logs(sink: io.BytesIO) -> Logs:
    return Logs(sink, clock=lambda: NOW)


def _line(exchange: str = "ex_1", **named: Any) -> ExchangeLine:
    stated = {"status": 0, "streamed": False, "duration_ms": 0, "bytes_up": 0, "bytes_down": 0}
    return ExchangeLine(exchange=exchange, **{**stated, **named})


def _lines(sink: io.BytesIO) -> list[dict]:
    return [orjson.loads(line) for line in sink.getvalue().split(b"\n") if line]


def test_an_exchange_is_one_line_with_every_field_that_it_has(sink: io.BytesIO, logs: Logs) -> None:
    """The tenant is shortened; the rest stands as it is."""
    logs.exchange(WHOLE)

    (line,) = _lines(sink)
    expected = {name: getattr(WHOLE, name) for name in ExchangeLine.__struct_fields__}
    expected |= {"tenant": "0123456789ab", "event": "exchange", "level": "info", "listener": "agent"}
    assert line == expected | {"time": "2026-03-01T12:00:00.000+00:00"}


def test_what_is_empty_is_left_out_but_for_the_numbers_that_mean_something(sink: io.BytesIO, logs: Logs) -> None:
    """A status of 0 says that the client got none."""
    logs.exchange(_line())

    (line,) = _lines(sink)
    assert line.keys() == {
        *("event", "level", "time", "listener", "exchange"),
        *("status", "streamed", "duration_ms", "bytes_up", "bytes_down"),
    }


def test_the_table_of_fields_is_closed(logs: Logs) -> None:
    """What has no row has no place; each field of an exchange has a row."""
    with pytest.raises(ValueError, match="no fields"):
        logs.event(Event.STARTED, arguments={"amount": 1})
    assert set(ExchangeLine.__struct_fields__) <= FIELDS.keys()
    assert all(FIELDS.values())


@pytest.mark.parametrize("event", list(Event))
def test_each_event_is_written_with_its_level(sink: io.BytesIO, logs: Logs, event: Event) -> None:
    """None of them is below what is written."""
    logs.event(event)

    (line,) = _lines(sink)
    assert (line["event"], line["level"]) == (event.value, event.level)


@given(text=st.text())
def test_a_line_stays_a_line_and_has_a_bound(text: str) -> None:
    """Whatever a client names its model, it begins no line and fills no disk."""
    sink = io.BytesIO()
    clean = text.encode("utf-8", "replace").decode()
    Logs(sink, clock=lambda: NOW).exchange(_line(model=clean * 3))

    assert sink.getvalue().count(b"\n") == 1
    assert len(_lines(sink)[0].get("model", "")) <= TEXT_LENGTH_MAX


_SHORT = st.text(st.characters(max_codepoint=0x2FF), max_size=20)
_COUNTS = st.sampled_from((0, 1, 2**40))
_NAMED = {
    **dict.fromkeys(("dialect", "route", "method", "model", "upstream", "conversation", "outcome", "error"), _SHORT),
    **dict.fromkeys(("status", "duration_ms", "bytes_up", "bytes_down", "restored", "taken_out", "ambiguous"), _COUNTS),
    "streamed": st.booleans(),
    "tenant": st.sampled_from(("", "c0ffee", "0123456789ab", "0123456789abc")),
    "identity": st.one_of(st.none(), _SHORT),
    "receipts": st.lists(_SHORT, max_size=1),
    "verdicts": st.lists(_SHORT, max_size=1),
    "hold_ms": st.one_of(st.none(), _COUNTS),
}


@given(named=st.fixed_dictionaries({}, optional=_NAMED))
def test_a_line_that_is_written_as_it_stands_is_the_line_that_is_told_field_by_field(named: dict[str, Any]) -> None:
    """Which of the two ways a line is written shows in none of its bytes."""
    line = _line(**named)
    quick = encoded("2026-03-01T12:00:00.000+00:00", line)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange_line, "_is_plain", lambda _: False)
        assert encoded("2026-03-01T12:00:00.000+00:00", line) == quick


def test_a_lone_surrogate_does_not_break_the_log(sink: io.BytesIO, logs: Logs) -> None:
    """It is replaced, and the line is written."""
    logs.exchange(_line(model="a\ud800b"))

    assert _lines(sink)[0]["model"] == "a?b"


def test_a_sink_that_fails_is_counted_and_does_not_raise() -> None:
    """A full disk behind standard error does not change what is decided."""

    class Full(io.BytesIO):
        def write(self, data: bytes, /) -> int:
            raise OSError(28, "no space left")

    counted: list[int] = []
    logs = Logs(Full(), clock=lambda: NOW, broken=lambda: counted.append(1))

    logs.exchange(WHOLE)

    assert counted == [1]


def test_what_libraries_log_is_reduced_to_who_and_what_kind(sink: io.BytesIO, logs: Logs) -> None:
    """A parser's error quotes the header that it could not read: it may be the key."""
    root = logging.getLogger()
    before, level, raising = list(root.handlers), root.level, logging.raiseExceptions
    handler = capture_libraries(logs)
    error = ValueError("x-api-key: sesame")
    try:
        logging.getLogger("aiohttp.server").error("bad header %s", "x-api-key: sesame", exc_info=error)
        logging.getLogger("aiohttp.access").info("GET /?key=sesame")
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
        logging.raiseExceptions = raising
        for other in before:
            root.addHandler(other)

    assert isinstance(handler, LibraryHandler)
    assert b"sesame" not in sink.getvalue()
    (line,) = _lines(sink)
    assert (line["event"], line["logger"], line["kind"]) == ("library", "aiohttp.server", "ValueError")


async def test_lines_of_exchanges_wait_for_each_other_and_are_not_overtaken(sink: io.BytesIO) -> None:
    """They are written together a moment later, each with its own time; any other line is written behind them."""
    times = iter([NOW, NOW + timedelta(seconds=1), NOW + timedelta(seconds=2), NOW + timedelta(seconds=3)])
    logs = Logs(sink, clock=lambda: next(times), linger_seconds=0.01)

    logs.exchange(_line())
    logs.exchange(_line("ex_2"))
    assert sink.getvalue() == b""
    logs.event(Event.DRAINING)
    assert [line.get("exchange") for line in _lines(sink)] == ["ex_1", "ex_2", None]
    logs.exchange(_line("ex_3"))
    await asyncio.sleep(0.05)

    seconds = [int(line["time"][17:19]) for line in _lines(sink)]
    assert ([line.get("exchange") for line in _lines(sink)], seconds) == (["ex_1", "ex_2", None, "ex_3"], [0, 1, 2, 3])
