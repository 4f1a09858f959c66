"""What is decided when a user-side turn first goes up: of its own results, and of those that are out of date by then.

Earlier results are replaced only where the newest turn is a user's text: never inside a tool loop, since there the
model is in the middle of a thought that rests on them (DESIGN 6). There the newest result says it, which nothing rests
on yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from interceptors.edits import Edit
from interceptors.freshness import HELD_LOOP_NOTICE, HELD_NOTICE, loop_notice, overtaken, stale, stale_notice
from interceptors.pruning import cut, pruned
from interceptors.result_errors import error_in, structured
from policies.model import ToolEffect
from policies.upkeep import ages
from proxy.history.calls import Known, call_of, done, last_text, since
from proxy.ledger.edits import Decision, ResultEdit
from proxy.once import OncePerRevision

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from datetime import datetime

    from interceptors.freshness import Done, Since
    from policies.model import Policy, Tool
    from proxy.history.view import View
    from proxy.wire.transcript import Content

    Pair = tuple[int, str]


def _uses(policy: Policy) -> bool:
    return policy.history.is_used or any(tool.upkeep.is_used for tool in policy.tools.values())


uses = OncePerRevision(_uses)
"""Whether anything of a policy may change what goes up."""


def decide(
    view: View, newest: int, policy: Policy, before: Mapping[int, Decision], answered: Collection[str], now: datetime
) -> Decision:
    """The decision for the newest turn; `before` are those of the turns ahead of it."""
    own = first_sight(view, newest, policy, answered)
    if not ages(policy):
        return Decision(now.timestamp(), tuple(own))
    if view.transcript.is_continued:
        return _of_held(view, newest, policy, own, now)
    known = Known.of(before)
    gone_until = max((each.last for decision in before.values() for each in decision.stretches), default=-1)
    calls = [each for each in done(view, before, answered) if each.turn > gone_until]
    if not view.turns[newest].results:
        read = [each for each in stale(policy, calls, since(before, now)) if each.turn not in view.unread]
        old = [each for each in read if _pair(each) not in known.replaced]
        return Decision(now.timestamp(), tuple(_replaced(each) for each in old))
    passed = overtaken(policy, calls)
    beside = {each.call: _replaced(each) for each in passed if each.turn == newest}
    own = [each for each in own if each.call not in beside] + list(beside.values())
    older = [each for each in calls if each.turn < newest]
    read = [each for each in older if each.turn not in view.unread]
    gone = {_pair(each) for each in passed} | _aged(policy, read, since(before, now), last_text(view))
    gone -= known.replaced | known.told
    unsaid = [each for each in older if _pair(each) in gone]
    if not unsaid:
        return Decision(now.timestamp(), tuple(own))
    noticed = next((one for one in _answers(view, newest) if one not in beside), "")
    if not noticed:
        return Decision(now.timestamp(), tuple(own))
    told = tuple(_pair(each) for each in unsaid)
    return Decision(now.timestamp(), tuple(own), noticed=noticed, notice=loop_notice(unsaid), told=told)


def _answers(view: View, newest: int) -> Iterator[str]:
    """The calls that the results of a turn answer, the last first; a result that answers none may not stay."""
    results = reversed(view.turns[newest].results)
    return (one.call for one in results if view.transcript.is_continued or call_of(view, newest, one.call))


def _of_held(view: View, newest: int, policy: Policy, own: Sequence[ResultEdit], now: datetime) -> Decision:
    """Of a history that the provider keeps nothing is known but that it is older than what comes now."""
    decision = Decision(now.timestamp(), tuple(own))
    if not view.turns[newest].results:
        return replace(decision, notice=HELD_NOTICE)
    noticed = next(_answers(view, newest), "")
    if not noticed or not any(tool.upkeep.writes for tool in policy.tools.values()):
        return decision
    return replace(decision, noticed=noticed, notice=HELD_LOOP_NOTICE)


def _aged(policy: Policy, older: Sequence[Done], lull: Since, began: int) -> set[Pair]:
    """Earlier results that are too old: those from before this loop, which began with the turn `began`, and all where
    the loop itself lay still."""
    resume_after = policy.history.resume_after
    is_idle = resume_after is not None and (lull.idle is None or lull.idle > resume_after)
    found = stale(policy, older, lull)
    return {_pair(each) for each in found if each.turn < began or (is_idle and _rests(policy, each))}


def _rests(policy: Policy, each: Done) -> bool:
    """Whether the conversation's own rest says how long results of this tool hold."""
    tool = policy.tool(each.tool)
    return tool is not None and tool.upkeep.fresh_for is None


def first_sight(view: View, number: int, policy: Policy, answered: Collection[str]) -> list[ResultEdit]:
    """The results of a turn that no model has read, pruned, or as the errors that they are."""
    return list(_at_first_sight(view, number, policy, answered))


def _at_first_sight(view: View, newest: int, policy: Policy, answered: Collection[str]) -> Iterator[ResultEdit]:
    turn = view.turns[newest]
    if not turn.results:
        return
    contents = view.transcript.contents(view.transcript.messages[turn.first : turn.last + 1])
    for result, content in zip(turn.results, contents, strict=True):
        call = call_of(view, newest, result.call)
        tool = policy.tool(call.name) if call is not None else None
        if tool is None or result.call in answered or not (tool.upkeep.prunes or tool.upkeep.errors is not None):
            continue
        edit = _seen(tool, newest, result.call, content)
        if edit is not None:
            yield edit


def _seen(tool: Tool, newest: int, call: str, content: Content) -> ResultEdit | None:
    upkeep = tool.upkeep
    if upkeep.errors is not None and not content.other_bytes:
        found = error_in(content.texts, upkeep.errors)
        if found is not None:
            kind, detail = found
            text = structured(kind, detail, is_write=tool.effect is ToolEffect.WRITE)
            return ResultEdit(newest, call, (text,), True, False, Edit.ERROR.value)
    if not upkeep.prunes:
        return None
    texts = tuple(pruned(text, upkeep, is_error=content.is_error) for text in content.texts)
    keeps_other = upkeep.max_bytes is None or content.other_bytes <= upkeep.max_bytes
    if (
        upkeep.max_bytes is not None
        and sum(len(text.encode(errors="surrogatepass")) for text in texts) > upkeep.max_bytes
    ):
        texts = (cut("\n".join(texts), upkeep.max_bytes),)
    if not keeps_other:
        texts = (*texts, f"[left out: {content.other_bytes} bytes that are no text]")
    if texts == content.texts and keeps_other:
        return None
    return ResultEdit(newest, call, texts, content.is_error, keeps_other, Edit.PRUNED.value)


def _replaced(each: Done) -> ResultEdit:
    return ResultEdit(each.turn, each.call, (stale_notice(each),), False, False, Edit.STALE.value)


def _pair(each: Done) -> Pair:
    return each.turn, each.call
