-- Trigger: a revocation reaches all descendants, also through a key that has ended since.
-- A rotation that ends its key at once is no revocation: the children go to the successor.
CREATE OR REPLACE FUNCTION app.revoke_child_keys() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE app.api_key SET revoked_at = NEW.revoked_at
  WHERE org_id = NEW.org_id AND revoked_at IS NULL AND id IN (SELECT d.id FROM app.api_key_descendants(NEW.org_id, ARRAY[NEW.id]) d);
  RETURN NULL;
END $$;
