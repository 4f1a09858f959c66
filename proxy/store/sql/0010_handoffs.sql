-- Customers who asked for a person. name: a keyed digest of whose conversation it is and where in it they asked.
-- reply and time: what was answered then, and when, for a request that comes again.
CREATE TABLE handoffs (
    name TEXT PRIMARY KEY,
    escalation TEXT NOT NULL,
    reply TEXT NOT NULL,
    time TEXT NOT NULL
) STRICT;

CREATE INDEX handoffs_by_escalation ON handoffs (escalation);

CREATE TRIGGER handoffs_go_with_their_case AFTER DELETE ON escalations BEGIN DELETE FROM handoffs WHERE escalation = old.id; END;
