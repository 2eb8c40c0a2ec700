-- Trigger: no key outlives its parent. Its end is at most the parent's, and a parent that has ended makes none.
CREATE OR REPLACE FUNCTION app.bound_child_key() RETURNS trigger
LANGUAGE plpgsql AS $$
DECLARE
  parent record;
BEGIN
  SELECT k.expires_at, k.revoked_at INTO parent FROM app.api_key k WHERE k.org_id = NEW.org_id AND k.id = NEW.made_by_key FOR SHARE;
  IF NOT FOUND OR parent.revoked_at IS NOT NULL THEN
    NEW.revoked_at := coalesce(NEW.revoked_at, now());
  ELSE
    NEW.expires_at := least(NEW.expires_at, parent.expires_at);
  END IF;
  RETURN NEW;
END $$;
