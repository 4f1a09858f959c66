"""A Gemini turn that goes on: put together again, continued upstream, and joined for the client (WIRE.md 8.4 e)."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.events import TEXT_KIND, TextKey
from proxy.wire.gemini_request import camel, object_of
from proxy.wire.gemini_results import result_part
from proxy.wire.gemini_splice import BodySplice, StreamSplice, output_tokens, value_of
from proxy.wire.gemini_transcript import GeminiTranscript, content, turns_of
from proxy.wire.gemini_types import bears, text_of
from proxy.wire.gemini_writer import canonical_part
from proxy.wire.transcript import HiddenResult, Side, SideTurn
from proxy.wire.turn import NOTHING, remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material, Released

_PLAIN_TEXT: Final = frozenset({"text", "thought"})


class GeminiContinuation:
    references = None

    def transcript(self, body: bytes) -> GeminiTranscript:
        return GeminiTranscript(body)

    def recorder(self, streamed: bool, blocks_before: int = 0) -> GeminiTurn:  # noqa: ARG002 - calls have their own keys
        return GeminiTurn()

    def splice(self, streamed: bool) -> StreamSplice | BodySplice:
        return StreamSplice() if streamed else BodySplice()

    def results(self, results: Sequence[HiddenResult]) -> list[bytes]:
        calls = [result_part(result) for result in results if result.kind != TEXT_KIND]
        texts = [envelope.encode({"text": remarked(result.content)}) for result in results if result.kind == TEXT_KIND]
        return [content("user", [*calls, *texts])]

    def named(self, entries: Sequence[FrameRead]) -> None:
        """Each request holds its whole history."""

    def said(self, text: str) -> bytes:
        return content("model", [envelope.encode({"text": text})])

    def visible(self, messages: Sequence[bytes]) -> SideTurn:
        found = turns_of(messages)
        return found[0] if found else SideTurn(Side.ASSISTANT, 0, 0)

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        members = camel(envelope.members(body))
        config = object_of(members.get("generationConfig", b"null"))
        bound = envelope.value_of(config["maxOutputTokens"]) if "maxOutputTokens" in config else None
        if type(bound) is int:
            if bound <= output_tokens:
                return None
            config["maxOutputTokens"] = envelope.encode(bound - output_tokens)
            members["generationConfig"] = envelope.join(config)
        tools = object_of(members.get("toolConfig", b"null"))
        calling = object_of(tools.get("functionCallingConfig", b"null"))
        if calling.get("mode") == b'"ANY"':
            calling.pop("allowedFunctionNames", None)
            tools["functionCallingConfig"] = envelope.join({**calling, "mode": b'"AUTO"'})
            members["toolConfig"] = envelope.join(tools)
        own = GeminiTranscript(body).messages
        members["contents"] = envelope.join_list([*own, *messages])
        return envelope.join(members)


class GeminiTurn:
    """The recorder of one leg. A turn of several candidates cannot be put together: it has no one content."""

    def __init__(self) -> None:
        self.entries: list[FrameRead] = []
        self._calls: dict[Key, Material] = {}

    def add(self, entry: FrameRead) -> None:
        self.entries.append(entry)

    def complete(self, key: Key, material: Material) -> None:
        self._calls[key] = material

    def output_tokens(self) -> int:
        return next(filter(None, (output_tokens(value_of(entry)) for entry in reversed(self.entries))), 0)

    def message(
        self, replaced: Mapping[Key, str], hidden: Collection[Key] = (), injected: Mapping[Key, Released] = NOTHING
    ) -> bytes | None:
        build = _Parts(self._calls, replaced, hidden, injected)
        for entry in self.entries:
            if not build.take(entry):
                return None
        parts = build.whole()
        return content("model", parts) if parts else None


class _Parts:
    """The parts of one leg, in order; texts that came in several chunks are one."""

    def __init__(
        self,
        calls: Mapping[Key, Material],
        replaced: Mapping[Key, str],
        hidden: Collection[Key],
        injected: Mapping[Key, Released],
    ) -> None:
        self._calls = calls
        self._replaced = replaced
        self._hidden = hidden
        self._injected = injected
        self._done: set[Key] = set()
        self._parts: list[bytes] = []
        self._text: list[str] = []
        self._is_thought = False

    def take(self, entry: FrameRead) -> bool:
        """False where the chunk cannot be put together with the others."""
        keys = deque(key for key in entry.keys if not isinstance(key, TextKey))
        text_key = next((key for key in entry.keys if isinstance(key, TextKey)), None)
        if any(key not in self._calls for key in keys):
            return False  # a call that was cut off
        candidates = value_of(entry).get("candidates") or ()
        if len(candidates) > 1 or any(candidate.get("index", 0) for candidate in candidates):
            return False
        for candidate in candidates:
            parts = (candidate.get("content") or {}).get("parts") or ()
            raw = (
                envelope.elements(envelope.raw_at(entry.frame.data or b"", "candidates", 0, "content", "parts"))
                if parts
                else []
            )
            for one, part in zip(raw, parts, strict=True):
                if keys and bears(part, self._calls[keys[0]].kind):
                    self._call(keys.popleft(), one)
                else:
                    self._other(one, part, text_key)
        return not keys

    def whole(self) -> list[bytes]:
        self._end_text()
        return self._parts

    def _call(self, key: Key, raw: bytes) -> None:
        if key in self._done:
            return  # a later fragment
        self._end_text()
        self._done.add(key)
        material = self._calls[key]
        if key in self._replaced:
            self._say(self._replaced[key])
        elif key in self._injected:
            self._parts.append(canonical_part(self._injected[key].applied(material)))
        elif key not in self._hidden:
            self._parts.append(canonical_part(material) if b"illContinue" in raw or b"partialArgs" in raw else raw)

    def _other(self, raw: bytes, part: Mapping[str, Any], text_key: TextKey | None) -> None:
        if text_key is not None and text_of(part) is not None and text_key in (*self._replaced, *self._hidden):
            if text_key in self._replaced and text_key not in self._done:
                self._done.add(text_key)
                self._end_text()
                self._say(self._replaced[text_key])
            return
        if not _PLAIN_TEXT.issuperset(part) or not isinstance(part.get("text"), str):
            self._end_text()
            self._parts.append(raw)
            return
        if (part.get("thought") is True) != self._is_thought:
            self._end_text()
        self._is_thought = part.get("thought") is True
        self._text.append(part["text"])

    def _say(self, text: str) -> None:
        if text:
            self._parts.append(envelope.encode({"text": text}))

    def _end_text(self) -> None:
        text = "".join(self._text)
        self._text.clear()
        if text:
            self._parts.append(envelope.encode({"text": text, **({"thought": True} if self._is_thought else {})}))


GEMINI_CONTINUATION: Final = GeminiContinuation()
