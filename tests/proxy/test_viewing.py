"""What is seen of a request whose beginning is known is what is seen of the whole of it, whatever comes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from proxy.viewing import Viewing
from proxy.wire import envelope, stem, tail
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.anthropic_vertex import ANTHROPIC_ON_VERTEX
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.registry import DIALECTS
from proxy.wire.seal import may_be_sealed
from proxy.wire.stem import NO_STEMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from proxy.wire.dialect import Dialect, RequestView

KNOWING = (ANTHROPIC_MESSAGES, OPENAI_CHAT, ANTHROPIC_ON_VERTEX)


@pytest.fixture(autouse=True)
def _short_ones_too() -> Iterator[None]:
    with patch("proxy.viewing.LONG_BYTES", 0), patch.object(stem, "LONG_BYTES", 0):
        yield


def seen(viewing: Viewing | None, dialect: Dialect, body: bytes, tenant: str = "t") -> tuple[Any, ...] | str:
    """Everything that is read of a request: by `viewing`, or without it."""
    try:
        view = dialect.request(body) if viewing is None else viewing.view(dialect, body, tenant=tenant)
    except envelope.EnvelopeError as error:
        return str(error)
    is_sealed = may_be_sealed(body) if view.is_sealed is None else view.is_sealed
    bare = replace(view, messages=view.stems.whole(body, view.messages), stems=NO_STEMS, opens=None, is_sealed=None)
    return bare, is_sealed, _read(dialect, body, view)


def _read(dialect: Dialect, body: bytes, view: RequestView) -> Any:
    """What is read of the newest turns."""
    if not view.messages.startswith(b"["):
        return None
    read = dialect.continuation.transcript
    try:
        ids = tail.result_ids(view.messages, read)
        said, came = tail.newest(body, view.messages, read)
    except envelope.EnvelopeError as error:
        return re.sub(r"\d+", "N", str(error))  # the newest turns do not say which they are
    return ids, said and (said.calls, said.texts, said.marks), came and (came.results, came.texts)


def text(role: str, said: str) -> dict[str, Any]:
    return {"role": role, "content": said}


def call(number: int) -> dict[str, Any]:
    return {"role": "assistant", "content": [{"type": "tool_use", "id": f"c{number}", "name": "t", "input": {}}]}


def result(number: int, said: str) -> dict[str, Any]:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": f"c{number}", "content": said}]}


TOOL = {"type": "custom", "name": "u", "input_schema": {}}
ODD: list[Any] = [
    {"content": "x", "role": "assistant"},
    {"role": "user", "role2": 1, "content": [{"type": "tool_addition", "tool": {"definition": TOOL}}]},
    {"role": "assistant", "content": [{"type": "thinking", "thinking": "t", "signature": "cg1.h0.c2ln"}]},
    {"role": "user", "content": '"redactedContent"'},
    {"role": "user", "content": [{"type": "document", "redactedContent": "Y2cxLm"}]},
    {"role": "user", "content": [{"type": "text", "text": "q"}, {"role": "assistant", "messages": [{"role": "user"}]}]},
    {"role": "tool", "tool_call_id": "c1", "content": "r"},
    {"role": "nobody"},
    7,
    "x",
    [],
]
_texts = st.sampled_from(["a", "ü\u2028", 'b","messages":[{"role":"user"', "\\", "}]"])
_message = st.one_of(
    st.builds(text, st.sampled_from(["user", "assistant", "system"]), _texts),
    st.builds(call, st.integers(0, 3)),
    st.builds(result, st.integers(0, 3), _texts),
    st.sampled_from(ODD),
)
_behind: list[dict[str, Any]] = [
    {},
    {"stream": True},
    {"metadata": {"user_id": "m"}, "tools": [TOOL]},
    {"metadata": {"messages": [{"role": "user"}, {"role": "assistant"}]}},
]


def request(messages: list[Any], behind: dict[str, Any], *, spaced: bool, first: bool) -> bytes:
    head = {} if first else {"model": "m", "system": 's"messages":[', "tools": [TOOL]}
    return orjson.dumps({**head, "messages": messages, **behind}, option=orjson.OPT_INDENT_2 if spaced else 0)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 4), st.lists(_message, max_size=4)), min_size=1, max_size=6), st.data())
def test_the_same_is_seen_whatever_is_known(steps: list[tuple[int, list[Any]]], data: st.DataObject) -> None:
    """Histories that grow, are rewound and fork; other members, spaces, odd messages, and bytes that break the JSON."""
    viewing = Viewing(stems_max=data.draw(st.sampled_from([2, 100])))
    dialect = data.draw(st.sampled_from(KNOWING))
    first = data.draw(st.booleans())
    history: list[Any] = [text("user", "x"), text("assistant", "y"), text("user", "z")]
    for back, more in steps:
        history = [*history[: max(1, len(history) - back)], *more]
        spaced = data.draw(st.integers(0, 6)) == 0
        body = request(history, data.draw(st.sampled_from(_behind)), spaced=spaced, first=first)
        if data.draw(st.integers(0, 3)) == 0:
            at = data.draw(st.integers(max(0, len(body) - 60), len(body)))
            junk = data.draw(
                st.sampled_from([b"", b",", b"]", b"}", b'"', b',"messages":[]', b" ", b"\xff", b"\\u0061"])
            )
            body = body[:at] + junk + body[at + data.draw(st.integers(0, 2)) :]
        for _ in range(2):
            assert seen(viewing, dialect, body) == seen(None, dialect, body)


def test_a_history_that_goes_on_is_known() -> None:
    """Only what stands behind the stem is looked at, and the next stem ends before the newest turn of the model's."""
    viewing = Viewing()
    history = [text("user", "x"), call(1), result(1, "r")]
    sizes = []
    for number in range(2, 5):
        body = request(history, {}, spaced=False, first=False)
        view = viewing.view(ANTHROPIC_MESSAGES, body, tenant="t")
        sizes.append(len(view.messages))
        assert (view.stems.known is None) is (number == 2)
        assert view.stems.newest is not None
        history += [call(number), result(number, "r")]
    assert sizes[1] == sizes[2]


