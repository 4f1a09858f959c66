"""Sends a whole answer of ours, and says afterwards whether it left; where a provider would have kept it, we do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from interceptors.receipts import AbortCause, Aborted, Substituted
from proxy.admission import RefusedError
from proxy.downstream import ClientLostError, Downstream
from proxy.ledger.hidden import Asker
from proxy.ledger.vault import LedgerError
from proxy.summary import Ending, Summary
from proxy.wire import envelope
from proxy.wire.dialect import Fault
from proxy.wire.told import KeepsAnswers, Told

if TYPE_CHECKING:
    from proxy.http1.requests import Request
    from proxy.passage import Passage
    from proxy.services import Services
    from proxy.store.handoffs import Handed
    from proxy.wire.dialect import Dialect

_NAME_LENGTH: Final = 32
_MARK_LENGTH: Final = 20


class AnswersTold:
    """Of one request."""

    def __init__(self, services: Services, dialect: Dialect, passage: Passage) -> None:
        self._with = services
        self._dialect = dialect
        self._passage = passage

    async def send(self, request: Request, body: bytes, handed: Handed, asked: str, receipt: str) -> None:
        """`asked` names what the request says, to the last byte of its messages: who goes on with this answer goes on
        with that.

        Raises `RefusedError` where later requests could not name it.
        """
        view, summary = self._passage.view, Summary(status=200)
        self._passage.summary = summary
        # Of what was asked and when: the same request that comes again is given the same answer.
        name = self._with.store.name(f"told\0{asked}\0{handed.time.isoformat()}")[:_NAME_LENGTH]
        told = Told(handed.reply, view.model, name, int(handed.time.timestamp()), body)
        await self._keep(told)
        down = Downstream(request.answer, self._dialect, streamed=view.streamed)
        down.put(self._dialect.told(told, view.streamed))
        kind = self._dialect.framing.content_type if view.streamed else "application/json"
        try:
            await down.send(200, (("Content-Type", kind),))
        except ClientLostError:
            summary.ending = Ending.CLIENT_LOST
        summary.bytes_down = down.bytes
        self._tell(receipt, handed.reply, is_lost=summary.ending is Ending.CLIENT_LOST)

    async def _keep(self, told: Told) -> None:
        if not isinstance(self._dialect, KeepsAnswers) or (answer := self._dialect.kept(told)) is None:
            return
        asking = self._passage.asking
        assert asking is not None, "who asks is known before anything is read"
        tenant, mark = asking.caller.tenant, f"hg{told.name[:_MARK_LENGTH]}"
        asker = Asker(asking.subject, self._passage.conversation)
        try:
            prepared = await self._with.ledger.prepare(self._dialect, told.request, tenant, asker)
            await self._with.ledger.keep_answer(self._dialect, prepared, answer, told.text, tenant=tenant, mark=mark)
        except envelope.EnvelopeError as error:
            raise RefusedError(Fault.INVALID_REQUEST, error.reason, str(error)) from None
        except LedgerError as error:
            self._with.ledger.failed(str(error))
            message = "the gate cannot keep its answer at present"
            raise RefusedError(Fault.OVERLOADED, "history_unavailable", message) from None

    def _tell(self, receipt: str, text: str, *, is_lost: bool) -> None:
        now, asking = self._with.judge.clock(), self._passage.asking
        subject = asking.subject if asking is not None else ""
        exchange = self._passage.id
        if is_lost:
            lost = AbortCause.CLIENT_LOST
            record = Aborted(receipt=receipt, time=now, exchange=exchange, cause=lost, subject=subject)
            self._with.judge.outcomes.add([record])
            return
        sent = Substituted(receipt=receipt, time=now, exchange=exchange, result=text, subject=subject)
        self._with.judge.outcomes.add([sent])
