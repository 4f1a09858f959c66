-- Calls that were allowed: what a result that comes back is matched with. No row is about a person but by its digests.
-- state: what became of this call's money, null where it reserves nothing. settle_by: from then on held is unknown.
CREATE TABLE releases (
    receipt TEXT PRIMARY KEY,
    tenant TEXT NOT NULL,
    call_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    argument_digest TEXT NOT NULL,
    subject TEXT NOT NULL,
    time TEXT NOT NULL,
    aborted INTEGER NOT NULL DEFAULT 0,
    reservation TEXT,
    state TEXT,
    settle_by TEXT
) STRICT;

CREATE INDEX releases_by_call ON releases (tenant, call_id);

CREATE INDEX releases_by_reservation ON releases (reservation) WHERE reservation IS NOT NULL;

CREATE INDEX releases_held ON releases (settle_by) WHERE state = 'held';

CREATE INDEX releases_by_subject ON releases (subject) WHERE subject <> '';

CREATE INDEX releases_by_time ON releases (time);

-- intent: the keyed digest of an intent, null where the call is one of its own. terms: that of what it holds.
-- held: what it holds, for people, as JSON.
CREATE TABLE reservations (
    id TEXT PRIMARY KEY,
    intent TEXT,
    terms TEXT NOT NULL,
    ordinal INTEGER NOT NULL,
    policy TEXT NOT NULL,
    tool TEXT NOT NULL,
    held TEXT NOT NULL,
    receipt TEXT NOT NULL,
    time TEXT NOT NULL,
    state TEXT NOT NULL,
    settled_at TEXT,
    settle_by TEXT NOT NULL
) STRICT;

CREATE UNIQUE INDEX reservations_by_intent ON reservations (intent, ordinal) WHERE intent IS NOT NULL;

CREATE UNIQUE INDEX reservations_open ON reservations (intent) WHERE state IN ('held', 'unknown');

CREATE INDEX reservations_by_state ON reservations (state, id);

-- What counts against caps: a row goes when its money is free. cap: a keyed digest. units: of the currency's smallest.
CREATE TABLE charges (
    id INTEGER PRIMARY KEY,
    cap TEXT NOT NULL,
    time TEXT NOT NULL,
    currency TEXT NOT NULL,
    units INTEGER NOT NULL CHECK (units >= 0),
    counted INTEGER,
    reservation TEXT NOT NULL
) STRICT;

CREATE INDEX charges_by_cap ON charges (cap, time, currency, units);

CREATE INDEX charges_by_reservation ON charges (reservation);
