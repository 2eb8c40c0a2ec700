-- slipway: expand-only
-- Webhooks are made by jobs: each says what became of it. Which repositories get one is chosen by patterns of their names.
ALTER TABLE app.integration_hook
  -- `queued`, `installed`, `missing-right`, `failed`, `disabled` (by the host).
  ADD COLUMN state text NOT NULL DEFAULT 'installed',
  -- What is wrong, in a sentence; NULL: nothing.
  ADD COLUMN detail text,
  -- When the host was last asked.
  ADD COLUMN checked_at timestamptz(3);
ALTER TABLE app.integration_connection
  ADD COLUMN hook_patterns text[] NOT NULL DEFAULT '{}',
  -- When the repositories of the patterns were last looked for, and what was wrong then.
  ADD COLUMN hooks_listed_at timestamptz(3),
  ADD COLUMN hooks_problem text;
CREATE INDEX integration_hook_checked_at_idx ON app.integration_hook (checked_at);
