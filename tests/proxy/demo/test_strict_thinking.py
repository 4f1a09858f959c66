"""The strict provider binds thinking to its conversation: each sentence about signatures, refused or taken."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
import pytest

from proxy.demo import signatures
from proxy.demo.admission import Admitted
from proxy.demo.servers import CLAUDE, OLDER_CLAUDE, AnthropicServer
from proxy.demo.signatures import Binding
from proxy.demo.thinking import Prefix
from proxy.demo.turns import Call, Text, Thinking, Turn
from tests.proxy.demo.strict import BETA, Desk, assistant, result, text, three_loops, user

if TYPE_CHECKING:
    from collections.abc import Callable

ELSEWHERE = (
    "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
UNMODIFIED = (
    "`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must "
    "remain as they were in the original response."
)


def change(path: str, value: object) -> Callable[[Desk], None]:
    """Put `value` at that path of the request."""

    def edit(desk: Desk) -> None:
        *steps, last = [int(one) if one.isdigit() else one for one in path.split(".")]
        place = desk.body
        for step in steps:
            place = place[step]
        place[last] = value

    return edit


def remove(path: str) -> Callable[[Desk], None]:
    def edit(desk: Desk) -> None:
        *steps, last = [int(one) if one.isdigit() else one for one in path.split(".")]
        place = desk.body
        for step in steps:
            place = place[step]
        del place[last]

    return edit


def insert(path: str, value: object) -> Callable[[Desk], None]:
    def edit(desk: Desk) -> None:
        *steps, last = [int(one) if one.isdigit() else one for one in path.split(".")]
        place = desk.body
        for step in steps:
            place = place[step]
        place.insert(last, value)

    return edit


def reordered(desk: Desk) -> None:
    """Every object with its keys the other way round, and numbers spelled anew."""

    def turned(value):
        if isinstance(value, dict):
            return {key: turned(value[key]) for key in reversed(value)}
        return [turned(one) for one in value] if isinstance(value, list) else value

    desk.body = turned(desk.body)
    desk.messages[1]["content"][2]["input"]["n"] = 120


def without_thinking(desk: Desk) -> None:
    for message in desk.messages:
        message["content"] = [one for one in message["content"] if one["type"] != "thinking"]


def split(desk: Desk) -> None:
    """A turn sent as two neighbours, a text as a string."""
    thinking, *others = desk.messages[1]["content"]
    desk.messages[1:2] = [assistant(thinking), assistant(*others)]
    desk.messages[0]["content"] = "hello"


def at_start(desk: Desk) -> None:
    del desk.messages[1]["content"][0]


def at_end(desk: Desk) -> None:
    del desk.messages[5]["content"][0]


def many(*edits: Callable[[Desk], None]) -> Callable[[Desk], None]:
    def edit(desk: Desk) -> None:
        for one in edits:
            one(desk)

    return edit


CACHED = {"type": "ephemeral"}
STAYS_VALID: dict[str, Callable[[Desk], None]] = {
    "nothing": lambda desk: None,
    "append at the end": lambda desk: desk.messages.append(user(text("more"))),
    "append to the newest turn": insert("messages.6.content.1", text("more")),
    "cache_control in messages": change("messages.2.content.0.cache_control", CACHED),
    "cache_control on a tool": change("tools.0.cache_control", CACHED),
    "cache_control in system": change(
        "system", [{"type": "text", "text": "You are a support desk.", "cache_control": CACHED}]
    ),
    "tool_choice": change("tool_choice", {"type": "none"}),
    "effort": change("output_config", {"effort": "low"}),
    "max_tokens": change("max_tokens", 4000),
    "metadata": change("metadata", {"user_id": "u"}),
    "an unreferenced deferred tool added": insert(
        "tools.0", {"name": "other", "input_schema": {}, "defer_loading": True}
    ),
    "an unreferenced deferred tool removed": remove("tools.1"),
    "thinking removed from the start": at_start,
    "two removed from the start": many(at_start, remove("messages.3.content.0")),
    "thinking removed from the end": at_end,
    "two removed from the end": many(at_end, remove("messages.3.content.0")),
    "all thinking removed": without_thinking,
    "server-side context editing": change("context_management", {"edits": [{"type": "clear_tool_uses_20250919"}]}),
    "JSON formatting and key order": reordered,
    "neighbours of one role": split,
    "a default stated": change("messages.2.content.0.is_error", False),
    "a default left out": remove("messages.1.content.2.caller"),
}
# With the first thinking block that no longer holds.
INVALIDATES: dict[str, tuple[str, Callable[[Desk], None]]] = {
    "the first message edited": ("1.content.0", change("messages.0.content.0.text", "hallo")),
    "an earlier message edited": ("3.content.0", change("messages.1.content.1.text", "looked")),
    "earlier messages deleted": ("1.content.0", lambda desk: desk.messages.__delitem__(slice(1, 3))),
    "a message put in": ("2.content.0", insert("messages.0", user(text("first")))),
    "a text block added to an earlier user turn": ("3.content.0", insert("messages.2.content.1", text("and"))),
    "a text block removed from an earlier user turn": ("3.content.0", remove("messages.2.content.1")),
    "a text block removed": ("3.content.0", remove("messages.1.content.1")),
    "blocks reordered": (
        "3.content.0",
        lambda desk: desk.messages[1]["content"].insert(1, desk.messages[1]["content"].pop()),
    ),
    "an earlier result cleared": ("3.content.0", remove("messages.2.content.0.content")),
    "an earlier result shortened": ("3.content.0", change("messages.2.content.0.content", "o")),
    "an earlier result turned into an error": ("5.content.0", change("messages.4.content.0.is_error", True)),
    "an earlier input changed": ("3.content.0", change("messages.1.content.2.input.n", 121)),
    "an earlier input's null": ("3.content.0", change("messages.1.content.2.input.x", None)),
    "a call taken out with its result": (
        "3.content.0",
        many(remove("messages.1.content.2"), change("messages.2", user(text("x")))),
    ),
    "system changed": ("1.content.0", change("system", "You are a help desk.")),
    "system removed": ("1.content.0", remove("system")),
    "a tool added": ("1.content.0", insert("tools.0", {"name": "g", "input_schema": {}})),
    "a tool removed": ("1.content.0", remove("tools.0")),
    "a tool renamed": ("1.content.0", change("tools.0.name", "g")),
    "a tool edited": ("1.content.0", change("tools.0.description", "does g")),
    "a tool's schema edited": ("1.content.0", change("tools.0.input_schema.properties.n.type", "string")),
    "tools removed": ("1.content.0", remove("tools")),
    "thinking removed from the middle": ("5.content.0", remove("messages.3.content.0")),
}


@pytest.mark.parametrize("edit", STAYS_VALID.values(), ids=STAYS_VALID)
def test_thinking_stays_valid(edit: Callable[[Desk], None]) -> None:
    """What the vendor's table says leaves thinking valid is taken."""
    desk = three_loops()
    edit(desk)

    assert desk.refusal() == ""


