-- slipway: expand-only
-- A key that was made with another key ends with it, whoever ends that one and on whichever replica.

ALTER TABLE app.api_key ADD COLUMN made_by_key text;
CREATE INDEX api_key_org_id_made_by_key_idx ON app.api_key (org_id, made_by_key) WHERE made_by_key IS NOT NULL;

-- No child outlives its parent: its end is at most the parent's, and a parent that is over makes none.
CREATE FUNCTION app.bound_child_key() RETURNS trigger
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
CREATE TRIGGER bound_child_key BEFORE INSERT ON app.api_key FOR EACH ROW WHEN (NEW.made_by_key IS NOT NULL) EXECUTE FUNCTION app.bound_child_key();

-- Revocation reaches all descendants, also through a key that has ended since. A rotation that ends its key at once is none: the children go to the successor.
CREATE FUNCTION app.revoke_child_keys() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE app.api_key SET revoked_at = NEW.revoked_at WHERE revoked_at IS NULL AND id IN (
    WITH RECURSIVE descendant AS (
      SELECT k.id FROM app.api_key k WHERE k.org_id = NEW.org_id AND k.made_by_key = NEW.id
      UNION SELECT k.id FROM app.api_key k JOIN descendant d ON k.made_by_key = d.id WHERE k.org_id = NEW.org_id)
    SELECT descendant.id FROM descendant);
  RETURN NULL;
END $$;
CREATE TRIGGER revoke_child_keys AFTER UPDATE OF revoked_at ON app.api_key
  FOR EACH ROW WHEN (OLD.revoked_at IS NULL AND NEW.revoked_at IS NOT NULL AND OLD.replaced_by IS NOT DISTINCT FROM NEW.replaced_by)
  EXECUTE FUNCTION app.revoke_child_keys();
