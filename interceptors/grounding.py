"""Stage 4: argument values that must come from somewhere trusted do (DESIGN 4, G9).

A value from the `user` stands in the user's own words of this request. A value from a `result` is the field of a result
of a call that this gate released, in this request's history. Nothing else in the conversation grounds one: no text of a
model, no image, no result that nobody released, no earlier conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.case import Stage
from interceptors.causes import RefusalCause
from interceptors.conversation import Conversation
from interceptors.decisions import Evidence, Grounded, Verdict
from interceptors.grounds import from_result, from_text, from_user
from policies.guards import FromResult, FromUser
from policies.model import Ruling

if TYPE_CHECKING:
    from interceptors.case import Case
    from interceptors.guarded import Guarded

VALUES_MAX: Final = 64
"""Values of one argument that are looked for: the others are ungrounded."""

_NAME: Final = "grounding"


class Grounding:
    """One row for each argument with a source, with the evidence for every value that stands there."""

    name = _NAME
    stage = Stage.GROUNDING

    def judge(self, case: Case) -> tuple[Verdict, ...]:
        reading = case.reading
        places = [place for place in case.found.guarded if place.argument.sources]
        if reading is None or not places:
            return ()
        conversation = Conversation.of(case.context.history, case.policy)
        return tuple(_row(case, place, conversation, reading.values) for place in places)


def _row(case: Case, place: Guarded, conversation: Conversation, arguments: object) -> Verdict:
    rule = place.rule(case.found.tool, "from")
    evidence: list[Evidence] = []
    for path, value in place.values(arguments):
        found = _evidence(case, place, conversation, path, value) if len(evidence) < VALUES_MAX else None
        if found is None:
            given = case.verdict(_NAME, RefusalCause.UNGROUNDED)
            return Verdict(_NAME, given.ruling, given.reason, rule, f"argument {path!r}: {_lacking(place)}")
        evidence.append(found)
    return Grounded(_NAME, Ruling.ALLOW, rule=rule, evidence=tuple(evidence))


def _evidence(case: Case, place: Guarded, conversation: Conversation, path: str, value: object) -> Evidence | None:
    """The evidence of the first source that has some."""
    for source in place.argument.sources:
        if isinstance(source, FromUser):
            found = from_user(path, place.argument, value, conversation)
        elif isinstance(source, FromResult):
            found = from_result(path, place.argument, value, source, conversation, case.policy)
        else:
            found = from_text(path, place.argument, value, source, conversation)
        if found is not None:
            return found
    return None


def _lacking(place: Guarded) -> str:
    """What the agent and the operator are told. It names tools and fields, never a value."""
    names = [
        "what the user wrote" if isinstance(one, FromUser) else f"a result of {one.tool}"
        for one in place.argument.sources
    ]
    return f"does not stand in {' or in '.join(dict.fromkeys(names))}"
