-- What is to be told to others: kind 'case' (a case was opened) or 'call' (an approved call). state: due, sent, dead.
-- due_at: when it is tried next; who takes it puts it off, so that nobody else tries it meanwhile.
-- receipt: of the decision that lets the call run, empty until there is one.
CREATE TABLE outbox (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    escalation TEXT NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at TEXT NOT NULL,
    receipt TEXT NOT NULL DEFAULT '',
    note TEXT NOT NULL DEFAULT ''
) STRICT;

CREATE INDEX outbox_due ON outbox (due_at) WHERE state = 'due';

CREATE INDEX outbox_by_escalation ON outbox (escalation);
