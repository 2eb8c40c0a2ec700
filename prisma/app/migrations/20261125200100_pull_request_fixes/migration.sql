-- slipway: expand-only
-- Messages to the agent about what stands against a pull request: failed checks, conflicts.
-- fix_wanted: {what, checks, message, automatic, by, at}, not sent yet. fix: {what, message, automatic, at, sha}, the last that was.
ALTER TABLE app.pull_request ADD COLUMN fix_wanted jsonb;
ALTER TABLE app.pull_request ADD COLUMN fix jsonb;
-- Rounds that were made without a person; never taken back.
ALTER TABLE app.pull_request ADD COLUMN fix_rounds integer NOT NULL DEFAULT 0;
-- Why no more of them are made.
ALTER TABLE app.pull_request ADD COLUMN fix_stopped text;
