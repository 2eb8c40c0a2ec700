-- Third step of the sweep: the objects are gone, so their rows go. @returns how many.
CREATE OR REPLACE FUNCTION app.finish_packs(p_org text, p_ids text[]) RETURNS integer
LANGUAGE plpgsql AS $$
DECLARE
  v_count integer;
  v_bytes bigint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  WITH gone AS (DELETE FROM app.pack p WHERE p.org_id = p_org AND p.id = ANY (p_ids) AND p.state = 'deleting' RETURNING p.bytes)
  SELECT count(*), coalesce(sum(g.bytes), 0) INTO v_count, v_bytes FROM gone g;
  -- Each row's check that nothing refers to it: now, and not while the sum is locked.
  SET CONSTRAINTS ALL IMMEDIATE;
  IF v_count > 0 THEN PERFORM app.count_packs(p_org, -v_bytes); END IF;
  RETURN v_count;
END $$;
