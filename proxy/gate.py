"""The enforcement point: frames of a leg in, commands out. It holds what is not judged and decides nothing itself.

Sans-IO: the caller (`proxy/exchange.py`) carries out each command in order and tells the gate what came of it.
Frames leave in the order in which they came. The frames of a call, and all behind it, wait until it is judged
(`Decide`), certain (the reader confirmed it) and written down (`Record`); those of a call whose refusal the model is to
hear wait for the end of the leg, when it is known whether the turn goes on (DESIGN 5). Indexes, ids and the end belong
to the turn, not to a leg: the writer lives as long as the gate.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from policies.model import folded
from proxy.gate_commands import (
    Break,
    Command,
    Continue,
    Decide,
    EndAtLimit,
    Finish,
    Limit,
    Note,
    Record,
    RefuseTogether,
    Remember,
    Write,
)
from proxy.held import Frames, Held, Stage, before_a_wait, is_signed_for_all, owed_results
from proxy.legs import WayBack, tells_error
from proxy.wire import events as wire
from proxy.wire.dialect import Judged, Reader, Writer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from proxy.turn_memory import TurnMemory
    from proxy.wire.sse import Frame
    from proxy.wire.transcript import HiddenResult


class Gate:
    """One turn. `memory` is None where no refusal of it may go to the model.

    `waits`: no call of a leg leaves before all are judged. `together` are folded names of tools: where one of them is
    called, or the reader says that the calls are bound, one refusal of the leg refuses all.
    """

    def __init__(
        self,
        reader: Reader,
        writer: Writer,
        held_bytes_max: int,
        *,
        memory: TurnMemory | None = None,
        waits: bool = False,
        together: frozenset[str] = frozenset(),
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._held_bytes_max = held_bytes_max
        self._memory = memory
        self._waits = waits
        self._together = together
        self._queue = Frames()
        self._calls: dict[wire.Key, Held] = {}
        self._judged: dict[wire.Key, Judged] = {}
        self._leg = 0
        self._leg_calls: list[wire.Key] = []
        self._back = WayBack()  # for when a later leg fails
        self._ended = False  # the dialect's own end was read
        self._leg_over = False  # nothing more comes of this leg, whether its end was read or not
        self._has_news = False  # what was written down may let another call be, with the next frame
        self._settled = False  # how the calls of this leg leave is known
        self._going_on = False  # between two legs
        self._closing = False  # a limit was reached: what is held leaves as it is answered, and nothing else comes
        self._over = False

    @property
    def holding(self) -> bool:
        return bool(self._queue) or self._going_on

    @property
    def held_bytes(self) -> int:
        return self._queue.bytes

    @property
    def is_over(self) -> bool:
        return self._over

    @property
    def has_ended(self) -> bool:
        """The dialect's own end was read, and all that came has left."""
        return self._ended and not self._queue

    def keepalive(self) -> bytes:
        """What the client may hear while something is held; never in the middle of a frame."""
        return self._writer.keepalive()

    def undelivered(self) -> tuple[wire.Key, ...]:
        """The calls that have not left, for the receipt of an abort."""
        return tuple(key for key, held in self._calls.items() if held.stage is not Stage.RESOLVED)

    def call(self, key: wire.Key) -> wire.Content | None:
        """What was read of a call so far; None while it is open."""
        return self._calls[key].call

    def may_ask_again(self) -> bool:
        """Whether nothing but text was held of this leg, and the turn may go on behind it."""
        return all(self._calls[key].is_text for key in self._leg_calls) and self._may_go_on()

    def receive(self, leg: int, frame: Frame) -> list[Command]:
        """One frame of a leg. Frames of a leg that is not the present one are late, and nothing."""
        if self._over or self._closing or leg != self._leg or self._going_on or (self._ended and self._is_edited()):
            return []  # a turn that code ended has ended
        if frame.is_parted:
            frame = frame.on_one_line()
        came = frame
        joined = self._memory.join(frame) if self._memory is not None and leg else frame
        if joined is None:
            return []
        events = self._reader.receive(joined)
        if leg and tells_error(events) and (back := self.leg_broke()):
            return back
        if self._memory is not None:
            self._memory.keep(events, came)
        is_plain = not frame.is_disguised and not frame.is_unended
        if len(events) == 1 and isinstance(event := events[0], wire.FrameRead) and is_plain:
            if not self._queue and not event.keys:  # nearly all frames: text, and nothing waits
                return [Write(self._writer.write([event], self._judged))]
            if self._queue and not self._ended and not self._has_news:  # it completes nothing, and stands behind these
                self._hold(event)
                return [] if self._queue.bytes <= self._held_bytes_max else self.reach(Limit.HELD_BYTES)
        return self._take(events)

    def end(self, leg: int) -> list[Command]:
        """A leg ended: its open calls are cut off, and the rest leaves."""
        if self._over or self._closing or leg != self._leg or self._going_on:
            return []
        self._leg_over = True
        events = self._reader.end()
        if not self._ended and wire.TurnEnded() not in events and (back := self.leg_broke()):
            return back
        return [*self._take(events), *self._settle()]

    def break_off(self, breach: wire.Breach) -> list[Command]:
        """The bytes cannot be framed."""
        return [] if self._over or self._going_on else self._take([wire.WireBroken(breach)])

    def seal(self, mark: str) -> None:
        """What the model thinks from here on depends on the hidden turn `mark`."""
        self._writer.seal(mark)

    def next_leg(self, reader: Reader | None = None, writer: Writer | None = None) -> None:
        """Upstream answers again. A body is a turn of its own to read and write; a stream goes on in the same ones."""
        self._going_on = self._ended = self._leg_over = self._settled = False
        self._leg, self._leg_calls = self._leg + 1, []
        if reader is None or writer is None:
            self._reader.next_leg()
            return
        self._back.leaves(self._writer, self._judged)
        self._reader, self._writer = reader, writer
        self._calls.clear()
        self._judged.clear()

    def leg_failed(self) -> list[Command]:
        """Upstream does not answer again: the turn ends with the words of its first refusal."""
        assert self._memory is not None
        self._going_on, self._over = False, True
        commands = self._back.taken(self._memory, len(self._queue), self.undelivered())
        self._queue.clear()
        return commands

    def leg_broke(self) -> list[Command]:
        """A later leg ended before its time: as above, behind what was sent of it. Nothing where too much was sent."""
        if not self._leg or self._over or self._memory is None or self._memory.has_ended:
            return []
        return [] if any(self._calls[key].has_left for key in self._leg_calls) else self.leg_failed()

    def close(self) -> list[Command]:
        """After `end` and its commands: finish what upstream left open, if anything was taken out of the turn."""
        if self._over or self._going_on:
            return []
        self._over = True
        data = b"" if self._ended or not self._is_edited() else self._writer.finish()
        return [*([Write(data)] if data else []), Finish()]

    def reach(self, limit: Limit) -> list[Command]:
        """A limit of the exchange was reached: the calls that have not left are refused, and the turn ends."""
        if self._over or self._closing:
            return []
        if back := self.leg_failed() if self._going_on else self.leg_broke():
            return back
        self._closing = True
        keys = tuple(key for key, held in self._calls.items() if held.stage is not Stage.RESOLVED and not held.repeats)
        for key in keys:
            self._calls[key].stage = Stage.JUDGING
            self._calls[key].confirmed = True
        return [EndAtLimit(limit, keys)] if keys else self._flush()

    def decided(self, answers: Mapping[wire.Key, wire.Answer]) -> list[Command]:
        """The answers to `Decide`. One that would release a malformed call is of the call as it was before its cut."""
        if self._over:
            return []
        for key, answer in answers.items():
            held = self._calls[key]
            if held.stage is Stage.JUDGING and (isinstance(answer, wire.Replaced) or held.may_run):
                held.answer, held.stage = answer, Stage.JUDGED
        return self._record()

    def recorded(self, answers: Mapping[wire.Key, wire.Answer]) -> list[Command]:
        """The answers as they stand after the record was written; a halt or a failed store may have changed them."""
        if self._over:
            return []
        self._has_news = True
        for key, answer in answers.items():
            held = self._calls[key]
            held.answer = answer
            if isinstance(answer, wire.Returned) and not self._closing:
                held.stage = Stage.WAITING
            else:
                self._resolve(key, answer.replaced() if isinstance(answer, wire.Returned) else answer)
        return [*self._settle(), *self._flush()] if self._ended or self._leg_over else self._flush()

    def _take(self, events: Sequence[wire.WireEvent]) -> list[Command]:
        self._has_news = False
        commands: list[Command] = []
        completed: dict[wire.Key, wire.Content] = {}
        for event in events:
            match event:
                case wire.FrameRead():
                    if event.keys and event.frame.is_disguised:
                        return [*commands, *self._break(wire.Breach.FRAMING)]
                    self._hold(event)
                case wire.CallCompleted() | wire.TextCompleted():
                    self._complete(event.key, event.call, event.material)
                    completed[event.key] = event.call
                case wire.CallCut(key=key, call=call, material=material):
                    self._complete(key, call, material)
                    self._calls[key].confirmed = True
                    completed[key] = call
                case wire.CallRepeated(key=key, of=original, material=material):
                    self._calls[key] = Held(repeats=original, material=material)
                case wire.CallsConfirmed(keys=keys):
                    for key in keys:
                        self._calls[key].confirmed = True
                case wire.Observed(name=name):
                    commands.append(Note(name))
                case wire.TurnEnded():
                    self._ended = True
                case wire.WireBroken(breach=breach):
                    return [*commands, *self._break(breach)]
                case _:
                    assert_never(event)
        if completed:
            commands.append(Decide(completed))
        commands += self._record()
        if self._ended and not completed:
            commands += self._settle()
        commands += self._flush()
        if self._queue.bytes > self._held_bytes_max and not completed and not self._going_on:
            commands += self.reach(Limit.HELD_BYTES)
        return commands

    def _hold(self, event: wire.FrameRead) -> None:
        if event.frame.is_unended and (event.keys or self._is_edited()):
            event = event._replace(frame=event.frame.ended())
        self._queue.put(event)
        for key in event.keys:
            if key not in self._calls:
                self._calls[key] = Held()
                self._leg_calls.append(key)

    def _complete(self, key: wire.Key, call: wire.Content, material: wire.Material) -> None:
        held = self._calls[key]
        held.call, held.material, held.stage = call, material, Stage.JUDGING

    def _record(self) -> list[Command]:
        ready = [key for key, held in self._calls.items() if held.stage is Stage.JUDGED and held.confirmed]
        if not ready:
            return []
        if (self._waits or is_signed_for_all(map(self._calls.__getitem__, self._leg_calls))) and not self._closing:
            waiting = any(self._calls[key].stage in (Stage.OPEN, Stage.JUDGING) for key in self._leg_calls)
            if waiting or not self._ended:
                return []
            calls = [key for key in ready if not self._calls[key].is_text]
            allowed = [key for key in calls if isinstance(self._calls[key].answer, wire.Released)]
            if allowed and len(allowed) < len(calls) and self._is_bound():
                for key in allowed:
                    self._calls[key].stage = Stage.JUDGING
                return [RefuseTogether(tuple(allowed))]
        if not (self._ended or self._leg_over or self._closing):
            ready = before_a_wait(ready, {key: self._calls[key] for key in self._leg_calls})
        for key in ready:
            self._calls[key].stage = Stage.RECORDING
        return [Record(tuple(ready))] if ready else []

    def _is_bound(self) -> bool:
        """Whether one refusal of this leg refuses all (DESIGN 5)."""
        calls = [self._calls[key].call for key in self._leg_calls]
        return self._reader.binds or any(call is not None and folded(call.name) in self._together for call in calls)

    def _resolve(self, key: wire.Key, answer: wire.Answer) -> None:
        self._judged[key] = self._calls[key].resolved(answer)

    def _settle(self) -> list[Command]:
        """The leg has ended and all its calls are recorded: how those leave that the model is to hear of."""
        stages = [self._calls[key].stage for key in self._leg_calls if self._calls[key].repeats is None]
        if self._settled or any(stage not in (Stage.WAITING, Stage.RESOLVED) for stage in stages):
            return []
        self._settled = True
        waiting = [key for key in self._leg_calls if self._calls[key].stage is Stage.WAITING]
        answers = {key: self._calls[key].answer for key in self._leg_calls}
        replaced = {key: answer.text for key, answer in answers.items() if isinstance(answer, wire.Replaced)}
        runs = any(isinstance(answers[key], wire.Released) and not self._calls[key].is_text for key in answers)
        if waiting and runs and self._memory is not None and self._memory.may_hide(replaced):
            return self._hide(waiting)
        if waiting and not replaced and self._may_go_on():
            return self._go_on(waiting)
        self._say(waiting)
        return self._remember((), ())

    def _say(self, keys: Sequence[wire.Key]) -> None:
        """The customer reads these refusals, since the model cannot hear them."""
        for key in keys:
            self._resolve(key, self._calls[key].returned.replaced())

    def _may_go_on(self) -> bool:
        return self._memory is not None and self._ended and self._memory.may_go_on()

    def _hide(self, waiting: Sequence[wire.Key]) -> list[Command]:
        """Beside calls that run: the client does not see them, and the model hears of them on the next request. A text
        has no id by which a result could come then."""
        self._say([key for key in waiting if self._calls[key].is_text])
        waiting = [key for key in waiting if not self._calls[key].is_text]
        results = [self._calls[key].result() for key in waiting]
        for key in waiting:
            self._resolve(key, wire.HIDDEN)
        return self._remember(waiting, results)

    def _go_on(self, waiting: Sequence[wire.Key]) -> list[Command]:
        assert self._memory is not None
        results, text = [self._calls[key].result() for key in waiting], self._calls[waiting[0]].returned.text
        for key in waiting:
            self._resolve(key, wire.HIDDEN)
        kept_back = [entry for entry in self._queue.all if self._memory.is_end(entry, waiting)]
        self._back.keep(text, kept_back, self._writer, self._judged)
        commands = self._flush(without=kept_back)
        self._going_on = True
        return [*commands, Continue(*self._memory.go_on(waiting, results, kept_back))]

    def _remember(self, hidden: Collection[wire.Key], results: Sequence[HiddenResult]) -> list[Command]:
        if self._memory is None:
            return []
        answers = {key: self._judged[key].answer for key in self._leg_calls if key in self._judged}
        turn = self._memory.ended(answers, hidden, results, owed_results(self._leg_calls, self._calls))
        return [Remember(turn)] if turn is not None else []

    def _flush(self, without: Sequence[wire.FrameRead] = ()) -> list[Command]:
        """Write the frames before the first call that has no answer yet."""
        entries: list[wire.FrameRead] = []
        left: dict[wire.Key, None] = {}
        while self._queue and all(map(self._is_answered, self._queue.first.keys)):
            entry = self._queue.take()
            left |= dict.fromkeys(entry.keys)
            if not any(entry is kept for kept in without):
                entries.append(entry)
        commands: list[Command] = []
        if entries or left:
            data = self._writer.write(entries, self._judged) if entries else b""
            commands.append(Write(data, tuple(left)))
        if self._closing and not self._queue and not self._over:
            self._over = True
            commands += [Write(self._writer.finish()), Finish()]
        return commands

    def _is_answered(self, key: wire.Key) -> bool:
        held = self._calls[key]
        if held.repeats is not None:
            original = self._judged.get(held.repeats)
            if original is None:
                return False
            held.stage = Stage.RESOLVED
            self._judged[key] = Judged(held.material or original.material, original.answer, is_repeat=True)
        return held.stage is Stage.RESOLVED

    def _break(self, breach: wire.Breach) -> list[Command]:
        if back := self.leg_broke():
            return back
        self._over = True
        keys = self.undelivered()
        self._queue.clear()
        return [Break(breach, self._writer.broken(f"callgate: {breach.value}"), keys)]

    def _is_edited(self) -> bool:
        return any(not isinstance(judged.answer, wire.Released) for judged in self._judged.values())
