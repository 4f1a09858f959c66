-- Changes of the policy that people proposed with their answer to a case. They go with the case.
CREATE TABLE proposals (
    escalation TEXT PRIMARY KEY,
    proposed_by TEXT NOT NULL,
    approved INTEGER NOT NULL CHECK (approved IN (0, 1)),
    reason TEXT NOT NULL,
    revision TEXT NOT NULL,
    diff TEXT NOT NULL,
    sentences TEXT NOT NULL,
    findings TEXT NOT NULL,
    time TEXT NOT NULL
) STRICT;

CREATE TRIGGER proposals_go_with_their_case AFTER DELETE ON escalations BEGIN DELETE FROM proposals WHERE escalation = old.id; END;
