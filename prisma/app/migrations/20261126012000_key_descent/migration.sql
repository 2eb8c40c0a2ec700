-- slipway: expand-only
-- Which key made a key is history. A rotation used to hand the children of the old key to the new one, so a revocation of the old key missed them, and a key
-- that rotated its own maker was its ancestor no more.

CREATE INDEX api_key_org_id_replaced_by_idx ON app.api_key (org_id, replaced_by) WHERE replaced_by IS NOT NULL;

-- Replicas of the version before still write it when they rotate.
CREATE FUNCTION app.keep_key_maker() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  NEW.made_by_key := OLD.made_by_key;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_key_maker BEFORE UPDATE OF made_by_key ON app.api_key
  FOR EACH ROW WHEN (OLD.made_by_key IS DISTINCT FROM NEW.made_by_key) EXECUTE FUNCTION app.keep_key_maker();

-- Keys that were made with one of these or with a key that one of these has replaced, directly or through others, live or not. A replaced key itself is not among
-- them unless it was made so: it ends by its overlap. With a maker and its successor in a circle, one of `of` may be.
CREATE FUNCTION app.api_key_descendants(org text, of text[]) RETURNS TABLE (id text)
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE line (id, made) AS (
    SELECT unnest(of), false
    UNION
    SELECT k.id, k.made_by_key IS NOT DISTINCT FROM l.id FROM app.api_key k JOIN line l ON k.made_by_key = l.id OR k.replaced_by = l.id WHERE k.org_id = org)
  SELECT DISTINCT line.id FROM line WHERE made
$$;

CREATE OR REPLACE FUNCTION app.revoke_child_keys() RETURNS trigger
LANGUAGE plpgsql AS $$
BEGIN
  UPDATE app.api_key SET revoked_at = NEW.revoked_at
  WHERE org_id = NEW.org_id AND revoked_at IS NULL AND id IN (SELECT d.id FROM app.api_key_descendants(NEW.org_id, ARRAY[NEW.id]) d);
  RETURN NULL;
END $$;
