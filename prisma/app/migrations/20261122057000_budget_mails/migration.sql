-- slipway: expand-only
-- When a notice was put into the outgoing mail, or was left out of it because a higher one of the same limit went out at once.
ALTER TABLE app.budget_notice ADD COLUMN mailed_at timestamptz(3);
CREATE INDEX budget_notice_not_mailed_idx ON app.budget_notice (created_at) WHERE mailed_at IS NULL;
