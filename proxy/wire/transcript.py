"""The messages of a request as turns of two sides, by their meaning, with their bytes beside them.

Clients drop keys, merge text blocks, drop thinking and write JSON anew; what a turn means survives that: its text
without white space, its calls, its results. Digests of meanings chain from the first turn on, so that a place in a
conversation has a name that does not depend on how the client spells it.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Final, Protocol

from interceptors import strict_json
from proxy.wire import envelope

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from interceptors.calls import Json

PART: Final = "messages"
"""The member of `part_of`. A dialect whose requests hold their history elsewhere looks there first."""
CHAIN_START = hashlib.sha256(b"callgate.transcript.1").digest()


class Side(Enum):
    """Who a turn belongs to. Results belong to the user's side, whatever role a dialect gives them."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"


@dataclass(frozen=True, slots=True)
class CallSeen:
    """A call in an assistant turn. `arguments` are None where they are not strict JSON.

    `kind`, `toolset` and `provider_id` are what a result of it must repeat, as `HiddenResult` has them. `wants_result`:
    the provider misses one, and there is one that the gate can write.
    """

    id: str
    name: str
    arguments: Mapping[str, Json] | None
    digest: str
    kind: str = ""
    toolset: str = ""
    provider_id: str = ""
    wants_result: bool = True


@dataclass(frozen=True, slots=True)
class ResultSeen:
    """A result in a user-side turn. `value` is strict JSON where the content is that, else its text.

    `stated` is what the message itself says of its call, where that is no id and `call` was found by what stands
    before: the meaning of a turn depends on that turn alone.
    """

    call: str
    value: Json
    is_error: bool
    digest: str
    stated: str | None = None


@dataclass(slots=True)
class SideTurn:
    """Adjacent messages of one side. `first` and `last` are places among the messages, both included.

    `other` are digests of what is neither text, call nor result (images, files). `marks` are those of its thinking
    blocks, in order, empty for one that depends on no hidden turn.
    """

    side: Side
    first: int
    last: int
    texts: list[str] = field(default_factory=list)
    calls: list[CallSeen] = field(default_factory=list)
    results: list[ResultSeen] = field(default_factory=list)
    other: list[str] = field(default_factory=list)
    marks: list[str] = field(default_factory=list)

    def meaning(self) -> bytes:
        """The digest of what this turn says."""
        text = "".join("".join(self.texts).split())
        calls: list[Json] = [[call.id, call.name, call.digest] for call in self.calls]
        results: list[Json] = [
            [result.call if result.stated is None else result.stated, result.digest] for result in self.results
        ]
        others: list[Json] = list(self.other)
        said: list[Json] = [self.side.value, text, calls, results, others]
        return hashlib.sha256(strict_json.canonical(said)).digest()


def part_of(messages: Sequence[bytes]) -> bytes:
    """A body that holds some messages of a history and nothing else. Every dialect's `read` takes it, wherever its own
    requests hold theirs; nothing of it goes up."""
    return b'{"%s":%s}' % (PART.encode(), envelope.join_list(list(messages)))


def chained(before: bytes, meaning: bytes) -> bytes:
    """The name of the place behind a turn that says `meaning`, where `before` names the place before it."""
    return hashlib.sha256(before + meaning).digest()


@dataclass(frozen=True, slots=True)
class HiddenResult:
    """A result of the gate's own for a call that the client has not seen. `content` is JSON text.

    With `answer_of` the client has seen another call in its place, under this id: its result tells what that answered.
    """

    call: str
    name: str
    kind: str
    content: str
    toolset: str = ""
    provider_id: str = ""  # where `call` is not the provider's id, and there is one
    answer_of: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """What stands in a result: its texts in order (one, where it is no list of parts), and the size of its images and
    files, which `keeps_other` leaves in place."""

    texts: tuple[str, ...]
    is_error: bool = False
    other_bytes: int = 0
    keeps_other: bool = True