@pytest.mark.parametrize(("first", "edit"), INVALIDATES.values(), ids=INVALIDATES)
def test_thinking_is_invalidated(first: str, edit: Callable[[Desk], None]) -> None:
    """What the vendor's table says invalidates every later block is a 400 at the first of them, in its words."""
    desk = three_loops()
    edit(desk)

    assert desk.refusal() == f"messages.{first}: {ELSEWHERE}"


def test_a_block_put_back_invalidates_the_later_ones() -> None:
    """A block that was out when a later one was made may not return before it."""
    desk = three_loops()
    old = desk.messages[1]["content"].pop(0)
    desk.ask(Turn((Thinking("thought 3"), Text("you are welcome"))))
    desk.messages.append(user(text("bye")))
    assert desk.refusal() == ""

    desk.messages[1]["content"].insert(0, old)
    assert desk.refusal() == f"messages.7.content.0: {ELSEWHERE}"


def test_system_messages_are_left_in_place() -> None:
    """A `role: system` message before a block belongs to its prefix."""
    desk = Desk()
    desk.messages.append({"role": "system", "content": "be brief"})
    desk.ask(Turn((Thinking("a"), Text("b"))))
    desk.messages.append(user(text("c")))
    assert desk.refusal() == ""

    del desk.messages[1]
    assert desk.refusal() == f"messages.1.content.0: {ELSEWHERE}"


