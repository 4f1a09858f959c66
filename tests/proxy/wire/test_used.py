"""What a provider says that a request cost is found in every dialect, wherever it says so, and nowhere else."""

from __future__ import annotations

import orjson
import pytest

from proxy.wire.used import tokens_read

CASES = {
    "anthropic, the first event": (
        {"type": "message_start", "message": {"usage": {"input_tokens": 7, "cache_read_input_tokens": 20}}},
        27,
    ),
    "anthropic, a body": ({"usage": {"input_tokens": 7, "cache_creation_input_tokens": 3, "output_tokens": 99}}, 10),
    "anthropic, a later event": ({"type": "message_delta", "usage": {"output_tokens": 99}}, 0),
    "chat": ({"choices": [], "usage": {"prompt_tokens": 12, "completion_tokens": 99, "total_tokens": 111}}, 12),
    "chat, before its end": ({"choices": [], "usage": None}, 0),
    "responses, the last event": (
        {"type": "response.completed", "response": {"usage": {"input_tokens": 30, "output_tokens": 99}}},
        30,
    ),
    "responses, a body": ({"usage": {"input_tokens": 30, "input_tokens_details": {"cached_tokens": 9}}}, 30),
    "gemini": ({"usageMetadata": {"promptTokenCount": 44, "candidatesTokenCount": 99}}, 44),
    "ollama": ({"done": True, "prompt_eval_count": 5, "eval_count": 99}, 5),
    "converse": ({"usage": {"inputTokens": 6, "outputTokens": 99, "cacheReadInputTokens": 2}}, 8),
    "an argument of a call": ({"delta": {"partial_json": '{"usage": {"input_tokens": 5}}'}}, 0),
    "an object in a call": ({"content": [{"input": {"usage": {"input_tokens": 5}}}]}, 0),
    "no number": ({"usage": {"input_tokens": "7"}}, 0),
    "a truth": ({"usage": {"input_tokens": True}}, 0),
    "less than nothing": ({"usage": {"input_tokens": -7}}, 0),
    "a list": ([{"usage": {"input_tokens": 7}}], 0),
}


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_what_was_read_is_what_the_provider_says(case: tuple[object, int]) -> None:
    """Counted with what came from a cache."""
    value, tokens = case
    assert tokens_read(orjson.dumps(value)) == tokens


@pytest.mark.parametrize("data", [None, b"", b"[DONE]", b'{"usage":', b'{"usage":{"input_tokens":7},"usage":{}}'])
def test_what_is_no_answer_says_nothing(data: bytes | None) -> None:
    """Nor what two readers would read differently."""
    assert tokens_read(data) == 0
