"""Cases about what a customer says, and whether that asks for a person: `says` stands in the place of `call`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from interceptors.context import Context, FactFailure
from interceptors.decisions import Needs
from interceptors.handing_off import HandingOff, hand_off
from interceptors.person_wanted import person_wanted
from policies.nodes import ScalarNode
from proxy.suites.cases import fact_result
from proxy.suites.expectations import fact_key

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from interceptors.context import FactKey, FactResult
    from policies.model import Origin, Policy
    from policies.nodes import MappingNode
    from proxy.suites.cases import Circumstances

TENANT: Final = "suite"
AROUND: Final = ("session", "identity", "facts")
CASE: Final = ("name", "now", "says", *AROUND, "expect")
EXPECT: Final = ("handoff", "language", "reply", "summary", "reads")


@dataclass(frozen=True, slots=True)
class ExpectedHandoff:
    """What a case says of it. None is not checked; only whether a person is asked for always is."""

    handoff: bool
    language: str | None = None
    reply: str | None = None
    summary: Mapping[str, str] | None = None
    reads: frozenset[FactKey] | None = None


@dataclass(frozen=True, slots=True)
class AskingCase:
    name: str
    now: datetime
    says: str
    around: Circumstances
    expected: ExpectedHandoff
    origin: Origin


@dataclass(frozen=True, slots=True)
class AskingTrial:
    """As `Trial`. `made` is None where nobody is asked for."""

    case: AskingCase
    made: HandingOff | None
    reads: tuple[FactKey, ...]
    against: tuple[str, ...]

    @property
    def passed(self) -> bool:
        return not self.against

    def has_read(self, key: FactKey) -> bool:
        """Whether its source answered with a record."""
        return not isinstance(self.case.around.facts.get(key), FactFailure)


def read_asking(mapping: MappingNode, now: datetime, around: Circumstances) -> AskingCase:
    """`around` is what surrounds it, by the case and by the defaults. `DocumentError` for what is no such case."""
    mapping.check_keys(CASE)
    says = mapping.require("says")
    if not isinstance(says, ScalarNode):
        says.fail(f"expected a text, got {says.described}")
    expected = _expected(mapping.require("expect").mapping())
    return AskingCase(mapping.require("name").text(), now, says.spelling, around, expected, mapping.origin)


def _expected(mapping: MappingNode) -> ExpectedHandoff:
    mapping.check_keys(EXPECT)
    handoff = mapping.require("handoff").boolean()
    if not handoff and (more := next((key for key in EXPECT[1:] if key in mapping), "")):
        mapping.require(more).fail(f"where nobody is asked for there is no {more}")
    language, reply, summary, reads = (mapping.get(key) for key in EXPECT[1:])
    return ExpectedHandoff(
        handoff,
        None if language is None else language.text(),
        None if reply is None else reply.text(),
        None if summary is None else {key: one.source() for key, one in summary.mapping().entries.items()},
        None if reads is None else frozenset(fact_key(one.text(), one) for one in reads.sequence()),
    )


def run_asking(policy: Policy, case: AskingCase) -> AskingTrial:
    """Decide the case as the gate would."""
    facts: dict[FactKey, FactResult] = {}
    handoff, identity = policy.people.handoff, policy.identities.get(case.around.identity or "")
    is_silent = handoff is None or (identity is not None and identity.autonomous)
    wanted = None if handoff is None or is_silent else person_wanted(case.says, handoff, policy.not_user)
    if handoff is None or wanted is None:
        against = ("expected that a person is asked for, and nobody is",) if case.expected.handoff else ()
        return AskingTrial(case, None, (), against)
    context = Context(case.now, TENANT, identity=case.around.identity, subject=case.around.session)
    made = hand_off(policy, handoff, wanted, context, facts)
    while isinstance(made, Needs):
        for key in made.facts:
            given = case.around.facts.get(key)
            if given is None:
                message = f"{key.fact}/{key.key} is read, and the case does not say what its source answers"
                return AskingTrial(case, None, tuple(facts), (message,))
            facts[key] = fact_result(given, case.now)
        made = hand_off(policy, handoff, wanted, context, facts)
    return AskingTrial(case, made, tuple(facts), tuple(_against(case.expected, made, tuple(facts))))


def _against(expected: ExpectedHandoff, made: HandingOff, reads: tuple[FactKey, ...]) -> Iterator[str]:
    if not expected.handoff:
        phrase = f", {made.wanted.phrase!r}" if made.wanted.phrase else ""
        yield f"expected that nobody is asked for, and a person is (in {made.wanted.language}{phrase})"
        return
    if expected.language is not None and expected.language != made.wanted.language:
        yield f"expected the language {expected.language!r}, got {made.wanted.language!r}"
    if expected.reply is not None and expected.reply != made.reply:
        yield f"expected the reply {expected.reply!r}, got {made.reply!r}"
    if expected.summary is not None and dict(expected.summary) != dict(made.summary):
        yield f"summary: expected {dict(expected.summary)!r}, got {dict(made.summary)!r}"
    if expected.reads is not None and expected.reads != frozenset(reads):
        yield f"expected to read {_records(expected.reads)}, got {_records(reads)}"


def _records(keys: frozenset[FactKey] | tuple[FactKey, ...]) -> str:
    return ", ".join(f"{key.fact}/{key.key}" for key in sorted(keys)) if keys else "nothing"
