-- slipway: expand-only
-- Counts the changes of how often the agent of a conversation asks. With the version of the organization's settings it says which of two tellings is the newer one;
-- `checkpoint.brakeVersion` is the sum that its agent is known to have.
ALTER TABLE app.conversation ADD COLUMN confirmation_version integer NOT NULL DEFAULT 0;
