"""What may leave of an Ollama chat (WIRE.md 8.6). A line and a body have one shape, and one writer.

A refused call's reply joins the content of its line, a hidden one leaves nothing. A line of which nothing is left
leaves only where it is the last.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any, Final

from proxy.wire import envelope
from proxy.wire.events import TEXT_KIND, FrameRead, Hidden, Key, Material, Released, Replaced, TextKey
from proxy.wire.ollama_reader import Number
from proxy.wire.ollama_types import CALLS, FUNCTION, LIMIT_REASONS, calls_of, unknown

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proxy.wire.dialect import Judged

GLUE: Final = "\n\n"
_ENVELOPE: Final = ("model", "created_at")
_END_MEMBERS: Final = (
    "done_reason",
    "total_duration",
    "load_duration",
    "prompt_eval_count",
    "prompt_eval_duration",
    "eval_count",
    "eval_duration",
)


class OllamaWriter:
    def __init__(self, streamed: bool) -> None:
        self._streamed = streamed
        self._envelope: dict[str, bytes] = {}
        self._has_text = False
        self._is_said = False  # a reply stands in the place of the text
        self._is_done = False
        self._is_unended = False  # the last line that left had no end

    def seal(self, mark: str) -> None:
        """Nothing in this dialect is bound to what stands before it."""

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        goes_on = bool(judged) and _goes_on(entries, judged)
        return b"".join(self._line(entry, judged, goes_on=goes_on) for entry in entries)

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        if not self._streamed:
            (entry,) = end
            return self._edited(entry, judged, goes_on=False, texts=(text,)) or entry.frame.raw
        said = self._own(content=(GLUE if self._has_text else "") + text)
        self._has_text = True
        return said + b"".join(self._line(entry, judged, goes_on=False) for entry in end) + self.finish()

    def keepalive(self) -> bytes:
        """A line that says nothing, as the server sends them while a model thinks."""
        return self._own() if self._streamed and self._envelope and not self._is_done else b""

    def finish(self) -> bytes:
        if not self._streamed or self._is_done:
            return b""
        self._is_done = True
        return self._own(done=True)

    def broken(self, message: str) -> bytes:
        error = envelope.encode({"error": message})
        return self._ended(error + b"\n") if self._streamed else error

    def _own(self, content: str = "", *, done: bool = False) -> bytes:
        message = envelope.encode({"role": "assistant", TEXT_KIND: content})
        end = {"done_reason": b'"stop"'} if done else {}
        line = {**self._envelope, "message": message, "done": b"true" if done else b"false", **end}
        return self._ended(envelope.join(line) + b"\n")

    def _ended(self, line: bytes) -> bytes:
        """A line of ours, behind the end of the one before it."""
        start, self._is_unended = (b"\n" if self._is_unended else b""), False
        return start + line

    def _line(self, entry: FrameRead, judged: Mapping[Key, Judged], *, goes_on: bool) -> bytes:
        if not isinstance(entry.value, dict):
            return entry.frame.raw
        edited = self._edited(entry, judged, goes_on=goes_on)
        raw = entry.frame.raw if edited is None else edited + b"\n" if edited and self._streamed else edited
        if self._streamed:
            self._is_unended = bool(raw) and not raw.endswith(b"\n")
        return raw

    def _edited(
        self, entry: FrameRead, judged: Mapping[Key, Judged], *, goes_on: bool, texts: Sequence[str] = ()
    ) -> bytes | None:
        """The line as it leaves: None for as it came, empty for not at all."""
        value, data = entry.value, entry.frame.data or b""
        message: dict[str, Any] = value.get("message") or {}
        is_done = value.get("done") is True
        ends_here = is_done and not goes_on
        self._is_done |= ends_here
        self._remember(data, value)
        spoken = next((judged[key].answer for key in entry.keys if isinstance(key, TextKey)), None)
        content = self._content(message.get(TEXT_KIND) or "", spoken)
        calls, replies = _calls(entry, judged)
        said = self._with(content, [*replies, *texts])
        is_same = said == (message.get(TEXT_KIND) or "") and calls is None
        is_late = ends_here and self._is_said and value.get("done_reason") in LIMIT_REASONS
        if is_same and not is_late and not (is_done and goes_on):
            return None
        members = envelope.members(data)
        stated = envelope.members(members.get("message", b'{"role":"assistant"}'))
        stated |= {TEXT_KIND: envelope.encode(said)}
        if calls is not None:
            stated = {
                name: raw for name, raw in stated.items() if name != CALLS and name not in unknown(message)
            } | calls
        is_empty = not said and not message.get("thinking") and CALLS not in stated
        if is_empty and self._streamed and not ends_here:
            return b""
        members["message"] = envelope.join(stated)
        if is_late:
            members["done_reason"] = b'"stop"'
        if is_done and goes_on:
            members = {name: raw for name, raw in members.items() if name not in _END_MEMBERS} | {"done": b"false"}
        return envelope.join(members)

    def _content(self, own: str, spoken: Any) -> str:
        if spoken is None or isinstance(spoken, Released):
            return own
        if not isinstance(spoken, Replaced) or self._is_said:
            return ""
        self._is_said = True
        return spoken.text

    def _with(self, content: str, replies: Sequence[str]) -> str:
        """Clients join the contents of all lines, so ours stands apart from what was said before it."""
        for reply in replies:
            content += (GLUE if content or self._has_text else "") + reply
        self._has_text |= bool(content)
        return content

    def _remember(self, data: bytes, value: Mapping[str, Any]) -> None:
        if self._streamed and not self._envelope and "model" in value:
            members = envelope.members(data)
            self._envelope = {name: members[name] for name in _ENVELOPE if name in members}


def _calls(entry: FrameRead, judged: Mapping[Key, Judged]) -> tuple[dict[str, bytes] | None, list[str]]:
    """The members of the message that bear its calls, None where they leave as they came; and the replies."""
    keys = deque(key for key in entry.keys if not isinstance(key, TextKey))
    if not keys or all(_is_plain(judged[key]) for key in keys):
        return None, []
    message = entry.value["message"]
    stated = envelope.members(envelope.raw_at(entry.frame.data or b"", "message"))
    kept: dict[str, bytes] = {}
    replies: list[str] = []
    listed = []
    for raw in envelope.list_or_none(stated.get(CALLS, b"null")) if calls_of(message) else ():
        call = judged[keys.popleft()]
        if isinstance(call.answer, Replaced):
            replies.append(call.answer.text)
        elif isinstance(call.answer, Released):
            listed.append(raw if call.material.is_plain else as_left(raw, call.material))
    if listed:
        kept[CALLS] = envelope.join_list(listed)
    for member in unknown(message):
        if not keys or not message[member] or judged[keys[0]].material.kind != member:
            kept[member] = stated[member]
            continue
        call = judged[keys.popleft()]
        if isinstance(call.answer, Replaced):
            replies.append(call.answer.text)
        elif isinstance(call.answer, Released):
            kept[member] = stated[member]
    assert not keys, "each call has its place"
    return kept, replies


def as_left(raw: bytes, material: Material) -> bytes:
    """A call as it leaves, where that is not as it came."""
    arguments = (material.arguments or "{}").encode()
    function = envelope.edited(envelope.raw_at(raw, FUNCTION), name=material.name, arguments=arguments)
    return envelope.edited(raw, function=function)


def _is_plain(call: Judged) -> bool:
    return isinstance(call.answer, Released) and call.material.is_plain


def _goes_on(entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bool:
    """Whether the leg of these lines is one that goes on: it holds what is hidden, and nothing of it runs."""
    hidden = {key for entry in entries for key in entry.keys if isinstance(judged[key].answer, Hidden)}
    legs = {key.leg for key in hidden if isinstance(key, Number | TextKey)}
    return bool(legs) and not any(
        isinstance(key, Number) and key.leg in legs and isinstance(call.answer, Released)
        for key, call in judged.items()
    )
