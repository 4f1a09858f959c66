"""Durable state: see `Store` (what a running gate writes) and `Reader` (what commands and the console ask)."""

from interceptors.chain import Head, ReceiptError, Sealed
from proxy.store.cases import (
    Answer,
    Answering,
    Escalation,
    EscalationDraft,
    EscalationStatus,
    Unanswerable,
    Vote,
)
from proxy.store.entries import (
    Asking,
    Committed,
    Confirming,
    Entry,
    Erasure,
    Granting,
    Halt,
    ReleasedCall,
    ReleaseDraft,
    Reservation,
    Reserving,
    Retained,
    Settlement,
)
from proxy.store.errors import StateFolderError, StoreError
from proxy.store.ids import new_escalation_id, new_receipt_id, new_reservation_id
from proxy.store.reader import Reader, ReceiptLine, payload_of
from proxy.store.store import Store, open_reader, open_store

__all__ = [
    "Answer",
    "Answering",
    "Asking",
    "Committed",
    "Confirming",
    "Entry",
    "Erasure",
    "Escalation",
    "EscalationDraft",
    "EscalationStatus",
    "Granting",
    "Halt",
    "Head",
    "Reader",
    "ReceiptError",
    "ReceiptLine",
    "ReleaseDraft",
    "ReleasedCall",
    "Reservation",
    "Reserving",
    "Retained",
    "Sealed",
    "Settlement",
    "StateFolderError",
    "Store",
    "StoreError",
    "Unanswerable",
    "Vote",
    "new_escalation_id",
    "new_receipt_id",
    "new_reservation_id",
    "open_reader",
    "open_store",
    "payload_of",
]
