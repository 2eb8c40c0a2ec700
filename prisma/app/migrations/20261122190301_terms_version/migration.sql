-- slipway: expand-only
-- Counts the changes of how far an agent goes by itself, under the lock of its row. An agent is told with it, and takes no older one after a newer;
-- `checkpoint.termsVersion` is the one that it is known to have.
ALTER TABLE app.conversation ADD COLUMN terms_version integer NOT NULL DEFAULT 0;