def test_earlier_messages_reordered() -> None:
    """The same messages in another order are another conversation."""
    desk = Desk()
    desk.messages[:] = [user(text("a")), assistant(text("b")), user(text("c")), assistant(text("d")), user(text("e"))]
    desk.ask(Turn((Thinking("hm"), Text("f"))))
    desk.messages.append(user(text("g")))
    assert desk.refusal() == ""

    desk.messages[0], desk.messages[2] = desk.messages[2], desk.messages[0]
    assert desk.refusal() == f"messages.5.content.0: {ELSEWHERE}"


def test_a_deferred_tool_counts_once_it_is_named() -> None:
    """Editing it invalidates what was made after the reference, and nothing before."""
    desk = Desk()
    desk.ask(Turn((Thinking("a"), Call("f"))))
    found = [{"type": "tool_reference", "tool_name": "late"}]
    desk.messages.append(user(result(desk.messages[-1]["content"][1]["id"], content=found)))
    desk.ask(Turn((Thinking("b"), Text("c"))))
    desk.messages.append(user(text("d")))
    assert desk.refusal() == ""

    desk.body["tools"][1]["description"] = "new"
    assert desk.refusal() == f"messages.3.content.0: {ELSEWHERE}"


def test_a_block_of_another_conversation() -> None:
    """Two conversations that differ in one character do not share thinking; two that are alike do."""
    first, second, third = Desk(), Desk(), Desk()
    second.messages[0] = user(text("hello!"))
    for desk in (first, second, third):
        desk.ask(Turn((Thinking("same"), Text("same"))))
        desk.messages.append(user(text("go on")))
    assert first.messages[1] == third.messages[1]

    second.messages[1] = first.messages[1]
    assert second.refusal() == f"messages.1.content.0: {ELSEWHERE}"


def test_the_blocks_own_text() -> None:
    """A modified block is refused: an earlier one as invalid, one of the latest turn as modified."""
    for key, value in (("thinking", "other"), ("signature", "c2lnbmF0dXJl"), ("signature", "not base64 ✓")):
        desk = three_loops()
        desk.messages[1]["content"][0][key] = value
        assert desk.refusal() == "messages.1.content.0: Invalid `signature` in `thinking` block"
        desk = three_loops()
        desk.messages[5]["content"][0][key] = value
        assert desk.refusal() == f"messages.5.content.0: {UNMODIFIED}"


@pytest.mark.parametrize("server", [CLAUDE, OLDER_CLAUDE], ids=["newer", "older"])
def test_the_latest_turn_is_in_order(server: AnthropicServer) -> None:
    """Blocks of the latest assistant turn may not change places, nor lose one from between."""
    parts = (Thinking("a"), Thinking("b"), Thinking(redacted=True), Call("f"))
    for edit in ([1, 0, 2, 3], [0, 2, 3]):
        desk = Desk(server)
        content = desk.ask(Turn(parts))["content"]
        desk.answer()
        assert desk.refusal() == ""
        desk.messages[1]["content"] = [content[place] for place in edit]
        assert UNMODIFIED in desk.refusal()


@pytest.mark.parametrize("edit", [[1, 2], [0, 2]])
def test_the_older_rule_keeps_the_latest_turn_whole(edit: list[int]) -> None:
    """Older models refuse a latest turn that lost a block at an end; newer ones, whose table allows it, do not."""
    for server, words in ((OLDER_CLAUDE, UNMODIFIED), (CLAUDE, "")):
        desk = Desk(server)
        content = desk.ask(Turn((Thinking("a"), Thinking("b"), Text("c"))))["content"]
        desk.messages[1]["content"] = [content[place] for place in edit]
        desk.messages.append(user(text("d")))
        assert words in desk.refusal()
        assert bool(desk.refusal()) == bool(words)


