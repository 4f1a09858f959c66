"""What went wrong in other gates on the wire, each as a claim about this one that a double is seen to fail."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from interceptors.calls import Cause, MalformedToolCall, ToolCall
from proxy.wire.anthropic import ANTHROPIC_MESSAGES
from proxy.wire.openai_chat import OPENAI_CHAT
from tests import strategies as model
from tests.peers import wire_subjects as subjects
from tests.proxy.wire import grammar
from tests.proxy.wire.ambiguous import BEGIN, CLOSING, END, OPENING, chunk, part, piece, start, stop, text
from tests.replay import allow, bytewise, deny

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.peers.wire_subjects import Subject

FIRST = model.ToolUse("call_Zqa", "process_refund", ('{"order": "Zqorder', '", "amount": 5}'))
SECOND = model.ToolUse("call_Zqb", "send_mail", ('{"to": "Zqto"}',))
TURN = model.Turn((model.Text("hello "), FIRST, SECOND))
TEXT = model.Turn((model.Text("hello"), model.Text(" you")))


@dataclass(frozen=True)
class Claim:
    number: int
    check: Callable[[Subject], None]
    fails_on: tuple[Subject, ...]


CLAIMS: list[Claim] = []


def report(number: int, *fails_on: Subject) -> Callable[[Callable[[Subject], None]], Callable[[Subject], None]]:
    """A claim drawn from a report of this number, and the subjects on which it must fail."""

    def register(check: Callable[[Subject], None]) -> Callable[[Subject], None]:
        CLAIMS.append(Claim(number, check, fails_on))
        return check

    return register


def name(claim: Claim) -> str:
    return f"{claim.number:02}-{claim.check.__name__}"


def frames_of(turn: model.Turn) -> dict[Any, list[bytes]]:
    """The turn as each dialect streams it, one event a read."""
    return {
        ANTHROPIC_MESSAGES: _events(model.anthropic_stream(turn)),
        OPENAI_CHAT: _events(model.chat_stream([turn])),
    }


def _events(data: bytes) -> list[bytes]:
    return [frame + b"\n\n" for frame in data.split(b"\n\n") if frame]


def read(dialect: Any, data: bytes) -> grammar.Read:
    return grammar.read_anthropic(data) if dialect is ANTHROPIC_MESSAGES else grammar.read_chat(data)


def chat(*chunks: dict[str, Any], done: bool = True) -> list[bytes]:
    frames = [[f"data: {model.dump(one)}"] for one in chunks]
    return [model.framed([frame]) for frame in [*frames, *([["data: [DONE]"]] if done else [])]]


def messages(*events: dict[str, Any]) -> list[bytes]:
    return [model.framed([frame]) for frame in model.anthropic_frames(events)]


def second_only(call: Any) -> bool:
    return bool(call.id == SECOND.id)


@report(3, subjects.pass_through)
def a_denied_call_in_a_stream_becomes_a_well_formed_stream(subject: Subject) -> None:
    """A denied block turned a stream into a server error; it must stay a stream of its dialect, to its very end."""
    for dialect, frames in frames_of(TURN).items():
        found = read(dialect, subject(dialect, frames, deny, True).data)
        assert found.calls == []


@report(4, subjects.pass_through)
def no_byte_of_a_call_leaves_before_its_verdict(subject: Subject) -> None:
    """The verdict was taken when the end was seen, when the agent had the call already."""
    for dialect, frames in frames_of(TURN).items():
        ends = [place for place, frame in enumerate(frames) if b"_stop" in frame or b'"finish_reason":"tool' in frame]
        for last in range(len(frames)):
            out = subject(dialect, frames[:last], allow, True)
            for call in (FIRST, SECOND):
                seen = b"".join(frames[:last])
                if call.id.encode() in out.data:
                    assert call.arguments.replace('"', '\\"').encode()[-6:] in seen
                    assert any(place < last for place in ends)
        assert b"Zq" not in subject(dialect, frames[: ends[0]], allow, True).data


@report(5, subjects.chunks_are_events)
def no_split_of_the_stream_hides_a_call(subject: Subject) -> None:
    """A split inside a `data:` line gave empty arguments, one inside `[DONE]` no check at all."""
    for dialect, frames in frames_of(TURN).items():
        whole = subject(dialect, frames, deny, True)
        cut = subject(dialect, bytewise(b"".join(frames)), deny, True)
        assert b"Zq" not in cut.data
        assert (cut.data, cut.decisions()) == (whole.data, whole.decisions())


@report(6, subjects.streams_pass)
def a_stream_is_guarded_as_its_body_is(subject: Subject) -> None:
    """`stream: true` went past the guard of the arguments, which held for bodies only."""
    bodies = {ANTHROPIC_MESSAGES: model.anthropic_body(TURN), OPENAI_CHAT: model.chat_body([TURN])}
    for dialect, frames in frames_of(TURN).items():
        for chunks, streamed in ((frames, True), ([bodies[dialect]], False)):
            result = subject(dialect, chunks, second_only, streamed)
            assert FIRST.id.encode() not in result.data
            assert SECOND.id.encode() in result.data


@report(8, subjects.pass_through)
def a_value_in_two_fragments_is_one_value(subject: Subject) -> None:
    """A check of each chunk by itself sees no forbidden value, and half of it is gone when the other half comes."""
    for dialect, frames in frames_of(TURN).items():
        result = subject(dialect, frames, lambda call: isinstance(call, ToolCall) and "Zqorder" not in call.raw, True)
        assert [call.id for call in result.refused] == [FIRST.id]
        assert b"Zqorder" not in result.data


@report(9, subjects.only_the_end)
def a_plain_text_answer_is_not_emptied(subject: Subject) -> None:
    """With a guard of tools switched on, a streamed answer without any came back empty."""
    for dialect, frames in frames_of(TEXT).items():
        assert subject(dialect, frames, deny, True).data == b"".join(frames)


@report(10, subjects.raw_where_odd, subjects.only_the_end)
def an_unknown_frame_neither_skips_nor_triggers_the_guard(subject: Subject) -> None:
    """One stray chunk made the guard take the whole stream for raw, or replace the whole answer."""
    strays = (b": comment\n\n", b'event: news\ndata: {"type":"news"}\n\n', b"id: 7\n\n")
    for dialect, frames in frames_of(TURN).items():
        for stray in strays:
            for place in range(len(frames)):
                odd = [*frames[:place], stray, *frames[place:]]
                assert subject(dialect, odd, allow, True).data == b"".join(odd)
                refused = subject(dialect, odd, deny, True)
                assert stray in refused.data
                assert b"Zq" not in refused.data


@report(14, subjects.pass_through)
def the_guard_does_not_wait_for_one_finish_reason(subject: Subject) -> None:
    """Servers end a turn of calls with `stop`, `end_turn` or nothing; a guard that waits for `tool_calls` sleeps."""
    streams: list[tuple[Any, list[bytes]]] = [
        (OPENAI_CHAT, _events(model.chat_stream([TURN], finish=reason)))
        for reason in ("stop", "content_filter", "tool_calls", "function_call", "anything")
    ]
    streams.append((OPENAI_CHAT, [frame for frame in frames_of(TURN)[OPENAI_CHAT] if b'"tool_calls"}' not in frame]))
    for reason in ("end_turn", "stop_sequence", "refusal", "pause_turn"):
        events = model.anthropic_events(TURN, reason=reason)
        streams.append((ANTHROPIC_MESSAGES, messages(*events)))
    for dialect, frames in streams:
        kept = subject(dialect, frames, second_only, True)
        assert [call.id for call in kept.released] == [SECOND.id]
        assert b"Zqorder" not in kept.data
        assert b"Zqto" in kept.data


@report(16, subjects.end_kept)
def an_end_without_calls_does_not_ask_for_their_results(subject: Subject) -> None:
    """All calls were blocked and the reason stayed `tool_use`; in the mirror, one survived and it became `end_turn`."""
    for dialect, frames in frames_of(TURN).items():
        none = read(dialect, subject(dialect, frames, deny, True).data)
        assert none.reasons[0] in ("end_turn", "stop")
        for rule in (second_only, lambda call: not second_only(call)):
            one = read(dialect, subject(dialect, frames, rule, True).data)
            assert one.reasons[0] in ("tool_use", "tool_calls")
            assert len(one.calls) == 1


@report(17, subjects.not_dense)
def indexes_stay_dense_where_a_call_is_taken_out(subject: Subject) -> None:
    """Block indexes were taken for call indexes, and parallel calls ran together."""
    for dialect, frames in frames_of(TURN).items():
        found = read(dialect, subject(dialect, frames, second_only, True).data)
        assert [call[1] for call in found.calls] == [SECOND.id]


@report(18, subjects.last_slot)
def fragments_without_an_id_go_to_their_index(subject: Subject) -> None:
    """Arguments for call 0 that came after call 1 had opened went to call 1."""
    frames = chat(
        BEGIN,
        chunk(piece(0, "a", "refund", '{"amount": ')),
        chunk(piece(1, "b", "lookup", '{"id": ')),
        chunk(piece(0, arguments="5}")),
        chunk(piece(1, arguments="7}")),
        END,
    )
    result = subject(OPENAI_CHAT, frames, allow, True)
    assert [(call.id, call.raw) for call in result.ran] == [("a", '{"amount": 5}'), ("b", '{"id": 7}')]
    late = subject(OPENAI_CHAT, [*frames[:-1], *chat(chunk(piece(0, arguments=" ")))], allow, True)
    assert late.breach is not None


@report(19, subjects.first_slot)
def calls_without_an_index_do_not_run_together(subject: Subject) -> None:
    """A server leaves `index` out and all calls fall into one slot."""
    frames = chat(
        BEGIN, chunk(piece(None, "a", "refund", '{"amount": 5}')), chunk(piece(None, "b", "lookup", "{}")), END
    )
    found = grammar.read_chat(subject(OPENAI_CHAT, frames, allow, True).data)
    assert [call[1:] for call in found.calls] == [("a", "refund", '{"amount": 5}'), ("b", "lookup", "{}")]


@report(19, subjects.pass_through)
def one_call_at_several_indexes_is_one_call(subject: Subject) -> None:
    """A server emits the same call at several indexes under one id: one call, one verdict, one spend."""
    frames = chat(BEGIN, chunk(piece(0, "a", "refund", "{}")), chunk(piece(1, "a", "refund", "{}")), END)
    result = subject(OPENAI_CHAT, frames, allow, True)
    assert len(result.calls) == 1
    assert [call[1] for call in grammar.read_chat(result.data).calls] == ["a"]


@report(20, subjects.names_appended)
def a_repeated_name_or_id_is_set_once(subject: Subject) -> None:
    """Later chunks repeat the name or the id, or an empty one: clients made `namename` and ids of 86 characters."""
    for again in ({"name": "refund"}, {"call_id": "a"}, {"call_id": "a", "name": "refund"}, {"name": ""}):
        frames = chat(BEGIN, chunk(piece(0, "a", "refund", "")), chunk(piece(0, arguments="{}", **again)), END)
        result = subject(OPENAI_CHAT, frames, allow, True)
        assert [(call.id, call.name) for call in result.released] == [("a", "refund")]
        assert [call[1:] for call in grammar.read_chat(result.data).calls] == [("a", "refund", "{}")]


@report(22, subjects.one_by_content)
def two_equal_calls_are_two_calls(subject: Subject) -> None:
    """Two legitimate calls of the same content were taken for one; that is for the policy to say, not for a parser."""
    frames = chat(BEGIN, chunk(piece(0, "a", "refund", "{}")), chunk(piece(1, "b", "refund", "{}")), END)
    result = subject(OPENAI_CHAT, frames, allow, True)
    assert [call.id for call in result.released] == ["a", "b"]
    assert len(subject(OPENAI_CHAT, frames, deny, True).refused) == 2


@report(23, subjects.new_slot)
def an_empty_delta_with_the_finish_is_no_new_call(subject: Subject) -> None:
    """The last chunk bears `arguments: ""` and the finish reason, and the call was emitted again."""
    frames = chat(BEGIN, chunk(piece(0, "a", "refund", "{}")), chunk(piece(0), "tool_calls"))
    result = subject(OPENAI_CHAT, frames, allow, True)
    assert [call.id for call in result.calls] == ["a"]
    assert result.data == b"".join(frames)


@report(24, subjects.falsy_is_unknown)
def empty_fragments_are_fragments(subject: Subject) -> None:
    """The first `partial_json` is empty and was dropped as unknown, or a tool ran with arguments parsed too early."""
    frames = messages(
        OPENING, start(0), part(0, ""), part(0, '{"amount"'), part(0, ""), part(0, ": 5}"), stop(0), *CLOSING
    )
    result = subject(ANTHROPIC_MESSAGES, frames, allow, True)
    assert [call.raw for call in result.ran] == ['{"amount": 5}']
    empty = subject(ANTHROPIC_MESSAGES, messages(OPENING, start(0), part(0, ""), stop(0), *CLOSING), allow, True)
    assert [call.arguments for call in empty.ran] == [{}]
    assert empty.data.endswith(b'message_stop"}\n\n')


@report(26, subjects.indexes_kept)
def a_start_on_a_used_index_is_a_new_block(subject: Subject) -> None:
    """The provider itself used an index again; the arguments of both blocks must not be merged."""
    frames = messages(OPENING, *text(0), *text(1), start(1), part(1, "{}"), stop(1), *CLOSING)
    result = subject(ANTHROPIC_MESSAGES, frames, allow, True)
    assert [call[1:] for call in grammar.read_anthropic(result.data).calls] == [("toolu_a", "refund", "{}")]


@report(27, subjects.without_usage)
def a_denial_does_not_lose_the_usage(subject: Subject) -> None:
    """The usage comes in a chunk without choices, with the finish, or with the last content: it must survive."""
    usage = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}
    calls = (BEGIN, chunk(piece(0, "call_Zqa", "refund", "{}")))
    trailing = {**END, "choices": [], "usage": usage}
    for ending in ((END, trailing), ({**END, "usage": usage},), ({**END, "usage": usage}, trailing)):
        found = grammar.read_chat(subject(OPENAI_CHAT, chat(*calls, *ending), deny, True).data)
        assert found.usage == usage
        assert found.calls == []
    merged = chunk({**piece(0, "call_Zqa", "refund", "{}"), "content": "hi"}, "tool_calls", usage=usage)
    found = grammar.read_chat(subject(OPENAI_CHAT, chat(BEGIN, merged), deny, True).data)
    assert found.usage == usage
    assert found.text[0].startswith("hi")


@report(28, subjects.unicode_lines)
def only_cr_and_lf_end_a_line(subject: Subject) -> None:
    """U+2028, U+2029 and U+0085 stand raw in the JSON, and a splitter that knows Unicode tears the event."""
    turn = model.Turn(
        (model.Text("a\u2028b\u2029c\u0085d"), model.ToolUse("call_a", "send_mail", ('{"a":"\u2028\u0085"}',)))
    )
    for dialect, frames in frames_of(turn).items():
        result = subject(dialect, frames, allow, True)
        assert result.data == b"".join(frames)
        assert len(result.released) == 1


@report(30, subjects.limits_unknown_chat)
def a_call_cut_by_the_token_limit_does_not_run_chat(subject: Subject) -> None:
    """Cut at the limit its arguments may be valid and lack fields; also where calls were interleaved."""
    whole = (BEGIN, chunk(piece(0, "a", "refund", "{}")))
    for reason in ("length", "max_tokens"):
        assert subject(OPENAI_CHAT, chat(*whole, chunk({}, reason)), allow, True).released == []
    two = (*whole, chunk(piece(1, "b", "lookup", "{}")))
    assert [call.id for call in subject(OPENAI_CHAT, chat(*two, chunk({}, "length")), allow, True).released] == ["a"]
    interleaved = (*two, chunk(piece(0, arguments=" ")))
    assert subject(OPENAI_CHAT, chat(*interleaved, chunk({}, "length")), allow, True).released == []


@report(30, subjects.limits_unknown_anthropic)
def a_call_cut_by_the_token_limit_does_not_run_anthropic(subject: Subject) -> None:
    """The block may even be closed; an earlier complete call stands."""
    for reason in ("max_tokens", "model_context_window_exceeded"):
        frames = model.anthropic_frames(model.anthropic_events(TURN, reason=reason))
        result = subject(ANTHROPIC_MESSAGES, [model.framed([frame]) for frame in frames], allow, True)
        assert [call.id for call in result.released] == [FIRST.id]
        (cut,) = result.refused
        assert isinstance(cut, MalformedToolCall)
        assert cut.cause is Cause.CUT_OFF


@report(31, subjects.last_key_wins)
def ambiguous_arguments_are_refused(subject: Subject) -> None:
    """The gate read the last of two keys, the executor the first; also NaN, trailing bytes and half a surrogate."""
    for arguments in ('{"a":1,"a":2}', '{"b":{"a":1,"\\u0061":2}}', '{"a":NaN}', '{"a":1} 2', '{"a":"\\ud800"}'):
        for dialect, frames in frames_of(model.Turn((model.ToolUse("call_Zq", "send_mail", (arguments,)),))).items():
            result = subject(dialect, frames, allow, True)
            assert result.released == [], arguments
            assert len(result.refused) == 1
            assert b"call_Zq" not in result.data


def _claims() -> Sequence[Any]:
    return [pytest.param(claim, id=name(claim)) for claim in CLAIMS]


@pytest.mark.parametrize("claim", _claims())
def test_the_gate_keeps(claim: Claim) -> None:
    """The claim holds for the product."""
    claim.check(subjects.gate)


@pytest.mark.parametrize(
    ("claim", "double"),
    [
        pytest.param(claim, double, id=f"{name(claim)}-{double.__name__}")
        for claim in CLAIMS
        for double in claim.fails_on
    ],
)
def test_a_double_fails(claim: Claim, double: Subject) -> None:
    """The claim can fail: it does on a gate that has the reported fault."""
    with pytest.raises((AssertionError, KeyError)):
        claim.check(double)


@pytest.mark.parametrize("dialect", [ANTHROPIC_MESSAGES, OPENAI_CHAT], ids=lambda one: one.name)
@pytest.mark.parametrize("keepalive", [None, b"data: {}\n\n", b": half"])
def test_33_a_keep_alive_says_nothing_and_splits_nothing(dialect: Any, keepalive: bytes | None) -> None:
    """While a call is held the client hears something that no reader takes anything from, between any two writes."""
    ours = dialect.writer(streamed=True).keepalive() if keepalive is None else keepalive
    frames = frames_of(TURN)[dialect]
    for rule in (allow, deny, second_only):
        result = subjects.gate(dialect, frames, rule)
        plain = read(dialect, result.data)
        try:
            spaced = read(dialect, ours + ours.join(result.writes))
            is_silent = (spaced.calls, spaced.text, spaced.reasons) == (plain.calls, plain.text, plain.reasons)
        except (AssertionError, KeyError, IndexError):
            is_silent = False
        assert is_silent == (keepalive is None)


@pytest.mark.parametrize(
    ("dialect", "body"),
    [
        (ANTHROPIC_MESSAGES, {"tools": [{"name": "refund", "input_schema": {"type": "object"}}]}),
        (ANTHROPIC_MESSAGES, {"tools": [{"type": "custom", "name": "refund", "input_schema": {"type": "object"}}]}),
        (
            OPENAI_CHAT,
            {"tools": [{"type": "function", "function": {"name": "refund", "parameters": {"type": "object"}}}]},
        ),
        (OPENAI_CHAT, {"tools": [{"type": "function", "name": "refund", "parameters": {"type": "object"}}]}),
        (OPENAI_CHAT, {"tools": [{"function": {"name": "refund", "parameters": {"type": "object"}}}]}),
        (OPENAI_CHAT, {"functions": [{"name": "refund", "parameters": {"type": "object"}}]}),
    ],
)
@pytest.mark.parametrize(
    "choice", [None, {"type": "tool", "name": "refund"}, {"type": "function", "function": {"name": "refund"}}]
)
def test_02_a_tool_is_seen_in_each_shape_of_its_declaration(dialect: Any, body: dict[str, Any], choice: Any) -> None:
    """A flat declaration was invisible to a rule written for the nested one; the forced choice changes nothing."""
    view = dialect.request(json.dumps({"model": "m", "tool_choice": choice, **body}).encode())
    assert {tool.name for tool in view.tools.by_name.values()} == {"refund"}
    (tool,) = view.tools.by_name.values()
    assert json.loads(tool.schema or b"null") == {"type": "object"}
