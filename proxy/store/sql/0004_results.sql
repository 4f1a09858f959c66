-- result: the digest of the newest result that came back for the call, empty without one: another one is a conflict.
ALTER TABLE releases ADD COLUMN result TEXT NOT NULL DEFAULT '';
