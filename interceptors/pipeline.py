"""The decision: interceptors in an explicit order, their verdicts combined, whatever breaks a recorded refusal."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from msgspec import structs

from interceptors.bindings import asked_of, rules_digest
from interceptors.calls import ToolCall
from interceptors.case import Case, PreparedTool, Stage
from interceptors.causes import RefusalCause, answer, category_of
from interceptors.clarification import escalated
from interceptors.combine import combine, despite, is_ended
from interceptors.context import Context
from interceptors.decisions import Decision, Needs, Verdict
from interceptors.grants import Grant
from interceptors.names import shown
from interceptors.people import against_answer, approved, ask_people, changed_answer, escalating, obligations, voiding
from interceptors.redaction import stored
from interceptors.replies import message, next_step, own_text, reply, summary
from interceptors.stages import INTERCEPTORS
from interceptors.strict_json import digest
from policies.model import Category, Ruling, folded
from policies.system_reasons import DEFAULT_REPLIES, SYSTEM_REASONS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from interceptors.calls import Proposal
    from interceptors.case import Interceptor
    from interceptors.context import Facts
    from interceptors.obligations import VoidGrant
    from interceptors.usage import Usages
    from policies.model import Policy, Tool

_ALLOW: Final = Ruling.ALLOW
_NO_FACTS: Final[Facts] = {}
_NOBODY: Final = Context(datetime.min.replace(tzinfo=UTC), tenant="")
_NO_USAGES: Final[Usages] = {}


class Pipeline:
    """Decides calls under one revision of a policy. Pure: the same proposal, context and facts give the same answer."""

    def __init__(self, policy: Policy, interceptors: Sequence[Interceptor] = INTERCEPTORS) -> None:
        self._policy = policy
        self._interceptors = tuple(interceptors)
        self._tools = {key: PreparedTool.of(tool, is_named=True) for key, tool in policy.tools.items()}
        self._rules: dict[str, str] = {}  # digests of what judges a tool, by its key
        self._unknown = PreparedTool.of(policy.unknown_tool, is_named=False)
        own = {code: reason.category for code, reason in policy.reasons.items()}
        self._categories = own | {code: reason.category for code, reason in SYSTEM_REASONS.items()}

    @property
    def policy(self) -> Policy:
        return self._policy

    def screen(self, proposal: Proposal, context: Context) -> Decision | Needs:
        """The first pass: the stages that read no fact. `Needs` comes only when they pass, and names at least one thing
        to read; a call that needs none is decided at once.
        """
        return self.decide(proposal, context, _NO_FACTS)

    def decide(
        self, proposal: Proposal, context: Context, facts: Facts, usages: Usages = _NO_USAGES
    ) -> Decision | Needs:
        """The whole decision on these facts, and on what was used so far.

        `Needs` again where a fact's key is a field of another fact, where limits are to be looked up, and where a
        question would be asked and the history was not read yet.

        It begins with the stages of `screen`, so that no way leads past them. It raises nothing.
        """
        try:
            return self._decide(proposal, context, facts, usages)
        except Exception as error:  # noqa: BLE001 - fail closed (G4): whatever breaks is a refusal with a record
            return self._broken(proposal, context, _raised("pipeline", error))

    def refuse(self, proposal: Proposal, cause: RefusalCause, context: Context | None = None) -> Decision:
        """The refusal of a call for something that lies outside it: the store, a limit, a halt that came after.

        Without a `context` the reply is in the language that holds for everyone.
        """
        given = answer(cause)
        return self._refusal(proposal, cause, context, Verdict("gate", given.ruling, given.reason, detail=cause.value))

    def refuse_text(self, proposal: Proposal, cause: RefusalCause, context: Context) -> Decision:
        """The refusal of what a text says, with all that its record tells of a call."""
        refused = self.refuse(proposal, cause, context)
        call, key = proposal.call, folded(proposal.call.name)
        case = Case(self._policy, call, self._tools.get(key, self._unknown), key, context, _NO_FACTS)
        escalates = refused.ruling is Ruling.ESCALATE
        return structs.replace(
            refused,
            summary=summary(case, refused.tool, refused.reason) if escalates else {},
            arguments=stored(case),
            digest=digest(dict(call.arguments)) if isinstance(call, ToolCall) else "",
        )

    def _decide(self, proposal: Proposal, context: Context, facts: Facts, usages: Usages) -> Decision | Needs:
        key = folded(proposal.call.name)
        found = self._tools.get(key, self._unknown)
        case = Case(self._policy, proposal.call, found, key, context, facts, usages, proposal.proposer)
        judged = self._judged(proposal, case)
        if not isinstance(judged, tuple):
            return judged
        deciding = combine(judged, self._categories)
        if deciding.ruling is not Ruling.ESCALATE or not isinstance(proposal.call, ToolCall):
            return self._conclude(case, judged, deciding)
        answered = ask_people(case)
        if isinstance(answered, Grant):
            return self._as_answered(proposal, case, judged, answered)
        return answered or self._conclude(case, judged, deciding, rows=escalating(judged))

    def _judged(self, proposal: Proposal, case: Case) -> tuple[Verdict, ...] | Decision | Needs:
        """Every row, in the order of the stages; or what is to be read first, or the refusal where something broke."""
        verdicts: list[Verdict] = []
        against: list[Verdict] = []
        stage: Stage | None = None
        for interceptor in self._interceptors:
            following = interceptor.stage
            if stage is not following:
                if stage is not None and against and is_ended(against, stage, following):
                    break
                stage = following
            try:
                answered = interceptor.judge(case)
            except Exception as error:  # noqa: BLE001 - as above, and the rows so far stay in the record
                return self._broken(proposal, case.context, *verdicts, _raised(interceptor.name, error))
            if isinstance(answered, Needs):
                return answered
            if answered:
                verdicts += map(case.passed, answered) if case.discharges else answered
                against = [verdict for verdict in verdicts if verdict.ruling is not _ALLOW]
        if not verdicts:  # a gate that looked at nothing is broken; it allows nothing
            return self._broken(proposal, case.context)
        return despite(verdicts) if against else tuple(verdicts)

    def _as_answered(
        self, proposal: Proposal, case: Case, judged: tuple[Verdict, ...], grant: Grant
    ) -> Decision | Needs:
        """The decision where people have answered: everything anew, and their answer holds for its own rows only."""
        rules = self._rules_digest(case.key, case.found.tool)
        rows = escalating(judged)
        if (against := against_answer(case, grant, rules)) is not None:
            return self._conclude(case, (*judged, against), against, rows=rows, voids=voiding(grant, against))
        if not grant.approves:  # what it refused is no longer what is asked
            return self._conclude(case, judged, combine(judged, self._categories), rows=rows)
        again = case.anew(frozenset(grant.binding.rows))
        anew = self._judged(proposal, again)
        if not isinstance(anew, tuple):
            return anew
        deciding = combine(anew, self._categories)
        changed = changed_answer(again, grant, rules)
        if changed is not None and deciding.ruling in (Ruling.ALLOW, Ruling.ESCALATE):
            return self._conclude(case, (*judged, changed), changed, rows=rows, voids=voiding(grant, changed))
        if deciding.ruling is Ruling.ALLOW:
            return self._conclude(again, (*anew, approved(grant)), deciding, uses=grant)
        return self._conclude(again, anew, deciding, rows=(*escalating(anew), *grant.binding.rows))

    def _rules_digest(self, key: str, tool: Tool) -> str:
        if key not in self._rules:
            self._rules[key] = rules_digest(self._policy, tool)
        return self._rules[key]

    def _conclude(
        self,
        case: Case,
        verdicts: tuple[Verdict, ...],
        deciding: Verdict,
        *,
        rows: tuple[str, ...] = (),
        uses: Grant | None = None,
        voids: VoidGrant | None = None,
    ) -> Decision | Needs:
        if deciding.ruling is Ruling.CLARIFY and not case.context.history.is_read:
            return Needs((), history=True)
        if (instead := escalated(case, deciding)) is not None:
            verdicts, deciding = (*verdicts, instead), instead
        ruling, reason = deciding.ruling, deciding.reason
        category = category_of(ruling, self._categories.get(reason, Category.INTERNAL))
        tool = case.found.tool.name if case.found.is_named else shown(case.call.name)
        resumes = case.found.tool.passed_on.on_approval
        can_be_approved = ruling is Ruling.ESCALATE and rows and instead is None
        return Decision(
            ruling=ruling,
            tool=tool,
            is_write=case.found.is_write,
            reason=reason,
            category=category,
            reply="" if category is None else reply(case, reason, category),
            message="" if category is None else message(case, reason, category, verdicts),
            next="" if category is None else next_step(reason, category, resumes if can_be_approved else None),
            verdicts=verdicts,
            facts=case.reads,
            summary=summary(case, tool, reason) if ruling is Ruling.ESCALATE else {},
            arguments=stored(case),
            digest=digest(dict(case.call.arguments)) if isinstance(case.call, ToolCall) else "",
            policy=self._policy.name,
            revision=self._policy.revision,
            obligations=obligations(case, ruling, reason, uses=uses, voids=voids),
            asks=asked_of(case, rows, self._rules_digest(case.key, case.found.tool)) if can_be_approved else None,
        )

    def _broken(self, proposal: Proposal, context: Context, *verdicts: Verdict) -> Decision:
        return self._refusal(proposal, RefusalCause.RAISED, context, *verdicts)

    def _refusal(
        self, proposal: Proposal, cause: RefusalCause, context: Context | None, *verdicts: Verdict
    ) -> Decision:
        """A refusal made of as little as possible: what broke may be in anything that the case derives."""
        given = answer(cause)
        category = given.category or Category.INTERNAL
        name = proposal.call.name
        found = self._tools.get(folded(name), self._unknown)
        return Decision(
            ruling=given.ruling,
            tool=found.tool.name if found.is_named else shown(name),
            is_write=found.is_write,
            reason=given.reason,
            category=category,
            reply=self._words(proposal, given.reason, context) or DEFAULT_REPLIES[category],
            message=SYSTEM_REASONS[given.reason].message,
            next=SYSTEM_REASONS[given.reason].next,
            verdicts=verdicts,
            policy=self._policy.name,
            revision=self._policy.revision,
        )

    def _words(self, proposal: Proposal, reason: str, context: Context | None) -> str | None:
        """The policy's own reply, where it has one and nothing that it reads is what broke."""
        declared = self._policy.reasons.get(reason)
        if declared is None or (context is None and any("now" in each.functions for each in declared.replies.values())):
            return None
        key = folded(proposal.call.name)
        prepared = self._tools.get(key, self._unknown)
        try:
            return own_text(Case(self._policy, proposal.call, prepared, key, context or _NOBODY, _NO_FACTS), reason)
        except Exception:  # noqa: BLE001 - the words for a failure must not fail
            return None


def _raised(interceptor: str, error: Exception) -> Verdict:
    """Only the type of what was raised: its message may quote an argument."""
    given = answer(RefusalCause.RAISED)
    return Verdict(interceptor, given.ruling, given.reason, detail=type(error).__name__)
