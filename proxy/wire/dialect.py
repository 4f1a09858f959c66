"""What a dialect gives the gate: a view of the request, a reader of the response, a writer of what may leave.

Adding a dialect is one file with an object of type `Dialect`, its fixtures, and one line in `proxy/wire/registry.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import msgspec

from policies.model import folded
from proxy.wire.paths import NOWHERE, Address
from proxy.wire.stem import NO_STEMS, Stems

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from interceptors.context import DeclaredTool
    from proxy.wire.events import Answer, FrameRead, Key, Material, WireEvent
    from proxy.wire.framing import Framing
    from proxy.wire.sse import Frame
    from proxy.wire.stripping import Shape
    from proxy.wire.texts import TextFinder
    from proxy.wire.told import Told
    from proxy.wire.turn import Continuation


@dataclass(frozen=True, slots=True)
class DeclaredTools:
    """The tools of a request: by folded name those that the client executes, and by name those of the provider.

    `ambiguous` are folded names that two declarations share. `by_model` are those of the provider's that no member of
    the request brings but the model that it names.
    """

    by_name: Mapping[str, DeclaredTool] = field(default_factory=dict)
    ambiguous: frozenset[str] = frozenset()
    provider: tuple[str, ...] = ()
    by_model: frozenset[str] = frozenset()


NO_TOOLS = DeclaredTools()


@dataclass(frozen=True, slots=True)
class OutputFormat:
    """The form in which a request asks for the text of its answer: a JSON Schema, as JSON text, and its name."""

    name: str
    schema: bytes | None


class RequestView(msgspec.Struct, frozen=True):
    """What the gate needs to know of a request. `metadata`, `cache_key` and `messages` are members as they came, empty
    for none. `is_turn`: the answer is the model's next turn, and nothing else that is made of the history.
    `opens` is where a long request's messages begin, where its form says so; `is_sealed` whether its thinking may be;
    of a request with a known one of `stems` the `messages` are those behind it, the first of them the assistant's.
    """

    model: str = ""
    streamed: bool = False
    tools: DeclaredTools = NO_TOOLS
    metadata: bytes = b""
    cache_key: bytes = b""
    output: OutputFormat | None = None
    messages: bytes = b""
    is_turn: bool = True
    opens: int | None = None
    is_sealed: bool | None = None
    stems: Stems = NO_STEMS


class Fault(Enum):
    """Errors of our own towards a client; each dialect has its own shape for them."""

    INVALID_REQUEST = 400
    UNAUTHENTICATED = 401
    FORBIDDEN = 403
    NOT_FOUND = 404
    TOO_LARGE = 413
    UPGRADE_REFUSED = 426
    INTERNAL = 500
    UPSTREAM_FAILED = 502
    OVERLOADED = 503
    UPSTREAM_TIMEOUT = 504


@dataclass(frozen=True, slots=True)
class Judged:
    """A call that was answered, as the writer needs it."""

    material: Material
    answer: Answer
    is_repeat: bool = False  # of a call that is judged under another key: it must not leave twice


class Reader(Protocol):
    """Frames of one leg to wire events. A JSON body is one frame. After WireBroken it gives nothing more."""

    @property
    def binds(self) -> bool:
        """Whether a program or the provider waits for the calls of this turn together (DESIGN 5)."""
        ...

    def receive(self, frame: Frame) -> list[WireEvent]: ...

    def next_leg(self) -> None:
        """The turn goes on: what follows is another answer, whose calls have keys and places behind those before."""
        ...

    def end(self) -> list[WireEvent]:
        """The stream ended: what was open is cut."""
        ...


class Writer(Protocol):
    """Frames and answers to bytes. It remembers what it sent, since indexes and the end are the turn's."""

    def write(self, entries: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        """The bytes of these frames. `judged` holds all calls of the turn that are answered, theirs among them."""
        ...

    def seal(self, mark: str) -> None:
        """From here on thinking depends on the hidden turn `mark`, and leaves sealed (see `seal`)."""
        ...

    def append(self, text: str, end: Sequence[FrameRead], judged: Mapping[Key, Judged]) -> bytes:
        """A text of ours behind what was sent, then the end of a leg that was kept back."""
        ...

    def keepalive(self) -> bytes:
        """What a client may hear between two frames without reading anything into it; nothing for a body."""
        ...

    def finish(self) -> bytes:
        """End a turn that upstream did not end: what is open is closed, the reason is a plain end."""
        ...

    def broken(self, message: str) -> bytes:
        """The dialect's error in mid-stream; nothing follows it."""
        ...


class Dialect(Protocol):
    @property
    def name(self) -> str:
        """As it stands in receipts and on the command line, `anthropic-messages`."""
        ...

    @property
    def provider(self) -> str:
        """The name of the upstream that a bare path goes to."""
        ...

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of its create call (POST), as they stand in a request; `{name}` is what varies (`paths`)."""
        ...

    @property
    def passive(self) -> tuple[tuple[str, str], ...]:
        """Methods and paths that neither return nor execute calls and pass verbatim; written as `paths` are."""
        ...

    @property
    def client_header(self) -> str:
        """The header, in lower case, that only clients of this dialect send; empty where there is none."""
        ...

    @property
    def framing(self) -> Framing:
        """How its streams are divided."""
        ...

    @property
    def tool_members(self) -> Mapping[str, Shape]:
        """The members of a request that may name tools of the provider; `stripping` takes them out of these."""
        ...

    @property
    def message_words(self) -> tuple[bytes, ...] | None:
        """Words without which what stands in `messages` says nothing of a request, as tools do; None: not known."""
        ...

    def request(self, body: bytes, at: Address = NOWHERE) -> RequestView:
        """What a body asks for that was posted there. Raises `envelope.EnvelopeError` with a message for the client."""
        ...

    def reader(self, streamed: bool, pass_types: frozenset[str]) -> Reader:
        """`pass_types` are types that no table knows and that the policy lets pass."""
        ...

    def writer(self, streamed: bool) -> Writer: ...

    def texts(self, streamed: bool) -> TextFinder:
        """Where the text of a turn stands in its frames."""
        ...

    def told(self, told: Told, streamed: bool) -> bytes:
        """A whole answer of ours."""
        ...

    @property
    def continuation(self) -> Continuation:
        """How a turn of this dialect goes on upstream, and is put back later."""
        ...

    def error(self, fault: Fault, message: str) -> bytes:
        """The body of an error response."""
        ...


@runtime_checkable
class NamesErrors(Protocol):
    """A dialect whose clients take the kind of an error from its head."""

    def error_headers(self, fault: Fault) -> Mapping[str, str]:
        """What the head of an error of ours states beside its type."""
        ...


@runtime_checkable
class NamesResources(Protocol):
    """A dialect in whose paths a name may hold an escaped slash, which divides nothing."""

    def without_name(self, path: str) -> str | None:
        """The path with something plain in place of such a name; None where it has none."""


def error_headers(dialect: Dialect, fault: Fault) -> Mapping[str, str]:
    """Of an error of ours; none in most dialects."""
    return dialect.error_headers(fault) if isinstance(dialect, NamesErrors) else {}


def declared_tools(
    tools: Sequence[DeclaredTool], provider: Sequence[str], by_model: Collection[str] = ()
) -> DeclaredTools:
    """The view of the tools that a request declares, in its order; those that only its model brings behind them."""
    found: dict[str, DeclaredTool] = {}
    ambiguous = set()
    for tool in tools:
        key = folded(tool.name)
        if key in found:
            ambiguous.add(key)
        found[key] = tool
    every = tuple(dict.fromkeys([*provider, *by_model]))
    return DeclaredTools(found, frozenset(ambiguous), every, frozenset(by_model).difference(provider))
