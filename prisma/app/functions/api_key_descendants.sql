-- Keys that were made with one of `of`, or with a key that one of `of` has replaced, directly or through others, live
-- or not.
-- A replaced key is among them only if it was made so itself: it ends by its own overlap. With a maker and its
-- successor in a circle, one of `of` may be among them.
CREATE OR REPLACE FUNCTION app.api_key_descendants(org text, of text[]) RETURNS TABLE (id text)
LANGUAGE sql STABLE AS $$
  WITH RECURSIVE line (id, made) AS (
    SELECT unnest(of), false
    UNION
    SELECT k.id, k.made_by_key IS NOT DISTINCT FROM l.id FROM app.api_key k JOIN line l ON k.made_by_key = l.id OR k.replaced_by = l.id WHERE k.org_id = org)
  SELECT DISTINCT line.id FROM line WHERE made
$$;
