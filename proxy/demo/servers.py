"""What differs between the servers of one dialect: which histories they refuse, and how they write their answers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, auto


class Indexes(Enum):
    """How a Chat server numbers the calls of a stream."""

    DENSE = auto()
    NONE = auto()  # Gemini's compatible endpoint
    ZERO = auto()  # every call at index 0: proxies in front of Gemini, Ollama behind LiteLLM


@dataclass(frozen=True, slots=True)
class AnthropicServer:
    """Rules about thinking. The defaults are those of the models from Claude Fable 5.1 on, and of new accounts.

    `thinking_first`: with `thinking.type` `enabled`, a tool loop's last assistant turn starts with its thinking block.
    `latest_fixed`: thinking blocks of the latest assistant turn are as they were, or gone.
    `prefix_bound`: a thinking block holds only behind the very conversation that it was made in.
    `enforced_by_default`: accounts created before 2026-08-31 UTC check prefixes only where the request sets
    `thinking.block_binding`.
    `own_turn_bound`: the blocks before a thinking block in its own turn belong to its prefix too. The vendor's page
    says "messages before it", so this is off; a history that passes with it passes either reading.
    `prefill`: older models go on from an assistant turn at the end.
    """

    thinking_first: bool = False
    latest_fixed: bool = True
    prefix_bound: bool = True
    enforced_by_default: bool = True
    own_turn_bound: bool = False
    prefill: bool = False


CLAUDE = AnthropicServer()
OLDER_CLAUDE = AnthropicServer(thinking_first=True, prefix_bound=False)


@dataclass(frozen=True, slots=True)
class ChatServer:
    """The defaults are OpenAI's own.

    `id_chars_max`: the longest id of a call; newer hosts have no such limit (None).
    `nine_char_ids`: ids are made, and taken, with exactly nine letters or digits (Mistral). `counts_results`: it says
    only that calls and results are not as many (Mistral).
    `reasoning`: thinking is shown as `reasoning_content`, which every assistant message with calls must bring back
    (DeepSeek).
    `signed_calls`: the first call of a turn carries `extra_content.google.thought_signature`, which must come back on
    that very call (Gemini). `signature_apart` sends it as a delta of its own.
    `whole_calls`: a call is one fragment, its arguments included. `object_arguments`: they are an object, not a text.
    `finish_stop`: turns with calls end with `stop` too.
    `filters`: the verdicts of a content filter stand in the answers (Azure).
    """

    id_chars_max: int | None = 40
    nine_char_ids: bool = False
    counts_results: bool = False
    reasoning: bool = False
    signed_calls: bool = False
    signature_apart: bool = False
    indexes: Indexes = Indexes.DENSE
    whole_calls: bool = False
    object_arguments: bool = False
    finish_stop: bool = False
    filters: bool = False


OPENAI = ChatServer()
DEEPSEEK = ChatServer(id_chars_max=None, reasoning=True)
GEMINI = ChatServer(id_chars_max=None, signed_calls=True, indexes=Indexes.NONE, whole_calls=True, finish_stop=True)
MISTRAL = ChatServer(nine_char_ids=True, counts_results=True, whole_calls=True)
OLLAMA = ChatServer(id_chars_max=None, indexes=Indexes.ZERO, whole_calls=True, object_arguments=True, finish_stop=True)
