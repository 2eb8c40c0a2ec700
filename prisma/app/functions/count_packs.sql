-- Adds to the bytes of packs of an organization, or takes from them. The last lock that its caller takes.
CREATE OR REPLACE FUNCTION app.count_packs(p_org text, p_bytes bigint) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_used bigint;
BEGIN
  INSERT INTO app.pack_storage AS s (org_id, used_bytes) VALUES (p_org, greatest(0, p_bytes))
    ON CONFLICT (org_id) DO UPDATE SET used_bytes = greatest(0, s.used_bytes + p_bytes)
    RETURNING s.used_bytes INTO v_used;
  RETURN v_used;
END $$;
