"""One case, decided by the pipeline of the gate, and held against what it expects."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from msgspec import structs

from interceptors.calls import Proposal, Proposer, ToolCall
from interceptors.causes import RefusalCause
from interceptors.context import Context, FactKey
from interceptors.decisions import Decision
from interceptors.history import EMPTY, PastResult
from interceptors.kinds import MoneyState
from interceptors.obligations import injection_of, reserve_of
from interceptors.settlement import state_of
from interceptors.strict_json import canonical
from policies.model import Batch, OnRefusal, Ruling
from policies.values import render
from proxy.answers import hears_model
from proxy.suites.book import Book
from proxy.suites.cases import fact_result

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from interceptors.calls import Call
    from interceptors.context import FactResult
    from interceptors.decisions import Verdict
    from interceptors.pipeline import Pipeline
    from interceptors.usage import Usage, UsageKey
    from proxy.suites.cases import Answered, Case, Circumstances

TENANT: Final = "suite"
_ROUNDS_MAX: Final = 16


@dataclass(frozen=True, slots=True)
class Trial:
    """What was decided in a case. `against` says, line by line, what is not as it is expected; empty: it passed.

    `earlier` are the decisions about the calls before it.
    """

    case: Case
    decision: Decision | None
    reads: tuple[FactKey, ...]
    against: tuple[str, ...]
    earlier: tuple[Decision, ...] = ()

    @property
    def passed(self) -> bool:
        return not self.against


@dataclass(slots=True)
class _Unanswered(Exception):  # noqa: N818 - the case lacks something, the policy does not err
    message: str

    def __str__(self) -> str:
        return self.message


def run(pipeline: Pipeline, case: Case) -> Trial:
    """Decide the case as the gate would."""
    book = Book(None if case.asked is None else case.now - case.asked)
    before: list[Decision] = []
    try:
        for number, one in enumerate(case.earlier, 1):
            at = case.now - one.ago
            decision, _ = _decided(pipeline, one.call, one.around, at, book)
            before.append(decision)
            if decision.ruling is not Ruling.ALLOW:
                said = f"earlier call {number} was not allowed: {_answer(decision)}"
                return Trial(case, None, (), (said,), tuple(before))
            if (reserve := reserve_of(decision)) is not None:
                book.enter(reserve, at, one.state)
        beside = [*_beside(pipeline, case, book)]
        before += beside
        if case.refused is None:
            decision, reads = _decided(pipeline, case.call, case.around, case.now, book)
        else:
            context = _context(case.around, case.now)
            decision, reads = pipeline.refuse(_proposed(case.call), case.refused, context), ()
        decision = _together(pipeline, case, decision, beside)
    except _Unanswered as error:
        return Trial(case, None, (), (str(error),), tuple(before))
    against = [*_differences(case, decision, reads), *_differs(pipeline, case, decision)]
    against += _settling(pipeline, case, decision)
    return Trial(case, decision, reads, tuple(against), tuple(before))


def fired(verdict: Verdict) -> str:
    """How an expectation names what did not allow: the rule, or the interceptor that has none."""
    return verdict.rule or verdict.interceptor


def _decided(
    pipeline: Pipeline, call: Call, around: Circumstances, now: datetime, book: Book
) -> tuple[Decision, tuple[FactKey, ...]]:
    proposal, context = _proposed(call), _context(around, now)
    facts: dict[FactKey, FactResult] = {}
    usages: dict[UsageKey, Usage] = {}
    answer = pipeline.screen(proposal, context)
    for _ in range(_ROUNDS_MAX):
        if isinstance(answer, Decision):
            return answer, tuple(facts)
        facts |= {key: _fact(key, around, now) for key in answer.facts}
        usages |= {key: book.usage(key) for key in answer.usages}
        answer = pipeline.decide(proposal, context, facts, usages)
    raise _Unanswered("the decision asks for facts without end")


def _beside(pipeline: Pipeline, case: Case, book: Book) -> Iterator[Decision]:
    """The calls of the same turn, each of which holds what it would."""
    for call in case.beside:
        decision, _ = _decided(pipeline, call, case.around, case.now, book)
        if (reserve := reserve_of(decision)) is not None:
            book.enter(reserve, case.now, MoneyState.HELD)
        yield decision


def _together(pipeline: Pipeline, case: Case, decision: Decision, beside: list[Decision]) -> Decision:
    """Where one of the turn's tools says so, one refused call refuses all."""
    policy = pipeline.policy
    tools = [policy.tool(call.name) or policy.unknown_tool for call in (case.call, *case.beside)]
    is_refused = any(one.ruling is not Ruling.ALLOW for one in beside)
    if is_refused and decision.ruling is Ruling.ALLOW and any(tool.batch is Batch.ALL_OR_NOTHING for tool in tools):
        return pipeline.refuse(_proposed(case.call), RefusalCause.REFUSED_TOGETHER)
    return decision


