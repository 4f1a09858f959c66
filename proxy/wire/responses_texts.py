"""Where the text of a Responses turn stands: in its messages, all of one choice. Reasoning is not text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from proxy.wire.responses_types import ADDED, DONE_ITEM, MESSAGE, TERMINAL, TEXT_DELTA
from proxy.wire.texts import MisplacedTextError

if TYPE_CHECKING:
    from collections.abc import Mapping

_NOTHING: Final[Mapping[int, str]] = {}
_NO_END: Final[Mapping[int, bool]] = {}


class ResponsesStreamTexts:
    def __init__(self) -> None:
        self._messages: dict[object, list[str]] = {}  # by place, what its deltas said

    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:
        kind, place = value.get("type"), value.get("output_index")
        if kind == ADDED and _is_message(value.get("item")):
            self._messages[place] = []
            return {0: self._rest(place, value["item"], holds=False)}
        if kind == DONE_ITEM and place in self._messages:
            return {0: self._rest(place, value["item"], holds=holds)}
        if kind in TERMINAL:
            return self._end(value.get("response"), holds=holds)
        if place not in self._messages:
            return _NOTHING
        text = value.get("delta") if kind == TEXT_DELTA else ""
        self._messages[place].append(text if isinstance(text, str) else "")
        return {0: self._messages[place][-1]}

    def _rest(self, place: object, item: Any, *, holds: bool) -> str:
        """What an item says that its deltas did not."""
        said, whole = "".join(self._messages[place]), _text(item)
        if not said:
            self._messages[place].append(whole)
            return whole
        if holds and whole != said:
            raise MisplacedTextError  # some clients read the one, some the other
        return ""

    def _end(self, response: Any, *, holds: bool) -> Mapping[int, str]:
        output = response.get("output") if isinstance(response, dict) else None
        texts = [_text(item) for item in output if _is_message(item)] if isinstance(output, list) else []
        said = ["".join(parts) for parts in self._messages.values()]
        self._messages.clear()  # the next leg's are its own
        if holds and texts and texts[len(texts) - len(said) :] != said:
            raise MisplacedTextError
        return {0: ""} if said else _NOTHING

    def ends(self, value: Any) -> Mapping[int, bool]:
        return _ending(value.get("response")) if value.get("type") in TERMINAL else _NO_END


class ResponsesBodyTexts:
    def find(self, value: Any, *, holds: bool) -> Mapping[int, str]:  # noqa: ARG002 - a body is held as a whole anyway
        output = value.get("output") if isinstance(value, dict) else None
        texts = [_text(item) for item in output if _is_message(item)] if isinstance(output, list) else []
        return {0: "".join(texts)} if texts else _NOTHING

    def ends(self, value: Any) -> Mapping[int, bool]:
        return _ending(value)


def _is_message(item: Any) -> bool:
    return isinstance(item, dict) and item.get("type") == MESSAGE


def _text(item: Any) -> str:
    content = item.get("content")
    parts = [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
    texts = [part.get("text") for part in parts if part.get("type") in ("output_text", "text")]
    return "".join(text for text in texts if isinstance(text, str))


def _ending(response: Any) -> Mapping[int, bool]:
    """Cut off where it is incomplete, for whatever reason."""
    status = response.get("status") if isinstance(response, dict) else None
    return {0: status == "incomplete"} if isinstance(status, str) else _NO_END
