"""Questions of a decision that is waiting, off the loop, on one connection that cannot write."""

from __future__ import annotations

import sqlite3
import threading
from typing import TYPE_CHECKING, TypeVar

from proxy.store.connections import open_reading
from proxy.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

T = TypeVar("T")


class Lookups:
    """One for the process; any thread may ask, one at a time."""

    def __init__(self, state: Path) -> None:
        """Raises `StoreError`."""
        self._connection = open_reading(state)
        self._lock = threading.Lock()

    def ask(self, question: Callable[[sqlite3.Connection], T]) -> T:
        """The answer as of one moment. It blocks. Raises `StoreError`."""
        with self._lock:
            try:
                self._connection.execute("BEGIN")
                try:
                    return question(self._connection)
                finally:
                    self._connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreError(f"the store cannot be read: {error}") from error

    def close(self) -> None:
        with self._lock:
            self._connection.close()
