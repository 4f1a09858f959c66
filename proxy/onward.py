"""One exchange's way on: the next leg upstream when the model is to hear of refusals, and what is kept of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from proxy.answers import injects, may_hear_model
from proxy.handover import hands_over
from proxy.ledger.hidden import Refusal
from proxy.ledger.items import collapsed
from proxy.ledger.vault import LedgerError, new_hidden_id
from proxy.turn_memory import TurnMemory
from proxy.wire.registry import SIGNED
from proxy.wire.seal import both_marks
from proxy.wire.sse import Frame
from proxy.wire.turn import Shows

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Sequence

    from proxy.gate_commands import Continue
    from proxy.http1.answers import Answer
    from proxy.judge import Judgment, Scene
    from proxy.ledger.keeper import Ledger, Prepared
    from proxy.limits import Limits
    from proxy.policy_source import Revision
    from proxy.turn_memory import Remembered
    from proxy.wire.dialect import Dialect, Writer
    from proxy.wire.framing import Framer


class Onward:
    """Built with the request."""

    def __init__(
        self,
        dialect: Dialect,
        prepared: Prepared,
        ledger: Ledger,
        open_leg: Callable[[bytes], Awaitable[Answer | None]],
    ) -> None:
        self._dialect = dialect
        self._prepared, self._noting = prepared, prepared.noting
        self._ledger = ledger
        self._open_leg = open_leg
        self._mark = ""
        self._hidden = ""  # the mark, where there is such a turn
        self._shows: list[Shows] = []
        self.legs: list[Answer] = []

    @property
    def mark(self) -> str:
        """Names the hidden turn that this exchange may leave; the same each time."""
        self._mark = self._mark or new_hidden_id()
        return self._mark

    @property
    def own_seal(self) -> str:
        """Under which what the model thinks after this exchange's hidden turn leaves."""
        return both_marks(self.mark, self._prepared.edits)

    @property
    def last_mark(self) -> str:
        """Of the last hidden turn and the edits of the request, which the answer depends on; empty for neither."""
        return self._prepared.seal

    @property
    def leaves_nothing(self) -> bool:
        """Whether an answer without calls leaves nothing behind: nobody notes it, its thinking needs no mark, and later
        requests name nothing of it."""
        return self._noting is None and not self._prepared.seal and self._dialect.continuation.references is None

    def memory(
        self, revision: Revision, scene: Scene, limits: Limits, *, streamed: bool, asks_again: bool
    ) -> TurnMemory | None:
        """What the turn must remember; None where nothing of it could be hidden. `asks_again`: an answer that does not
        fit its schema is."""
        if not (asks_again or self._dialect in SIGNED or self._is_kept or _may_hide(revision, scene.identity)):
            return None
        return TurnMemory(
            self._dialect.continuation,
            streamed=streamed,
            rounds_max=limits.rounds_max,
            bytes_max=limits.held_bytes_max,
        )

    @property
    def _is_kept(self) -> bool:
        """Whether the provider keeps the turn, so that a later request may only name it."""
        return self._dialect.continuation.named(()) is not None

    async def next_leg(self, command: Continue) -> Answer | None:
        """The provider's answer to the refusals; None where there is none to be had."""
        body = self._dialect.continuation.continued(self._prepared.body, command.messages, command.output_tokens)
        if body is None:
            return None
        leg = await self._open_leg(collapsed(self._dialect, body))
        if leg is not None:
            self.legs.append(leg)
        return leg

    async def remember(self, turn: Remembered, judgments: Iterable[Judgment], scene: Scene) -> None:
        """Keep the hidden part. One that cannot be kept is lost, which later requests survive."""
        refusals = [
            Refusal(judgment.decision.tool, judgment.decision.digest, judgment.decision.reason)
            for judgment in judgments
            if not judgment.is_allowed
        ]
        if turn.messages:
            self._hidden = self.mark
        await self._ledger.keep(
            self._dialect,
            self._prepared,
            turn,
            refusals,
            tenant=scene.tenant,
            mark=self.mark,
        )

    def writer(self, *, streamed: bool) -> Writer:
        """One for the whole of a stream, or for one body."""
        writer = self._dialect.writer(streamed)
        # What a protocol holds is looked up by name each time it is asked for, so the cheap question stands first.
        if self._dialect.continuation.references is not None and isinstance(writer, Shows):
            self._shows.append(writer)
        return writer

    def framer(self, frame_bytes_max: int) -> Framer:
        """One for the present leg. The first one tells what the request cost."""
        framer = self._dialect.framing.framer(frame_bytes_max)
        return framer if self._noting is None or self.legs else self._noting.tapped(framer)

    def whole(self, body: bytes) -> Frame:
        """A JSON body as the one frame of its leg."""
        frame = Frame(body, None, body)
        return frame if self._noting is None or self.legs else self._noting.saw(frame)

    @property
    def has_to_keep(self) -> bool:
        """Whether anything of an answer may have to be kept before it leaves."""
        return self._noting is not None or bool(self._shows)

    async def keep_shown(self, scene: Scene, judgments: Sequence[Judgment] = ()) -> None:
        """Before the end of an answer leaves: what later requests may name of it, and what was refused in it."""
        if self._noting is not None:
            try:
                await self._noting.note(judgments, scene.exchange)
            except LedgerError as error:
                self._ledger.failed(str(error))
        for writer in self._shows:
            if items := writer.shown():
                await self._ledger.items.keep(items, self._hidden, scene.tenant, scene.subject)

    async def ended(self, scene: Scene) -> None:
        """The turn is over, as its dialect ends one."""
        await self._ledger.used(self._prepared, scene.tenant)

    def close(self) -> None:
        for leg in self.legs:
            leg.close()


def _may_hide(revision: Revision, identity: str | None) -> bool:
    """Whether any call of this policy may leave otherwise than the model wrote it."""
    return may_hear_model(revision, identity) or injects(revision.policy) or hands_over(revision.policy)
