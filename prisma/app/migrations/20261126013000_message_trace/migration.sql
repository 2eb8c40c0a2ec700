-- slipway: expand-only
-- The trace of each message: a conversation's own is overwritten by the next one, and then an old turn could be found in no log and no tracing system.
ALTER TABLE app.inbox_message ADD COLUMN trace_id text CHECK (trace_id ~ '^[0-9a-f]{32}$');
