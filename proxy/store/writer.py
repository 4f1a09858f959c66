"""The one thread of a process that writes. Whoever waits shares the next transaction, and hears when it is on the disk.

A request is a function of the transaction. Those that are queued when a transaction begins are run in it, in order.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import sqlite3
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import msgspec

from interceptors.chain import ReceiptError, start
from proxy.store.connections import Connect, is_busy, open_writing
from proxy.store.errors import StoreError
from proxy.store.transaction import Transaction, read_head

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from interceptors.chain import Head

T = TypeVar("T")

BATCH_REQUESTS_MAX = 256
"""How many requests share one transaction at most."""
_GATHER_SECONDS = 0.001
"""How long others are waited for where transactions are shared: pages that are written, the `fsync` and what threads
take from each other cost about the same for ten requests as for one. Who asks alone does not wait."""


class _Request(msgspec.Struct, Generic[T], frozen=True):
    work: Callable[[Transaction], T]
    loop: asyncio.AbstractEventLoop
    answer: asyncio.Future[T]


@dataclass(frozen=True, slots=True)
class _Stop:
    pass


class Writer:
    """Runs requests one batch a transaction. It never leaves a request without an answer, not even if it breaks."""

    def __init__(
        self,
        state: Path,
        connect: Connect,
        writer_id: str,
        busy_timeout_ms: int,
        began: Callable[[bool], None],
        released: Callable[[Sequence[tuple[str, str]]], None],
    ) -> None:
        """`began` is told under the write lock whether a halt was in force when a transaction began; `released` the
        tenants and ids of the calls that one released, once they are on the disk and before anybody is answered.
        """
        self._state = state
        self._connect = connect
        self._busy_timeout_ms = busy_timeout_ms
        self._began = began
        self._released = released
        self._connection: sqlite3.Connection | None = None
        self._head = start(writer_id)
        self._is_head_known = False
        self._queue: queue.SimpleQueue[_Request[Any] | _Stop] = queue.SimpleQueue()
        self._closing = False
        self._ended = False
        self._is_busy = False  # whether the last transaction was shared
        self._thread = threading.Thread(target=self._run, name="callgate-store", daemon=True)
        self._thread.start()

    @property
    def head(self) -> Head:
        """The end of this writer's chain, as committed."""
        return self._head

    @property
    def is_usable(self) -> bool:
        return not (self._closing or self._ended)

    async def run(self, work: Callable[[Transaction], T]) -> T:
        """Run `work` in a transaction; return when it is on the disk.

        Raises `StoreError`, and then nothing of it is visible. A caller that is cancelled does not take its work back.
        """
        if not self.is_usable:
            raise StoreError("the store is closed")
        loop = asyncio.get_running_loop()
        answer: asyncio.Future[T] = loop.create_future()
        self._queue.put(_Request(work, loop, answer))
        if self._ended:  # it ended in between, perhaps before it could see this request
            self._refuse_queued()
        return await answer

    async def close(self) -> None:
        """Finish what is queued, then end. Later requests raise `StoreError`."""
        if not self._closing:
            self._closing = True
            self._queue.put(_Stop())
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        try:
            while self._run_batch():
                pass
        finally:
            self._ended = True
            self._drop_connection()
            self._refuse_queued()

    def _run_batch(self) -> bool:
        """Take what is queued and run it. False when the end was asked for."""
        batch: list[_Request[Any]] = []
        taken = self._queue.get()
        if self._is_busy:
            time.sleep(_GATHER_SECONDS)
        try:
            while isinstance(taken, _Request):
                batch.append(taken)
                if len(batch) >= BATCH_REQUESTS_MAX:
                    break
                taken = self._queue.get_nowait()
        except queue.Empty:
            pass
        self._is_busy = len(batch) > 1
        answered = False
        try:
            self._commit_or_split(batch)
            answered = True
        finally:
            if not answered:
                _answer([(request, StoreError("the store broke")) for request in batch])
        return not isinstance(taken, _Stop)

    def _commit_or_split(self, batch: list[_Request[Any]]) -> None:
        """One transaction for all; where it fails and others may not be at fault, one for each."""
        if not batch:
            return
        try:
            results = self._commit(batch)
        except (sqlite3.Error, ReceiptError, StoreError) as error:
            if len(batch) == 1 or is_busy(error) or isinstance(error, StoreError):
                failure = StoreError(f"the store cannot be written: {error}")
                _answer([(request, failure) for request in batch])
                return
        else:
            _answer(list(zip(batch, results, strict=True)))
            return
        for request in batch:
            self._commit_or_split([request])

    def _commit(self, batch: list[_Request[Any]]) -> list[object]:
        try:
            connection = self._connection or self._reconnect()
            connection.execute("BEGIN IMMEDIATE")
            if not self._is_head_known:
                self._head = read_head(connection, self._head.writer)
                self._is_head_known = True
            transaction = Transaction(connection, self._head)
            self._began(transaction.is_halted())
            results = [request.work(transaction) for request in batch]
            transaction.flush()
            try:
                _finish(connection)
            finally:  # what a failed one left is unknown
                self._released(transaction.released)
        except BaseException:
            self._undo()
            raise
        self._head = transaction.head
        return results

    def _reconnect(self) -> sqlite3.Connection:
        self._connection = open_writing(self._state, self._connect, self._busy_timeout_ms)
        return self._connection

    def _undo(self) -> None:
        """Take back what was begun. What a failed COMMIT left is unknown, so the head is read anew."""
        self._is_head_known = False
        connection = self._connection
        if connection is not None and connection.in_transaction:
            try:
                connection.execute("ROLLBACK")
            except sqlite3.Error:
                self._drop_connection()

    def _drop_connection(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):
                connection.close()

    def _refuse_queued(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                request = self._queue.get_nowait()
                if isinstance(request, _Request):
                    _answer([(request, StoreError("the store is closed"))])


def _finish(connection: sqlite3.Connection) -> None:
    """COMMIT. What a failed one left is unknown, so nothing is tried again request by request: `StoreError` at once."""
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        raise StoreError(str(error)) from error


def _answer(answers: list[tuple[_Request[Any], object]]) -> None:
    """Give each request its result or its `StoreError`: one call into each loop."""
    by_loop: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Any], object]]] = {}
    for request, result in answers:
        by_loop.setdefault(request.loop, []).append((request.answer, result))
    for loop, results in by_loop.items():
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_resolve, results)


def _resolve(results: list[tuple[asyncio.Future[Any], object]]) -> None:
    for answer, result in results:
        if answer.done():
            continue  # its caller was cancelled
        if isinstance(result, StoreError):
            answer.set_exception(StoreError(str(result)).with_traceback(None))
        else:
            answer.set_result(cast("Any", result))
