"""The framer: any split of the bytes gives the same frames, the same fault, and what the specification says."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proxy.wire.sse import Frame, Framer, FramingError, FramingFault, event_frame, parse_frame

LINES = [
    b"data: {}",
    b"data:{}",
    b"data",
    b"event: ping",
    b"event:a",
    b": comment",
    b":",
    b"id: 1",
    b"retry: 5",
    b" data: x",
    b"data : x",
    "data: a\u2028b\u2029c\u0085d".encode(),
    b"data: \x0b\x0c\x1c\x1d\x1e",
    b"data: [DONE]",
    b"nonsense",
    b"\xef\xbb\xbfdata: x",
    b"data: \xff",
]
wild = st.lists(st.sampled_from([*LINES, b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n", b"x"]), max_size=14).map(
    b"".join
)


def frames_of(parts: list[bytes], frame_bytes_max: int = 1000) -> tuple[list[Frame], FramingFault | None]:
    framer = Framer(frame_bytes_max)
    found = [frame for part in parts for frame in framer.feed(part)]
    last = framer.close()
    return [*found, *([last] if last else [])], framer.fault


def lines_of(data: bytes) -> list[bytes]:
    """Lines by the specification, one byte at a time."""
    lines, line, place = [], b"", 0
    while place < len(data):
        byte = data[place : place + 1]
        if byte in (b"\r", b"\n"):
            place += byte == b"\r" and data[place + 1 : place + 2] == b"\n"
            lines.append(line)
            line = b""
        else:
            line += byte
        place += 1
    return [*lines, line]


def events_of(data: bytes) -> list[tuple[str | None, bytes]]:
    """Events by the specification; what stands behind the last blank line counts, since some clients read it."""
    events: list[tuple[str | None, bytes]] = []
    event: str | None = None
    parts: list[bytes] = []
    for line in [*lines_of(data), b""]:
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if not line:
            if b"\n".join(parts):
                events.append((event, b"\n".join(parts)))
            event, parts = None, []
        elif name.strip() == b"event":
            event = value.decode()
        elif name.strip() == b"data":
            parts.append(value)
    return events


def splits(data: bytes, cuts: list[int]) -> list[bytes]:
    places = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(places)]


@given(wild, st.lists(st.integers(0, 200), max_size=8))
def test_any_split_gives_the_same_frames_and_fault(data: bytes, cuts: list[int]) -> None:
    """G3, for well-formed and broken streams alike."""
    assert frames_of(splits(data, cuts)) == frames_of([data])


@given(wild)
def test_byte_by_byte_gives_the_same_frames_and_fault(data: bytes) -> None:
    """However the bytes are cut, the frames and the fault are the same."""
    assert frames_of([data[place : place + 1] for place in range(len(data))]) == frames_of([data])


@given(wild)
def test_frames_are_the_events_of_the_specification(data: bytes) -> None:
    """And their raw bytes, put together, are the stream: nothing is lost between frames."""
    frames, fault = frames_of([data])
    if fault is None:
        assert b"".join(frame.raw for frame in frames) == data
        assert [(frame.event, frame.data) for frame in frames if frame.data] == events_of(data)
    else:
        assert data.startswith(b"".join(frame.raw for frame in frames))


@pytest.mark.parametrize(
    "data", [b"data: a\r\rdata: b\n\n", b"data: a\r\n\r\ndata: b\n\n", b"\n\n", b"\n", b"\ndata: a\n\n"]
)
def test_what_looks_like_one_frame_is_read_as_its_bytes_are(data: bytes) -> None:
    """A read that ends in its only pair of LF may hold other ends of frames, or nothing but blank lines."""
    assert frames_of([data]) == frames_of([data[place : place + 1] for place in range(len(data))])


@given(
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\r\n")),
    st.sampled_from(["", "\u00e9", "\u2028"]),
)
def test_a_frame_is_read_alike_whatever_ends_its_lines(text: str, more: str) -> None:
    """In every script: one with LF is read by a shorter way than one with CRLF."""
    lines = [f"event: a{more}".encode(), f"data: {text}".encode(), b"", b""]
    plain, other = (frames_of([end.join(lines)]) for end in (b"\n", b"\r\n"))
    assert plain[1] == other[1]
    assert [frame[1:] for frame in plain[0]] == [frame[1:] for frame in other[0]]


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=4))
def test_any_bytes_give_frames_or_a_fault(data: bytes, cuts: list[int]) -> None:
    """Never an exception, and nothing after a fault."""
    framer = Framer(100)
    for part in splits(data, cuts):
        had_fault = framer.fault
        frames = framer.feed(part)
        assert not (had_fault and frames)
        assert framer.pending <= max(100, len(part) + 100) or framer.fault
    framer.close()


@pytest.mark.parametrize("ending", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\u0085", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e"])
def test_only_cr_and_lf_end_a_line(ending: bytes, char: str) -> None:
    """Clients and proxies that split lines by the rules of Unicode tear these events."""
    frames, fault = frames_of([b"data: a" + char.encode() + b"data: b" + ending + ending])
    assert fault is None
    assert [frame.data for frame in frames] == [b"a" + char.encode() + b"data: b"]


@pytest.mark.parametrize(
    ("raw", "fault"),
    [
        (b"data: \xff\n\n", FramingFault.NOT_UTF8),
        (b"data: \xed\xa0\x80\n\n", FramingFault.NOT_UTF8),
        (b"\xef\xbb\xbfdata: {}\n\n", FramingFault.UNKNOWN_FIELD),
        (b"date: {}\n\n", FramingFault.UNKNOWN_FIELD),
        (b"DATA: {}\n\n", FramingFault.UNKNOWN_FIELD),
        (b"data\x00: {}\n\n", FramingFault.UNKNOWN_FIELD),
        (b'data: {"a":\r"b"}\n\n', FramingFault.UNKNOWN_FIELD),
        (b"event: a\nevent: b\ndata: {}\n\n", FramingFault.SEVERAL_EVENTS),
    ],
)
def test_what_two_clients_could_read_differently_is_a_fault(raw: bytes, fault: FramingFault) -> None:
    """Bytes that two conforming readers would take for different events end the stream."""
    with pytest.raises(FramingError) as caught:
        parse_frame(raw)
    assert caught.value.fault is fault
    assert frames_of([raw]) == ([], fault)


@pytest.mark.parametrize("line", [b" data: {}", b"data : {}", b"\tdata: {}", b"event : a\ndata: {}"])
def test_a_disguised_field_is_read_and_marked(line: bytes) -> None:
    """Some clients strip field names and read it, so the gate does; some do not, so it is marked."""
    frame = parse_frame(line + b"\n\n")
    assert frame.data == b"{}"
    assert frame.is_disguised
    assert not parse_frame(b"data: {}\n\n").is_disguised


def test_a_frame_without_its_blank_line_is_read_marked_and_can_be_mended() -> None:
    """A last frame without its blank line is read, is marked as such, and can be written whole."""
    framer = Framer(100)
    assert framer.feed(b"data: {}\n") == []
    last = framer.close()
    assert last is not None
    assert (last.data, last.is_unended, last.raw) == (b"{}", True, b"data: {}\n")
    assert frames_of([last.ended().raw])[0][0].data == b"{}"
    whole = parse_frame(b"data: {}\n\n")
    assert whole.ended() is whole


@pytest.mark.parametrize("tail", [b"", b"\n\n"])
def test_a_frame_past_the_limit_is_a_fault_however_it_arrives(tail: bytes) -> None:
    """G12: bounded, whether the end of the frame came or not."""
    data = b"data: " + b"x" * 100 + tail
    for parts in ([data], [data[:50], data[50:]], [data[place : place + 1] for place in range(len(data))]):
        framer = Framer(100)
        assert [frame for part in parts for frame in framer.feed(part)] == []
        assert framer.fault is FramingFault.TOO_LARGE
    assert frames_of([b"data: " + b"x" * 92 + b"\n\n"], 100)[1] is None


def test_data_lines_are_joined_and_empty_data_is_none() -> None:
    """Several data lines are one text with line feeds; no data is no event."""
    assert parse_frame(b'data: {"a":\ndata: 1}\n\n').data == b'{"a":\n1}'
    assert parse_frame(b"data: \n\n").data is None
    assert parse_frame(b"event: ping\ndata:\n\n").data is None
    assert parse_frame(b": keep-alive\n\n") == Frame(b": keep-alive\n\n", None, None)


@given(st.sampled_from([None, "ping", "content_block_start"]), st.binary(max_size=30))
def test_an_event_that_is_written_is_read_back(event: str | None, data: bytes) -> None:
    """What the writer writes, the reader reads as the same event."""
    data = data.hex().encode()
    frame = parse_frame(event_frame(event, data))
    assert (frame.event, frame.data or b"", frame.is_disguised) == (event, data, False)
