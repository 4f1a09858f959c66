"""What the reports about other gates are tried on: the product, doubles that fail as those did, mutations of a line."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias
from unittest import mock

from proxy.wire import anthropic_reader, anthropic_writer, assembly, chat_calls, chat_writer, sse
from proxy.wire.events import CallRepeated
from tests.replay import Replay, Rule, replay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from proxy.wire.dialect import Dialect

Subject: TypeAlias = "Callable[[Dialect, Sequence[bytes], Rule, bool], Replay]"


def gate(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    return replay(dialect, chunks, rule, streamed=streamed)


def pass_through(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """Judges as the product does, and sends everything on as it comes: a verdict that comes too late."""
    judged = gate(dialect, chunks, rule, streamed)
    judged.data, judged.writes = b"".join(chunks), list(chunks)
    return judged


def streams_pass(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """A guard that was built for bodies only."""
    return (pass_through if streamed else gate)(dialect, chunks, rule, streamed)


def only_the_end(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """A guard that answers with an empty stream whatever it reads."""
    judged = gate(dialect, chunks, rule, streamed)
    judged.data = b"data: [DONE]\n\n"
    return judged


def chunks_are_events(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """A guard that takes each read of the socket for whole events and swallows what it cannot parse."""
    whole = [chunk for chunk in chunks if chunk.endswith(b"\n\n") and _is_json(chunk)]
    judged = gate(dialect, whole, rule, streamed)
    judged.data = b"".join(chunk for chunk in chunks if chunk not in whole) + judged.data
    return judged


def _is_json(chunk: bytes) -> bool:
    try:
        for line in chunk.split(b"\n"):
            if line.startswith(b"data: {"):
                json.loads(line[6:])
    except ValueError:
        return False
    return True


def raw_where_odd(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """A guard that takes a stream for raw once one event is not what it expects."""
    is_odd = any(b"\n: " in chunk or chunk.startswith(b": ") or b"event: news" in chunk for chunk in chunks)
    return (pass_through if is_odd else gate)(dialect, chunks, rule, streamed)


def without_usage(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
    """A guard that rebuilds the end of a stream and forgets what it cost."""
    judged = gate(dialect, chunks, rule, streamed)
    frames = [frame for frame in judged.data.split(b"\n\n") if frame and b'"usage"' not in frame]
    judged.data = b"\n\n".join([*frames, b""])
    return judged


def mutant(name: str, change: Callable[[], Any]) -> Subject:
    """The product with something replaced while it runs; `change` makes the patch."""

    def subject(dialect: Dialect, chunks: Sequence[bytes], rule: Rule, streamed: bool = True) -> Replay:
        with change():
            return gate(dialect, chunks, rule, streamed)

    subject.__name__ = name
    return subject


@contextmanager
def _unicode_lines() -> Iterator[None]:
    def lines(raw: bytes) -> list[bytes]:
        return [line.encode() for line in raw.decode().splitlines()]

    with mock.patch.object(sse, "_lines", lines), mock.patch.object(sse, "_plain_frame", return_value=None):
        yield


def _append_mention(self: Any, key: Any, call_id: str, name: str) -> None:
    parts = self._parts[key]
    parts.id, parts.name = parts.id + call_id, parts.name + name


def _one_by_content(completed: Any) -> Any:
    first: dict[Any, Any] = {}
    for event in completed:
        said = (event.material.name, event.material.arguments)
        known = first.setdefault(said, event)
        yield event if known is event else CallRepeated(event.key, known.key, event.material)


def _last_slot(self: Any, choice: Any, index: int, number: Any, call_id: str, *, is_body: bool) -> Any:
    if call_id or not choice.slots:
        return chat_calls.Slot(index, len(choice.slots)), False
    return choice.slots[-1], False


def _first_slot(self: Any, choice: Any, index: int, number: Any, call_id: str, *, is_body: bool) -> Any:
    return chat_calls.Slot(index, number or 0), False


def _new_slot(self: Any, choice: Any, index: int, number: Any, call_id: str, *, is_body: bool) -> Any:
    return chat_calls.Slot(index, len(choice.slots)), False


def _as_numbered(survivors: Any, first: int | None) -> dict[str, bytes]:
    return _survivor_members(survivors, (first or 0) + 1)


_survivor_members = chat_writer._survivor_members
_whole_input = anthropic_reader.AnthropicStreamReader._delta


def _falsy_is_unknown(self: Any, frame: Any, value: Any) -> Any:
    if not value["delta"].get("partial_json", "text"):
        raise assembly.StepError
    return _whole_input(self, frame, value)


unicode_lines = mutant("unicode_lines", _unicode_lines)
names_appended = mutant("names_appended", lambda: mock.patch.object(assembly.Assembler, "mention", _append_mention))
one_by_content = mutant("one_by_content", lambda: mock.patch.object(chat_calls, "_one_call_an_id", _one_by_content))
last_slot = mutant("last_slot", lambda: mock.patch.object(chat_calls.ChatCalls, "_slot", _last_slot))
first_slot = mutant("first_slot", lambda: mock.patch.object(chat_calls.ChatCalls, "_slot", _first_slot))
new_slot = mutant("new_slot", lambda: mock.patch.object(chat_calls.ChatCalls, "_slot", _new_slot))
not_dense = mutant("not_dense", lambda: mock.patch.object(chat_writer, "_survivor_members", _as_numbered))
falsy_is_unknown = mutant(
    "falsy_is_unknown", lambda: mock.patch.object(anthropic_reader.AnthropicStreamReader, "_delta", _falsy_is_unknown)
)
end_kept = mutant(
    "end_kept",
    lambda: mock.patch.object(anthropic_writer.AnthropicStreamWriter, "_end", lambda self, entry: entry.frame.raw),
)
limits_unknown_chat = mutant("limits_unknown_chat", lambda: mock.patch.object(chat_calls, "LIMIT_REASONS", ()))
limits_unknown_anthropic = mutant(
    "limits_unknown_anthropic", lambda: mock.patch.object(anthropic_reader, "LIMIT_REASONS", ())
)
last_key_wins = mutant(
    "last_key_wins",
    lambda: mock.patch.object(assembly.Assembler, "_parse", lambda self, text: json.loads(text) if text else {}),
)
indexes_kept = mutant(
    "indexes_kept",
    lambda: mock.patch.object(anthropic_writer.AnthropicStreamWriter, "_placed", lambda self, entry: entry.frame.raw),
)
