"""What is remembered of how histories begin: the same bytes as without it, whatever comes, bounded, and forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast
from unittest.mock import patch

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from proxy.ledger import beginnings
from proxy.ledger.hidden import NOBODY, Asker, Hidden, root_of
from proxy.ledger.keeper import Prepared, _prepared
from proxy.ledger.outline import outlined
from proxy.ledger.restoring import Restoring
from proxy.wire import envelope
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from proxy.wire.seal import may_be_sealed, sealed
from proxy.wire.transcript import HiddenResult, SideTurn

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from proxy.ledger.outline import Place
    from proxy.ledger.vault import Vault
    from proxy.wire.dialect import Dialect

Message = dict[str, Any]
MARKS = ("", "h0", "h1", "h2")
DIALECTS = (ANTHROPIC_MESSAGES, OPENAI_CHAT)


class Kept:
    """A vault in memory."""

    def __init__(self, entries: Sequence[Hidden]) -> None:
        self.entries = list(entries)
        self.number = 0

    def generation(self) -> int:
        return self.number

    def knows(self, _: str, root: bytes) -> bool:
        return any(each.root == root for each in self.entries)

    def find(self, _: str, places: Collection[Place], root: bytes | None = None) -> dict[Place, list[Hidden]]:
        found: dict[Place, list[Hidden]] = {}
        for each in self.entries:
            if (each.before, each.visible) in places:
                found.setdefault((each.before, each.visible), []).append(each)
        return found

    def touch(self, *_: Any) -> None:
        pass


def restoring(kept: Kept) -> Restoring:
    return Restoring(cast("Vault", kept), lambda: cast("Any", None))


def request(dialect: Dialect, messages: list[Message], *, spaced: bool = False, lenient: bool = False) -> bytes:
    binding = {"block_binding": {"prefix_mismatch_behavior": "drop_block"}} if lenient else {}
    body = {"model": "m", "system": "s", "messages": messages, "thinking": {"type": "enabled", **binding}, "n": 1}
    return orjson.dumps(body, option=orjson.OPT_INDENT_2) if spaced else orjson.dumps(body)


def asked(one: Restoring, dialect: Dialect, body: bytes, asker: Asker = NOBODY) -> Prepared:
    member = envelope.members(body)["messages"]
    found = one.request(dialect, body, member, "t", asker, is_sealed=may_be_sealed(body))
    return Prepared(body, body) if found is None else _prepared(body, *found)


def hidden_at(dialect: Dialect, messages: list[Message], number: int, name: str, depends: str = "") -> Hidden | None:
    """The hidden turn in the place of that assistant turn."""
    transcript = dialect.continuation.transcript(request(dialect, messages))
    steps = [step for step in outlined(transcript.turns()) if step.place is not None]
    if not steps:
        return None
    place = steps[number % len(steps)].place
    assert place is not None
    said = [{"role": "assistant", "content": f"hidden {name}"}]
    result = HiddenResult(f"call {name}", "tool", "function", '{"isError":true}')
    results = (result,) if number % 2 else ()
    made = tuple(map(orjson.dumps, said))
    order = (result.call,) if results else ()
    return Hidden(name, root_of(transcript.opening()), *place, made, results, order, depends=depends)


def user(text: str) -> Message:
    return {"role": "user", "content": text}


def results(text: str) -> Message:
    return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": text}]}


def said(text: str, marks: Sequence[str]) -> Message:
    blocks: list[Message] = [
        {"type": "thinking", "thinking": "t", "signature": sealed(mark, "c2ln") if mark else "c2ln"} for mark in marks
    ]
    return {"role": "assistant", "content": [*blocks, {"type": "text", "text": text}]}


_texts = st.sampled_from(["a", "b", "ü\u2028"])
_message = st.one_of(
    st.builds(user, _texts),
    st.builds(results, _texts),
    st.builds(said, _texts, st.lists(st.sampled_from(MARKS), max_size=2)),
    st.builds(lambda text: {"role": "system", "content": text}, _texts),
)
_messages = st.lists(_message, max_size=5)


@settings(max_examples=150)
@given(_messages, st.lists(st.tuples(st.integers(0, 9), _messages), min_size=1, max_size=4), st.data())
def test_the_same_bytes_go_up_whatever_is_remembered(
    first: list[Message], steps: list[tuple[int, list[Message]]], data: st.DataObject
) -> None:
    """Histories that grow, are rewound and fork; entries that come, go and change; clients that space their JSON."""
    dialect = data.draw(st.sampled_from(DIALECTS))
    talk = [user("x"), *first]
    for back, more in steps:
        talk = [*talk[: max(1, len(talk) - back)], *more]
    kept = Kept([])
    memory = restoring(kept)
    history = [user("x"), *first]
    for back, more in steps:
        history = [*history[: max(1, len(history) - back)], *more]
        if data.draw(st.booleans()):
            name = data.draw(st.sampled_from(MARKS[1:]))
            entry = hidden_at(dialect, history, data.draw(st.integers(0, 5)), name, data.draw(st.sampled_from(MARKS)))
            kept.entries += [] if entry is None else [entry]
        if kept.entries and data.draw(st.integers(0, 5)) == 0:
            kept.entries.pop(0)
            kept.number += data.draw(st.integers(0, 1))
        spaced, lenient = (data.draw(st.integers(0, 5)) == 0 for _ in range(2))
        body = request(dialect, history, spaced=spaced, lenient=lenient)
        asker = data.draw(st.sampled_from([Asker(), Asker("ada", "one"), Asker("", "two")]))
        for _ in range(2):
            assert asked(memory, dialect, body, asker) == asked(restoring(kept), dialect, body, asker)


def talking(count: int, marks: Sequence[str] = ()) -> list[Message]:
    return [each for n in range(count) for each in (user(f"u{n}"), said(f"a{n}", marks))]


@pytest.mark.parametrize("marks", [(), ("h1",)], ids=["plain", "thinking"])
def test_a_history_that_came_before_is_neither_split_nor_read(marks: Sequence[str]) -> None:
    """Only what stands behind it is: its newest turn, and what is new."""
    dialect = ANTHROPIC_MESSAGES
    talk = talking(40)
    entry = hidden_at(dialect, talk, 1, "h1")
    assert entry is not None
    talk = [*talk[:4], *talking(40, marks)[4:]]
    memory = restoring(Kept([entry]))
    first = asked(memory, dialect, request(dialect, [*talk, user("more")]))
    read: list[str] = []
    meaning = SideTurn.meaning

    def counted(turn: SideTurn) -> bytes:
        read.extend(turn.texts)
        return meaning(turn)

    further = [*talk, user("more"), said("yes", marks), user("again")]
    with (
        patch.object(SideTurn, "meaning", counted),
        patch.object(memory, "_whole", side_effect=AssertionError("it was read as a whole")),
    ):
        body = asked(memory, dialect, request(dialect, further)).body
        assert read == ["more", "yes", "again"]
    prefix = first.body[: first.body.index(b'"more"')]
    assert body.startswith(prefix)
    assert b"hidden h1" in body
    assert b"cg1." not in body


def test_what_is_remembered_is_nobody_elses() -> None:
    """Another tenant's history, and that of another dialect, begin in the same bytes."""
    talk = [*talking(3), user("more")]
    entry = hidden_at(ANTHROPIC_MESSAGES, talk, 1, "h1")
    assert entry is not None
    memory = restoring(Kept([entry]))
    body = request(ANTHROPIC_MESSAGES, talk)
    asked(memory, ANTHROPIC_MESSAGES, body)
    member = envelope.members(body)["messages"]
    assert memory.beginnings.longest(b"anthropic-messages\0t", member) is not None
    assert memory.beginnings.longest(b"anthropic-messages\0u", member) is None
    assert memory.beginnings.longest(b"openai-chat\0t", member) is None


