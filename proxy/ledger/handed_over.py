"""What the agent's escalation tool answered, put into the result of the call that it was called in the place of.

The provider has its own call, and gets one result for it: that it was refused, to whom the case was handed, and what
came back. Pure.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

from interceptors import strict_json
from interceptors.results import HANDED_OVER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proxy.wire.transcript import HiddenResult, Transcript

ANSWER: Final = "answer"


def taken_over(
    transcript: Transcript, first: int, raw: list[bytes], results: Sequence[HiddenResult]
) -> tuple[list[bytes], Sequence[HiddenResult]]:
    """The messages of the user-side turn at `first` without the results of escalation tools, and the results that tell
    what stood in them; both as they are where nothing was handed over."""
    handed = {result.answer_of: result for result in results if result.answer_of}
    turn = next((turn for turn in transcript.turns() if turn.first == first), None) if handed else None
    if turn is None:
        return raw, results
    said = {
        seen.call: "\n".join(content.texts)
        for seen, content in zip(turn.results, transcript.contents(raw), strict=True)
        if seen.call in handed
    }
    raw = transcript.without_results(raw, [seen.call in handed for seen in turn.results])
    return raw, [_telling(result, said[result.answer_of]) if result.answer_of in said else result for result in results]


def _telling(result: HiddenResult, answer: str) -> HiddenResult:
    content = strict_json.parse(result.content)
    assert isinstance(content, dict), "our own"
    handed = content[HANDED_OVER]
    assert isinstance(handed, dict), "our own"
    told = {**content, HANDED_OVER: {**handed, ANSWER: answer}}
    return replace(result, content=strict_json.canonical(told).decode())
