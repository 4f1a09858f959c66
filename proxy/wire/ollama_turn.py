"""An Ollama turn that goes on: put together again, continued upstream, and joined for the client (WIRE.md 8.6 e)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.events import TEXT_KIND, TextKey
from proxy.wire.ollama_transcript import OllamaTranscript, result_message, turns_of
from proxy.wire.ollama_types import CALLS, WrongShapeError, calls_of, message_of, unknown
from proxy.wire.ollama_writer import GLUE, as_left
from proxy.wire.sse import Frame
from proxy.wire.transcript import HiddenResult, Side, SideTurn
from proxy.wire.turn import NOTHING, remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material, Released

_SUMMED: Final = ("eval_count", "eval_duration", "load_duration", "prompt_eval_duration", "total_duration")


class OllamaContinuation:
    references = None

    def transcript(self, body: bytes) -> OllamaTranscript:
        return OllamaTranscript(body)

    def recorder(self, streamed: bool, blocks_before: int = 0) -> OllamaTurn:  # noqa: ARG002 - calls have their own keys
        return OllamaTurn()

    def splice(self, streamed: bool) -> OllamaSplice:
        return OllamaSplice(streamed)

    def results(self, results: Sequence[HiddenResult]) -> list[bytes]:
        calls = [result_message(result) for result in results if result.kind != TEXT_KIND]
        texts = [remarked(result.content) for result in results if result.kind == TEXT_KIND]
        return [*calls, *(envelope.encode({"role": "user", TEXT_KIND: text}) for text in texts)]

    def named(self, entries: Sequence[FrameRead]) -> None:
        """Each request holds its whole history."""

    def said(self, text: str) -> bytes:
        return envelope.encode({"role": "assistant", TEXT_KIND: text})

    def visible(self, messages: Sequence[bytes]) -> SideTurn:
        found = turns_of(messages)
        return found[0] if found else SideTurn(Side.ASSISTANT, 0, 0)

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        members = envelope.members(body)
        options = envelope.value_of(members["options"]) if "options" in members else None
        bound = options.get("num_predict") if isinstance(options, dict) else None
        if type(bound) is int and bound > 0:  # below it there is none
            if bound <= output_tokens:
                return None
            members["options"] = envelope.edited(members["options"], num_predict=bound - output_tokens)
        own = envelope.list_or_none(members.get("messages", b"[]"))
        members["messages"] = envelope.join_list([*own, *messages])
        return envelope.join(members)


class OllamaTurn:
    """The recorder of one leg."""

    def __init__(self) -> None:
        self.entries: list[FrameRead] = []
        self._calls: dict[Key, Material] = {}

    def add(self, entry: FrameRead) -> None:
        self.entries.append(entry)

    def complete(self, key: Key, material: Material) -> None:
        self._calls[key] = material

    def output_tokens(self) -> int:
        return next(filter(None, (_used(_value(entry)).get("eval_count", 0) for entry in reversed(self.entries))), 0)

    def message(
        self, replaced: Mapping[Key, str], hidden: Collection[Key] = (), injected: Mapping[Key, Released] = NOTHING
    ) -> bytes | None:
        texts: list[str] = []
        thinking: list[str] = []
        calls: list[bytes] = []
        left_out, unplaced = {*replaced, *hidden}, dict(replaced)
        for entry in self.entries:
            message = _value(entry).get("message") or {}
            keys = deque(key for key in entry.keys if not isinstance(key, TextKey))
            if unknown(message) or message.get("images") or any(key not in self._calls for key in keys):
                return None
            silent = next((key for key in entry.keys if isinstance(key, TextKey) and key in left_out), None)
            texts.append(unplaced.pop(silent, "") if silent is not None else message.get(TEXT_KIND) or "")
            thinking.append(message.get("thinking") or "")
            for raw in _raw_calls(entry) if keys else ():
                key = keys.popleft()
                if key in injected:
                    raw = as_left(raw, injected[key].applied(self._calls[key]))  # noqa: PLW2901 - the same call
                if key not in left_out:
                    calls.append(raw)
                elif key in unplaced:
                    texts.append(_apart(texts, unplaced.pop(key)))
        for text in unplaced.values():
            texts.append(_apart(texts, text))
        said = "".join(texts)
        if not said and not calls:
            return None
        members = {"role": b'"assistant"', TEXT_KIND: envelope.encode(said)}
        if thought := "".join(thinking):
            members["thinking"] = envelope.encode(thought)
        return envelope.join(members | ({CALLS: envelope.join_list(calls)} if calls else {}))


class OllamaSplice:
    """Lines go on where the last leg ended; a body states what was said before it; the last one states all usage."""

    blocks_before = 0

    def __init__(self, streamed: bool) -> None:
        self._streamed = streamed
        self._said = ""  # what the client reads of the legs before
        self._needs_glue = False
        self._before: dict[str, int] = {}

    def ends(self, entry: FrameRead) -> bool:
        value = _value(entry)
        message = value.get("message") or {}
        says = (message.get(TEXT_KIND) and not _is_silent(entry)) or message.get("thinking")
        return not self._streamed or (value.get("done") is True and not says)

    def next_leg(self, entries: Sequence[FrameRead], kept_back: Sequence[FrameRead]) -> None:  # noqa: ARG002 - among them
        said = [(_value(entry).get("message") or {}).get(TEXT_KIND) or "" for entry in entries if not _is_silent(entry)]
        if self._streamed:
            self._needs_glue |= any(said)
        else:
            self._said = "".join(said)  # of a later leg it holds those before it
        for entry in entries:
            self._before |= _used(_value(entry))

    def join(self, frame: Frame) -> Frame | None:
        value = _parsed(frame)
        if not value:
            return frame
        data = frame.data or b""
        changes: dict[str, Any] = {
            name: count + self._before.get(name, 0) for name, count in _used(value).items() if self._before.get(name)
        }
        own = (value.get("message") or {}).get(TEXT_KIND) or ""
        before = self._said if not self._streamed else ""
        if (own and self._needs_glue) or before:
            text = f"{before}{GLUE}{own}" if own else before
            changes["message"] = envelope.edited(envelope.members(data)["message"], content=text)
            self._needs_glue = False
        if not changes:
            return frame
        data = envelope.edited(data, **changes)
        return Frame(data + b"\n" if self._streamed else data, None, data)


def _apart(before: Sequence[str], text: str) -> str:
    """As the writer sets a reply apart from what was said before it."""
    return (GLUE if text and any(before) else "") + text


def _raw_calls(entry: FrameRead) -> list[bytes]:
    return envelope.elements(envelope.raw_at(entry.frame.data or b"", "message", CALLS))


def _is_silent(entry: FrameRead) -> bool:
    return any(isinstance(key, TextKey) for key in entry.keys)


def _value(entry: FrameRead) -> dict[str, Any]:
    return entry.value if isinstance(entry.value, dict) else {}


def _used(value: Mapping[str, Any]) -> dict[str, int]:
    return {name: count for name in _SUMMED if type(count := value.get(name)) is int}


def _parsed(frame: Frame) -> dict[str, Any]:
    """What a line says; nothing where it is not what the reader will take."""
    if frame.data is None:
        return {}
    try:
        value = envelope.value_of(frame.data)
        if isinstance(value, dict):
            calls_of(message_of(value))
    except (envelope.EnvelopeError, WrongShapeError):
        return {}
    return value if isinstance(value, dict) else {}


OLLAMA_CONTINUATION: Final = OllamaContinuation()
