-- slipway: expand-only
-- When a user looked as far as `seq`; null: not known. A replica of the release before moves `seq` without it.
ALTER TABLE app.read_mark ADD COLUMN seq_at timestamptz(3);
