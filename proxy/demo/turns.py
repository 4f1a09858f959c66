"""What a scripted model says, in words that belong to no provider. `anthropic_wire` and `chat_wire` put it on the wire.

It knows nothing of the product: argument text is raw, so that a script may write what a model writes, broken
JSON included.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

Document: TypeAlias = "dict[str, Any]"  # one JSON object as a provider's client reads it


class Dialect(Enum):
    ANTHROPIC = "anthropic"
    CHAT = "chat"
    GEMINI = "gemini"
    OLLAMA = "ollama"
    RESPONSES = "responses"
    BEDROCK = "bedrock"


class Stop(Enum):
    """Why the model stopped; each dialect spells it its own way."""

    END = "end"
    CALLS = "calls"
    LENGTH = "length"
    STOP_SEQUENCE = "stop_sequence"
    REFUSAL = "refusal"
    LEGACY_CALL = "legacy_call"  # Chat only: the `function_call` of old clients


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Thinking:
    """A thinking block (Anthropic); Chat shows it as `reasoning_content`, where its server does.

    Without `text` it is one with `display: omitted`. Without `signature` the provider signs it; one that a script
    states is refused when it comes back.
    """

    text: str = ""
    signature: str = ""
    redacted: bool = False  # then `signature` is its opaque data, and `text` is not shown


@dataclass(frozen=True, slots=True)
class Call:
    """A proposed tool call. `arguments` is the text exactly as the model writes it; `id` empty means a fresh one.

    `custom` makes it a freeform call of Chat whose input is that text. `start_input` is an input that the Anthropic
    start event states already (raw JSON text); the deltas carry `arguments` all the same, nothing where it is empty.
    """

    name: str
    arguments: str = "{}"
    id: str = ""
    custom: bool = False
    start_input: str = ""


@dataclass(frozen=True, slots=True)
class Block:
    """Any other content block, stated in the Anthropic dialect's own fields: the start, its deltas, and the whole."""

    start: Document
    whole: Document
    deltas: tuple[Document, ...] = ()


Part: TypeAlias = "Text | Thinking | Call | Block"


@dataclass(frozen=True, slots=True)
class Usage:
    input_tokens: int = 420
    output_tokens: int = 42


@dataclass(frozen=True, slots=True)
class Turn:
    """One turn of the model. None means what a provider would say of these parts: the `stop`, the counted `usage`.

    `more_choices` are the parts of Chat's choices 1, 2, ... when the request asked for several.
    """

    parts: tuple[Part, ...]
    stop: Stop | None = None
    usage: Usage | None = Usage()
    more_choices: tuple[tuple[Part, ...], ...] = ()

    @property
    def counted(self) -> Usage:
        """The usage, which the provider states before it writes a turn."""
        return self.usage if self.usage is not None else Usage()

    @property
    def choices(self) -> tuple[tuple[Part, ...], ...]:
        return (self.parts, *self.more_choices)

    def stop_of(self, parts: tuple[Part, ...]) -> Stop:
        if self.stop is not None:
            return self.stop
        return Stop.CALLS if any(isinstance(part, Call) for part in parts) else Stop.END


@dataclass(frozen=True, slots=True)
class HttpError:
    """An error answer in the dialect's own shape."""

    status: int
    type: str
    message: str
    code: str | None = None  # Chat only
    param: str | None = None  # Chat only
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verbatim:
    """Recorded bytes, sent as they are."""

    body: bytes
    content_type: str
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


Answer: TypeAlias = "Turn | HttpError | Verbatim"


class Encoding(Enum):
    GZIP = "gzip"
    BROTLI = "br"
    DEFLATE = "deflate"
    ZSTD = "zstd"


@dataclass(frozen=True, slots=True)
class Delivery:
    """How an answer travels. Events are counted from 1, those put in by `pings` and `extra_events` included.

    `cut_after` loses the connection behind that many events (0: behind the headers); with `clean_cut` the body ends
    in order there, without the provider's end marks. A body that is not streamed counts as one event.
    """

    fragment_chars: int = 12  # of text and argument fragments
    write_bytes: int | None = None  # None: one write an event
    pause_seconds: float = 0.0  # between writes
    delay_seconds: float = 0.0  # before the headers
    cut_after: int | None = None
    clean_cut: bool = False
    pings: bool = False  # behind each event: Anthropic's `ping`, a comment in Chat
    extra_events: tuple[bytes, ...] = ()  # raw frames, put in behind the first event
    error_after: int | None = None  # replace what follows that many events by the dialect's error event
    encoding: Encoding | None = None  # used whatever the client said it accepts


@dataclass(frozen=True, slots=True)
class Reply:
    answer: Answer
    delivery: Delivery = Delivery()


@dataclass(frozen=True, slots=True)
class Asked:
    """A request as the script sees it, after the provider's own checks. `body` is the parsed document.

    `user_text` is the newest text a user wrote; `results` are the tool results that came after it, oldest first;
    `rounds` counts the assistant turns after it, so that a script may answer step by step.
    """

    dialect: Dialect
    body: Document
    model: str
    streamed: bool
    user_text: str
    results: tuple[str, ...]
    rounds: int


Script: TypeAlias = Callable[[Asked], Reply]


def said(text: str) -> Reply:
    """The reply that is only a text."""
    return Reply(Turn((Text(text),)))


def by_text(steps: Mapping[str, tuple[Turn, ...]], otherwise: Turn | None = None) -> Script:
    """The script that picks its scenario by the newest user text, exactly, and its step by the rounds since then.

    Past the last step the last one is repeated. A text that no scenario knows is answered with `otherwise`.
    """
    fallback = otherwise if otherwise is not None else Turn((Text("How can I help you with your order?"),))

    def script(asked: Asked) -> Reply:
        turns = steps.get(asked.user_text)
        return Reply(turns[min(asked.rounds, len(turns) - 1)] if turns else fallback)

    return script


def always(answer: Answer, delivery: Delivery | None = None) -> Script:
    """The script that gives one answer to everything."""
    reply = Reply(answer, delivery if delivery is not None else Delivery())
    return lambda asked: reply  # noqa: ARG005 - a script takes the request, this one does not look at it
