"""One request and its response: moves bytes, carries out the gate's commands, decides nothing.

Order (DESIGN 3): what was decided is durable before a byte of the call, or of what stands in its place, is written.
Text that stands before a call is written before anything is waited for.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from typing import TYPE_CHECKING, TypeVar, assert_never

from interceptors.causes import RefusalCause
from interceptors.receipts import AbortCause
from proxy.answer_body import whole_body
from proxy.downstream import ClientLostError, Downstream, NoBodyError
from proxy.gate_commands import (
    Abandon,
    Break,
    Command,
    Continue,
    Decide,
    EndAtLimit,
    Finish,
    Limit,
    Note,
    RefuseTogether,
    Remember,
    Write,
)
from proxy.gate_commands import Record as RecordCommand
from proxy.judging import Judging
from proxy.spoken import Spoken
from proxy.summary import Ending, Summary
from proxy.wire.dialect import Fault
from proxy.wire.events import Breach, Content, Key
from proxy.wire.texts import Hearing

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from proxy.headers import Pairs
    from proxy.http1.answers import Answer
    from proxy.http1.requests import Answering
    from proxy.judge import Judge, Scene
    from proxy.limits import Limits
    from proxy.onward import Onward
    from proxy.policy_source import Revision
    from proxy.texts import TextRules
    from proxy.wire.dialect import Dialect

T = TypeVar("T")
_STEP_BYTES = 32 * 1024


async def guarded(work: Awaitable[T], broke: Callable[[Exception], Awaitable[T]]) -> T:
    """What `work` gives, or what `broke` makes of any error: fail closed (G4), in words that its dialect can say."""
    try:
        return await work
    except Exception as error:  # noqa: BLE001 - the top of everything that happens to a request
        return await broke(error)


class Exchange:
    """Built once the response's head arrived; `run` gives the response to the client."""

    def __init__(
        self,
        answer: Answering,
        upstream: Answer,
        headers: Pairs,
        first: bytes = b"",
        *,
        dialect: Dialect,
        streamed: bool,
        scene: Scene,
        judge: Judge,
        limits: Limits,
        deadline: float,
        holds: Callable[[int], bool],
        onward: Onward,
        revision: Revision,
        waits: bool,
        texts: TextRules,
    ) -> None:
        self._upstream, self._headers = upstream, headers
        self._first = first  # what was read of the body already
        self._dialect, self._scene = dialect, scene
        self._limits, self._deadline = limits, deadline
        self._holds, self._onward = holds, onward
        self._streamed, self._leg = streamed, 0
        self._hearing = Hearing(dialect, revision.policy.pass_types, streamed=streamed, holds=texts.holds)
        reader = self._hearing.reader()
        self._judging = Judging(dialect, reader, onward, revision, texts, streamed=streamed, waits=waits)
        self._judge, self._spoken = judge, Spoken(texts, judge, scene)
        self._down = Downstream(answer, dialect, streamed=streamed)
        self.summary = Summary(status=upstream.status, remarks=self._spoken.remarks)

    def _begin_judging(self) -> None:
        """From here on there are a gate and verdicts."""
        self._gate = self._judging.gate(self._scene, self._limits)
        self._verdicts = self._judging.verdicts(self._judge, self._scene, self._spoken, self._limits, self._deadline)
        self.summary.judgments = self._verdicts.taken

    async def run(self) -> None:
        """Never raises but for cancellation: whatever breaks is recorded, and the client hears it in its dialect."""
        try:
            await guarded(self._run_stream() if self._streamed else self._run_body(), self._broke)
        except asyncio.CancelledError:
            await self._abort(AbortCause.CLIENT_LOST, Ending.CLIENT_LOST)
            raise
        finally:
            self._holds(0)
            if self._judging.has_begun:
                self._verdicts.listened(self._hearing.said)
                self._verdicts.close()
            else:
                self._spoken.listened(self._hearing.said, ())
                self._judge.outcomes.add(self._spoken.remarks)
            self.summary.bytes_down = self._down.bytes

    async def _broke(self, error: Exception) -> None:
        if isinstance(error, ClientLostError):
            await self._abort(AbortCause.CLIENT_LOST, Ending.CLIENT_LOST)
        elif isinstance(error, OSError):
            await self._abort(AbortCause.UPSTREAM_LOST, Ending.UPSTREAM_LOST)
            await self._fail(Fault.UPSTREAM_FAILED, "the provider's answer was cut off")
        else:
            self.summary.breach = type(error).__name__
            await self._abort(AbortCause.INTERNAL, Ending.INTERNAL)
            await self._fail(Fault.INTERNAL, "the gate failed; nothing was released")

    async def _run_stream(self) -> None:
        self._begin_judging()
        await self._down.begin(self._upstream.status, self._headers)
        try:
            async with asyncio.timeout(self._deadline - time.monotonic()) as limit:
                await self._pump()
        except TimeoutError:
            if not limit.expired():
                raise
            self.summary.ending = Ending.LIMIT
            await self._carry_out(self._gate.reach(Limit.EXCHANGE))
            await self._flush()
        await self._down.end()

    async def _pump(self) -> None:
        """Leg after leg, until the turn is over."""
        leg = -1
        while leg != self._leg:
            leg = self._leg
            try:
                await self._pump_leg(leg)
            except OSError:
                if not (back := self._gate.leg_broke()):
                    raise
                await self._carry_out(back)
        await self._carry_out(self._gate.close())
        await self._flush()

    async def _pump_leg(self, leg: int) -> None:
        framer = self._onward.framer(self._limits.held_bytes_max)
        while self._is_on(leg) and (data := await self._next_bytes()):
            for frame in framer.feed(data):
                commands = self._gate.receive(leg, frame)
                if len(commands) == 1 and type(first := commands[0]) is Write and not first.calls:
                    self._down.put(first.data)  # text that nothing holds
                elif commands:
                    await self._carry_out(commands)
            if framer.fault and self._is_on(leg):
                await self._carry_out(self._gate.break_off(Breach.FRAMING))
            if not self._holds(self._gate.held_bytes) and self._gate.held_bytes > _STEP_BYTES:
                await self._carry_out(self._gate.reach(Limit.IN_FLIGHT))
            if self._down.has_more or self._onward.has_to_keep:
                await self._flush()
        if (last := framer.close()) is not None:
            await self._carry_out(self._gate.receive(leg, last))
        if framer.fault and self._is_on(leg):
            await self._carry_out(self._gate.break_off(Breach.FRAMING))
        await self._carry_out(self._gate.end(leg))
        await self._flush()

    def _is_on(self, leg: int) -> bool:
        return leg == self._leg and not self._gate.is_over

    async def _run_body(self) -> None:
        """A JSON body is a stream of one frame; the head waits for it, since its length may change."""
        leg = -1
        while leg != self._leg:
            leg = self._leg
            try:
                content = self._upstream.content
                body = await whole_body(content, self._first, self._limits, self._deadline, self._holds)
            except (NoBodyError, OSError) as error:
                if leg and (back := self._gate.leg_broke()):
                    await self._carry_out(back)
                    break
                if not isinstance(error, NoBodyError):
                    raise
                self.summary.ending = Ending.LIMIT
                await self._fail(error.fault, str(error))
                return
            frame = self._onward.whole(body) if body else None
            if not leg:
                if frame is not None and (plain := self._judging.plain(frame)) is not None:
                    await self._leave_plain(plain)
                    return
                self._begin_judging()
            if frame is not None:
                await self._carry_out(self._gate.receive(leg, frame))
            await self._carry_out(self._gate.end(leg))
        await self._carry_out(self._gate.close())
        is_broken = self.summary.ending is Ending.BROKEN
        self.summary.status = status = Fault.UPSTREAM_FAILED.value if is_broken else self._upstream.status
        await self._onward.keep_shown(self._scene, self._verdicts.taken)
        await self._down.send(status, self._headers)
        self._verdicts.left()

    async def _leave_plain(self, data: bytes) -> None:
        self._down.put(data)
        await self._onward.ended(self._scene)
        await self._down.send(self._upstream.status, self._headers)

    async def _next_bytes(self) -> bytes:
        """A part of one read of upstream: however much came at once, the loop is not kept from others by it."""
        if self._first:
            await asyncio.sleep(0)
        elif len(data := await self._next_read()) <= _STEP_BYTES:
            return data
        else:
            self._first = data
        data, self._first = self._first[:_STEP_BYTES], self._first[_STEP_BYTES:]
        return data

    async def _next_read(self) -> bytes:
        """One read. While calls are held the client hears a keep-alive."""
        content, seconds = self._upstream.content, self._limits.keepalive_ms / 1000
        try:
            while self._streamed and self._gate.holding and not await content.arrives(seconds):
                await self._keep_alive()
            return await content.readany()
        except OSError:
            if self._streamed and self._gate.has_ended:
                return b""  # everything was said: how the connection ends then says nothing
            raise

    async def _keep_alive(self) -> None:
        if self._streamed and self._gate.holding and (data := self._gate.keepalive()):
            await self._flush()
            await self._down.write(data)

    async def _carry_out(self, commands: Sequence[Command]) -> None:
        queue = deque(commands)
        while queue:
            command = queue.popleft()
            match command:
                case Write(data=data, calls=calls):
                    self._down.put(data)
                    self._verdicts.put(calls)
                case Decide(calls=calls_to_judge):
                    queue.extendleft(reversed(await self._decide(calls_to_judge)))
                case RecordCommand(keys=keys):
                    queue.extendleft(reversed(await self._record(keys)))
                case EndAtLimit(keys=keys, limit=limit):
                    self.summary.ending, self.summary.breach = Ending.LIMIT, limit.value
                    queue.extendleft(reversed(self._refuse(keys, RefusalCause.HOLD_LIMIT)))
                case Break(breach=breach, data=data, keys=keys):
                    self.summary.ending, self.summary.breach = Ending.BROKEN, breach.value
                    cause = AbortCause.CONFLICT if breach is Breach.FROZEN_CALL else AbortCause.BROKEN
                    await self._verdicts.abandon(keys, self._gate.call, cause)
                    self._down.put(data)
                case Abandon(keys=keys):
                    await self._verdicts.abandon(keys, self._gate.call, AbortCause.UPSTREAM_LOST)
                case Note(observed=name):
                    self.summary.observed.append(name)
                    self._verdicts.saw(name)
                case Finish():
                    await self._onward.ended(self._scene)
                case RefuseTogether(keys=keys):
                    queue.extendleft(reversed(self._refuse(keys, RefusalCause.REFUSED_TOGETHER)))
                case Remember(turn=turn):
                    await self._onward.remember(turn, self._verdicts.taken, self._scene)
                case Continue():
                    queue.extendleft(reversed(await self._go_on(command)))
                case _:
                    assert_never(command)

    async def _decide(self, calls: Mapping[Key, Content]) -> Sequence[Command]:
        deciding = self._verdicts.decide(calls, may_ask_again=self._gate.may_ask_again())
        if not self._streamed:
            return self._gate.decided(await deciding)
        task = asyncio.ensure_future(deciding)
        try:
            return self._gate.decided(await self._waiting(task))
        finally:
            task.cancel()

    def _refuse(self, keys: Sequence[Key], cause: RefusalCause) -> Sequence[Command]:
        """Refuse what is known of these calls; an open call is malformed, whatever came of it."""
        return self._gate.decided(self._verdicts.refuse(keys, self._gate.call, cause))

    async def _record(self, keys: Sequence[Key]) -> Sequence[Command]:
        first, behind = self._verdicts.in_steps(keys)
        recorded = await self._waiting(self._verdicts.recording(first))
        commands = self._gate.recorded(self._verdicts.recorded(first, recorded))
        return [*commands, RecordCommand(tuple(behind))] if behind else commands

    async def _go_on(self, command: Continue) -> Sequence[Command]:
        """Ask upstream again; the client hears keep-alives meanwhile."""
        self._verdicts.left()
        opening = asyncio.ensure_future(self._onward.next_leg(command))
        try:
            leg = await self._waiting(opening)
        finally:
            opening.cancel()
        if leg is None:
            return self._gate.leg_failed()
        self._upstream, self._first = leg, b""
        self._leg += 1
        self._gate.seal(self._onward.own_seal)
        if self._streamed:
            self._gate.next_leg()
        else:
            self._verdicts.next_leg()
            writer = self._onward.writer(streamed=False)
            writer.seal(self._onward.own_seal)
            self._gate.next_leg(self._hearing.reader(), writer)
        return []

    async def _waiting(self, task: asyncio.Task[T]) -> T:
        """Wait for a verdict or a record; text that came before leaves first, and the client hears a keep-alive.

        Where the wait is cut short, by a client that left, `task` goes on.
        """
        if not self._streamed:
            return await asyncio.shield(task)
        await self._flush()
        while True:
            done, _ = await asyncio.wait({task}, timeout=self._limits.keepalive_ms / 1000)
            if done:
                return task.result()
            await self._keep_alive()

    async def _flush(self) -> None:
        """One write of all that may leave."""
        self._holds(self._gate.held_bytes)
        if self._onward.has_to_keep:
            await self._onward.keep_shown(self._scene, self._verdicts.taken)
        if await self._down.flush():
            self._verdicts.left()

    async def _abort(self, cause: AbortCause, ending: Ending) -> None:
        self.summary.ending = ending
        if not self._judging.has_begun:
            return
        keys = list(dict.fromkeys([*self._gate.undelivered(), *self._verdicts.leaving]))
        if keys:
            await asyncio.shield(self._verdicts.abandon(keys, self._gate.call, cause))

    async def _fail(self, fault: Fault, message: str) -> None:
        self.summary.status = fault.value if not self._down.has_begun else self.summary.status
        await self._down.fail(fault, message)