def test_it_ends_with_what_is_removed_from_the_ledger() -> None:
    """Whatever was removed, by whomever: texts of it may be among what is remembered."""
    talk = [*talking(3), user("more")]
    entry = hidden_at(ANTHROPIC_MESSAGES, talk, 1, "h1")
    assert entry is not None
    kept = Kept([entry])
    memory = restoring(kept)
    asked(memory, ANTHROPIC_MESSAGES, request(ANTHROPIC_MESSAGES, talk))
    assert memory.beginnings._known
    kept.entries.clear()
    kept.number += 1
    asked(memory, ANTHROPIC_MESSAGES, request(ANTHROPIC_MESSAGES, [user("another")]))
    assert not memory.beginnings._known
    assert not memory.beginnings._sizes


def test_it_is_bounded() -> None:
    """In turns and in bytes; one conversation that grows is remembered once."""
    entries = []
    for n in range(20):
        one = hidden_at(ANTHROPIC_MESSAGES, [user(f"{n}"), *talking(3)], 1, f"h{n}")
        assert one is not None
        entries.append(one)
    memory = restoring(Kept(entries))
    room = beginnings.Beginnings(places_max=40, text_bytes_max=500)
    memory.beginnings = room
    for n in range(20):
        for length in (5, 7):
            talk = [user(f"{n}"), *talking(3)][:length]
            asked(memory, ANTHROPIC_MESSAGES, request(ANTHROPIC_MESSAGES, talk))
            assert sum(one.count for one in room._known.values()) == room._places <= 40
            texts = [patch.text for one in room._known.values() for patch in one.patches]
            assert sum(map(len, texts)) == room._text_bytes <= 500
            assert sum(room._sizes.values()) == len(room._known)
    assert 1 < len(room._known) < 20
