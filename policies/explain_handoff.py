"""What a policy says of customers who ask for a person, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from policies.expressions import dotted
from policies.handoff import REASON
from policies.handoff_words import REPLIES
from policies.nodes import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from policies.handoff import Handoff
    from policies.model import Policy


def handoff_lines(policy: Policy, *, with_reply: bool = True) -> Iterator[str]:
    """The lines of the whole policy; nothing where no words ask for a person."""
    handoff = policy.people.handoff
    if handoff is None:
        return
    yield "A customer who asks for a person is answered at once, and the model is not asked: a case is opened first."
    built_in = [tag for tag, spoken in handoff.languages.items() if spoken.built_in]
    if built_in:
        yield f"  The usual words for that count, in {listed(built_in)}; a negation of them does not."
    for tag, spoken in handoff.languages.items():
        if spoken.phrases:
            yield f"  In {tag} these count{', too' if spoken.built_in else ''}: {_quoted(spoken.phrases)}."
    if with_reply:
        yield from _reply(policy)
    yield from _case(handoff)


def _reply(policy: Policy) -> Iterator[str]:
    own = policy.reasons.get(REASON)
    if own is not None and own.replies:
        yield f"  The customer reads: {_quoted(tuple(text.source for text in own.replies.values()))}"
    else:
        yield f"  The customer reads, in the language in which it was asked: {_quoted((REPLIES['en'],))}"


def _case(handoff: Handoff) -> Iterator[str]:
    case = handoff.case
    for name, use in case.facts.items():
        yield f"  For the case the fact {name} is looked up, by {dotted(next(iter(use.key.paths)))}."
    for name, text in case.escalation.items():
        yield f'  The person reads as {name.replace("_", " ")}: "{text.source}"'
    if case.upkeep.gather:
        yield f"  The person reads every field of {' and '.join(case.upkeep.gather)}, as far as it could be read."


def _quoted(texts: tuple[str, ...]) -> str:
    return ", ".join(f'"{text}"' for text in texts)
