-- The texts of the policy's files, by revision, so that people see what changed. files: JSON, by name.
CREATE TABLE revisions (
    id INTEGER PRIMARY KEY,
    revision TEXT NOT NULL,
    policy TEXT NOT NULL,
    files TEXT NOT NULL,
    time TEXT NOT NULL
) STRICT;

-- What people said of allowed writes that were sampled for them, one word a receipt.
CREATE TABLE reviews (
    receipt TEXT PRIMARY KEY,
    agrees INTEGER NOT NULL CHECK (agrees IN (0, 1)),
    reviewer TEXT NOT NULL,
    note TEXT NOT NULL,
    time TEXT NOT NULL
) STRICT;
