-- slipway: expand-only
-- The gateway keeps to limits by itself: it is told of each change of them. What it has is told_limits_version.
ALTER TABLE app.budget ADD COLUMN limits_version bigint NOT NULL DEFAULT 1;
ALTER TABLE app.budget ADD COLUMN told_limits_version bigint NOT NULL DEFAULT 0;

CREATE FUNCTION app.count_limits() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.limits_version := OLD.limits_version + 1;
  RETURN NEW;
END $$;
CREATE TRIGGER count_limits BEFORE UPDATE ON app.budget FOR EACH ROW
  WHEN ((OLD.enabled, OLD.reset_day, OLD.org_limit_usd, OLD.member_limit_usd) IS DISTINCT FROM (NEW.enabled, NEW.reset_day, NEW.org_limit_usd, NEW.member_limit_usd))
  EXECUTE FUNCTION app.count_limits();

CREATE FUNCTION app.count_overrides() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE app.budget SET limits_version = limits_version + 1 WHERE org_id = coalesce(NEW.org_id, OLD.org_id);
  RETURN NULL;
END $$;
CREATE TRIGGER count_overrides AFTER INSERT OR UPDATE OR DELETE ON app.budget_override FOR EACH ROW EXECUTE FUNCTION app.count_overrides();
