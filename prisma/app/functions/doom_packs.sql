-- First step of the sweep: of the packs named, those that no checkpoint refers to are doomed. Skips those that a commit
-- holds. @returns how many.
CREATE OR REPLACE FUNCTION app.doom_packs(p_org text, p_ids text[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_ids text[];
  v_count integer;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT coalesce(array_agg(d.id), '{}') INTO v_ids FROM (
    SELECT p.id FROM app.pack p WHERE p.org_id = p_org AND p.id = ANY (p_ids) AND p.state = 'live' ORDER BY p.id FOR UPDATE SKIP LOCKED) d;
  -- A statement of its own: the locks are held, and it sees every reference that was committed before them.
  UPDATE app.pack p SET state = 'doomed', doomed_at = now() WHERE p.org_id = p_org AND p.id = ANY (v_ids)
    AND NOT EXISTS (SELECT 1 FROM app.checkpoint_pack r WHERE r.org_id = p_org AND r.pack_id = p.id);
  GET DIAGNOSTICS v_count = ROW_COUNT;
  RETURN v_count;
END $$;
