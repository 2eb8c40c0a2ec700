-- slipway: expand-only
-- Models without a price may be called although a budget holds: an admin says so.
ALTER TABLE app.budget ADD COLUMN allow_unpriced boolean NOT NULL DEFAULT false;
CREATE TRIGGER count_unpriced BEFORE UPDATE ON app.budget FOR EACH ROW
  WHEN (OLD.allow_unpriced IS DISTINCT FROM NEW.allow_unpriced) EXECUTE FUNCTION app.count_limits();
