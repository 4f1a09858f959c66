"""The tables of the ledger: what is hidden and edited in conversations, what was refused in them, what was shown under
which id, and what approved calls are delivered with."""

from __future__ import annotations

from typing import Final

SCHEMA: Final = """
CREATE TABLE IF NOT EXISTS ledger (version INTEGER NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS hidden (
    seq INTEGER PRIMARY KEY AUTOINCREMENT, place BLOB NOT NULL, root BLOB NOT NULL, tenant BLOB NOT NULL,
    id TEXT NOT NULL, subject TEXT NOT NULL, expires REAL NOT NULL, sealed BLOB NOT NULL, UNIQUE (place, id)
) STRICT;
CREATE INDEX IF NOT EXISTS hidden_root ON hidden (root);
CREATE INDEX IF NOT EXISTS hidden_subject ON hidden (subject) WHERE subject <> '';
CREATE TABLE IF NOT EXISTS materials (
    escalation TEXT PRIMARY KEY, subject TEXT NOT NULL, expires REAL NOT NULL, sealed BLOB NOT NULL
) STRICT;
CREATE INDEX IF NOT EXISTS hidden_expires ON hidden (expires);
CREATE INDEX IF NOT EXISTS hidden_id ON hidden (id);
CREATE TABLE IF NOT EXISTS items (
    name BLOB NOT NULL, content BLOB NOT NULL, subject TEXT NOT NULL, expires REAL NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (name, content)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS items_subject ON items (subject) WHERE subject <> '';
CREATE INDEX IF NOT EXISTS items_expires ON items (expires);
CREATE TABLE IF NOT EXISTS edits (
    place BLOB PRIMARY KEY, root BLOB NOT NULL, subject TEXT NOT NULL, expires REAL NOT NULL, sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS edits_root ON edits (root);
CREATE INDEX IF NOT EXISTS edits_subject ON edits (subject) WHERE subject <> '';
CREATE INDEX IF NOT EXISTS edits_expires ON edits (expires);
CREATE TABLE IF NOT EXISTS notes (
    place BLOB NOT NULL, receipt TEXT NOT NULL, subject TEXT NOT NULL, expires REAL NOT NULL, sealed BLOB NOT NULL,
    PRIMARY KEY (place, receipt)
) STRICT, WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS notes_subject ON notes (subject) WHERE subject <> '';
CREATE INDEX IF NOT EXISTS notes_expires ON notes (expires);
"""
