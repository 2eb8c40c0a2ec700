-- slipway: expand-only
-- Admins are mailed once that a webhook of theirs is called no more.
ALTER TABLE app.outgoing_webhook ADD COLUMN mailed_at timestamptz(3);
CREATE INDEX outgoing_webhook_failing_idx ON app.outgoing_webhook (org_id) WHERE state = 'failing' AND mailed_at IS NULL;
