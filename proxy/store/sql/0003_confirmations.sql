-- Questions that wait for a customer's yes. name: a keyed digest of who is asked about which call. A row goes when the
-- call is released, and when the question is too old to be answered.
CREATE TABLE confirmations (
    name TEXT PRIMARY KEY,
    asked_at TEXT NOT NULL
) STRICT;

CREATE INDEX confirmations_by_time ON confirmations (asked_at);
