"""Calls that are written as text: what is one, what is none, and that the answer costs linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interceptors.text_calls import CallShape, TextCall, text_call

KNOWN = frozenset({"processrefund", "lookuporder"})
FENCE = "```"

TAGGED = [
    '<tool_call>\n{"name": "process_refund", "arguments": {"amount": 5}}\n</tool_call>',
    '<tool_call>{"name": "process_refund", "arguments": {}}',  # never closed
    '<TOOL_CALL> {"name": "Process-Refund"}</TOOL_CALL>',
    '<function_calls><invoke name="process_refund"><parameter name="amount">5</parameter></invoke></function_calls>',
    '<invoke name="process_refund">',
    '<tool_use>{"tool": "process_refund"}</tool_use>',
    "<tool_call>\n<function=process_refund>\n<parameter=amount>5</parameter></function></tool_call>",
    '[TOOL_CALLS] [{"name": "process_refund", "arguments": {}}]',
    '<tool_calls>```json\n{"name": "process_refund"}\n```</tool_calls>',
]
JSON = [
    f'I will do it.\n{FENCE}json\n{{"name": "process_refund", "arguments": {{"amount": 5}}}}\n{FENCE}\nDone.',
    f'{FENCE}\n{{"action": "process_refund", "action_input": {{}}}}\n{FENCE}',
    f'{FENCE}tool_code\n[{{"name": "other"}}, {{"tool": "PROCESS_REFUND"}}]\n{FENCE}',
    '~~~json\n{"function": {"name": "process_refund"}}\n~~~',
    f'{FENCE}json\n{{"name": "process_refund", "arguments": {{}},}}\n{FENCE}',  # lenient clients read it
    f'{FENCE}json\n{{"n\\u0061me": "proc\\u0065ss_refund"}}\n{FENCE}',
    f'{FENCE}json\n{{"name": "process_refund"}}',  # never closed
    '  {"name": "process_refund", "arguments": {"amount": 5}}',  # all of the text
    f'> {FENCE}json\n {{"name": "process_refund"}}\n> {FENCE}',
]
NONE = [
    "",
    "I have looked the order up: it was delivered two days ago.",
    "The model writes <tool_call> before a call.",
    "Use <invoke> for that.",
    f'{FENCE}json\n{{"name": "Anna", "order": "A1001"}}\n{FENCE}',
    f"{FENCE}python\nprocess_refund(amount=5)\n{FENCE}",
    'The name is {"name": "process_refund"} in JSON.',
    '{"intent": "refund"}',
    f"{FENCE}json\nnot json with process_refund\n{FENCE}",
    "process_refund",
]


@pytest.mark.parametrize("text", TAGGED)
def test_a_call_in_tags_is_seen(text: str) -> None:
    """The formats that models are trained on, whole or cut, in any case; the tool is named where it is known."""
    assert text_call(text, KNOWN) == TextCall(CallShape.TAG, "processrefund")
    assert text_call(f"Let me see.\n{text}", KNOWN) == TextCall(CallShape.TAG, "processrefund")


@pytest.mark.parametrize("text", JSON)
def test_json_that_names_a_known_tool_is_a_call(text: str) -> None:
    """In a fence, or as the whole text, in any of the members by which agents name a tool."""
    assert text_call(text, KNOWN) == TextCall(CallShape.JSON, "processrefund")
    assert text_call(text, frozenset()) is None


@pytest.mark.parametrize("text", NONE)
def test_ordinary_text_is_no_call(text: str) -> None:
    """Words about calls, JSON about people, code: none is held against its author."""
    assert text_call(text, KNOWN) is None


def test_a_tag_is_a_call_of_whatever_tool() -> None:
    """A tool that nobody knows is named nowhere: the tag alone says that it is a call."""
    assert text_call('<tool_call>{"name": "x"}</tool_call>', KNOWN) == TextCall(CallShape.TAG)


@given(st.text(), st.text())
def test_any_text_has_an_answer(before: str, behind: str) -> None:
    """Lone surrogates, nulls, anything: an answer and no exception; and what stands around a call does not hide it."""
    text_call(before, KNOWN)
    assert text_call(f"{before}\n{TAGGED[0]}\n{behind}", KNOWN) is not None


@pytest.mark.parametrize("unit", ["```\n{", "<tool_call>", '"name": "x", ', "[" * 20, "```json\n[[\n", "<invoke "])
def test_the_time_is_linear(unit: str) -> None:
    """Forty times the text takes no more than forty times as long, by a wide margin."""

    def spent(count: int) -> float:
        text = unit * count
        began = time.perf_counter()
        text_call(text, KNOWN)
        return time.perf_counter() - began

    spent(100)
    assert spent(80_000) < 15
