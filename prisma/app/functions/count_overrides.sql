-- Trigger: an override of a member counts as a change of the organization's limits.
CREATE OR REPLACE FUNCTION app.count_overrides() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE app.budget SET limits_version = limits_version + 1 WHERE org_id = coalesce(NEW.org_id, OLD.org_id);
  RETURN NULL;
END $$;
