-- What belongs to the database as a whole: the fingerprint of the key of its subjects.
CREATE TABLE meta (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

-- The chain: headers only. Nothing in it is about a person.
CREATE TABLE records (
    id INTEGER PRIMARY KEY,
    schema INTEGER NOT NULL,
    digest TEXT NOT NULL,
    writer TEXT NOT NULL,
    seq INTEGER NOT NULL,
    prev TEXT NOT NULL,
    kind TEXT NOT NULL,
    receipt TEXT NOT NULL,
    time TEXT NOT NULL,
    commitment TEXT NOT NULL,
    hash TEXT NOT NULL,
    UNIQUE (writer, seq)
) STRICT;

CREATE INDEX records_by_receipt ON records (receipt, id);

CREATE INDEX records_by_time ON records (time);

CREATE TRIGGER records_are_immutable BEFORE UPDATE ON records
BEGIN
    SELECT RAISE(ABORT, 'a record is immutable');
END;

-- What the commitments of the chain cover. A row goes when it is erased.
-- expires_from: the time from which its retention counts, null where it lives as long as its record.
CREATE TABLE payloads (
    record INTEGER PRIMARY KEY,
    salt BLOB NOT NULL,
    payload TEXT NOT NULL,
    subject TEXT NOT NULL,
    expires_from TEXT
) STRICT;

CREATE INDEX payloads_by_subject ON payloads (subject) WHERE subject <> '';

CREATE INDEX payloads_by_expiry ON payloads (expires_from) WHERE expires_from IS NOT NULL;

-- Up to where retention removed each chain: the last removed record, which the first kept one follows.
CREATE TABLE anchors (
    writer TEXT PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;

CREATE TABLE escalations (
    id TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    subject TEXT NOT NULL,
    tool TEXT NOT NULL,
    argument_digest TEXT NOT NULL,
    summary TEXT NOT NULL,
    reason TEXT NOT NULL,
    receipt TEXT NOT NULL,
    created TEXT NOT NULL,
    status TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX escalations_open ON escalations (tenant, subject, tool, argument_digest) WHERE status = 'open';

CREATE INDEX escalations_by_subject ON escalations (subject) WHERE subject <> '';

CREATE TABLE halts (
    id INTEGER PRIMARY KEY,
    halted_by TEXT NOT NULL,
    reason TEXT NOT NULL,
    halted_at TEXT NOT NULL,
    receipt TEXT NOT NULL,
    resumed_by TEXT,
    resumed_at TEXT
) STRICT;

CREATE INDEX halts_in_force ON halts (id) WHERE resumed_at IS NULL;
