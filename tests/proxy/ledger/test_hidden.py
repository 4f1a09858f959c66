"""Hidden turns: put back exactly where they were, by the meaning of all before them, and never in another place."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from proxy.ledger.hidden import Asker, Hidden, Refusal, Restored, from_bytes, restore, root_of, to_bytes
from proxy.wire.anthropic_transcript import AnthropicTranscript
from proxy.wire.chat_transcript import ChatTranscript, result_message, turns_of
from proxy.wire.seal import sealed
from proxy.wire.transcript import CHAIN_START, HiddenResult

if TYPE_CHECKING:
    from proxy.ledger.hidden import Finder

ASK = {"role": "user", "content": "refund A1"}
SAID = {"role": "assistant", "content": "It is paid."}
MORE = {"role": "user", "content": "and A2?"}
OWN = b'{"role":"assistant", "content":"the provider\'s own"}'
RESULT = HiddenResult("c1", "refund", "function", '{"refused":true}')


def raw(message: Any) -> bytes:
    return json.dumps(message).encode()


def chat(*messages: Any) -> ChatTranscript:
    return ChatTranscript(raw({"messages": messages}))


def finding(*entries: Hidden) -> Finder:
    """By the key of an entry, oldest first, as the vault finds them."""
    return lambda places: {place: [one for one in entries if (one.before, one.visible) == place] for place in places}


def entry(name: str, *before: Any, visible: Any = SAID, **more: Any) -> Hidden:
    """What was hidden in the turn `visible`, which stood behind these messages."""
    place = restore(chat(*before), finding())
    (turn,) = turns_of([raw(visible)])
    made = Hidden(name, place.root, place.before, turn.meaning(), (OWN,))
    return replace(made, **more)


def test_an_entry_survives_its_bytes() -> None:
    """Whatever it holds, and bytes of anything else are an error of the codec."""
    full = Hidden(
        "h1",
        b"r",
        b"\x00\xff",
        b"v",
        (OWN, b""),
        (RESULT,),
        ("c1", "c2"),
        (Refusal("refund", "d", "over"),),
        ("c1",),
        "h0",
        Asker("s", "n"),
    )
    assert from_bytes(to_bytes(full)) == full
    for data in (b"", b"\x80", to_bytes(full)[:-1], b"no entry"):
        with pytest.raises(msgspec.MsgspecError):
            from_bytes(data)


def test_a_hidden_turn_stands_where_it_was() -> None:
    """The provider's messages in the place of what the client holds; all else keeps its bytes."""
    kept = entry("h1", ASK, refusals=(Refusal("refund", "d", "over"), Refusal("refund", "d", "over")))
    transcript = chat(ASK, SAID, MORE)
    found = restore(transcript, finding(kept))
    assert found.messages == [transcript.messages[0], OWN, transcript.messages[2]]
    assert (found.entries, found.mark, found.is_changed, found.ambiguous) == ([kept], "h1", True, 0)
    assert found.refusals == Counter({("refund", "d"): 2})


def test_how_the_client_spells_it_does_not_count() -> None:
    """Text in blocks, with white space, and a system prompt that changes, are the same place."""
    kept = entry("h1", ASK)
    system = {"role": "system", "content": "the time is now"}
    blocks = {"role": "assistant", "content": [{"type": "text", "text": " It is"}, {"type": "text", "text": "paid."}]}
    found = restore(chat(system, ASK, blocks), finding(kept))
    assert found.entries == [kept]
    assert found.before == restore(chat(ASK, SAID), finding()).before


@pytest.mark.parametrize(
    "messages",
    [
        (MORE, SAID),
        (ASK, {"role": "assistant", "content": "It is not."}),
        (ASK, SAID | {"role": "user"}),
        (ASK, SAID, MORE, SAID)[2:],
        (SAID,),
    ],
)
def test_nothing_is_put_back_elsewhere(messages: tuple[Any, ...]) -> None:
    """Behind another beginning, or for another turn, the request goes up as it came."""
    transcript = chat(*messages)
    found = restore(transcript, finding(entry("h1", ASK)))
    assert (found.messages, found.entries, found.is_changed, found.mark) == (list(transcript.messages), [], False, "")