def test_a_tool_loop_starts_with_thinking() -> None:
    """The older rule: with thinking enabled, the last assistant turn of a tool loop starts with its thinking."""
    desk = Desk(OLDER_CLAUDE)
    desk.body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    desk.ask(Turn((Thinking("a"), Call("f"))))
    desk.answer()
    assert desk.refusal() == ""

    thinking = desk.messages[1]["content"].pop(0)
    text_of = "messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`"
    assert desk.refusal().startswith(text_of)
    for kind in ("adaptive", "disabled"):
        desk.body["thinking"] = {"type": kind}
        assert desk.refusal() == ""
    desk.body["thinking"] = {"type": "enabled"}
    desk.messages[1]["content"].insert(0, thinking)
    desk.ask(Turn((Text("done"),)))
    desk.messages.append(user(text("thanks")))  # no loop any more
    assert desk.refusal() == ""


def test_newer_models_take_a_tool_loop_without_thinking() -> None:
    """All thinking may be gone, in a tool loop too."""
    desk = Desk()
    desk.body["thinking"] = {"type": "enabled", "budget_tokens": 1024}
    desk.ask(Turn((Thinking("a"), Call("f"))))
    desk.answer()
    del desk.messages[1]["content"][0]

    assert desk.refusal() == ""


def test_the_older_rule_binds_nothing() -> None:
    """Models before the prefix check take thinking behind an edited conversation, and have nothing to report."""
    desk = three_loops(OLDER_CLAUDE, BETA)
    desk.messages[0] = user(text("hallo"))

    assert _paths(desk) == []
    _dropping(desk)
    assert _paths(desk) == []


