"""What the store raises. No message holds a recorded value."""

from __future__ import annotations


class StoreError(Exception):
    """The store could not do what was asked; nothing of it was written. Whoever waits for a receipt must refuse."""


class StateFolderError(StoreError):
    """The state folder, its key or its database cannot be used; the message says what an operator must change."""