@pytest.mark.parametrize("more", [[], [MORE]])
def test_results_go_into_the_turn_behind(more: list[Any]) -> None:
    """With the client's next words behind them, or as a turn of their own at the end."""
    kept = entry("h1", ASK, results=(RESULT,), order=("c1",))
    found = restore(chat(ASK, SAID, *more), finding(kept))
    assert found.messages == [raw(ASK), OWN, result_message(RESULT), *map(raw, more)]


def test_the_results_of_client_and_gate_are_in_order() -> None:
    """Calls that the client ran and the one that was refused are answered in the order in which they were made."""
    calls = [{"id": name, "type": "function", "function": {"name": "look", "arguments": "{}"}} for name in ("c0", "c2")]
    visible = {"role": "assistant", "content": None, "tool_calls": calls}
    kept = entry("h1", ASK, visible=visible, results=(RESULT,), order=("c0", "c1", "c2"))
    ran = [{"role": "tool", "tool_call_id": name, "content": "x"} for name in ("c2", "c0")]
    found = restore(chat(ASK, visible, *ran, MORE), finding(kept))
    assert found.messages == [raw(ASK), OWN, raw(ran[1]), result_message(RESULT), raw(ran[0]), raw(MORE)]


def test_of_entries_that_are_alike_the_first_one_stays() -> None:
    """What is kept later changes nothing of a request; entries that put back something else are ambiguous: none is."""
    first = entry("h1", ASK)
    same, other = replace(first, id="h2"), replace(first, id="h3", messages=(b'{"role":"assistant","content":"x"}',))
    request = chat(ASK, SAID)
    found = restore(request, finding(first, same))
    assert (found.entries, found.ambiguous) == ([first], 0)
    found = restore(request, finding(first, same, other))
    assert (found.entries, found.ambiguous, found.messages) == ([], 1, list(request.messages))


@pytest.mark.parametrize(
    ("kept", "asks", "is_put_back"),
    [
        (Asker("s1", "n1"), Asker("s1", "n1"), True),
        (Asker("s1", ""), Asker("s1", "n1"), True),
        (Asker("s1", "n1"), Asker("s1", ""), True),
        (Asker("s1", "n2"), Asker("s1", "n1"), False),
        (Asker("s2", "n1"), Asker("s1", "n1"), False),
        (Asker("", "n1"), Asker("s1", "n1"), False),
        (Asker("s1", "n1"), Asker("", "n1"), False),
    ],
)
def test_nothing_is_put_back_for_somebody_else(kept: Asker, asks: Asker, is_put_back: bool) -> None:
    """Another subject, or another name of the conversation, gets nothing; a name that is not said narrows nothing."""
    one = entry("h1", ASK, asked=kept)
    found = restore(chat(ASK, SAID), finding(one), asks)
    assert (found.entries, found.ambiguous) == ([one] if is_put_back else [], 0)


def test_a_named_conversation_gets_its_own() -> None:
    """Among entries that fit and differ, that of the same subject and name is no doubt."""
    asker = Asker("s1", "n1")
    bare = entry("h1", ASK, asked=Asker("s1"), messages=(b'{"role":"assistant","content":"x"}',))
    own = entry("h2", ASK, asked=asker)
    found = restore(chat(ASK, SAID), finding(bare, own), asker)
    assert (found.entries, found.ambiguous) == ([own], 0)


def test_a_turn_that_depends_on_a_lost_one_is_not_put_back() -> None:
    """A later entry counts only behind the one it was made on."""
    first = entry("h1", ASK)
    second = entry("h2", ASK, SAID, MORE, visible=SAID, depends="h1")
    request = chat(ASK, SAID, MORE, SAID)
    assert restore(request, finding(first, second)).entries == [first, second]
    assert restore(request, finding(second)).entries == []
    assert restore(request, finding(first, replace(second, depends="h0"))).entries == [first]