def _context(around: Circumstances, now: datetime) -> Context:
    return Context(
        now=now,
        tenant=TENANT,
        identity=around.identity,
        subject=around.session,
        declared=around.declared,
        halted=around.halted,
        history=EMPTY if around.history is None else around.history,
    )


def _proposed(call: Call) -> Proposal:
    if isinstance(call, ToolCall) and not call.raw:
        call = structs.replace(call, raw=canonical(dict(call.arguments)).decode())
    return Proposal(call, Proposer.MODEL)


def _fact(key: FactKey, around: Circumstances, now: datetime) -> FactResult:
    given = around.facts.get(key)
    if given is None:
        raise _Unanswered(f"{key.fact}/{key.key} is read, and the case does not say what its source answers")
    return fact_result(given, now)


def _answer(decision: Decision) -> str:
    return f"{decision.ruling.value} ({decision.reason})" if decision.reason else decision.ruling.value


def _differences(case: Case, decision: Decision, reads: tuple[FactKey, ...]) -> Iterator[str]:
    expected = case.expected
    if decision.ruling is not expected.ruling:
        yield f"expected {expected.ruling.value}, got {_answer(decision)}{_why(decision)}"
    elif expected.reason is not None and decision.reason != expected.reason:
        yield f"expected the reason {expected.reason!r}, got {decision.reason!r}{_why(decision)}"
    if expected.category is not None and decision.category is not expected.category:
        got = "none" if decision.category is None else decision.category.value
        yield f"expected the category {expected.category.value}, got {got}"
    found = frozenset(fired(one) for one in decision.verdicts if one.ruling is not Ruling.ALLOW)
    if expected.fired is not None and found != expected.fired:
        yield f"expected {_listed(expected.fired)} to fire, got {_listed(found)}"
    if expected.reply is not None and decision.reply != expected.reply:
        yield f"expected the reply {expected.reply!r}, got {decision.reply!r}"
    if expected.reads is not None and frozenset(reads) != expected.reads:
        yield f"expected to read {_records(expected.reads)}, got {_records(reads)}"
    yield from _mapping("summary", expected.summary, decision.summary)
    if decision.ruling is Ruling.ALLOW:
        reserve, injection = reserve_of(decision), injection_of(decision)
        held = {} if reserve is None else {one.limit: one.amount for one in reserve.charges}
        yield from _mapping("what is held", expected.reserves, held)
        injected = frozenset() if injection is None else frozenset(injection.values)
        if expected.injects is not None and injected != expected.injects:
            yield f"expected the gate to write {_listed(expected.injects)}, got {_listed(injected)}"


def _differs(pipeline: Pipeline, case: Case, decision: Decision) -> Iterator[str]:
    """Who answers a refusal, and how long a result may take."""
    expected = case.expected
    if expected.answered_by is not None and decision.ruling is not Ruling.ALLOW:
        is_model = hears_model(_proposed(case.call), decision, pipeline.policy, case.around.identity)
        answers = OnRefusal.MODEL if is_model else OnRefusal.CODE
        if answers is not expected.answered_by:
            yield f"expected {expected.answered_by.value} to answer the refusal, got {answers.value}"
    reserve = reserve_of(decision) if decision.ruling is Ruling.ALLOW else None
    if expected.settle_within is not None and (reserve is None or reserve.settle_within != expected.settle_within):
        got = "a call that holds nothing" if reserve is None else render(reserve.settle_within)
        yield f"expected a result within {render(expected.settle_within)}, got {got}"


def _mapping(what: str, expected: Mapping[str, str] | None, found: Mapping[str, str]) -> Iterator[str]:
    if expected is not None and dict(expected) != dict(found):
        yield f"{what}: expected {dict(expected)!r}, got {dict(found)!r}"


def _settling(pipeline: Pipeline, case: Case, decision: Decision) -> Iterator[str]:
    if case.answered is None or decision.ruling is not Ruling.ALLOW:
        return
    state = _state(pipeline, case.answered, decision, case.now)
    if state is not case.expected.settles:
        wanted = "" if case.expected.settles is None else case.expected.settles.value
        yield f"expected the result to settle the call to {wanted}, got {state.value}"


def _state(pipeline: Pipeline, answered: Answered, decision: Decision, now: datetime) -> MoneyState:
    policy = pipeline.policy
    tool = policy.tool(decision.tool) or policy.unknown_tool
    return state_of(policy, tool, PastResult("call", answered.value, answered.is_error, 0, is_new=True), now)


def _why(decision: Decision) -> str:
    rows = [one for one in decision.verdicts if one.ruling is not Ruling.ALLOW]
    told = "; ".join(f"{fired(one)}: {one.detail}" if one.detail else fired(one) for one in rows)
    return f" [{told}]" if told else ""


def _listed(names: frozenset[str]) -> str:
    return ", ".join(sorted(names)) if names else "nothing"


def _records(keys: frozenset[FactKey] | tuple[FactKey, ...]) -> str:
    return ", ".join(f"{key.fact}/{key.key}" for key in sorted(keys)) if keys else "nothing"