def test_what_one_tenant_sent_is_not_known_of_another() -> None:
    """Nor what was sent in another dialect."""
    viewing = Viewing()
    body = request([text("user", "x"), text("assistant", "y"), text("user", "z")], {}, spaced=False, first=False)
    viewing.view(ANTHROPIC_MESSAGES, body, tenant="t")
    assert viewing.view(ANTHROPIC_MESSAGES, body, tenant="t").stems.known is not None
    assert viewing.view(ANTHROPIC_MESSAGES, body, tenant="other").stems.known is None
    assert viewing.view(ANTHROPIC_ON_VERTEX, body, tenant="t").stems.known is None


@pytest.mark.parametrize(
    "rest",
    [
        b"]}",
        b"7]}",
        b'{"role":"user","content":"z"}]}',
        b' {"role":"assistant","content":"z"}]}',
        b'{"role":"assistant","content":"z"}',
        b'{"role":"assistant","content":"z"}]',
    ],
)
def test_what_follows_a_stem_is_a_message(rest: bytes) -> None:
    """A list that ends behind a comma is none; so is one that does not end."""
    viewing = Viewing()
    body = request([text("user", "x"), text("assistant", "y"), text("user", "z")], {}, spaced=False, first=False)
    (known,) = [viewing.view(ANTHROPIC_MESSAGES, body).stems.newest]
    assert known is not None
    other = body[: known.size + 1] + rest
    assert seen(viewing, ANTHROPIC_MESSAGES, other, "") == seen(None, ANTHROPIC_MESSAGES, other)


def test_a_member_twice_is_refused_on_both_sides_of_the_stem() -> None:
    """One of them stands in what was known before."""
    viewing = Viewing()
    body = request([text("user", "x"), text("assistant", "y"), text("user", "z")], {}, spaced=False, first=False)
    viewing.view(ANTHROPIC_MESSAGES, body)
    for twice in (b',"model":"n"}', b',"messages":[]}'):
        other = body[:-1] + twice
        assert seen(viewing, ANTHROPIC_MESSAGES, other, "") == "the body holds a member twice"


def test_room_is_bounded() -> None:
    """The oldest stems make place."""
    viewing = Viewing(stems_max=3)
    for number in range(10):
        body = request(
            [text("user", f"x{number}"), text("assistant", "y"), text("user", "z")], {}, spaced=False, first=False
        )
        viewing.view(ANTHROPIC_MESSAGES, body)
    assert len(viewing._known) == 3
    assert sum(viewing._sizes.values()) == 3


def test_each_dialect_says_what_its_messages_may_say() -> None:
    """Those that hold their history elsewhere are read as a whole."""
    named = {dialect.name for dialect in DIALECTS if dialect.message_words is not None}
    assert named == {each.name for each in KNOWING}
