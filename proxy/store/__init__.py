"""Durable state: see `Store` (what a running gate writes) and `Reader` (what commands and the console ask)."""

from interceptors.chain import Head, ReceiptError, Sealed
from proxy.store.entries import (
    Committed,
    Entry,
    Erasure,
    Escalation,
    EscalationDraft,
    EscalationStatus,
    Halt,
    Retained,
)
from proxy.store.errors import StateFolderError, StoreError
from proxy.store.ids import new_escalation_id, new_receipt_id
from proxy.store.reader import Reader, ReceiptLine, payload_of
from proxy.store.store import Store, open_reader, open_store

__all__ = [
    "Committed",
    "Entry",
    "Erasure",
    "Escalation",
    "EscalationDraft",
    "EscalationStatus",
    "Halt",
    "Head",
    "Reader",
    "ReceiptError",
    "ReceiptLine",
    "Retained",
    "Sealed",
    "StateFolderError",
    "Store",
    "StoreError",
    "new_escalation_id",
    "new_receipt_id",
    "open_reader",
    "open_store",
    "payload_of",
]
