"""A Responses turn that goes on: put together again, and continued upstream (WIRE.md 8.3 c, e)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from proxy.wire import envelope
from proxy.wire.events import TEXT_KIND, TextKey
from proxy.wire.responses_calls import ItemKey
from proxy.wire.responses_history import items_of, result_items, turns_of
from proxy.wire.responses_items import canonical_item, text_part
from proxy.wire.responses_reasoning import Stand, orphans
from proxy.wire.responses_references import ResponsesReferences
from proxy.wire.responses_splice import BodySplice, StreamSplice, output_tokens, value_of
from proxy.wire.responses_transcript import ResponsesTranscript, stateless
from proxy.wire.responses_types import ADDED, DONE_ITEM, MESSAGE, STARTS, TERMINAL, TEXT_DELTA
from proxy.wire.standing import Named
from proxy.wire.transcript import HiddenResult, Side, SideTurn
from proxy.wire.turn import NOTHING, remarked

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.wire.events import FrameRead, Key, Material, Released


class ResponsesContinuation:
    references = ResponsesReferences()

    def transcript(self, body: bytes) -> ResponsesTranscript:
        return ResponsesTranscript(body)

    def recorder(self, streamed: bool, blocks_before: int = 0) -> ResponsesTurn:
        return ResponsesTurn(streamed, blocks_before)

    def splice(self, streamed: bool) -> StreamSplice | BodySplice:
        return StreamSplice() if streamed else BodySplice()

    def results(self, results: Sequence[HiddenResult]) -> list[bytes]:
        calls = [item for result in results if result.kind != TEXT_KIND for item in result_items(result)]
        texts = [remarked(result.content) for result in results if result.kind == TEXT_KIND]
        return [*calls, *(envelope.encode({"role": "user", "content": text}) for text in texts)]

    def named(self, entries: Sequence[FrameRead]) -> Named:
        """What the provider does not store has no name, but in a conversation."""
        for entry in entries:
            value = value_of(entry)
            response = value.get("response") if value.get("type") in STARTS | TERMINAL else value
            if isinstance(response, dict) and isinstance(response.get("id"), str):
                conversation = response.get("conversation")
                name = conversation.get("id") if isinstance(conversation, dict) else conversation
                own = "" if response.get("store") is False else response["id"]
                return Named(own, name if isinstance(name, str) else "")
        return Named()

    def said(self, text: str) -> bytes:
        return _said(text)

    def visible(self, messages: Sequence[bytes]) -> SideTurn:
        found = turns_of(items_of(messages))
        return found[0] if found else SideTurn(Side.ASSISTANT, 0, 0)

    def continued(self, body: bytes, messages: Sequence[bytes], output_tokens: int) -> bytes | None:
        members = envelope.members(body)
        bound = envelope.value_of(members.get("max_output_tokens", b"null"))
        if type(bound) is int:
            if bound <= output_tokens:
                return None
            members["max_output_tokens"] = envelope.encode(bound - output_tokens)
        choice = envelope.value_of(members.get("tool_choice", b"null"))
        if isinstance(choice, dict) and choice.get("type") == "allowed_tools":
            members["tool_choice"] = envelope.edited(members["tool_choice"], mode="auto")
        elif isinstance(choice, dict) or choice == "required":
            members["tool_choice"] = b'"auto"'
        is_kept = envelope.value_of(members.get("conversation", b"null")) is not None
        # A conversation holds the request and the answer by now, and is owed the results alone.
        came = [] if is_kept else items_of(ResponsesTranscript(_plain(members)).messages)
        said = items_of(_results_at_end(messages) if is_kept else messages)
        if members.get("store", b"true").strip() == b"false":
            said = stateless(said)
        members["input"] = envelope.join_list([*came, *said])
        return envelope.join(members)


def _plain(members: Mapping[str, bytes]) -> bytes:
    """The request without what points elsewhere."""
    return envelope.join({"input": members.get("input", b"[]")})


def _results_at_end(messages: Sequence[bytes]) -> Sequence[bytes]:
    """What stands behind the last turn, which is a list."""
    last = max((place for place, message in enumerate(messages) if message.startswith(b"[")), default=-1)
    return messages[last + 1 :]


class ResponsesTurn:
    """The recorder of one leg."""

    def __init__(self, streamed: bool, blocks_before: int = 0) -> None:
        self._streamed = streamed
        self._before = blocks_before
        self._calls: dict[Key, Material] = {}
        self.entries: list[FrameRead] = []

    def add(self, entry: FrameRead) -> None:
        self.entries.append(entry)

    def complete(self, key: Key, material: Material) -> None:
        self._calls[key] = material

    def output_tokens(self) -> int:
        return next(filter(None, (output_tokens(value_of(entry)) for entry in reversed(self.entries))), 0)

    def message(
        self, replaced: Mapping[Key, str], hidden: Collection[Key] = (), injected: Mapping[Key, Released] = NOTHING
    ) -> bytes | None:
        items = self._streamed_items() if self._streamed else self._body_items()
        if items is None:
            return None
        kept: list[tuple[Stand, bytes]] = []
        spoken = False
        for key, raw in items:
            if key in injected:
                kept.append((Stand.OWN, canonical_item(injected[key].applied(self._calls[key]))))
            elif key in replaced:
                kept += [] if isinstance(key, TextKey) and spoken else [(Stand.REPLY, _said(replaced[key]))]
                spoken = spoken or isinstance(key, TextKey)
            elif key not in hidden and raw:
                is_reasoning = envelope.members(raw).get("type") == b'"reasoning"'
                kept.append((Stand.REASONING if is_reasoning else Stand.OWN, raw))
        gone = orphans([stand for stand, _ in kept])
        said = [raw for place, (_, raw) in enumerate(kept) if place not in gone]
        return envelope.join_list(said) if said else None

    def _streamed_items(self) -> list[tuple[Key, bytes]] | None:
        """The items that were done, each with its key, and of others what was said, perhaps nothing; None where a call
        stands in a snapshot only."""
        opened: dict[object, tuple[Key, list[str]]] = {}
        found: list[tuple[Key, bytes]] = []
        for entry in self.entries:
            value = value_of(entry)
            place = value.get("output_index")
            if value.get("type") == ADDED:
                opened[place] = (_key(entry), [])
            elif value.get("type") == DONE_ITEM:
                opened.pop(place, None)
                found.append((_key(entry), envelope.raw_at(entry.frame.data or b"", "item")))
            elif any(not isinstance(key, ItemKey | TextKey) for key in entry.keys):
                return None
            elif value.get("type") == TEXT_DELTA and place in opened:
                opened[place][1].append(str(value.get("delta", "")))
        return [*found, *((key, _said("".join(texts)) if texts else b"") for key, texts in opened.values())]

    def _body_items(self) -> list[tuple[Key, bytes]] | None:
        (entry,) = self.entries
        output = value_of(entry).get("output")
        if not isinstance(output, list):
            return None
        spoken = next((key for key in entry.keys if isinstance(key, TextKey)), None)
        own = envelope.elements(envelope.raw_at(entry.frame.data or b"", "output")) if output else []
        return [
            (spoken if item.get("type") == MESSAGE else ItemKey(place), raw)
            for place, (raw, item) in enumerate(zip(own, output, strict=True), self._before)
        ]


def _key(entry: FrameRead) -> Key:
    return entry.keys[0] if entry.keys else None


def _said(text: str) -> bytes:
    part: dict[str, Any] = text_part(text)
    del part["logprobs"]
    return envelope.encode({"type": MESSAGE, "role": "assistant", "content": [part]})


RESPONSES_CONTINUATION = ResponsesContinuation()
