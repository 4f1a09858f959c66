"""A request on its way up: with its hidden turns, what came back settled, its history edited; and what decisions read.

Decisions read the history with its hidden turns and without its edits: what the model was shown in place of a result is
none of the customer's words, and grounds nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from msgspec.structs import replace

from proxy.admission import RefusedError
from proxy.history.keeper import Subject
from proxy.ledger.hidden import Asker
from proxy.ledger.items import collapsed
from proxy.ledger.vault import LedgerError
from proxy.store import StoreError
from proxy.wire import envelope
from proxy.wire.dialect import Fault
from proxy.wire.stem import NO_STEMS

if TYPE_CHECKING:
    from proxy.conversation import Heard
    from proxy.history.keeper import Upward
    from proxy.ledger.keeper import Prepared
    from proxy.passage import Passage
    from proxy.services import Services
    from proxy.wire.dialect import Dialect


class Ready(msgspec.Struct, frozen=True):
    """`body` is what goes up; `prepared` holds it as it is read, with what stands behind the ids that it names."""

    body: bytes
    prepared: Prepared
    heard: Heard
    upward: Upward


async def prepare(services: Services, dialect: Dialect, body: bytes, passage: Passage) -> Ready:
    """Everything that a request needs before it goes up. Raises `RefusedError`."""
    asking = passage.asking
    assert asking is not None, "who asks is known before anything is read"
    policy, tenant = asking.revision.policy, asking.caller.tenant
    asker = Asker(asking.subject, passage.conversation)
    try:
        view = passage.view
        prepared = await services.ledger.prepare(dialect, body, tenant, asker, view)
        heard = await services.conversations.hear(
            dialect,
            prepared,
            policy,
            tenant,
            passage.conversation,
            messages=view.messages,
            claims=asking.claims,
        )
        subject = Subject(tenant, asker, prepared.answered, prepared.client_body, prepared.is_sealed)
        stems = view.stems if heard.body is body else NO_STEMS
        upward = await services.histories.lift(dialect, heard.body, policy, subject, stems)
    except envelope.EnvelopeError as error:
        raise RefusedError(Fault.INVALID_REQUEST, error.reason, str(error)) from None
    except StoreError:
        services.metrics.store_failed()
        message = "the gate cannot record results at present"
        raise RefusedError(Fault.OVERLOADED, "store_unavailable", message) from None
    except LedgerError as error:
        services.ledger.failed(str(error))
        message = "the gate cannot tell at present what this conversation has sent before"
        raise RefusedError(Fault.OVERLOADED, "history_unavailable", message) from None
    passage.goes_up(prepared, upward.taken_out)
    up = body if upward.body is prepared.client_body else collapsed(dialect, upward.body)
    if upward.body is not prepared.body or upward.mark or upward.noting is not None:
        prepared = replace(prepared, body=upward.body, edits=upward.mark, noting=upward.noting)
    return Ready(up, prepared, heard, upward)
