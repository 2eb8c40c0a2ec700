-- Second step of the sweep: packs that have been doomed for p_grace, or that nothing can read, are `deleting` from this
-- commit on: no checkpoint takes them back, and their objects may be deleted. Those that an earlier sweep left so are
-- among them. @returns their ids, at most p_limit.
CREATE OR REPLACE FUNCTION app.claim_packs(p_org text, p_grace interval, p_limit integer) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  v_ids text[];
BEGIN
  PERFORM set_config('app.org', p_org, true);
  SELECT coalesce(array_agg(d.id), '{}') INTO v_ids FROM (
    SELECT p.id FROM app.pack p WHERE p.org_id = p_org
      AND (p.state = 'deleting' OR (p.state = 'doomed' AND (p.doomed_at <= now() - p_grace OR p.wrapped_key IS NULL)))
    ORDER BY p.doomed_at LIMIT p_limit FOR UPDATE SKIP LOCKED) d;
  UPDATE app.pack p SET state = 'deleting' WHERE p.org_id = p_org AND p.id = ANY (v_ids) AND p.state = 'doomed';
  RETURN v_ids;
END $$;