class Transcript(Protocol):
    """A request's messages, which can be edited. Every edit keeps the bytes of what it does not touch."""

    @property
    def messages(self) -> Sequence[bytes]:
        """The raw messages, in order."""
        ...

    @property
    def is_adjacent(self) -> bool:
        """Whether results must stand in the turn behind their calls; else anywhere behind them."""
        ...

    @property
    def is_bound(self) -> bool:
        """Whether thinking is bound to all that stands before it, so that it leaves under the mark of what was edited
        there (`bound`)."""
        ...

    @property
    def is_continued(self) -> bool:
        """Whether it goes on with what the provider keeps, so that part of the history stands there."""
        ...

    def reminder(self, text: str) -> bytes:
        """A message of the user's side that says this, marked as no user's words."""
        ...

    def opening(self) -> SideTurn | None:
        """The first user-side turn; it reads only that."""
        ...

    def turns(self) -> Sequence[SideTurn]:
        """The turns of the client's own messages. It reads them all, once."""
        ...

    def newest(self) -> tuple[SideTurn | None, SideTurn | None]:
        """The last assistant turn, and the user-side turn behind it; it reads only those."""
        ...

    def with_notice(self, message: bytes, calls: Collection[str], notice: str) -> bytes:
        """A message with `notice` before the content of the results of these calls."""
        ...

    def contents(self, messages: Sequence[bytes]) -> list[Content]:
        """What stands in the results of the messages of one turn, in their order, as `SideTurn.results` has them."""
        ...

    def with_contents(self, messages: Sequence[bytes], contents: Sequence[Content | None]) -> list[bytes]:
        """These messages with other texts in their results; None leaves one as it is. Where there are as many texts as
        before, each stands in the place of one; a result keeps its call, its place and whatever else it holds."""
        ...

    def without_results(self, messages: Sequence[bytes], dropped: Sequence[bool]) -> list[bytes]:
        """These messages without some of their results; one of which nothing is left goes."""
        ...

    def bound(self, message: bytes, mark: str) -> bytes:
        """An assistant message whose thinking says by a seal inside all others that it depends on these edits."""
        ...

    def opened(self, message: bytes, mark: str) -> tuple[bytes, int]:
        """An assistant message with the thinking that depends on just these edits opened, and any other taken out; and
        how many blocks were taken out. `mark` is empty where nothing before it is edited."""
        ...

    def body(self, messages: Sequence[bytes]) -> bytes:
        """The request with these messages in place of its own."""
        ...

    def with_results(
        self, messages: Sequence[bytes], results: Sequence[HiddenResult], order: Sequence[str]
    ) -> list[bytes]:
        """The messages of a user-side turn with more results, all results first and in the order of these call ids."""
        ...

    def without_thinking(self, message: bytes) -> bytes:
        """A message without the thinking that is bound to what stands before it."""
        ...

    def unsealed(self, message: bytes, mark: str) -> tuple[bytes, int]:
        """An assistant message with the thinking of this mark opened, and any other thinking taken out; and how many
        blocks were taken out. `mark` is that of the last hidden turn before it, empty where there is none."""
        ...


class Turns:
    """Collects messages into turns of one side."""

    def __init__(self) -> None:
        self.found: list[SideTurn] = []

    def at(self, side: Side, place: int) -> SideTurn:
        """The turn that the message at `place` belongs to."""
        if self.found and self.found[-1].side is side:
            self.found[-1].last = place
            return self.found[-1]
        turn = SideTurn(side, place, place)
        self.found.append(turn)
        return turn


def call_seen(call_id: str, name: str, text: str) -> CallSeen:
    """A call by the text of its arguments."""
    try:
        value = strict_json.parse(text) if text else {}
    except strict_json.StrictJsonError:
        value = None
    if not isinstance(value, dict):
        return CallSeen(call_id, name, None, hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest())
    return CallSeen(call_id, name, value, strict_json.digest(value))


def result_seen(call_id: str, content: str, *, is_error: bool, stated: str | None = None) -> ResultSeen:
    """A result by its text."""
    value: Json = content
    try:
        value = strict_json.parse(content)
    except strict_json.StrictJsonError:
        value = content
    text = "".join(content.split()).encode(errors="surrogatepass")
    digest = strict_json.digest(value) if isinstance(value, dict) else hashlib.sha256(text).hexdigest()
    return ResultSeen(call_id, value, is_error, digest, stated)
