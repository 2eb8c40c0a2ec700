-- Sets the organization's sum to that of its conversations. Returns by how much it was off.
-- Its row is locked first, so a concurrent grant of a block waits, and one under way is waited for.
CREATE OR REPLACE FUNCTION app.settle_storage(p_org text) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE
  v_used bigint;
  v_sum bigint;
BEGIN
  PERFORM set_config('app.org', p_org, true);
  -- Deleted conversations count until they are removed.
  PERFORM set_config('app.deleted', 'shown', true);
  INSERT INTO app.org_storage (org_id) SELECT p_org WHERE EXISTS (SELECT 1 FROM app.conversation c WHERE c.org_id = p_org) ON CONFLICT (org_id) DO NOTHING;
  SELECT s.used_bytes INTO v_used FROM app.org_storage s WHERE s.org_id = p_org FOR UPDATE;
  IF NOT FOUND THEN RETURN 0; END IF;
  SELECT coalesce(sum(c.granted_bytes), 0) INTO v_sum FROM app.conversation c WHERE c.org_id = p_org;
  UPDATE app.org_storage s SET used_bytes = v_sum, counted_at = now(), drift_bytes = v_sum - v_used WHERE s.org_id = p_org;
  RETURN v_sum - v_used;
END $$;
