-- slipway: expand-only
-- Messages of the platform itself, which begin no turn: `read` at the agent's next step, `start` also where it is idle.
-- A worker of the version before hands them over as a user's message with a run; there are none before an app-server of
-- this version writes them.
ALTER TABLE app.inbox_message ADD COLUMN notice text CHECK (notice IN ('read', 'start'));