def thinking(signature: str, text: str = "It is paid.") -> dict[str, Any]:
    block = {"type": "thinking", "thinking": "hm", "signature": signature}
    return {"role": "assistant", "content": [block, {"type": "text", "text": text}]}


def claude(*messages: Any) -> AnthropicTranscript:
    return AnthropicTranscript(raw({"messages": messages}))


OTHER = {"role": "assistant", "content": "Which one?"}


def branches() -> tuple[Hidden, Hidden]:
    """Two entries of one place: the first was kept before."""
    first = entry("h1", ASK, visible=OTHER)
    return first, replace(first, id="h2", messages=(b'{"role":"assistant","content":[]}',))


def test_thinking_says_which_branch_it_is_of() -> None:
    """The entry that the newest thinking depends on is taken, although another one was kept first."""
    first, second = branches()
    request = claude(ASK, OTHER, MORE, thinking(sealed("h2", "c2ln")))
    found = restore(request, finding(first, second))
    assert (found.entries, found.taken_out) == ([second], 0)
    assert json.loads(found.messages[-1])["content"][0]["signature"] == "c2ln"


@pytest.mark.parametrize("signature", [sealed("h9", "c2ln"), "c2ln"])
def test_thinking_of_another_place_is_taken_out(signature: str) -> None:
    """Thinking that depends on a lost turn, or on none where one was put back, cannot go up."""
    first, _ = branches()
    request = claude(ASK, OTHER, MORE, thinking(signature))
    entries = () if signature.startswith("cg1.") else (first,)
    found = restore(request, finding(*entries))
    if not entries:
        assert (found.taken_out, found.entries) == (1, [])
        assert [block["type"] for block in json.loads(found.messages[-1])["content"]] == ["text"]
    else:  # it was made where nothing was hidden: so nothing is put back before it
        assert (found.taken_out, found.entries, found.messages) == (0, [], list(request.messages))


def test_thinking_that_hangs_on_itself_is_lost() -> None:
    """Entries that depend on each other in a circle resolve to nothing, and it ends."""
    first = entry("h1", ASK, visible=OTHER, depends="h2")
    second = entry("h2", ASK, OTHER, MORE, visible=SAID, depends="h1")
    request = claude(ASK, OTHER, MORE, SAID, MORE, thinking(sealed("h2", "c2ln")))
    found = restore(request, finding(first, second))
    assert (found.entries, found.taken_out) == ([], 1)


def test_a_client_without_the_thinking_gets_none_back() -> None:
    """Thinking of a hidden turn is put back only where the client holds that of the same turn."""
    own = raw(thinking("b3du"))
    visible = {"role": "assistant", "content": "It is paid."}
    kept = replace(entry("h1", ASK, visible=visible), messages=(own,))
    bare = restore(claude(ASK, visible), finding(kept))
    assert [block["type"] for block in json.loads(bare.messages[1])["content"]] == ["text"]
    held = restore(claude(ASK, thinking("b3du")), finding(kept))
    assert held.messages[1] == own


def test_the_same_request_gives_the_same_bytes() -> None:
    """Restoring twice is restoring once more from the start: nothing of the transcript is used up."""
    kept = entry("h1", ASK, results=(RESULT,), order=("c1",))
    request = chat(ASK, SAID, MORE)
    assert restore(request, finding(kept)) == restore(request, finding(kept))


def test_a_root_names_the_opening() -> None:
    """Conversations that begin alike share it; one without an opening has the start of every chain."""
    assert root_of(chat(ASK, SAID).opening()) == restore(chat(ASK), finding()).root
    assert root_of(chat(ASK).opening()) != root_of(chat(MORE).opening())
    assert root_of(None) == restore(chat(SAID), finding()).root == CHAIN_START


def test_taken_out_thinking_alone_is_a_change() -> None:
    """A request from which something was taken must go up in its new bytes."""
    assert not Restored([], b"", b"").is_changed
    assert Restored([], b"", b"", taken_out=1).is_changed