def _dropping(desk: Desk, behaviour: str = "drop_block") -> None:
    desk.body["thinking"] = {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": behaviour}}


def test_drop_block_drops_the_failing_and_all_later_blocks() -> None:
    """Each is listed with its path; the turn that follows is bound to what the model saw."""
    desk = three_loops(betas=f"other, {BETA}")
    _dropping(desk)
    desk.messages[2]["content"][0]["content"] = "cleared"

    checked = desk.check()

    assert isinstance(checked, Admitted)
    assert checked.heard is not None
    assert checked.heard.transformations == [
        {"type": "thinking_dropped", "path": path, "reason": "prefix_binding_mismatch"}
        for path in ("messages.3.content.0", "messages.5.content.0")
    ]
    desk.ask(Turn((Thinking("later"), Text("ok"))))
    desk.messages.append(user(text("more")))
    del desk.messages[3]["content"][0], desk.messages[5]["content"][0], desk.body["thinking"]
    assert desk.refusal() == ""


def test_drop_block_drops_what_would_hold_without_the_failing_one() -> None:
    """A stranger's block put before: it goes, and so do the conversation's own, which come later."""
    stranger, desk = Desk(), Desk(betas=BETA)
    stranger.messages[0] = user(text("other"))
    block = stranger.ask(Turn((Thinking("a"), Text("b"))))["content"][0]
    desk.messages.extend([assistant(text("hello?")), user(text("again"))])
    desk.ask(Turn((Thinking("c"), Text("d"))))
    desk.messages.append(user(text("e")))
    _dropping(desk)
    assert _paths(desk) == []

    desk.messages[1]["content"].insert(0, block)
    assert _paths(desk) == ["messages.1.content.0", "messages.3.content.0"]
    desk.messages[3]["content"][0]["thinking"] = "other"
    assert desk.refusal() == f"messages.3.content.0: {UNMODIFIED}"


def _paths(desk: Desk) -> list[str]:
    checked = desk.check()
    assert isinstance(checked, Admitted)
    assert checked.heard is not None
    return [one["path"] for one in checked.heard.transformations or ()]


def test_drop_block_does_not_mend_a_modified_block() -> None:
    """What fails for its own text is no question of its conversation."""
    desk = three_loops(betas=BETA)
    _dropping(desk)
    desk.messages[1]["content"][0]["thinking"] = "other"

    assert desk.refusal() == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_the_report_is_empty_where_nothing_is_dropped() -> None:
    """With the header there is a list, without it there is none."""
    for betas, expected in ((BETA, []), ("", None)):
        checked = three_loops(betas=betas).check()
        assert isinstance(checked, Admitted)
        assert checked.heard is not None
        assert checked.heard.transformations == expected


def test_the_control_needs_its_header_and_a_known_value() -> None:
    """The key is unknown without the beta header; `error` is the default said aloud."""
    desk = three_loops()
    _dropping(desk)
    assert desk.refusal() == "thinking.block_binding: Extra inputs are not permitted"
    desk.betas = BETA
    _dropping(desk, "ignore")
    assert desk.refusal().startswith("thinking.block_binding.prefix_mismatch_behavior: Input should be")
    _dropping(desk, "error")
    desk.messages[0] = user(text("hallo"))
    assert desk.refusal() == f"messages.1.content.0: {ELSEWHERE}"


def test_older_accounts_are_checked_where_they_ask_for_it() -> None:
    """Without the field a mismatch is silently allowed, told under the header only; with it the check is on."""
    server = AnthropicServer(enforced_by_default=False)
    desk = three_loops(server)
    desk.messages[4]["content"][0]["content"] = "cleared"
    assert desk.refusal() == ""
    desk.betas = BETA
    checked = desk.check()
    assert isinstance(checked, Admitted)
    assert checked.heard is not None
    assert checked.heard.transformations == [
        {"type": "thinking_mismatch_allowed", "path": "messages.5.content.0", "reason": "prefix_binding_mismatch"}
    ]
    _dropping(desk, "error")
    assert desk.refusal() == f"messages.5.content.0: {ELSEWHERE}"


def test_what_stands_before_a_block_in_its_own_turn() -> None:
    """By the vendor's words it is no part of the prefix; a switch makes it one."""
    for own_turn, words in ((False, ""), (True, f"messages.1.content.2: {ELSEWHERE}")):
        desk = Desk(AnthropicServer(own_turn_bound=own_turn))
        desk.ask(Turn((Thinking("a"), Call("f", '{"n": 1}'), Thinking("b"), Call("f"))))
        desk.answer()
        assert desk.refusal() == ""
        desk.messages[1]["content"][1]["input"] = {"n": 2}
        assert desk.refusal() == words


def test_hidden_turns_merged_into_one_are_refused() -> None:
    """Two turns that a client holds as one: the second one's thinking was made behind results that are gone."""
    desk = Desk()
    first = desk.ask(Turn((Thinking("a"), Call("f"))))["content"]
    desk.answer()
    second = desk.ask(Turn((Thinking("b"), Text("no"))))["content"]

    desk.messages[1:] = [assistant(first[0], *second), user(text("go on"))]

    assert desk.refusal() == f"messages.1.content.1: {ELSEWHERE}"


def test_signatures_are_opaque_and_read_back() -> None:
    """What is sealed opens to the same; any flipped byte, or another's text, opens to nothing."""
    binding = Binding(b"p" * 16, b"o" * 16, 1, 3, (b"12345678", b"abcdefgh"))
    sealed = signatures.sealed(binding)

    assert signatures.opened(sealed) == binding
    for place in range(0, len(sealed), 7):
        assert signatures.opened(sealed[:place] + ("A" if sealed[place] != "A" else "B") + sealed[place + 1 :]) is None
    assert [signatures.opened(one) for one in ("", "AAAA", None, 7)] == [None] * 4


def test_a_prefix_is_the_same_however_it_is_cut() -> None:
    """The digest depends on the blocks and roles alone, and on each of them."""
    blocks = [("user", text("a")), ("user", text("b")), ("assistant", text("c"))]
    whole, other = Prefix({}), Prefix({})
    for role, block in blocks:
        whole.add(role, block)
        other.add(role, orjson.loads(orjson.dumps(block)))
    assert whole.digest("user") == other.digest("user")
    other.add("user", text("d"))
    assert whole.digest("user") == other.digest("user")  # its own turn
    assert whole.digest("assistant") != other.digest("assistant")
