"""The texts of one exchange: structured answers, judged as calls, and plain text, which is looked at and remarked."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import structs

from interceptors.calls import Call, Proposal, Proposer, ToolCall
from interceptors.causes import RefusalCause
from interceptors.context import Context
from interceptors.receipts import Remark
from policies.model import Category
from policies.system_reasons import DEFAULT_REPLIES
from proxy.records import remarked
from proxy.texts import Finding
from proxy.wire.events import RELEASED, Answer, Replaced, TextKey, WholeText

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from interceptors.decisions import Decision
    from interceptors.receipts import Remarked
    from proxy.judge import Judge, Scene
    from proxy.policy_source import Revision
    from proxy.texts import TextRules
    from proxy.wire.events import Content, Key

_CAUSES = {
    Remark.TEXT_CALL: RefusalCause.TEXT_CALL,
    Remark.FALSE_CLAIM: RefusalCause.FALSE_CLAIM,
    Remark.TOO_LONG: RefusalCause.HOLD_LIMIT,
}
_LIMITED = Finding(Remark.TOO_LONG, "", replaces=True)


class Spoken:
    """`remarks` are what was found in plain texts so far, in order."""

    def __init__(self, rules: TextRules, judge: Judge, scene: Scene) -> None:
        self._rules = rules
        self._judge = judge
        self._scene = scene
        self._plain: dict[Key, WholeText | None] = {}  # None: a limit came before it was looked at
        self._asked_again = False
        self.remarks: list[Remarked] = []

    def is_plain(self, key: Key) -> bool:
        """Whether this is the key of a text that no rule of a tool judges."""
        return isinstance(key, TextKey) and self._rules.structured is None

    def calls(
        self, contents: Mapping[Key, Content], *, may_ask_again: bool
    ) -> tuple[dict[Key, Call], dict[Key, tuple[Proposal, Decision]]]:
        """The calls among these, structured answers as calls of their tool; and the answers that are none, refused.

        A plain text is neither: it is kept until `answer`. The model is asked once for an answer that fits.
        """
        calls: dict[Key, Call] = {}
        refused: dict[Key, tuple[Proposal, Decision]] = {}
        for key, content in contents.items():
            if not isinstance(content, WholeText):
                calls[key] = content
            elif self._rules.structured is None or not content.text.strip():
                self._plain[key] = content
            else:
                calls[key], against = self._rules.structured.call(content)
                if against is not None:
                    refused[key] = self._refused(calls.pop(key), against, may_ask_again=may_ask_again)
        return calls, refused

    def limited(self, keys: Iterable[Key]) -> list[Key]:
        """A limit came before these were looked at: the plain texts among them, which are not to leave."""
        plain = [key for key in keys if self.is_plain(key)]
        self._plain |= dict.fromkeys(plain)
        return plain

    def as_call(self, key: Key, content: Content | None) -> Call | None:
        """The call that was read so far, which a structured answer is too; None for a call that is still open."""
        if isinstance(content, WholeText) or (content is None and isinstance(key, TextKey)):
            return self._rules.structured.call(content)[0] if self._rules.structured is not None else None
        return content

    def waits(self, key: Key) -> bool:
        """Whether this is a plain text that waits for its answer."""
        return key in self._plain

    def answer(self, key: Key, released: Collection[str]) -> Answer:
        """What becomes of a plain text, now that it is known which calls of its turn were released."""
        said = self._plain.pop(key)
        found = (_LIMITED,) if said is None else self._look(said.text, released)
        self._remark(found)
        reason = next((finding for finding in found if finding.replaces), None)
        return RELEASED if reason is None else Replaced(self._reply(reason))

    def listened(self, texts: Iterable[str], released: Collection[str]) -> None:
        """Texts that nothing held were said."""
        for text in texts:
            self._remark(self._look(text, released))

    def _look(self, text: str, released: Collection[str]) -> tuple[Finding, ...]:
        if self._rules.structured is not None:
            return ()
        return self._rules.look(text, self._scene.history, released)

    def _remark(self, found: Collection[Finding]) -> None:
        if not found:
            return
        policy, now = self._revision.policy, self._judge.clock()
        for each in found:
            tool = policy.tools[each.tool].name if each.tool in policy.tools else each.tool
            self.remarks.append(remarked(each, tool, policy, self._scene, now))

    def _refused(self, call: Call, cause: RefusalCause, *, may_ask_again: bool) -> tuple[Proposal, Decision]:
        if cause is RefusalCause.SCHEMA_INVALID:
            if self._asked_again or not may_ask_again:
                cause = RefusalCause.SCHEMA_INVALID_AGAIN
            self._asked_again = True
        proposal = Proposal(call, Proposer.MODEL)
        decision = self._revision.pipeline.refuse_text(proposal, cause, self._context)
        if cause is RefusalCause.SCHEMA_INVALID:  # read by nobody, but where the model cannot be had again
            decision = structs.replace(decision, reply=DEFAULT_REPLIES[Category.TRANSIENT])
        return proposal, decision

    def _reply(self, finding: Finding) -> str:
        """The reply of the reason; of a text there is no call, so it stands for one of the tool that it names."""
        proposal = Proposal(ToolCall(finding.tool, {}, "", "", 0), Proposer.MODEL)
        return self._revision.pipeline.refuse_text(proposal, _CAUSES[finding.remark], self._context).reply

    @property
    def _revision(self) -> Revision:
        return self._judge.policy.last().revision

    @property
    def _context(self) -> Context:
        scene = self._scene
        return Context(now=self._judge.clock(), tenant=scene.tenant, identity=scene.identity, subject=scene.claims)
