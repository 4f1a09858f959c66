-- policy: its name. proposer: who proposes, as in receipts; proposed_by: the operator's name, empty for a model.
-- name: the keyed digest of whose call it is. asks: what an approval is bound to, null where none would let it run.
ALTER TABLE escalations ADD COLUMN policy TEXT NOT NULL DEFAULT '';

ALTER TABLE escalations ADD COLUMN proposer TEXT NOT NULL DEFAULT 'model';

ALTER TABLE escalations ADD COLUMN proposed_by TEXT NOT NULL DEFAULT '';

ALTER TABLE escalations ADD COLUMN name TEXT NOT NULL DEFAULT '';

ALTER TABLE escalations ADD COLUMN asks TEXT;

-- answer_by: from then on nobody can answer. on_approval: how the call goes on. note: what became of it, for people.
ALTER TABLE escalations ADD COLUMN answer_by TEXT NOT NULL DEFAULT '';

ALTER TABLE escalations ADD COLUMN on_approval TEXT NOT NULL DEFAULT 'next_time';

ALTER TABLE escalations ADD COLUMN closed_at TEXT;

ALTER TABLE escalations ADD COLUMN note TEXT NOT NULL DEFAULT '';

CREATE INDEX escalations_due ON escalations (answer_by) WHERE status = 'open';

CREATE INDEX escalations_approved ON escalations (tenant, tool, argument_digest) WHERE status = 'approved';

CREATE INDEX escalations_of_policy ON escalations (policy) WHERE status = 'open';

-- What each person said of a case. reason: the person's words.
CREATE TABLE votes (
    escalation TEXT NOT NULL,
    person TEXT NOT NULL,
    approves INTEGER NOT NULL,
    reason TEXT NOT NULL,
    time TEXT NOT NULL,
    PRIMARY KEY (escalation, person)
) STRICT;

-- Answers that hold: content is what seal covers, under a key outside of this database. used_by: the receipt.
CREATE TABLE grants (
    id TEXT PRIMARY KEY,
    escalation TEXT NOT NULL,
    name TEXT NOT NULL,
    content TEXT NOT NULL,
    seal TEXT NOT NULL,
    expires TEXT NOT NULL,
    used_by TEXT,
    voided_at TEXT
) STRICT;

CREATE INDEX grants_by_name ON grants (name);

CREATE INDEX grants_by_escalation ON grants (escalation);

CREATE INDEX grants_by_use ON grants (used_by) WHERE used_by IS NOT NULL;
