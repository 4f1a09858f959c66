-- Signed cases that a conversation has had. name: a keyed digest of whose conversation it is. A row goes a day after it
-- was last seen.
CREATE TABLE conversation_cases (
    name TEXT NOT NULL,
    word TEXT NOT NULL,
    seen TEXT NOT NULL,
    PRIMARY KEY (name, word)
) STRICT;

CREATE INDEX conversation_cases_by_time ON conversation_cases (seen);
