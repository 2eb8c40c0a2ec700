-- slipway: expand-only
-- Messages that wait for the end of the agent's turn, and how often their text was changed. A replica of the version
-- before writes `held` as false, so its messages are handed over at once, and a worker of that version hands over all
-- that is queued: earlier than asked, never twice and never lost.
ALTER TABLE app.inbox_message
  ADD COLUMN held boolean NOT NULL DEFAULT false,
  ADD COLUMN version integer NOT NULL DEFAULT 1;
