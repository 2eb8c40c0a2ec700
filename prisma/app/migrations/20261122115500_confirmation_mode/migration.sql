-- slipway: expand-only
-- How often the agent of a conversation asks before it acts. The organization's own mode is a floor above it, read when it counts.
ALTER TABLE app.conversation ADD COLUMN confirmation_mode text NOT NULL DEFAULT 'never';
