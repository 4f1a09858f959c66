"""The closed tables of Gemini: members of responses, candidates, contents and parts (WIRE.md 4)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

CALL: Final = "functionCall"

FRAME_MEMBERS: Final = frozenset(
    {
        "audioMetadata",
        "audioTranscription",
        "codeExecutionResult",
        "documentMetadata",
        "fileData",
        "inlineData",
        "mediaProcessing",
        "mediaResolution",
        "partMetadata",
        "speechMetadata",
        "spreadsheetMetadata",
        "text",
        "thought",
        "thoughtSignature",
        "toolResponse",
        "videoMetadata",
    }
)
"""Members of a part that are text, data, or what belongs to them."""
OBSERVED: Final = frozenset({"executableCode", "toolCall"})
"""Members that report what the provider executes."""
KNOWN_PARTS: Final = FRAME_MEMBERS | OBSERVED | {CALL}
CALL_MEMBERS: Final = frozenset({"args", "id", "name", "partialArgs", "willContinue"})
LIMIT_REASONS: Final = frozenset({"MAX_TOKENS", 2})
"""Some recorders and gateways write the number of the reason."""
CANDIDATES_MAX: Final = 1024

_SPELLED: Final = frozenset({"candidates", "content", "finishReason", "parts"}) | KNOWN_PARTS | CALL_MEMBERS
_FOLDED: Final = frozenset(name.casefold() for name in _SPELLED)
_ELSEWHERE: Final = frozenset({CALL, "functionCalls", "toolCall"})
"""Members by which clients of Google's other APIs find calls; at the top of an answer they have no place."""


class WrongShapeError(ValueError):
    """A chunk that the dialect cannot have sent."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One candidate of a chunk: its place in the list, its number among the candidates of the turn, and its parts."""

    place: int
    index: int
    parts: tuple[dict[str, Any], ...]
    reason: str | int | None


def candidates(value: Mapping[str, Any]) -> Iterator[Candidate]:
    """The candidates of a parsed chunk. Raises `WrongShapeError`."""
    check_spelling(value)
    if any(value.get(member) for member in _ELSEWHERE):
        raise WrongShapeError
    taken: set[int] = set()
    for place, candidate in enumerate(_objects(value.get("candidates"))):
        check_spelling(candidate)
        index, reason = candidate.get("index", 0), candidate.get("finishReason")
        if type(index) is not int or not 0 <= index < CANDIDATES_MAX or index in taken:
            raise WrongShapeError  # of two parts for one candidate, clients that read the first only miss the second
        taken.add(index)
        content = candidate.get("content")
        if not isinstance(content, dict | None) or isinstance(reason, (dict, list)):
            raise WrongShapeError
        check_spelling(content or {})
        parts = tuple(_objects((content or {}).get("parts")))
        for part in parts:
            check_spelling(part)
        if not _ELSEWHERE.isdisjoint(candidate) or not _ELSEWHERE.isdisjoint(content or {}) or candidate.get("parts"):
            raise WrongShapeError
        yield Candidate(place, index, parts, reason)


def check_spelling(members: Iterable[str]) -> None:
    """Clients that fold case, and those that take the names of the protocol buffer (`function_call`), would find a
    call where the gate sees none; the provider sends no such name (G5)."""
    for member in members:
        if member not in _SPELLED and member.replace("_", "").casefold() in _FOLDED:
            raise WrongShapeError


def unknown(part: Mapping[str, Any]) -> list[str]:
    """Members of a part that bear content, and that no table knows."""
    return [member for member in part if member not in KNOWN_PARTS and isinstance(part[member], (dict, list, str))]


def is_call(part: Mapping[str, Any], pass_types: frozenset[str]) -> bool:
    """Whether the part is held: it calls a function, or is of a type that no table knows."""
    return part.get(CALL) is not None or any(part[member] and member not in pass_types for member in unknown(part))


def bears(part: Mapping[str, Any], kind: str) -> bool:
    """Whether a part bears a call of this kind: a function's, or that of a type which no table knows."""
    return part.get(kind) not in (None, {}, [], "") or (kind == CALL and part.get(CALL) is not None)


def text_of(part: Mapping[str, Any]) -> str | None:
    """The text of a part that says something to the user: thoughts are not text. None for any other part."""
    text = part.get("text")
    return text if isinstance(text, str) and part.get("thought") is not True else None


def _objects(value: Any) -> list[dict[str, Any]]:
    if value is None:
        return []
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise WrongShapeError
    return value
